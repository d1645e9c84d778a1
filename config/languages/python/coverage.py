# SPDX-License-Identifier: Apache-2.0
"""Reports which changed lines of a task the tests run, which tests run them, and which of these lines compare with values of the tests.

Started as `python3 -I -B coverage.py`, with one JSON object on standard input:
  root     the checked-out tree (read-only), also the working directory
  files    test files, relative to root
  changed  path of a source: the numbers of its changed lines
  marker   how the message of a skeleton's NotImplementedError starts

Output, one JSON object a line:
  {"file", "line", "count", "tests"}       an executable changed line: how many tests ran it, and the first five; a run when
                                           the module loads counts as one without a name
  {"special", "file", "line", "tests"}     a changed line that compares with the literal `special`, which a test file also has:
                                           the tests that ran the code that depends on it; none if that is unknown
  {"not_measured": reason}                 a line may have run unnoticed: there are no results for lines, and `special` lines have no tests
  {"end": true, "tests": how many were run}

Lines that only a separate process runs are not seen. Nothing here is a proof: the project's code runs in this process.
"""
import ast
import importlib.util
import json
import os
import sys
import threading
import types
import warnings

HERE = os.path.dirname(os.path.abspath(__file__))


def load_runner():
    spec = importlib.util.spec_from_file_location("agentforge_run_tests", os.path.join(HERE, "run_tests.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def executable_lines(source, path):
    lines, waiting = set(), [compile(source, path, "exec", dont_inherit=True)]
    while waiting:
        code = waiting.pop()
        lines.update(line for _, _, line in code.co_lines() if line)
        waiting.extend(constant for constant in code.co_consts if isinstance(constant, types.CodeType))
    return lines


def telling(value):
    """True if a literal is specific to a test: not the empty string, a single letter, a flag or a small number."""
    if isinstance(value, (str, bytes)):
        return len(value) > 1
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) > 2


def literals(node):
    if isinstance(node, ast.Constant):
        return [node.value] if telling(node.value) else []
    if isinstance(node, (ast.Tuple, ast.List, ast.Set)):
        return [value for element in node.elts for value in literals(element)]
    return []


def test_literals(root, files):
    found = set()
    for file in files:
        try:
            with open(os.path.join(root, file), "rb") as stream:
                tree = ast.parse(stream.read())
        except (OSError, SyntaxError, ValueError):
            continue
        plain = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}     # Docstrings.
        found.update(node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and id(node) not in plain and telling(node.value))
    return found


def special_lines(tree, known):
    """Yields (line, literal, line of the dependent code) for each comparison with one of the known literals."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.If, ast.While)):
            for each in ast.walk(node.test):
                yield from ((line, value, node.body[0].lineno) for line, value in compared(each) if value in known)
        elif isinstance(node, ast.IfExp):
            for each in ast.walk(node.test):
                yield from ((line, value, node.body.lineno) for line, value in compared(each) if value in known)
        elif isinstance(node, ast.Dict):
            keys = [value for key in node.keys if key is not None for value in literals(key)]
            if keys and all(value in known for value in keys):
                yield node.lineno, keys[0], node.lineno
        elif type(node).__name__ == "match_case" and type(node.pattern).__name__ == "MatchValue":
            yield from ((node.pattern.lineno, value, node.body[0].lineno) for value in literals(node.pattern.value) if value in known)


def compared(node):
    if isinstance(node, ast.Compare):
        for operand in [node.left] + node.comparators:
            for value in literals(operand):
                yield node.lineno, value


def main():
    request = json.loads(sys.stdin.buffer.read().decode("utf-8", "surrogateescape"))
    answer = os.dup(1)
    os.dup2(2, 1)                   # The project's output must not mix with the answer.
    write, dumps, leave = os.write, json.dumps, os._exit
    root = os.path.realpath(request["root"])
    runner = load_runner()
    current, ran, places, unseen = [""], {}, {}, []

    class Counting(runner.Ledger):
        def start(self, test_id):
            follow()
            current[0] = test_id

    def trace(frame, event, _):
        name = frame.f_code.co_filename
        if name not in places:
            path = os.path.relpath(os.path.realpath(name), root).replace(os.sep, "/")
            places[name] = path if path in request["changed"] else None
        path = places[name]
        if path is None:
            return None
        if event in ("line", "call"):
            ran.setdefault((path, frame.f_lineno), {})[current[0]] = True
        return trace

    def follow():
        """Sets the tracer again. The last test may have set another tracer or none; then lines may have run unnoticed."""
        if sys.gettrace() is not trace and not unseen:
            unseen.append(current[0])
        set_trace(trace)
        threading.settrace(trace)

    def traced_by(set_tracer):
        def settrace(tracer):
            if tracer is not trace and not unseen:
                unseen.append(current[0])
            set_tracer(tracer)
        return settrace

    ledger = Counting(lambda kind, **fields: 0, request)
    request["canary"] = os.path.join(HERE, "canary.py")
    os.chdir(root)
    sys.argv = ["run_tests"]
    configuration = runner.configured_for_pytest(root)
    wanted = configuration is not None or runner.written_for_pytest(root, request["files"])
    if wanted:
        try:
            import pytest           # noqa: F401  pylint: disable=unused-import
        except ImportError:
            wanted = False
    ledger.assertions = runner.Assertions(wanted)
    ledger.seal = runner.sealed(wanted)
    sys.dont_write_bytecode = True
    sys.pycache_prefix = os.path.join(os.environ["TMPDIR"], "pycache")
    for folder in (os.path.join(root, "src"), root):
        if os.path.isdir(folder):
            sys.path.insert(0, folder)
    known = test_literals(root, request["files"])
    set_trace, set_thread_trace = sys.settrace, threading.settrace
    set_thread_trace(trace)
    set_trace(trace)
    # If a test sets a tracer and restores ours, nothing shows it later, although lines ran unnoticed meanwhile.
    sys.settrace, threading.settrace = traced_by(set_trace), traced_by(set_thread_trace)
    try:
        if wanted:
            runner.run_pytest(request, ledger, configuration)
        else:
            runner.run_unittest(request, ledger)
        follow()
    finally:
        set_trace(None)
        set_thread_trace(None)
    lines = []
    warnings.simplefilter("ignore")
    for path, numbers in sorted(request["changed"].items()):
        try:
            with open(os.path.join(root, path), "rb") as stream:
                source = stream.read()
            executable = executable_lines(source, path)
            tree = ast.parse(source)
        except (OSError, SyntaxError, ValueError, RecursionError):
            continue
        changed = set(numbers)
        for line in sorted(executable & changed):
            tests = list(ran.get((path, line), {}))
            lines.append({"file": path, "line": line, "count": len(tests), "tests": [test for test in tests if test][:5]})
        told = set()
        for line, value, depends in special_lines(tree, known):
            if line in changed and (line, repr(value)) not in told:
                told.add((line, repr(value)))
                tests = [test for test in ran.get((path, depends), {}) if test]
                if tests or unseen:
                    lines.append({"special": repr(value)[:80], "file": path, "line": line, "tests": tests[:5]})
    if unseen and any(line.get("count") == 0 for line in lines):
        lines = [{**line, "tests": []} for line in lines if "special" in line]
        lines.insert(0, {"not_measured": f"{unseen[0] or 'loading the tests'} set another tracer (sys.settrace), so lines may have been run unseen"})
    lines.append({"end": True, "tests": sum(1 for plan in ledger._planned.values() if not plan["canary"])})
    data = "".join(dumps(line) + "\n" for line in lines).encode("utf-8", "replace")
    while data:
        data = data[write(answer, data):]
    leave(0)


if __name__ == "__main__":
    main()
