# SPDX-License-Identifier: Apache-2.0
"""Finds stubs (functions that do nothing yet) or named functions, and makes each end the test that reaches it.

Input: {"contents": {path: text}, "marker": text, "named": {path: [function]}, "lines": {path: [number]}}. With "lines", the functions are those that contain such a line;
with "idle" as well, they get a statement without effect instead. Output, one JSON object a line: {"path", "content"} for each file with such a
function, which there first raises NotImplementedError with the marker and its name, then {"end": true}. Runs nothing
of the project.

Besides its docstring, a stub has only `pass`, `...`, a `return` without a value or with a constant or empty one, or one `raise` of NotImplementedError
or of another exception that says "implement" or "todo". Abstract functions and overloads are declarations, not stubs.
"""
import ast
import json
import sys

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
DECLARATIONS = ("abstractmethod", "overload", "abstractproperty")


def is_text(node):
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def is_default(value):
    """True for a placeholder of a result: None, a constant, an empty value."""
    if isinstance(value, ast.UnaryOp):
        return isinstance(value.operand, ast.Constant)
    if isinstance(value, ast.Tuple):
        return all(is_default(each) for each in value.elts)
    if isinstance(value, (ast.List, ast.Set)):
        return not value.elts
    if isinstance(value, ast.Dict):
        return not value.keys
    return value is None or (isinstance(value, ast.Constant) and value.value in (None, ..., True, False, 0, 1, "", b""))


def says_nothing_is_there(node):
    """True for `raise NotImplementedError…`, or another exception with these words."""
    error = node.exc
    name = error.func if isinstance(error, ast.Call) else error
    if isinstance(name, ast.Name) and name.id == "NotImplementedError":
        return True
    words = "".join(part.value for part in ast.walk(error) if isinstance(part, ast.Constant) and isinstance(part.value, str)) if error else ""
    return any(word in words.lower() for word in ("implement", "todo"))


def is_stub(function):
    named = (each.attr if isinstance(each, ast.Attribute) else getattr(each, "id", "") for each in function.decorator_list)
    if any(name in DECLARATIONS for name in named):
        return False
    for node in function.body[1:] if is_text(function.body[0]) else function.body:
        empty = isinstance(node, ast.Pass) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
        if not (empty or (isinstance(node, ast.Return) and is_default(node.value)) or (isinstance(node, ast.Raise) and says_nothing_is_there(node))):
            return False
    return True


def functions_at(tree, numbers):
    """Returns the innermost function around each of these lines."""
    functions = sorted((node for node in ast.walk(tree) if isinstance(node, FUNCTIONS)), key=lambda each: each.lineno)
    chosen = {}
    for number in numbers:
        around = [node for node in functions if node.lineno <= number <= node.end_lineno]
        if around:
            chosen[id(around[-1])] = around[-1]
    return list(chosen.values())


def mark(text, marker, named, numbers, idle=False):
    """Returns the text with markers in its stubs and in the functions with these names, or in the functions at these lines. `idle`: inserts a statement without effect instead."""
    lines = text.encode().splitlines(keepends=True)
    tree = ast.parse(text)
    if numbers is None:
        functions = [node for node in ast.walk(tree) if isinstance(node, FUNCTIONS) and (node.name in named or is_stub(node))]
    else:
        functions = functions_at(tree, numbers)
    for node in sorted(functions, key=lambda each: (-each.body[0].lineno, -each.body[0].col_offset)):
        first = node.body[0]
        if idle and ast.get_docstring(node, clean=False) is not None:
            if len(node.body) == 1:
                continue
            first = node.body[1]
        number = min([first.lineno, *(each.lineno for each in getattr(first, "decorator_list", ()))])
        line = lines[number - 1]
        said = b"_agentforge_idle = '~', 7" if idle else f"raise NotImplementedError({json.dumps(marker + ' ' + node.name)})".encode()
        before = line[:first.col_offset]
        # A statement that begins a block cannot follow a semicolon.
        lines[number - 1] = before + said + b"\n" + line if not before.strip() and hasattr(first, "body") else before + said + b"; " + line[first.col_offset:]
    return b"".join(lines).decode()


def main():
    request = json.loads(sys.stdin.buffer.read().decode("utf-8", "surrogateescape"))
    for path, text in request["contents"].items():
        try:
            marked = mark(text, request["marker"], request.get("named", {}).get(path, ()), request["lines"][path] if "lines" in request else None, request.get("idle", False))
        except (SyntaxError, ValueError, RecursionError, UnicodeError):
            continue            # In a file that does not parse, a test cannot reach a function.
        if marked != text:
            sys.stdout.write(json.dumps({"path": path, "content": marked}) + "\n")
    sys.stdout.write(json.dumps({"end": True}) + "\n")


if __name__ == "__main__":
    main()
