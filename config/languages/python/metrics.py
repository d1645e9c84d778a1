# SPDX-License-Identifier: Apache-2.0
"""Measures source text by its syntax tree. Runs nothing.

Input: {"files": [{"path", "content"}]}. Output, one JSON object a line, {"metric", "file", "line", "name", "value"}:
  complexity        cyclomatic complexity of a function (nested functions count for themselves)
  function-length   lines of a function, from its `def` to its end
  undocumented      1 for a public function, method or class without docstring
  print-call        1 for each call of print()
  bare-except       1 for each `except:` that names no exception
  swallowed-error   1 for each `except` of Exception, or of all, that does nothing
  naming            1 for a function with a capital letter in its name, or a class whose name begins with none (PEP 8). A method of a class with bases may
                    inherit its name, so it does not count
  import-order      1 for each import of the standard library that comes after one of another package, at the top of the file
  duplicate-function  1 for a function of five statements or more whose body is the same as that of an earlier one in the file
  interface-size    abstract methods of a class derived from ABC, methods of a Protocol
  constant-comparison  1 for each comparison method that returns one constant for all arguments
{"file", "not_measured": reason} for each file that does not parse, or is nested too deeply for a complete measurement;
finally {"end": true, "checked": number of files}.
"""
import ast
import json
import sys
import warnings

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
SCOPES = FUNCTIONS + (ast.ClassDef, ast.Lambda)


def own_nodes(function):
    """Yields the nodes of a function without those of functions and classes inside it."""
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
    """True if every `return` of a function or lambda returns True, or every one returns False."""
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


def base_names(node):
    for base in node.bases:
        target = base.value if isinstance(base, ast.Subscript) else base
        yield target.attr if isinstance(target, ast.Attribute) else getattr(target, "id", "")


def does_nothing(statement):
    return isinstance(statement, (ast.Pass, ast.Continue)) or (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant))


def catches_all(handler):
    caught = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(each is None or getattr(each, "id", "") in ("Exception", "BaseException") for each in caught)


def interface_size(node):
    """Returns the number of methods that an implementation of the class must have; 0 if the class is not an interface."""
    methods = [each for each in node.body if isinstance(each, FUNCTIONS)]
    bases = set(base_names(node))
    if "Protocol" in bases:
        return len(methods)
    return sum("abstractmethod" in decorator_names(each) for each in methods) if "ABC" in bases else 0


def body_text(function):
    """Returns the statements of a function without its docstring, or None if there are few of them."""
    body = function.body[1:] if ast.get_docstring(function, clean=False) is not None else function.body
    if sum(isinstance(node, ast.stmt) for statement in body for node in ast.walk(statement)) < 5:
        return None
    return "\n".join(ast.dump(statement) for statement in body)


def imported(statement):
    """Returns the packages that a top-level import names; none for a relative import."""
    if isinstance(statement, ast.Import):
        return [alias.name.split(".")[0] for alias in statement.names]
    return [statement.module.split(".")[0]] if statement.level == 0 and statement.module else ["."]


def late_imports(module):
    known = getattr(sys, "stdlib_module_names", None)       # Python 3.10
    others = False
    for statement in module.body if known else []:
        if not isinstance(statement, (ast.Import, ast.ImportFrom)):
            continue
        standard = all(name in known for name in imported(statement))
        if standard and others:
            yield statement
        others = others or not standard


class Measure(ast.NodeVisitor):
    def __init__(self, file, emit):
        self._file, self._emit, self._path, self._public, self._inside = file, emit, [], [True], 0
        self._bodies, self._derived = set(), [False]

    def visit_Module(self, node):
        for statement in late_imports(node):
            self._found("import-order", statement, ", ".join(imported(statement)), 1)
        self.generic_visit(node)

    def _names_and_bodies(self, node, function):
        plain = node.name.lstrip("_")
        if function and not self._derived[-1] and plain != plain.lower():
            self._found("naming", node, ".".join(self._path + [node.name]), 1)
        if not function and plain and plain[0].islower():
            self._found("naming", node, ".".join(self._path + [node.name]), 1)
        body = body_text(node) if function else None
        if body is not None and body in self._bodies:
            self._found("duplicate-function", node, ".".join(self._path + [node.name]), 1)
        self._bodies.add(body)

    def _found(self, metric, node, name, value):
        self._emit({"metric": metric, "file": self._file, "line": node.lineno, "name": name, "value": value})

    def _enter(self, node, function):
        self._names_and_bodies(node, function)
        self._derived.append(not function and bool(node.bases))
        self._enter_scope(node, function)
        self._derived.pop()

    def _enter_scope(self, node, function):
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
        if interface_size(node) > 0:
            self._found("interface-size", node, ".".join(self._path + [node.name]), interface_size(node))
        self._enter(node, False)

    def visit_Call(self, node):
        if isinstance(node.func, ast.Name) and node.func.id == "print":
            self._found("print-call", node, ".".join(self._path), 1)
        self.generic_visit(node)

    def visit_ExceptHandler(self, node):
        if node.type is None:
            self._found("bare-except", node, ".".join(self._path), 1)
        if catches_all(node) and all(does_nothing(each) for each in node.body):
            self._found("swallowed-error", node, ".".join(self._path), 1)
        self.generic_visit(node)


def why_not_measured(error):
    if isinstance(error, SyntaxError):
        place = f"line {error.lineno}: " if error.lineno else ""
        return f"{place}{type(error).__name__}: {error.msg}"[:500]
    return ": ".join(filter(None, (type(error).__name__, str(error))))[:500]


def main():
    request = json.loads(sys.stdin.buffer.read().decode("utf-8", "surrogateescape"))
    warnings.simplefilter("ignore")
    lines = []
    for file in request["files"]:
        try:
            tree = ast.parse(file["content"])
            Measure(file["path"], lambda finding: lines.append(json.dumps(finding))).visit(tree)
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            lines.append(json.dumps({"file": file["path"], "not_measured": why_not_measured(error)}))
    lines.append(json.dumps({"end": True, "checked": len(request["files"])}))
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
