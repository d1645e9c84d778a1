# SPDX-License-Identifier: Apache-2.0
"""Finds code that returns one thing in a test and another elsewhere.

The tests run once more, and the calls that they make to the project's functions are recorded, if arguments and result are literals. Fresh processes then
repeat these calls: in a test; in a plain program that has the variables of a user's session; in one whose assertions are off, in an
event loop; in another thread; at a terminal; and ten years and half a day later.
This reports a call if the test repeats the recorded result and another process does not. With mocks, state or randomness the repeated test already differs
from the recording, so this ignores such calls. It also ignores errors: the program may lack the tests' setup. Tests that mention event loops,
threads, terminals or time may test code that depends on them, so their calls are not repeated there.

The tests also run in the same tree without the change. This reports a call that they make only there: then the change decides what the tests call.
"""
import ast
import functools
import getpass
import importlib.machinery
import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import textwrap
import threading
import types

MOST_CALLS = 200
MOST_SECONDS = 5            # Seconds of processor time, which a busy machine does not lengthen. Slower tests are not repeated.
HANGS_AFTER = 60            # Seconds until a program is killed.
# Tests with these words may test code that depends on such surroundings.
LOOPS = re.compile(r"async|await", re.IGNORECASE)
THREADS = re.compile(r"thread|concurrent|asyncio", re.IGNORECASE)
TERMINALS = re.compile(r"isatty|terminal|\btty\b|colou?r|ansi|\\033|\\x1b|columns|width", re.IGNORECASE)
TIMES = re.compile(r"\b(time|datetime|date|dates|today|now|year|years|age|clock|calendar|expires?|expired|expiry)\b|freez|_time\b|_date\b|_at\b", re.IGNORECASE)

# In the test itself and in the program's main, because the code under test can see its caller.
REPEAT = """calls = json.load(open({calls!r}))
results = []
for name, function, arguments, named in calls:
    try:
        results.append(repr(getattr(importlib.import_module(name), function)(*eval(arguments), **eval(named))))
    except Exception as error:
        results.append("raises " + type(error).__name__)
json.dump(results, open({results!r}, "w"))
"""
IMPORTS = "import importlib\nimport json\n"
IN_A_TEST = IMPORTS + "import unittest\n\n\nclass TestCalls(unittest.TestCase):\n    def test_calls(self):\n" + textwrap.indent(REPEAT, 8 * " ")
IN_A_PROGRAM = IMPORTS + "\n\ndef main():\n" + textwrap.indent(REPEAT, 4 * " ") + "\n\n"
IN_A_LOOP = "import asyncio\n\n\nasync def run():\n    main()\n\n\nasyncio.run(run())\n"
IN_A_THREAD = "import threading\n\nthread = threading.Thread(target=main)\nthread.start()\nthread.join()\n"
# `days` moves the clock. These classes replace those in C, which Python cannot change.
AT_ANOTHER_TIME = """import datetime
import time


def moved(clock, by):
    return lambda *arguments: clock(*arguments) + by


def of_now(clock):
    return lambda when=None: clock(time.time() if when is None else when)


class Stands(type):
    def __instancecheck__(cls, value):
        return isinstance(value, cls.__mro__[1])


class Date(datetime.date, metaclass=Stands):
    @classmethod
    def today(cls):
        return datetime.datetime.fromtimestamp(time.time()).date()


class DateTime(datetime.datetime, metaclass=Stands):
    @classmethod
    def now(cls, tz=None):
        return cls.fromtimestamp(time.time(), tz)

    @classmethod
    def utcnow(cls):
        return cls.now(datetime.timezone.utc).replace(tzinfo=None)

    today = now


time.time = moved(time.time, {days} * 86400)
time.time_ns = moved(time.time_ns, int({days} * 86400) * 10 ** 9)
for name in ("monotonic", "perf_counter", "process_time"):
    setattr(time, name, moved(getattr(time, name), {days} * 24))
    setattr(time, name + "_ns", moved(getattr(time, name + "_ns"), int({days} * 24) * 10 ** 9))
for name in ("localtime", "gmtime", "ctime"):
    setattr(time, name, of_now(getattr(time, name)))
time.strftime = lambda form, when=None, real=time.strftime: real(form, time.localtime() if when is None else when)
datetime.date, datetime.datetime = Date, DateTime
main()
"""
DAYS = 3653.5               # Half a day, so that night becomes day.


def literal(value):
    """Returns the value's repr if it is a literal, else None."""
    text = repr(value)
    try:
        return text if len(text) < 10000 and repr(ast.literal_eval(text)) == text else None
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None


class Recorder:
    """Records the tests' calls with literal arguments. The result is None if it is not a literal. Leaves out calls between the project's own
    functions."""

    def __init__(self):
        self.calls = []
        self.depth = threading.local()

    def wrapped(self, module, name, function):
        @functools.wraps(function)
        def call(*arguments, **named):
            depth = getattr(self.depth, "value", 0)
            before = (literal(arguments), literal(named)) if depth == 0 and len(self.calls) < MOST_CALLS else (None, None)
            self.depth.value = depth + 1
            told = None
            try:
                result = function(*arguments, **named)
                told = literal(result)
                return result
            except Exception as error:
                told = "raises " + type(error).__name__
                raise
            finally:
                self.depth.value = depth
                if None not in before:
                    self.calls.append([module, name, *before, told])
        return call

    def watch(self, module):
        for name, value in list(vars(module).items()):
            if type(value) is types.FunctionType and value.__module__ == module.__name__ and value.__name__ == name:
                setattr(module, name, self.wrapped(module.__name__, name, value))


class Watching:
    """A loader that wraps a module's functions after it has loaded the module."""

    def __init__(self, loader, recorder):
        self.loader = loader
        self.recorder = recorder

    def __getattr__(self, name):
        return getattr(self.loader, name)

    def exec_module(self, module):
        self.loader.exec_module(module)
        self.recorder.watch(module)


class Finder:
    def __init__(self, root, tests, recorder):
        self.root = os.path.realpath(root) + os.sep
        self.tests = tests
        self.recorder = recorder

    def find_spec(self, name, path, target=None):
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        file = os.path.realpath(spec.origin) if spec is not None and spec.origin and spec.has_location else ""
        if not file.startswith(self.root) or file in self.tests or not isinstance(spec.loader, importlib.machinery.SourceFileLoader):
            return None
        spec.loader = Watching(spec.loader, self.recorder)
        return spec


def record(root, tests, out, arguments):
    """Runs a separate process. `arguments`: those of `python3 -m`."""
    recorder = Recorder()
    sys.meta_path.insert(0, Finder(root, {os.path.realpath(os.path.join(root, each)) for each in tests}, recorder))
    sys.path[0] = root
    code = 1
    try:
        if arguments[0] == "pytest":
            import pytest
            code = int(pytest.main(arguments[1:]))
        else:
            import unittest
            code = 0 if unittest.main(module=None, argv=["unittest", *arguments[1:]], exit=False).result.wasSuccessful() else 1
    finally:
        with open(out, "w", encoding="utf-8") as file:
            json.dump({"calls": recorder.calls, "path": [each for each in sys.path if each.startswith(os.path.realpath(root)) or each.startswith(root)]}, file)
    return code


def run(arguments, environment, seconds, folder=None):
    """True if Python succeeds."""
    try:
        return subprocess.run([sys.executable, "-B", *arguments], cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                              timeout=seconds, check=False).returncode == 0
    except subprocess.TimeoutExpired:
        return False


def run_optimised(arguments, environment, seconds):
    return run(["-O", *arguments], environment, seconds)


def run_at_a_terminal(arguments, environment, seconds):
    try:
        ours, theirs = os.openpty()
    except OSError:                     # The sandbox has no terminals.
        return False

    def read_all():
        try:
            while os.read(ours, 65536):
                pass
        except OSError:                 # No process has the other side open.
            pass
    reader = threading.Thread(target=read_all, daemon=True)
    reader.start()
    process = subprocess.Popen([sys.executable, "-B", *arguments], env={"TERM": "xterm", **environment}, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True)
    os.close(theirs)
    try:
        return process.wait(seconds) == 0
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        return False
    finally:
        reader.join(1)
        os.close(ours)


def read(path):
    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file)
    except (OSError, ValueError):
        return None


def text_of(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""


def of_a_user(environment):
    """Returns the environment with the usual variables of a user's session, each with its default value."""
    home = environment.get("HOME") or os.path.expanduser("~")
    usual = {"XDG_CACHE_HOME": home + "/.cache", "XDG_CONFIG_HOME": home + "/.config", "XDG_DATA_HOME": home + "/.local/share", "XDG_STATE_HOME": home + "/.local/state",
             "HOSTNAME": socket.gethostname(), "OLDPWD": home, "SHLVL": "1"}
    try:
        usual["USER"] = usual["LOGNAME"] = getpass.getuser()
    except (KeyError, OSError):         # This user id has no name.
        pass
    return {**usual, **environment}


def recorded(root, tests, arguments, environment, limit, failing=False):
    """Returns {"calls": …, "path": …} of `record`; None if there is no record, or if a test fails and `failing` does not allow it."""
    with tempfile.TemporaryDirectory() as scratch:
        written = os.path.join(scratch, "written.json")
        passed = run([os.path.abspath(__file__), root, written, json.dumps(tests), *arguments], environment, limit, root)
        return read(written) if passed or failing else None


class Repetition:
    """Repeats recorded calls in fresh processes. `folder` is a scratch folder."""

    def __init__(self, root, environment, made, limit, folder):
        self.root = root
        self.environment = environment
        self.made = made
        self.limit = limit
        self.calls, self.results = os.path.join(folder, "calls.json"), os.path.join(folder, "results.json")
        with open(self.calls, "w", encoding="utf-8") as file:
            json.dump([each[:4] for each in made], file)

    def started(self, file, text, start, arguments, environment):
        """Writes `text` to `file` and runs it. Returns the results, or None if it does not run."""
        if os.path.exists(self.results):
            os.remove(self.results)
        with open(file, "w", encoding="utf-8") as out:
            out.write(text.format(calls=self.calls, results=self.results))
        try:
            return read(self.results) if start(arguments, environment, self.limit) else None
        finally:
            os.remove(file)

    def in_a_test(self, tests, with_pytest):
        folder = os.path.join(self.root, os.path.dirname(tests[0]))
        test = os.path.join(folder, f"test_calls_{os.getpid()}.py")
        if with_pytest:
            return self.started(test, IN_A_TEST, run, ["-m", "pytest", "-q", "-p", "no:cacheprovider", test], self.environment)
        self.environment = {**self.environment, "PYTHONPATH": self.environment["PYTHONPATH"] + os.pathsep + folder}
        return self.started(test, IN_A_TEST, run, ["-m", "unittest", "-q", os.path.basename(test)[:-3]], self.environment)

    def in_a_program(self, end, start=run, **values):
        program = os.path.join(self.root, f"app_{os.getpid()}.py")
        return self.started(program, IN_A_PROGRAM + end.replace("{days}", str(values.get("days"))), start, [os.path.basename(program)], of_a_user(self.environment))

    def differs(self, in_a_test, found, place):
        for call, one, other in zip(self.made, in_a_test, found or []):
            if call[4] == one and one != other and not other.startswith("raises ") and not one.startswith("raises AssertionError"):
                return f"{in_words(call)} is {one[:100]} in a test and {other[:100]} {place}"
        return ""


def difference(root, tests, arguments, environment, made, limit):
    """Describes the first call whose result in a test differs from one elsewhere. Empty if there is none, None if it cannot be measured."""
    with tempfile.TemporaryDirectory() as scratch:
        again = Repetition(root, environment, made, limit, scratch)
        in_a_test = again.in_a_test(tests, arguments[0] == "pytest")
        plain = in_a_test and again.in_a_program("main()\n")
        if plain is None:
            return None
        text = "".join(text_of(os.path.join(root, each)) for each in tests)
        found = again.differs(in_a_test, plain, "in a plain program")
        if not found:
            end = "main()\n" if LOOPS.search(text) else IN_A_LOOP
            found = again.differs(in_a_test, again.in_a_program(end, run_optimised), "with `python -O` in an event loop")
        if not found and not THREADS.search(text):
            found = again.differs(in_a_test, again.in_a_program(IN_A_THREAD), "in a thread other than the main one")
        if not found and not TERMINALS.search(text):
            found = again.differs(in_a_test, again.in_a_program("main()\n", run_at_a_terminal), "at a terminal")
        if not found and not TIMES.search(text):
            found = again.differs(in_a_test, again.in_a_program(AT_ANOTHER_TIME, days=DAYS), "ten years later")
            if found and again.differs(in_a_test, again.in_a_program(AT_ANOTHER_TIME, days=0), "now"):
                found = ""              # The replaced clock makes the difference.
        return found


def in_words(call):
    """Returns the call as Python text."""
    module, function, arguments, named = call[:4]
    words = arguments[1:-1].rstrip(",") + "".join(f", {name}={value!r}" for name, value in ast.literal_eval(named).items())
    return f"{module}.{function}({words[:200]})"


def has_none(value):
    if isinstance(value, dict):
        return any(has_none(each) for pair in value.items() for each in pair)
    return value is None or (isinstance(value, (list, tuple, set, frozenset)) and any(has_none(each) for each in value))


def only_before(root, made, before, record_before):
    """Describes a call that the tests make in `before`, the tree without the change, and not in `root`; empty if there is none. Without the change, a test
    ends at the first call that raises. Up to there nothing depends on the change, unless a call has another result; this compares no calls after such a
    call. None in arguments may be a constant without a value. `record_before` returns the calls in `before`; it runs twice."""
    if len(made) >= MOST_CALLS:
        return ""
    def anywhere(call, folder):
        return (*call[:2], *(each.replace(os.path.realpath(folder), ".").replace(folder, ".") for each in call[2:4]))
    results = {anywhere(call, root): call[4] for call in made}
    called = {tuple(call[:2]) for call in made}
    def missing():
        found = {}
        for call in record_before():
            key = anywhere(call, before)
            if call[4] is None or not call[4].startswith("raises "):
                if results.get(key, call[4]) != call[4]:
                    break
            elif tuple(call[:2]) in called and key not in results and not has_none([ast.literal_eval(each) for each in call[2:4]]):
                found[key] = call
        return found
    first = missing()
    again = missing() if first else {}          # A call that depends on chance or time differs between the two recordings.
    for key, call in first.items():
        if key in again:
            return (f"without the change, the tests call {in_words(call)}; with it, they do not. What a test asks must stand in the test: "
                    "take out of the change whatever the tests read of it to choose their arguments")
    return ""


def finding(root, before, tests, arguments, environment, seconds, further):
    """Returns the first finding about the tests' calls: that of `difference`, else of `further` (which gets the calls and their environment),
    else of `only_before`. Empty if there is none, or if it cannot be measured. `seconds`: the duration of the tests."""
    if seconds > MOST_SECONDS:
        return ""
    limit = HANGS_AFTER
    here = recorded(root, tests, arguments, environment, limit)
    if not here or not here["calls"]:
        return ""
    paths = environment.get("PYTHONPATH", "").split(os.pathsep)
    found_here = {**environment, "PYTHONPATH": os.pathsep.join(dict.fromkeys([*here["path"], *paths]))}
    with_literals = [call for call in here["calls"] if call[4] is not None]
    if with_literals:
        other = difference(root, tests, arguments, found_here, with_literals, limit)
        if other is None:
            return ""
        other = other or further(with_literals, found_here)
        if other:
            return other
    found_before = {**environment, "PYTHONPATH": os.pathsep.join(before + each[len(root):] if each.startswith(root) else each for each in paths)}

    def calls_before():
        there = recorded(before, tests, arguments, found_before, limit, failing=True)
        return there["calls"] if there else []
    return only_before(root, here["calls"], before, calls_before)


if __name__ == "__main__":
    sys.exit(record(sys.argv[1], json.loads(sys.argv[3]), sys.argv[2], sys.argv[4:]))
