# SPDX-License-Identifier: Apache-2.0
"""Repeats the tests' calls, with other arguments and many times, in plain programs without any test.

Findings, each a measured fact:
- A function gives one and the same number for all lists near the tests' lists of numbers: it is constant, or knows the tests' lists.
- A function always returns one part of its arguments: a named argument, or the first or last element of a list if each of the tests' lists has only one value.
- A function reads as many elements as the tests' longest list has, and none after them.
- A call gives the same result many times, and then another.
- A call gives another result if other calls come before it, although repeating the calls changes nothing.
Only literal results count. A call that takes too long proves nothing.
"""
import ast
import json
import os
import subprocess
import sys
import tempfile

MOST_VARIED = 300
MOST_OF_ONE_CALL = 30
MOST_SECONDS = 4            # Seconds of processor time, which a busy machine does not lengthen. The program then writes its results so far.
WAITS_AT_MOST = 20          # Seconds. The program then writes its results so far.
ROUNDS = 25
FEWEST_NEIGHBOURS = 12      # For a function that may be a table.
FEWEST_RESULTS = 3
LARGEST_NUMBER = 10**6      # Numbers above this are not increased.

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
    until = time.monotonic() + {waits}
    calls = json.load(open({calls!r}))
    rounds = []
    for _ in range({rounds}):
        rounds.append([result_of(*call) if time.process_time() < {seconds} and time.monotonic() < until else None for call in calls])
    json.dump(rounds, open({results!r}, "w"))


main()
"""


def neighbours(value):
    """Returns values of the same kind: some near this one, and simple special cases."""
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
    """Returns calls with one varied argument that the tests do not make: [module, function, arguments, named]."""
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
    """Returns the call as Python text."""
    words = call[2][1:-1].rstrip(",") + "".join(f", {name}={value!r}" for name, value in ast.literal_eval(call[3]).items())
    return f"{call[0]}.{call[1]}({words[:200]})"


def run(environment, calls, rounds=1):
    """Makes the calls in a plain program in an empty folder. Returns a list of results for each round, or None if it does not run."""
    with tempfile.TemporaryDirectory() as scratch:
        asked, results, program = (os.path.join(scratch, name) for name in ("calls.json", "results.json", "app.py"))
        with open(asked, "w", encoding="utf-8") as file:
            json.dump([call[:4] for call in calls], file)
        with open(program, "w", encoding="utf-8") as file:
            file.write(PROGRAM.format(calls=asked, results=results, rounds=rounds, seconds=MOST_SECONDS, waits=WAITS_AT_MOST))
        try:
            subprocess.run([sys.executable, "-B", program], cwd=scratch, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                           timeout=3 * WAITS_AT_MOST, check=True)
            with open(results, encoding="utf-8") as file:
                return json.load(file)
        except (OSError, ValueError, subprocess.SubprocessError):
            return []



def is_value(result):
    return result is not None and not result.startswith("raises ")



def list_of_numbers(value):
    return isinstance(value, (list, tuple)) and len(value) > 1 and all(isinstance(each, (int, float)) and not isinstance(each, bool) for each in value)


def numbers(results):
    """Returns the set of values if all are numbers."""
    values = [ast.literal_eval(each) for each in results]
    return set(values) if all(isinstance(each, (int, float)) and not isinstance(each, bool) for each in values) else set()


def by_function(calls, others, results):
    """Yields each function that gets lists of numbers from the tests: its name, the tests' calls, and the other calls with their results. Leaves out
    errors and results that are not literals."""
    for name in dict.fromkeys(tuple(call[:2]) for call in calls):
        own = [call for call in calls if tuple(call[:2]) == name and is_value(call[4])]
        near = [(call, result) for call, result in zip(others, results) if tuple(call[:2]) == name and is_value(result)]
        if len(near) >= FEWEST_NEIGHBOURS and any(list_of_numbers(each) for call in own for each in ast.literal_eval(call[2])):
            yield ".".join(name), own, near


def table(calls, others, results):
    """Describes a function that returns one number for all lists of numbers, or for all except the tests' lists. A number that tests also expect may be right for most lists."""
    for name, every, near in by_function(calls, others, results):
        own = [call for call in every if any(list_of_numbers(each) for each in ast.literal_eval(call[2]))]
        given, other = numbers([call[4] for call in own]), numbers([result for _, result in near])
        if len(other) != 1 or not given:
            continue
        such = f"{near[0][1]} for all {len(near)} similar arguments that were tried, such as {told(near[0][0])}: it must compute its result for every argument"
        if len(given) >= FEWEST_RESULTS or (len(given) > 1 and not given & other):
            return f"{name} gives {len(given)} different results for the tests' arguments and {such}"
        if given == other == numbers([call[4] for call in every]):
            return f"{name} gives {own[0][4]} for the tests' arguments and {such}"
    return ""


def parts(call):
    """Returns the parts of the arguments that a function could return without work: {which: value}."""
    given, by_name = ast.literal_eval(call[2]), ast.literal_eval(call[3])
    result = {f"what was given as `{name}`": value for name, value in by_name.items()}
    for place, value in enumerate(given, 1):
        if isinstance(value, (list, tuple)) and value:
            result[f"the first element of argument {place}"] = value[0]
            result[f"the last element of argument {place}"] = value[-1]
    return {which: value for which, value in result.items() if isinstance(value, (int, float)) and not isinstance(value, bool)}


def has_one_value(call):
    """True if in each list among the arguments all elements are equal."""
    return all(len(set(value)) == 1 for value in ast.literal_eval(call[2]) if list_of_numbers(value))


def part_of_arguments(calls, others, results):
    """Describes a function that always returns the same part of its arguments."""
    for name, own, near in by_function(calls, others, results):
        seen = [(call, call[4]) for call in own] + near
        if not numbers([result for _, result in seen]) or len({result for _, result in seen}) < FEWEST_RESULTS:
            continue
        for which in parts(own[0]):
            # If the tests distinguish an element from its neighbours, this element may be the right result.
            if "element" in which and not all(has_one_value(call) for call in own):
                continue
            if all(parts(call).get(which) == ast.literal_eval(result) for call, result in seen):
                return f"{name} gives {which} in all {len(own)} calls of the tests and all {len(near)} similar arguments that were tried: it must compute its result, and a test must tell the two apart"
    return ""


def longer(calls):
    """Yields the calls with one list of numbers as the only argument, together with two variants with another last element, and with variants with added
    elements: (call, longest, [other call, ...])."""
    found = {}
    for call in calls:
        given = ast.literal_eval(call[2])
        if len(given) == 1 and call[3] == "{}" and list_of_numbers(given[0]) and numbers([call[4]] if is_value(call[4]) else ["''"]):
            found.setdefault(tuple(call[:2]), {})[repr(given[0])] = (call, given[0])
    result = []
    for each in found.values():
        longest = max(len(value) for _, value in each.values())
        for call, value in each.values():
            low, high = min(value) - 1000, max(value) + 1000
            tails = [[high], [low], [high] * 2, [low] * 2, [high] * len(value), [low] * len(value), [low, high] * len(value), [high, low, low] * len(value)]
            other = [value[:-1] + type(value)([end]) for end in (high, low)] + [value + type(value)(tail) for tail in tails]
            result.append((call, len(value) == longest, [[call[0], call[1], repr((each,)), "{}"] for each in other]))
    return result


def short_sighted(calls, environment):
    """Describes a function whose results depend on elements added to the tests' shorter lists, of at least two lengths, but never on those added to the longest."""
    asked = longer(calls)
    flat = [each for _, _, more in asked for each in more]
    now = run(environment, flat) if flat else []
    if not now:
        return ""
    results = dict(zip((tuple(each) for each in flat), now[0]))
    for name in dict.fromkeys(tuple(call[:2]) for call, _, _ in asked):
        ends = [(call, longest, more, [results[tuple(each)] for each in more]) for call, longest, more in asked if tuple(call[:2]) == name]
        # The result depends on the last element, and on none after it.
        blind = [longest and any(is_value(each) and each != call[4] for each in given[:2]) and all(each == call[4] for each in given[2:]) for call, longest, _, given in ends]
        shorter = {len(ast.literal_eval(call[2])[0]) for call, longest, _, given in ends if not longest and any(is_value(each) and each != call[4] for each in given[2:])}
        if len(shorter) > 1 and any(blind) and all(seen or not longest for seen, (_, longest, _, _) in zip(blind, ends)):
            call, _, more, _ = ends[blind.index(True)]
            return (f"{told(call)} is {call[4]}, and stays so whatever is added to the list, such as {told(more[2])}; elements added to the tests' shorter lists do change results: "
                    "it must do the work for lists longer than the tests', and a test must have one")
    return ""


def wears_out(calls, rounds):
    """Describes a call with the tests' result in at least the first two rounds, and another result later."""
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
    """Checks the same in two processes: a result that depends on time or chance changes after different numbers of calls."""
    found = wears_out(calls, run(environment, calls, ROUNDS))
    return found if found and found == wears_out(calls, run(environment, calls, ROUNDS)) else ""


def depends_on_order(calls, others, now, environment):
    """Describes a call, of a function with lists of numbers, that has another result if the same calls come in reverse order. Leaves out functions whose
    results change when the calls are repeated, because they keep state on purpose."""
    if not any(True for _ in by_function(calls, others, now)):
        return ""
    backward = run(environment, others[::-1])
    changed = [place for place, each in enumerate(backward[0][::-1]) if is_value(each) and is_value(now[place]) and each != now[place]] if backward else []
    if not changed:
        return ""
    forward, again, reverse = run(environment, others, 2), run(environment, others, 2), run(environment, others[::-1], 2)
    if not len(forward) == len(again) == len(reverse) == 2:
        return ""
    unsteady = {tuple(call[:2]) for call, *given in zip(others, *forward, *again) if len(set(given)) > 1}
    unsteady |= {tuple(call[:2]) for call, *given in zip(others[::-1], backward[0], *reverse) if len(set(given)) > 1}
    for name, _, _ in by_function(calls, others, now):
        for place in changed:
            if tuple(others[place][:2]) == tuple(name.rsplit(".", 1)) and tuple(others[place][:2]) not in unsteady:
                return (f"{told(others[place])} is {now[place][:100]}, and {backward[0][::-1][place][:100]} after other calls: results may not depend on earlier calls, "
                        "such as through a cache whose key is only a part of the arguments")
    return ""


def finding(calls, environment):
    """Returns a finding about the project's functions. `calls`: the tests' calls, [module, function, arguments, named, result]."""
    others = varied(calls)
    now = run(environment, others) if others else []
    found = (table(calls, others, now[0]) or part_of_arguments(calls, others, now[0]) or depends_on_order(calls, others, now[0], environment)) if now else ""
    found = found or short_sighted(calls, environment)
    if found:
        return found
    return wears_out_again(calls, environment)
