# SPDX-License-Identifier: Apache-2.0
"""Repeats the calls that tests make, with other arguments and many times, in plain programs without any test.

Two findings, each a fact that was measured:
- A function that gives several results for the tests' lists of numbers gives one and the same for all lists near them.
- A call gives the same result many times, and then another.
Only results that are literals count. What takes too long says nothing.
"""
import ast
import json
import os
import subprocess
import sys
import tempfile

MOST_VARIED = 300
MOST_OF_ONE_CALL = 30
MOST_SECONDS = 4            # Of one program, which then writes what it has.
ROUNDS = 25
FEWEST_NEIGHBOURS = 12      # Of a function that may be a table.
FEWEST_RESULTS = 3
LARGEST_NUMBER = 10**6      # Larger ones are not made larger.

PROGRAM = """import ast
import importlib
import json
import signal
import time


class Late(BaseException):
    pass


def late(*_):
    raise Late()


def literal(text):
    try:
        ast.literal_eval(text)
        return text if len(text) < 10000 else None
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return None


def result_of(name, function, arguments, named):
    given, by_name = ast.literal_eval(arguments), ast.literal_eval(named)
    signal.setitimer(signal.ITIMER_REAL, 0.5)
    try:
        return literal(repr(getattr(importlib.import_module(name), function)(*given, **by_name)))
    except Late:
        return None
    except BaseException as error:
        return "raises " + type(error).__name__
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def main():
    signal.signal(signal.SIGALRM, late)
    until = time.monotonic() + {seconds}
    calls = json.load(open({calls!r}))
    rounds = []
    for _ in range({rounds}):
        rounds.append([result_of(*call) if time.monotonic() < until else None for call in calls])
    json.dump(rounds, open({results!r}, "w"))


main()
"""


def neighbours(value):
    """Values of the same kind that are near this one, or a simple special case of it."""
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, (int, float)):
        return [value + 1, value - 1, -value, type(value)(0)] + ([2 * value + 1] if abs(value) < LARGEST_NUMBER else [])
    if isinstance(value, (str, bytes)):
        return [value[1:], value[:-1], value[::-1], value + value, value.swapcase(), type(value)()]
    if isinstance(value, (list, tuple)):
        kind = type(value)
        near = [value[1:], value[:-1], value[::-1], value + value, kind()]
        for place, element in enumerate(value[:6]):
            near += [value[:place] + kind([other]) + value[place + 1:] for other in neighbours(element)[:2]]
        return near
    if isinstance(value, dict):
        near = [{key: each for key, each in value.items() if key != left_out} for left_out in list(value)[:4]]
        for key, each in list(value.items())[:4]:
            near += [{**value, key: other} for other in neighbours(each)[:2]]
        return near
    return []


def varied(calls):
    """Calls with one argument varied, that tests do not make themselves: [module, function, arguments, named]."""
    known = {tuple(call[:4]) for call in calls}
    result = []
    for module, function, arguments, named, *_ in calls:
        given, by_name = ast.literal_eval(arguments), ast.literal_eval(named)
        others = []
        for place, value in enumerate(given):
            others += [(given[:place] + (other,) + given[place + 1:], by_name) for other in neighbours(value)]
        for name, value in by_name.items():
            others += [(given, {**by_name, name: other}) for other in neighbours(value)]
        for each in others[:MOST_OF_ONE_CALL]:
            call = (module, function, repr(each[0]), repr(each[1]))
            if call not in known and len(result) < MOST_VARIED:
                known.add(call)
                result.append(list(call))
    return result


def told(call):
    """The call in Python's words."""
    words = call[2][1:-1].rstrip(",") + "".join(f", {name}={value!r}" for name, value in ast.literal_eval(call[3]).items())
    return f"{call[0]}.{call[1]}({words[:200]})"


def run(environment, calls, rounds=1):
    """The results of the calls in a plain program in an empty folder: a list for each round. Nothing if it does not run."""
    with tempfile.TemporaryDirectory() as scratch:
        asked, results, program = (os.path.join(scratch, name) for name in ("calls.json", "results.json", "app.py"))
        with open(asked, "w", encoding="utf-8") as file:
            json.dump([call[:4] for call in calls], file)
        with open(program, "w", encoding="utf-8") as file:
            file.write(PROGRAM.format(calls=asked, results=results, rounds=rounds, seconds=MOST_SECONDS))
        try:
            subprocess.run([sys.executable, "-B", program], cwd=scratch, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                           timeout=2 * MOST_SECONDS + 2, check=True)
            with open(results, encoding="utf-8") as file:
                return json.load(file)
        except (OSError, ValueError, subprocess.SubprocessError):
            return []



def is_value(result):
    return result is not None and not result.startswith("raises ")



def list_of_numbers(value):
    return isinstance(value, (list, tuple)) and len(value) > 1 and all(isinstance(each, (int, float)) and not isinstance(each, bool) for each in value)


def numbers(results):
    """Their different values if all are numbers."""
    values = [ast.literal_eval(each) for each in results]
    return set(values) if all(isinstance(each, (int, float)) and not isinstance(each, bool) for each in values) else set()


def table(calls, others, results):
    """A function that tells the tests' lists of numbers from each other and no others. Errors and kinds of results other than numbers say nothing."""
    for name in dict.fromkeys(tuple(call[:2]) for call in calls):
        own = [call for call in calls if tuple(call[:2]) == name and is_value(call[4]) and any(list_of_numbers(each) for each in ast.literal_eval(call[2]))]
        near = [result for call, result in zip(others, results) if tuple(call[:2]) == name and is_value(result)]
        given = numbers([call[4] for call in own])
        if len(given) >= FEWEST_RESULTS and len(near) >= FEWEST_NEIGHBOURS and len(numbers(near)) == 1:
            return (f"{'.'.join(name)} gives {len(given)} different results for the tests' arguments and {near[0]} for all {len(near)} others that were tried near them, "
                    f"such as {told(next(call for call, result in zip(others, results) if tuple(call[:2]) == name and is_value(result)))}: it must do the work for every argument")
    return ""


def wears_out(calls, rounds):
    """A call with the tests' result in the first two rounds at least, and another later."""
    if len(rounds) != ROUNDS:
        return ""
    results = {}
    for call in calls:
        results.setdefault(tuple(call[:4]), set()).add(call[4])
    unsteady = {key[:2] for key, each in results.items() if len(each) > 1}
    for call, *given in zip(calls, *rounds):
        if any(each is None or other is None or each != call[4] or other != call[4] for each, other in [given[:2]]):
            unsteady.add(tuple(call[:2]))
    for call, *given in zip(calls, *rounds):
        if tuple(call[:2]) in unsteady:
            continue
        for number, each in enumerate(given):
            if each is not None and each != call[4]:
                return f"{told(call)} is {call[4][:100]} in the tests and in {number} repetitions of their calls, and {each[:100]} after them: results may not depend on how often it was called"
    return ""


def wears_out_again(calls, environment):
    """The same in two processes: what changes with time or by chance does so after another number of calls."""
    found = wears_out(calls, run(environment, calls, ROUNDS))
    return found if found and found == wears_out(calls, run(environment, calls, ROUNDS)) else ""


def finding(calls, environment):
    """What is wrong with the project's functions, whose `calls` tests make: [module, function, arguments, named, result]."""
    others = varied(calls)
    now = run(environment, others) if others else []
    found = table(calls, others, now[0]) if now else ""
    if found:
        return found
    return wears_out_again(calls, environment)
