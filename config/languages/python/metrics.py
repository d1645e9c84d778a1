# SPDX-License-Identifier: Apache-2.0
"""Measures source text by its syntax tree; nothing is run.

Input: {"files": [{"path", "content"}]}. Output, one JSON object a line, {"metric", "file", "line", "name", "value"}:
  complexity        cyclomatic complexity of a function (nested functions count for themselves)
  function-length   lines of a function, from its `def` to its end
  undocumented      1 for a public function, method or class without docstring
  print-call        1 for each call of print()
  bare-except       1 for each `except:` that names no exception
  constant-comparison  1 for each comparison method that answers with one constant, whatever it is given
and at last {"end": true, "checked": number of files}. A file that does not parse is left to the syntax check.
"""
import ast
import json
import sys
import warnings

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
SCOPES = FUNCTIONS + (ast.ClassDef, ast.Lambda)


def own_nodes(function):
    """The nodes of a function without those of functions and classes inside it."""
    waiting = list(ast.iter_child_nodes(function))
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, FUNCTIONS + (ast.ClassDef,)):
            waiting.extend(ast.iter_child_nodes(node))


def complexity(function):
    count = 1
    for node in own_nodes(function):
        if isinstance(node, (ast.If, ast.IfExp, ast.For, ast.AsyncFor, ast.While, ast.ExceptHandler)):
            count += 1
        elif isinstance(node, ast.BoolOp):
            count += len(node.values) - 1
        elif isinstance(node, ast.comprehension):
            count += 1 + len(node.ifs)
        elif type(node).__name__ == "match_case":
            count += 1
    return count


COMPARISONS = {"__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__", "__contains__", "__instancecheck__", "__subclasscheck__"}


def answers_constant(function):
    """Whether every `return` of a function or lambda gives True, or every one gives False."""
    if isinstance(function, ast.Lambda):
        values = [function.body]
    else:
        nodes = list(own_nodes(function))
        if any(isinstance(node, (ast.Raise, ast.Yield, ast.YieldFrom)) for node in nodes):
            return False
        values = [node.value for node in nodes if isinstance(node, ast.Return)]
    answers = {value.value for value in values if isinstance(value, ast.Constant) and isinstance(value.value, bool)}
    return bool(values) and len(answers) == 1 and all(isinstance(value, ast.Constant) and isinstance(value.value, bool) for value in values)


def is_public(name):
    return not name.startswith("_")


def decorator_names(node):
    for decorator in node.decorator_list:
        target = decorator.func if isinstance(decorator, ast.Call) else decorator
        yield target.attr if isinstance(target, ast.Attribute) else getattr(target, "id", "")


class Measure(ast.NodeVisitor):
    def __init__(self, file, emit):
        self._file, self._emit, self._path, self._public, self._inside = file, emit, [], [True], 0

    def _found(self, metric, node, name, value):
        self._emit({"metric": metric, "file": self._file, "line": node.lineno, "name": name, "value": value})

    def _enter(self, node, function):
        name = ".".join(self._path + [node.name])
        public = self._public[-1] and is_public(node.name) and not self._inside
        exempt = {"overload", "setter", "deleter", "override"} & set(decorator_names(node))
        if public and not exempt and ast.get_docstring(node, clean=False) is None:
            self._found("undocumented", node, name, 1)
        if function:
            self._found("complexity", node, name, complexity(node))
            self._found("function-length", node, name, (node.end_lineno or node.lineno) - node.lineno + 1)
        self._path.append(node.name)
        self._public.append(public)
        self._inside += 1 if function else 0
        self.generic_visit(node)
        self._inside -= 1 if function else 0
        self._public.pop()
        self._path.pop()

    def visit_FunctionDef(self, node):
        if node.name in COMPARISONS and answers_constant(node):
            self._found("constant-comparison", node, ".".join(self._path + [node.name]), 1)
        self._enter(node, True)

    def visit_Assign(self, node):
        for target in node.targets:
            name = target.attr if isinstance(target, ast.Attribute) else getattr(target, "id", "")
            if name in COMPARISONS and isinstance(node.value, ast.Lambda) and answers_constant(node.value):
                self._found("constant-comparison", node, ".".join(self._path + [name]), 1)
        self.generic_visit(node)

    def visit_AsyncFunctionDef(self, node):
        self._enter(node, True)

    def visit_ClassDef(self, node):
        self._enter(node, False)

    def visit_Call(self, node):
        if isinstance(node.func, ast.Name) and node.func.id == "print":
            self._found("print-call", node, ".".join(self._path), 1)
        self.generic_visit(node)

    def visit_ExceptHandler(self, node):
        if node.type is None:
            self._found("bare-except", node, ".".join(self._path), 1)
        self.generic_visit(node)


def main():
    request = json.loads(sys.stdin.buffer.read().decode("utf-8", "surrogateescape"))
    warnings.simplefilter("ignore")
    lines = []
    for file in request["files"]:
        try:
            tree = ast.parse(file["content"])
            Measure(file["path"], lambda finding: lines.append(json.dumps(finding))).visit(tree)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
    lines.append(json.dumps({"end": True, "checked": len(request["files"])}))
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
