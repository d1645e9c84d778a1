# SPDX-License-Identifier: Apache-2.0
"""Runs a project's tests and reports each result to the kernel.

Started as `python3 -I -B run_tests.py`, with one JSON object on standard input:
  root      the checked-out tree (read-only), also the working directory
  files     test files, relative to root
  canary    the kernel's own test file, outside the tree, whose tests must all fail
  results   the file to create and write results to
  nonce     a secret in every line of results
  marker    the beginning of the message of a skeleton's NotImplementedError

Results are JSON lines, each {"n": nonce, "i": line number from 0, "type": …}:
  note   {text}                              information for a person
  plan   {id, name, file, line, canary}      a collected test
  start  {id}                                the test begins
  result {id, name, file, line, status, message, canary, assertions}
  machine {text}                             the disk failed in the runner itself, not in a test; the run has no result then
  end    {lines, results, exit}              the last line; `exit` is the exit code that follows
Status: passed, failed_assertion, failed_skeleton, error, skipped. xfail counts as skipped, an unexpected
success as failed_assertion; with sub-tests the worst one counts. A test whose code ended with an exception has not passed, whatever the
framework reports. `assertions` counts those that ran: `assert` in test files, and the assertions of frameworks and mocks.
Exit codes: 0 all tests except the canary passed or were skipped, 1 some did not, 3 the runner itself failed.
"""
import errno
import json
import os
import sys

WORSE = ["passed", "skipped", "failed_skeleton", "failed_assertion", "error"]
MESSAGE_LIMIT = 500
MACHINE = (errno.ENOSPC, errno.EDQUOT, errno.EIO)


def make_channel(request):
    """Returns a function that writes one line. Only its closure contains the nonce."""
    nonce = request.pop("nonce")
    descriptor = os.open(request.pop("results"), os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC, 0o600)
    owner = os.getpid()
    dumps, write, getpid, leave = json.dumps, os.write, os.getpid, os._exit
    lines = 0

    def channel(kind, **fields):
        nonlocal lines
        if getpid() != owner:       # A test forked, and the child process has returned here.
            leave(3)
        # Not every reader accepts a lone surrogate (in a file's name or a test's message), so it becomes a question mark.
        data = (dumps({"n": nonce, "i": lines, "type": kind, **fields}, ensure_ascii=False) + "\n").encode("utf-8", "replace")
        lines += 1
        while data:
            data = data[write(descriptor, data):]
        return lines

    return channel


def describe(error):
    """Returns `AssertionError: text`, with at most MESSAGE_LIMIT characters. Never raises."""
    try:
        text = str(error)
    except BaseException:           # pylint: disable=broad-except
        text = "(its text cannot be shown)"
    name = type(error).__name__
    whole = f"{name}: {text}" if text else name
    return whole if len(whole) <= MESSAGE_LIMIT else whole[:MESSAGE_LIMIT - 1] + "…"


def describe_in(error, path):
    """Returns the same, and whether the code under test raised it: the innermost project file in its traceback is not a test file."""
    root, innermost, trace = os.path.realpath("."), "", getattr(error, "__traceback__", None)
    while trace is not None:
        file = os.path.realpath(trace.tb_frame.f_code.co_filename)
        innermost = file if file.startswith(root + os.sep) else innermost
        trace = trace.tb_next
    name = os.path.basename(innermost)
    by_test = innermost in ("", path) or name.startswith(("test", "conftest")) or os.sep + "test" in innermost[len(root):]
    by_code = " (raised by the code under test)"
    return describe(error) if by_test else describe(error)[:MESSAGE_LIMIT - len(by_code)] + by_code


def line_of(error, path, fallback):
    """Returns the last line of `path` in the error's traceback."""
    found = fallback
    trace = getattr(error, "__traceback__", None)
    while trace is not None:
        if os.path.realpath(trace.tb_frame.f_code.co_filename) == path:
            found = trace.tb_lineno
        trace = trace.tb_next
    if isinstance(error, SyntaxError) and error.filename and os.path.realpath(error.filename) == path:
        found = error.lineno or found
    return found


def code_of(value):
    """Returns the code of a function, method or property; None for anything else."""
    value = getattr(value, "__func__", value)
    value = getattr(value, "fget", value)
    return getattr(value, "__code__", None)


# Python itself, shells and replaced inputs change these.
REPLACED_BUILTINS = ("_", "__build_class__", "__import__", "breakpoint", "copyright", "credits", "display", "exit", "help", "input", "license", "open", "print", "quit")


class Seal:
    """The code that decides a test's result, as it was before the project could change it. Checked after every test, because a patch
    that lies only about some tests would not affect the canary."""

    def __init__(self):
        self._kept, self._owners, self.broken, self.assertions = [], {}, None, None

    def watch(self, owner, wanted=lambda name: True):
        """Records all functions of a class or module. For a class also records that no special method is added."""
        if owner in self._owners:
            return
        label = getattr(owner, "__module__", None)
        label = f"{label}.{owner.__qualname__}" if isinstance(owner, type) else owner.__name__
        names = {name: value for name, value in list(vars(owner).items()) if wanted(name)}
        self._owners[owner] = (label, frozenset(vars(owner)) if isinstance(owner, type) else None)
        for name, value in names.items():
            if code_of(value) is not None or isinstance(value, type) or owner.__name__ == "builtins":
                self._kept.append((owner, name, value, code_of(value), label))

    def watch_test(self, owner):
        """Records a class with tests, and the classes of the project that it inherits from."""
        for each in owner.__mro__[:-1]:
            self.watch(each, lambda name: name.startswith(("test", "assert", "fail", "setUp", "tearDown", "run", "_call", "__")))

    def look(self):
        """Remembers the first changed function."""
        if self.broken is not None:
            return
        for owner, name, value, code, label in self._kept:
            if vars(owner).get(name) is not value or code_of(value) is not code:
                self.broken = f"{label}.{name}"
                return
        if self.assertions is not None:
            self.broken = self.assertions.replaced()
            if self.broken is not None:
                return
        for owner, (label, names) in self._owners.items():
            if names is not None and len(vars(owner)) != len(names):
                new = [name for name in vars(owner) if name not in names and (name in ("__getattribute__", "__getattr__", "__call__", "run"))]
                if new:
                    self.broken = f"{label}.{new[0]}"
                    return

    def look_at(self, test):
        """Finds a test object whose own attributes replace its assertions."""
        if self.broken is None:
            for name in getattr(test, "__dict__", {}):
                if name.startswith(("assert", "fail")) and callable(getattr(type(test), name, None)) and not name.startswith("failureException"):
                    self.broken = f"{type(test).__name__}.{name}"
                    return


def sealed(with_pytest):
    import builtins
    import unittest
    seal = Seal()
    for module in (unittest.case, unittest.suite, unittest.result, unittest.loader):
        for value in list(vars(module).values()):
            if isinstance(value, type) and value.__module__ == module.__name__:
                seal.watch(value)
        seal.watch(module)
    seal.watch(builtins, lambda name: name not in REPLACED_BUILTINS)
    if with_pytest:
        import _pytest.outcomes
        import _pytest.python
        import _pytest.python_api
        import _pytest.reports
        import _pytest.runner
        import _pytest.unittest
        for module in (_pytest.outcomes, _pytest.python, _pytest.python_api, _pytest.reports, _pytest.runner, _pytest.unittest):
            for value in list(vars(module).values()):
                if isinstance(value, type) and value.__module__ == module.__name__:
                    seal.watch(value)
            seal.watch(module)
    return seal


class Assertions:
    """Counts the assertions that run. Created before the project is loaded; afterwards the seal watches the functions that it wraps."""

    def __init__(self, with_pytest):
        import functools
        import unittest
        self.count = 0
        self.wrappers = []

        def counted(function):
            wrapper = functools.wraps(function)(self._counting(function))
            self.wrappers.append((wrapper, [cell.cell_contents for cell in wrapper.__closure__], function, code_of(function)))
            return wrapper

        self._counted = counted

        def wrap(owner, names):
            for name in names:
                if hasattr(owner, name):
                    setattr(owner, name, counted(getattr(owner, name)))

        wrap(unittest.TestCase, [name for name in vars(unittest.TestCase) if name.startswith("assert") or name == "fail"])
        if with_pytest:
            import pytest
            for name in ("raises", "warns", "deprecated_call"):
                if hasattr(pytest, name):
                    setattr(pytest, name, counted(getattr(pytest, name)))

    def _counting(self, function):
        def call(*values, **named):
            self.count += 1
            return function(*values, **named)
        return call

    def watch_mocks(self):
        """Loads mocks only if a test file names them."""
        from unittest import mock
        for name, value in list(vars(mock.NonCallableMock).items()):
            if name.startswith("assert_") and callable(value):
                setattr(mock.NonCallableMock, name, self._counted(value))

    def plus_one(self):
        self.count += 1

    def replaced(self):
        """Returns the first wrapper that no longer calls its original function."""
        for wrapper, cells, function, code in self.wrappers:
            closure = wrapper.__closure__ or ()
            if code_of(function) is not code or len(closure) != len(cells) or any(cell.cell_contents is not value for cell, value in zip(closure, cells)):
                return f"{function.__module__}.{function.__qualname__}"
        return None

    def take(self):
        count, self.count = self.count, 0
        return count


def count_plain_assertions(paths, assertions):
    """Also counts `assert` in these files if pytest does not: compiles each with a call after it."""
    import ast
    import builtins
    import importlib.machinery
    paths = {os.path.realpath(path) for path in paths}
    name = "__agentforge_asserted_" + os.urandom(6).hex() + "__"
    setattr(builtins, name, assertions.plus_one)

    class Counting(ast.NodeTransformer):
        def visit_Assert(self, node):           # pylint: disable=invalid-name
            call = ast.Expr(ast.Call(ast.Name(name, ast.Load()), [], []))
            for each in ast.walk(call):
                ast.copy_location(each, node)
            return [node, call]

    class Loader(importlib.machinery.SourceFileLoader):
        def get_code(self, fullname):
            tree = ast.parse(self.get_data(self.path), self.path)
            return compile(ast.fix_missing_locations(Counting().visit(tree)), self.path, "exec", dont_inherit=True)

    class Finder:
        @staticmethod
        def find_spec(fullname, path=None, target=None):
            spec = importlib.machinery.PathFinder.find_spec(fullname, path, target)
            if spec is not None and spec.origin and os.path.realpath(spec.origin) in paths:
                spec.loader = Loader(fullname, spec.origin)
                return spec
            return None

    sys.meta_path.insert(0, Finder)


class Ledger:
    """The collected tests and their results. Writes each finished test to the channel."""

    def __init__(self, channel, request):
        self.seal = None
        self.assertions = None
        self._counts = {}
        self._channel = channel
        self._marker = request["marker"]
        self._planned = {}
        self._status = {}

    def plan(self, test_id, name, file, line, canary):
        if test_id in self._planned:
            return
        self._planned[test_id] = {"id": test_id, "name": name, "file": file, "line": line, "canary": canary}
        self._channel("plan", **self._planned[test_id])

    def start(self, test_id):
        self._channel("start", id=test_id)

    def note(self, text):
        self._channel("note", text=text[:MESSAGE_LIMIT])

    def classify(self, error, assertion_types):
        if isinstance(error, assertion_types):
            return "failed_assertion"
        if isinstance(error, NotImplementedError) and str(error).startswith(self._marker):
            return "failed_skeleton"
        return "error"

    def report(self, test_id, status, message="", line=0):
        """Combines several reports on one test: the worst counts."""
        known = self._status.get(test_id)
        if known is None or WORSE.index(status) > WORSE.index(known[0]):
            self._status[test_id] = (status, message[:MESSAGE_LIMIT], line)

    def asserted(self, test_id, count):
        self._counts[test_id] = self._counts.get(test_id, 0) + count

    def unreported(self):
        return [test_id for test_id in self._planned if test_id not in self._status]

    def broken_file(self, file, message, line):
        self._planned.setdefault(file, {"id": file, "name": file, "file": file, "line": line, "canary": False})
        self.report(file, "error", message, line)

    def finish(self):
        """Writes all results and the end mark; returns the exit code."""
        self.seal.look()
        if self.seal.broken is not None:
            raise RuntimeError(f"the project replaced {self.seal.broken} while its tests ran")
        for test_id in self.unreported():
            self.report(test_id, "error", "not run: the runner never came to this test")
        bad = False
        for test_id, plan in self._planned.items():
            status, message, line = self._status[test_id]
            fields = dict(plan)
            fields.update(status=status, message=message, line=line or plan["line"])
            if test_id in self._counts:
                fields["assertions"] = self._counts[test_id]
            self._channel("result", **fields)
            if not plan["canary"] and status not in ("passed", "skipped"):
                bad = True
        code = 1 if bad else 0
        self._end(code)
        return code

    def _end(self, code):
        lines = self._channel("note", text="all results are written")
        self._channel("end", lines=lines, results=len(self._planned), exit=code)


# ------------------------------------------------------------------------------------ which runner --

def configured_for_pytest(root):
    """Returns the file that configures pytest for this project, as pytest would choose it, or None."""
    for name in ("pytest.ini", ".pytest.ini"):
        if os.path.isfile(os.path.join(root, name)):
            return name
    for name, mark in (("pyproject.toml", "[tool.pytest"), ("tox.ini", "[pytest]"), ("setup.cfg", "[tool:pytest]")):
        try:
            with open(os.path.join(root, name), encoding="utf-8", errors="replace") as stream:
                if any(line.strip().startswith(mark) for line in stream):
                    return name
        except OSError:
            continue
    return None


def written_for_pytest(root, files):
    """True if a test imports pytest, is a plain function or class, or has a conftest.py beside it."""
    import ast
    folders = set()
    for file in files:
        folder = os.path.dirname(file)
        while True:
            folders.add(folder)
            if not folder:
                break
            folder = os.path.dirname(folder)
    if any(os.path.isfile(os.path.join(root, folder, "conftest.py")) for folder in folders):
        return True
    for file in files:
        try:
            with open(os.path.join(root, file), "rb") as stream:
                tree = ast.parse(stream.read())
        except (OSError, SyntaxError, ValueError):
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.Import) and any(alias.name.split(".")[0] == "pytest" for alias in node.names):
                return True
            if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "pytest":
                return True
        for node in tree.body:
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name.startswith("test"):
                return True
            if isinstance(node, ast.ClassDef) and node.name.startswith("Test") and not node.bases:
                return True
    return False


def names_mocks(path):
    try:
        with open(path, "rb") as stream:
            return b"mock" in stream.read()
    except OSError:
        return False


# ---------------------------------------------------------------------------------------- unittest --

def module_name_and_folder(root, file):
    """Returns the dotted name through the packages around the file, and the folder that must be importable."""
    parts = file[:-3].split("/")
    first = len(parts) - 1
    while first > 0 and os.path.isfile(os.path.join(root, *parts[:first], "__init__.py")):
        first -= 1
    return ".".join(parts[first:]), os.path.join(root, *parts[:first])


def import_file(root, file):
    import importlib
    import importlib.util
    path = os.path.join(root, file)
    name, folder = module_name_and_folder(root, file)
    if folder not in sys.path:
        sys.path.insert(0, folder)
    known = sys.modules.get(name)
    if known is None and all(part.isidentifier() for part in name.split(".")):
        module = importlib.import_module(name)
        if os.path.realpath(getattr(module, "__file__", "") or "") == os.path.realpath(path):
            return module
    elif known is not None and os.path.realpath(getattr(known, "__file__", "") or "") == os.path.realpath(path):
        return known
    # Another module has that name, so this loads the file under a different name.
    unique = "agentforge_test_" + "".join(c if c.isalnum() else "_" for c in file)
    spec = importlib.util.spec_from_file_location(unique, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[unique] = module
    spec.loader.exec_module(module)
    return module


def flatten(suite):
    import unittest
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from flatten(test)
        else:
            yield test


class LeftBy:
    """Replaces a test's method while it runs, and keeps the exception that ended it."""

    def __init__(self, test, name):
        self.error, self._test, self._name = None, test, name
        method = getattr(test, name, None)
        if method is None or not name or name in getattr(test, "__dict__", {}):
            return
        setattr(test, name, self.around(method))

    def around(self, method):
        import functools
        import inspect
        if inspect.iscoroutinefunction(method):
            @functools.wraps(method)
            async def run(*values, **named):
                try:
                    return await method(*values, **named)
                except BaseException as error:
                    self.error = error
                    raise
        else:
            @functools.wraps(method)
            def run(*values, **named):
                try:
                    return method(*values, **named)
                except BaseException as error:
                    self.error = error
                    raise
        return run

    def take_off(self):
        getattr(self._test, "__dict__", {}).pop(self._name, None)


def run_unittest(request, ledger):
    import unittest
    root = request["root"]
    ids, paths, lines, left, holders = {}, {}, {}, {}, []

    def load(file, path, canary):
        real = os.path.realpath(path)
        try:
            if canary:
                module = import_file(os.path.dirname(path), os.path.basename(path))
            else:
                module = import_file(root, file)
            tests = list(flatten(unittest.TestLoader().loadTestsFromModule(module)))
        except KeyboardInterrupt:
            raise
        except unittest.SkipTest:
            ledger.note(f"{file} was skipped as a whole when it was loaded")
            return []
        except BaseException as error:      # pylint: disable=broad-except
            ledger.broken_file(file, "cannot be loaded: " + describe(error), line_of(error, real, 0))
            return []
        for test in tests:
            method = getattr(test, "_testMethodName", "")
            if type(test).__name__ == "_FailedTest":
                error = getattr(test, "_exception", None) or RuntimeError("load failed")
                ledger.broken_file(file, "cannot be loaded: " + describe(error), 0)
            code = getattr(getattr(getattr(type(test), method, None), "__func__", getattr(type(test), method, None)), "__code__", None)
            test_id = f"{file}::{type(test).__name__}::{method}" if method else f"{file}::{test.id()}"
            ids[test], paths[test], lines[test] = test_id, real, code.co_firstlineno if code else 0
            ledger.seal.watch_test(type(test))
            ledger.plan(test_id, method or test.id(), file, lines[test], canary)
        plain = [name for name, value in vars(module).items()
                 if name.startswith("test") and callable(value) and getattr(value, "__module__", "") == module.__name__
                 and not isinstance(value, type)]
        if plain:
            ledger.note(f"{file}: {', '.join(sorted(plain)[:5])} are plain functions; without pytest only methods of "
                        "unittest.TestCase are run")
        return tests

    class Recorder(unittest.TestResult):
        def startTest(self, test):
            super().startTest(test)
            ledger.start(ids.get(test, str(test)))
            left[test] = LeftBy(test, getattr(test, "_testMethodName", ""))
            ledger.assertions.take()

        def stopTest(self, test):
            super().stopTest(test)
            if test in ids:
                ledger.asserted(ids[test], ledger.assertions.take())
            ledger.seal.look()
            left[test].take_off()
            ledger.seal.look_at(test)

        def _record(self, test, error):
            if test in ids:
                status = ledger.classify(error, (test.failureException, AssertionError))
                ledger.report(ids[test], status, describe_in(error, paths[test]), line_of(error, paths[test], lines[test]))
            else:
                # As in a pytest fixture: only unwritten code makes this a failure.
                holders.append((str(getattr(test, "description", test)), ledger.classify(error, ()), describe(error)))

        def addSuccess(self, test):
            error = left[test].error
            if error is None:
                ledger.report(ids[test], "passed")
            else:
                ledger.report(ids[test], "error", "ended by an exception that the framework takes for success: " + describe(error),
                              line_of(error, paths[test], lines[test]))

        def addFailure(self, test, err):
            self._record(test, err[1])

        def addError(self, test, err):
            self._record(test, err[1])

        def addSubTest(self, test, subtest, err):
            if err is not None:
                self._record(test, err[1])

        def addSkip(self, test, reason):
            test = getattr(test, "test_case", test)
            if test in ids:
                ledger.report(ids[test], "skipped", str(reason))
            else:
                holders.append((str(getattr(test, "description", test)), "skipped", str(reason)))

        def addExpectedFailure(self, test, err):
            ledger.report(ids[test], "skipped", "expected failure: " + describe(err[1]))

        def addUnexpectedSuccess(self, test):
            ledger.report(ids[test], "failed_assertion", "unexpected success of a test that is marked expectedFailure", lines[test])

    suite = unittest.TestSuite()
    everything = []
    for file in request["files"]:
        everything += load(file, os.path.join(root, file), False)
    for test in everything:
        suite.addTest(test)
    suite._removeTestAtIndex = lambda index: None       # Keeps the tests, because their ids are needed until the end.
    recorder = Recorder()
    suite.run(recorder)
    # The canary loads last, after any patches of the project.
    canaries = unittest.TestSuite(load("agentforge-canary", request["canary"], True))
    canaries.run(recorder)
    waiting = set(ledger.unreported())
    for test, test_id in ids.items():
        if test_id not in waiting:
            continue
        name = unittest.util.strclass(type(test))
        for description, status, message in holders:
            if f"({name})" in description or f"({type(test).__module__})" in description:
                ledger.report(test_id, status, message if status == "skipped" else f"{description}: {message}", lines[test])
                break


# ------------------------------------------------------------------------------------------ pytest --

def note_broken_conftest():
    """Returns a list that gets each conftest.py that does not load, with its error. pytest only prints it, and ends with 4."""
    broken = []
    try:
        from _pytest.config import ConftestImportFailure
    except ImportError:
        return broken
    begin = ConftestImportFailure.__init__

    def noted(self, path, *arguments, **options):
        begin(self, path, *arguments, **options)
        cause = options.get("cause") or getattr(self, "excinfo", (None, None))[1]
        if isinstance(cause, BaseException):
            broken.append((str(path), cause))

    ConftestImportFailure.__init__ = noted
    return broken


def run_pytest(request, ledger, configuration):
    import pathlib
    import importlib.util
    import pytest
    root = os.path.realpath(request["root"])
    canary_path = os.path.realpath(request["canary"])
    assertion_types = (AssertionError, pytest.fail.Exception)
    codes, left = {}, {}
    unittest_function = getattr(sys.modules.get("_pytest.unittest"), "TestCaseFunction", None)

    def identify(item):
        path = os.path.realpath(str(getattr(item, "path", None) or item.fspath))
        rest = item.nodeid.split("::", 1)[1] if "::" in item.nodeid else item.name
        if path == canary_path:
            return "agentforge-canary::" + "::".join(item.nodeid.split("::")[-2:]), "agentforge-canary", path, True
        file = os.path.relpath(path, root).replace(os.sep, "/")
        return f"{file}::{rest}", file, path, False

    class Reporter:
        @pytest.hookimpl(hookwrapper=True, tryfirst=True)
        def pytest_collection_modifyitems(self, session, config, items):
            yield
            module = pytest.Module.from_parent(session, path=pathlib.Path(canary_path))
            items.extend(session.genitems(module))

        @pytest.hookimpl(hookwrapper=True, tryfirst=True)
        def pytest_collection_finish(self, session):
            for item in session.items:
                test_id, file, _, canary = identify(item)
                ledger.plan(test_id, item.name, file, (item.location[1] or 0) + 1, canary)
                if getattr(item, "cls", None) is not None:
                    ledger.seal.watch_test(item.cls)
                codes[item] = code_of(getattr(item, "obj", None))
            yield

        def pytest_collectreport(self, report):
            if report.failed:
                file = (report.nodeid or "collection").split("::")[0]
                lines = [line for line in str(report.longrepr).strip().splitlines() if line.startswith("E ")]
                ledger.broken_file(file, "cannot be loaded: " + (" ".join(line[1:].strip() for line in lines) or
                                                                  str(report.longrepr).strip().splitlines()[-1]), 0)
            elif report.skipped:
                ledger.note(f"{report.nodeid} was skipped as a whole when it was loaded")

        @pytest.hookimpl(hookwrapper=True, tryfirst=True)
        def pytest_runtest_protocol(self, item, nextitem):
            ledger.start(identify(item)[0])
            yield

        @pytest.hookimpl(hookwrapper=True, tryfirst=True)
        def pytest_runtest_call(self, item):
            ledger.assertions.take()
            if unittest_function is not None and isinstance(item, unittest_function):
                if code_of(getattr(item, "obj", None)) is not codes.get(item):
                    ledger.seal.broken = ledger.seal.broken or identify(item)[0]
                left[item] = LeftBy(None, "")
                item.obj = left[item].around(item.obj)
                codes[item] = code_of(item.obj)
            yield
            ledger.asserted(identify(item)[0], ledger.assertions.take())

        def pytest_assertion_pass(self, item, lineno, orig, expl):
            ledger.assertions.plus_one()

        @pytest.hookimpl(hookwrapper=True, tryfirst=True)
        def pytest_runtest_makereport(self, item, call):
            outcome = yield
            report = outcome.get_result()
            test_id, _, path, _ = identify(item)
            if call.when == "call":
                ledger.seal.look()
                ledger.seal.look_at(getattr(item, "instance", None))
                if code_of(getattr(item, "obj", None)) is not codes.get(item):
                    ledger.seal.broken = ledger.seal.broken or test_id
            line = (item.location[1] or 0) + 1
            error = call.excinfo.value if call.excinfo is not None else None
            if getattr(report, "wasxfail", None) is not None:
                if report.skipped:
                    ledger.report(test_id, "skipped", f"expected failure: {report.wasxfail}")
                else:
                    ledger.report(test_id, "failed_assertion", "unexpected success of a test that is marked xfail", line)
            elif isinstance(error, pytest.skip.Exception) or type(error).__name__ == "SkipTest":
                ledger.report(test_id, "skipped", str(error))
            elif error is not None:
                status = ledger.classify(error, assertion_types)
                if call.when != "call" and status != "failed_skeleton":
                    status = "error"        # A fixture that reaches unwritten code fails its test just as the test itself would.
                prefix = "" if call.when == "call" else f"in {call.when}: "
                ledger.report(test_id, status, prefix + describe_in(error, path), line_of(error, path, line))
            elif report.failed:
                ledger.report(test_id, "failed_assertion", str(report.longrepr).strip().splitlines()[-1], line)
            elif call.when == "call" and item in left and left[item].error is not None:
                error = left[item].error
                ledger.report(test_id, "error", "ended by an exception that the framework takes for success: " + describe(error), line_of(error, path, line))
            elif call.when == "call":
                ledger.report(test_id, "passed")

    arguments = ["--rootdir", root, "--confcutdir", root, "-p", "no:cacheprovider", "-q", "--color=no", "--tb=no", "--maxfail=0",
                 "--continue-on-collection-errors", "--basetemp", os.path.join(os.environ["TMPDIR"], "pytest")]
    if configuration is None:
        configuration = os.path.join(os.environ["TMPDIR"], "pytest.ini")
        with open(configuration, "w", encoding="utf-8") as stream:
            stream.write("[pytest]\n")
    else:
        configuration = os.path.join(root, configuration)
    arguments += ["-c", configuration, "-o", "enable_assertion_pass_hook=true"]
    for module, option in (("xdist", ["-n0"]), ("pytest_cov", ["--no-cov"]), ("pytest_randomly", ["-p", "no:randomly"]),
                           ("pytest_rerunfailures", ["--reruns=0"])):
        if importlib.util.find_spec(module) is not None:
            arguments += option
    arguments += [os.path.join(root, file) for file in request["files"]]
    broken = note_broken_conftest()
    code = int(pytest.main(arguments, plugins=[Reporter()]))
    if code != 1:       # The canary fails, so only 1 is correct.
        for path, error in broken:
            raise RuntimeError(f"{os.path.relpath(path, root)} does not load, so no test can run: {describe(error)}")
        raise RuntimeError(f"pytest ended with {code} although the canary test must fail (1)")


def main():
    request = json.loads(sys.stdin.buffer.read().decode("utf-8", "surrogateescape"))
    channel = make_channel(request)
    leave = os._exit
    ledger = Ledger(channel, request)
    root = request["root"]
    os.chdir(root)
    sys.argv = ["run_tests"]
    sys.modules["__main__"] = type(sys)("__main__")     # Prevents `import __main__` from returning the runner.
    code = 3
    try:
        # Imports the runner before the tree is importable, so nothing in the tree can replace it. Its own compiled files may be
        # used. Afterwards Python looks for compiled files only in scratch, where there are none.
        import unittest                     # noqa: F401  pylint: disable=unused-import
        configuration = configured_for_pytest(root)
        wanted = configuration is not None or written_for_pytest(root, request["files"])
        if wanted:
            try:
                import pytest               # noqa: F401  pylint: disable=unused-import
            except ImportError:
                ledger.note("these tests are written for pytest, which python3 cannot import; they are run with unittest")
                wanted = False
        ledger.assertions = Assertions(wanted)
        if any(names_mocks(os.path.join(root, file)) for file in request["files"]):
            ledger.assertions.watch_mocks()
        ledger.seal = sealed(wanted)
        ledger.seal.assertions = ledger.assertions
        sys.dont_write_bytecode = True
        sys.pycache_prefix = os.path.join(os.environ["TMPDIR"], "pycache")
        for folder in (os.path.join(root, "src"), root):
            if os.path.isdir(folder):
                sys.path.insert(0, folder)
        if wanted:
            run_pytest(request, ledger, configuration)
        else:
            count_plain_assertions([os.path.join(root, file) for file in request["files"]], ledger.assertions)
            run_unittest(request, ledger)
        code = ledger.finish()
    except BaseException as error:          # pylint: disable=broad-except
        try:
            if isinstance(error, OSError) and error.errno in MACHINE:
                channel("machine", text=os.strerror(error.errno))
            sys.stderr.write(f"\nagentforge: the test runner stopped: {describe(error)}\n")
        finally:
            code = 3
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except BaseException:               # pylint: disable=broad-except
            pass
    leave(code)


if __name__ == "__main__":
    main()
