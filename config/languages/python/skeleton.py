# SPDX-License-Identifier: Apache-2.0
"""Declares interfaces: functions and methods whose body is the skeleton's marker, constants, and other names of types. Writes nothing else.

Input: {"interfaces": [{"name", "file", "signature"}], "contents": {path: text of existing files}, "existing": [paths of the
tree], "marker": text}. Output, one JSON object a line: {"path", "content"} for each file that changes, or {"problem": text} for
each interface that cannot be declared, then {"end": true}. Runs nothing of the project.

If the signature of an existing function changes, the function keeps its body and its parameters keep their defaults, and a parameter that goes becomes a variable with its default; otherwise it stays unchanged. This quotes annotations with
names that the file does not know, so that the module can be imported. A signature may begin with the imports that it needs. This adds those of the standard library
if the signature names `module.name` or a name of STANDARD_NAMES. A class may have its fields and the headers of its methods. Parent folders get an empty `__init__.py` only inside a package.
"""
import ast
import builtins
import importlib.util
import io
import json
import keyword
import re
import sys
import tokenize

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
DECLARATIONS = FUNCTIONS + (ast.ClassDef,)
# Known decorators: plain ones, and those that may be called with values. A skeleton leaves out those that check or add unwritten methods.
DECORATORS = {"staticmethod", "classmethod", "property", "abstractmethod", "cached_property", "contextmanager", "asynccontextmanager", "cache", "singledispatch",
              "singledispatchmethod", "runtime_checkable", "unique", "total_ordering", "final", "override", "setter", "deleter"}
CALLED_DECORATORS = {"dataclass", "lru_cache"}
LEFT_OUT = {"total_ordering", "final", "override", "unique"}
ACCESSORS = {"setter", "deleter"}
ENUMS = {"Enum", "IntEnum", "StrEnum", "Flag", "IntFlag"}

# Names that signatures often use without a module, by their modules.
STANDARD_NAMES = {name: module for module, names in {
    "abc": "ABC ABCMeta abstractmethod", "argparse": "ArgumentParser Namespace", "collections": "ChainMap Counter OrderedDict UserDict UserList defaultdict deque namedtuple",
    "collections.abc": "AsyncIterable AsyncIterator Callable Collection Container Hashable Iterable Iterator Mapping MutableMapping MutableSequence MutableSet Sequence Sized",
    "contextlib": "AbstractAsyncContextManager AbstractContextManager AsyncExitStack ContextDecorator ExitStack asynccontextmanager contextmanager",
    "dataclasses": "dataclass field", "datetime": "date datetime timedelta timezone", "decimal": "Decimal", "enum": "Enum Flag IntEnum IntFlag StrEnum auto unique",
    "fractions": "Fraction", "functools": "cache cached_property lru_cache partial singledispatch singledispatchmethod total_ordering", "html.parser": "HTMLParser",
    "json": "JSONDecodeError JSONDecoder JSONEncoder", "pathlib": "Path PurePath PurePosixPath", "threading": "Thread", "types": "MappingProxyType SimpleNamespace",
    "typing": "Annotated Any ClassVar Generic Literal NamedTuple NewType Optional ParamSpec Protocol TypeVar TypedDict Union final override runtime_checkable",
    "uuid": "UUID uuid4"}.items() for name in names.split()}


class Problem(Exception):
    """The reason why an interface cannot be declared. `unknown`: the missing name, which another interface may declare."""

    def __init__(self, text, unknown=""):
        super().__init__(text)
        self.unknown = unknown


def check_path(path):
    parts = path.split("/")
    if not path or path.startswith("/") or "\\" in path or "\0" in path or any(part in ("", ".", "..") for part in parts):
        raise Problem(f"the file `{path}` is not a path inside the project")
    if parts[0].lower() in (".git", ".agentforge"):
        raise Problem(f"the file `{path}` is in a protected folder")
    if not path.endswith(".py"):
        raise Problem(f"the file `{path}` is not a Python file")


def check_name(name):
    parts = name.split(".")
    if not all(part.isidentifier() and not keyword.iskeyword(part) for part in parts):
        raise Problem(f"`{name}` is not the name of a function or method")
    return parts


VALUES = (ast.Constant, ast.Tuple, ast.List, ast.Dict, ast.Set, ast.UnaryOp, ast.unaryop, ast.BinOp, ast.operator, ast.expr_context, ast.Name,
          ast.Attribute, ast.Subscript, ast.Slice, ast.keyword)


def is_value(node):
    """True for an expression without work: names, literals, arithmetic, a function of one expression, calls with such arguments (`field(default_factory=list)`)."""
    if isinstance(node, ast.Call):
        return isinstance(node.func, (ast.Name, ast.Attribute)) and all(is_value(each) for each in node.args + [item.value for item in node.keywords])
    if isinstance(node, ast.Lambda):
        return is_plain(node.body)
    return is_plain(node)


def is_plain(node):
    return all(isinstance(part, VALUES) for part in ast.walk(node))


def split_imports(signature):
    """Returns the imports at the beginning of a signature, one name each, and the rest."""
    lines, statements = signature.strip().splitlines(), []
    while lines and lines[0].lstrip().startswith(("import ", "from ")):
        for count in range(1, len(lines) + 1):
            try:
                body = ast.parse("\n".join(lines[:count]).strip()).body
            except (SyntaxError, ValueError, RecursionError):
                continue
            break
        else:
            raise Problem(f"the signature `{signature}` does not parse: its imports are not complete")
        for node in body:
            if not isinstance(node, (ast.Import, ast.ImportFrom)) or any(alias.name == "*" for alias in node.names):
                raise Problem(f"the signature `{signature}` begins with more than imports of names")
            for alias in node.names:
                one = ast.Import([alias]) if isinstance(node, ast.Import) else ast.ImportFrom(node.module, [alias], node.level)
                statements.append((ast.unparse(ast.fix_missing_locations(one)), (alias.asname or alias.name).split(".")[0]))
        lines = lines[count:]
        while lines and not lines[0].strip():
            lines.pop(0)
    return statements, "\n".join(lines)


def standard_import(parts):
    """Returns the import for a dotted name of the standard library. Empty for other names."""
    modules = getattr(sys, "stdlib_module_names", set(STANDARD_NAMES.values()) | {"logging", "math", "operator", "os", "random", "re", "string", "sys", "time"})
    if len(parts) > 1 and parts[0] in modules and parts[0] not in ("antigravity", "this"):
        for length in range(len(parts) - 1, 1, -1):
            try:
                if importlib.util.find_spec(".".join(parts[:length])) is not None:
                    return "import " + ".".join(parts[:length])
            except (ImportError, ValueError):
                continue
        return "import " + parts[0]
    return f"from {STANDARD_NAMES[parts[0]]} import {parts[0]}" if parts[0] in STANDARD_NAMES else ""


def dotted(node):
    """Returns the parts of `a.b.c`. Empty for any other expression."""
    if isinstance(node, ast.Name):
        return [node.id]
    inner = dotted(node.value) if isinstance(node, ast.Attribute) else []
    return inner + [node.attr] if inner else []


def imports_for(expression, names, what):
    """Returns the imports of the standard library that an expression needs in addition to `names`."""
    parts = dotted(expression)
    if parts:
        if parts[0] in names:
            return []
        statement = standard_import(parts)
        if not statement:
            raise Problem(f"{what.replace('{}', parts[0])}; begin the signature with its import", parts[0])
        return [(statement, parts[0])]
    if isinstance(expression, ast.Lambda):
        names = names | {each.arg for each in ast.walk(expression.args) if isinstance(each, ast.arg)}
    return [found for child in ast.iter_child_nodes(expression) for found in imports_for(child, names, what)]


def add_imports(text, statements):
    """Returns the text with those of these imports whose names are unknown, after its existing imports."""
    for statement, name in statements:
        tree = ast.parse(text)
        if name in known_names(tree) and not (statement.startswith("import ") and "." in statement and statement not in text):
            continue
        head = [each for at, each in enumerate(tree.body) if at == 0 and is_text(each) or isinstance(each, (ast.Import, ast.ImportFrom))]
        while head and head != tree.body[:len(head)]:
            head.pop()
        if statement.startswith("from __future__ "):
            head = [each for each in head if is_text(each)]
        lines = text.splitlines()
        line = head[-1].end_lineno if head else next((at for at, each in enumerate(lines) if not each.startswith("#")), len(lines))
        before = [""] if line > 0 and not (head and not is_text(head[-1])) else []
        after = [""] if line < len(lines) and lines[line].strip() and not head else []
        text = insert_lines(text, line, before + [statement] + after)
    return text


def parse_value(signature, name):
    """Returns the assignment of a signature such as `LIMIT = 100`, `LIMIT: int = 100`, `LIMIT: int` or `Pair = tuple[int, int]`. None for other signatures."""
    try:
        body = ast.parse(signature.strip()).body
    except (SyntaxError, ValueError, RecursionError):
        return None
    if len(body) != 1 or not isinstance(body[0], (ast.Assign, ast.AnnAssign)):
        return None
    node = body[0]
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    if len(targets) != 1 or not isinstance(targets[0], ast.Name) or targets[0].id != name:
        raise Problem(f"the signature `{signature}` does not declare `{name}`")
    if node.value is not None and not is_value(node.value):
        raise Problem(f"the signature `{signature}` has a value that is more than a constant")
    return node


def declare_value(text, tree, node, name, names):
    """Returns the text with the assignment, after the imports at its place."""
    if name in names and any(isinstance(part, ast.Name) and part.id == name and isinstance(part.ctx, ast.Store)
                             for each in tree.body for part in ast.walk(each)):
        return text
    if node.value is None:
        node.value = ast.Constant(None)
    text = add_imports(text, imports_for(node.value, names, f"`{{}}` in the value of `{name}` is not known in the file"))
    tree = ast.parse(text)
    names = known_names(tree)
    if isinstance(node, ast.AnnAssign):
        quote_field(node, names)
    last = 0
    for at, each in enumerate(tree.body):
        if isinstance(each, DECLARATIONS):
            break
        text_of_module = at == 0 and isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant)
        if text_of_module or isinstance(each, (ast.Import, ast.ImportFrom, ast.Assign, ast.AnnAssign)):
            last = each.end_lineno
    line = ast.unparse(node)
    if last == 0:
        return line + "\n" + ("\n\n" + text if text.strip() else "")
    return insert_lines(text, last, ["", line])


def quote_field(node, names):
    if any(isinstance(part, ast.Name) and part.id not in names for part in ast.walk(node.annotation)):
        node.annotation = ast.Constant(ast.unparse(node.annotation))


def is_text(node):
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def is_empty(body):
    """True if the body has only a docstring, `...`, `pass` or `raise NotImplementedError`."""
    return all(isinstance(each, ast.Pass) or (isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant)) or
               (isinstance(each, ast.Raise) and "NotImplementedError" in ast.unparse(each)) for each in body)


def parse_declaration(signature):
    """Returns the single declaration of a signature, with or without a body."""
    text = signature.strip()
    try:
        body = ast.parse(text.rstrip(":").rstrip() + ":\n    ...\n").body
    except (SyntaxError, ValueError, RecursionError) as error:
        try:
            body = ast.parse(text).body
        except (SyntaxError, ValueError, RecursionError):
            raise Problem(f"the signature `{signature}` does not parse: {error}") from error
    if len(body) != 1 or not isinstance(body[0], DECLARATIONS):
        raise Problem(f"the signature `{signature}` is not one `def` or `class`")
    return body[0]


def parse_signature(signature, name):
    """Returns the declared function with an empty body, or the class with its fields and methods."""
    node = parse_declaration(signature)
    if isinstance(node, ast.ClassDef):
        check_members(node, signature)
    elif not is_empty(node.body):
        raise Problem(f"the signature `{signature}` has a body; give only the declaration")
    check_decorators(node, signature)
    if node.name != name:
        raise Problem(f"the signature `{signature}` declares `{node.name}`, but the interface is called `{name}`")
    for default in _defaults(node):
        if not (is_plain(default) or isinstance(default, ast.Lambda) and is_value(default)):
            raise Problem(f"the signature `{signature}` has a default that is more than a value")
    return node


def check_members(node, signature):
    for each in node.body:
        if isinstance(each, FUNCTIONS):
            if not is_empty(each.body):
                raise Problem(f"the signature `{signature}` has a body; give only the declaration")
        elif isinstance(each, (ast.Assign, ast.AnnAssign)):
            targets = each.targets if isinstance(each, ast.Assign) else [each.target]
            if isinstance(each.value, (ast.List, ast.Dict, ast.Set)) and any("dataclass" in ast.unparse(decorator) for decorator in node.decorator_list):
                raise Problem(f"the signature `{signature}` has a default that a dataclass may not have; use field(default_factory=...)")
            if len(targets) != 1 or not isinstance(targets[0], ast.Name) or (each.value is not None and not is_value(each.value)):
                raise Problem(f"the signature `{signature}` has a field with more than a value")
        elif not is_empty([each]):
            raise Problem(f"the signature `{signature}` has more than fields and methods; give only the declaration")


def check_decorators(node, signature):
    for decorator in node.decorator_list:
        called = isinstance(decorator, ast.Call)
        parts = dotted(decorator.func if called else decorator)
        allowed = parts and (parts[-1] in CALLED_DECORATORS or (parts[-1] in DECORATORS and not called)) and (not called or all(map(is_plain, decorator.args + decorator.keywords)))
        if not allowed or (len(parts) > 1 and parts[-1] not in ACCESSORS and not standard_import(parts)) or len(parts) > 2:
            raise Problem(f"the signature `{signature}` has a decorator that a skeleton may not have")


def kept_decorators(node):
    return [each for each in node.decorator_list if (dotted(each.func if isinstance(each, ast.Call) else each) or [""])[-1] not in LEFT_OUT]


def accessor(node):
    """Returns `setter` or `deleter` for such an accessor of a property, else an empty string."""
    return next((each.attr for each in node.decorator_list if isinstance(each, ast.Attribute) and each.attr in ACCESSORS), "")


def _defaults(node):
    if isinstance(node, ast.ClassDef):
        return []
    return [default for default in node.args.defaults + node.args.kw_defaults if default is not None]


def known_names(tree):
    """Returns the names that the module defines or imports at its top level, and the built-in ones."""
    names = set(dir(builtins))
    for node in ast.walk(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            names.update((alias.asname or alias.name).split(".")[0] for alias in node.names)
    for node in tree.body:
        if isinstance(node, DECLARATIONS):
            names.add(node.name)
        elif isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
            names.update(part.id for part in ast.walk(node) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store))
    return names


def annotations(node):
    """Yields (owner, field) for every annotation of a function."""
    arguments = node.args
    everything = arguments.posonlyargs + arguments.args + arguments.kwonlyargs
    everything += [each for each in (arguments.vararg, arguments.kwarg) if each is not None]
    return [(each, "annotation") for each in everything] + [(node, "returns")]


def quote_unknown(node, names):
    for owner, field in annotations(node):
        value = getattr(owner, field)
        if value is None or isinstance(value, ast.Constant):
            continue
        if any(isinstance(part, ast.Name) and part.id not in names for part in ast.walk(value)):
            setattr(owner, field, ast.Constant(ast.unparse(value)))


def normal_form(node):
    """Returns the signature as text, the same for quoted and unquoted annotations."""
    copy = ast.parse(ast.unparse(header_only(node))).body[0]
    for owner, field in annotations(copy):
        value = getattr(owner, field)
        if isinstance(value, ast.Constant) and isinstance(value.value, str):
            try:
                setattr(owner, field, ast.parse(value.value, mode="eval").body)
            except SyntaxError:
                pass
    copy.decorator_list = []
    return ast.unparse(copy)


def header_only(node):
    copy = type(node)(**{field: getattr(node, field, None) for field in node._fields})
    copy.body = [ast.Expr(ast.Constant(...))]
    return ast.fix_missing_locations(copy)


def header_text(node):
    """Returns the header, such as `def f(a: int) -> str:`, without decorators and body."""
    copy = header_only(node)
    copy.decorator_list = []
    lines = ast.unparse(copy).strip().splitlines()
    return "\n".join(lines[:-1]) if lines[-1].strip() == "..." else lines[0].rsplit("...", 1)[0].rstrip()


def skeleton_lines(node, qualified, marker, indent):
    raised = f'raise NotImplementedError("{marker} {qualified}")'
    decorators = [f"{indent}@{ast.unparse(decorator)}" for decorator in kept_decorators(node)]
    if not isinstance(node, ast.ClassDef):
        returned = ast.unparse(node.returns).strip("'\"") if node.returns is not None else ""
        # `async for` and `async with` take no awaitable.
        generates = isinstance(node, ast.AsyncFunctionDef) and (re.match(r"(?:\w+\.)*Async(?:Iterator|Iterable|Generator)\b", returned) or "asynccontextmanager" in "".join(decorators))
        return decorators + [indent + header_text(node), f"{indent}    {raised}"] + ([f"{indent}    yield"] if generates else [])
    bases = {(dotted(base.value if isinstance(base, ast.Subscript) else base) or [""])[-1] for base in node.bases}
    fields = [each for each in node.body if isinstance(each, (ast.Assign, ast.AnnAssign))]
    body = [indent + "    " + line for each in fields for line in ast.unparse(each).splitlines()]
    if "NamedTuple" in bases:               # A NamedTuple cannot define its constructor.
        node.bases = [ast.Name("tuple", ast.Load()) if (dotted(base) or [""])[-1] == "NamedTuple" else base for base in node.bases]
        body += ([""] if body else []) + [f"{indent}    def __new__(cls, *args, **kwargs):", f"{indent}        {raised}"]
    elif bases & ({"TypedDict", "Protocol"} | ENUMS):
        body = body or [f"{indent}    pass"]
    elif not any(isinstance(each, FUNCTIONS) and each.name == "__init__" for each in node.body):
        body += ([""] if body else []) + [f"{indent}    def __init__(self, *args, **kwargs):", f"{indent}        {raised}"]
    elif not body:
        body = [f"{indent}    pass"]
    return decorators + [indent + header_text(node)] + body


def find(body, name, kind=""):
    """Returns the last declaration of a name, which counts; also inside `if` and `try`. `kind`: that of an accessor."""
    found = None
    for node in body:
        if isinstance(node, DECLARATIONS) and node.name == name and accessor(node) == kind:
            found = node
        for field in ("body", "orelse", "finalbody"):
            if isinstance(node, (ast.If, ast.Try, ast.With)):
                found = find(getattr(node, field, []), name, kind) or found
    return found


def is_method(node):
    first = node.args.posonlyargs + node.args.args if isinstance(node, FUNCTIONS) else []
    return bool(first) and first[0].arg in ("self", "cls")


def likely_owner(tree, name):
    """Returns a list with the class that has a method of that name, else the only class of the module. Empty for a function with such a parameter."""
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    having = [node for node in classes if find(node.body, name) is not None]
    return [node.name for node in (having or classes)] if len(having or classes) == 1 else []


def header_end(text, node):
    """Returns (line, column) just after the colon at the end of a function's header."""
    lines = text.splitlines(keepends=True)[node.lineno - 1:]
    depth, started = 0, False
    for token in tokenize.generate_tokens(iter(lines).__next__):
        if token.type == tokenize.NAME and token.string in ("def", "class"):
            started = True
        if token.type != tokenize.OP:
            continue
        if token.string in "([{":
            depth += 1
        elif token.string in ")]}":
            depth -= 1
        elif token.string == ":" and depth == 0 and started:
            return node.lineno - 1 + token.end[0], token.end[1]
    raise Problem(f"the header of `{node.name}` was not found")


def removed_parameters(node, wanted):
    """Returns an assignment for each parameter that goes and that the body still uses: its default."""
    def names(function):
        arguments = function.args
        return [each.arg for each in arguments.posonlyargs + arguments.args + arguments.kwonlyargs] + [each.arg for each in (arguments.vararg, arguments.kwarg) if each]

    given = default_values(node.args)
    given.update({each.arg: value for each, value in ((node.args.vararg, ast.Tuple([], ast.Load())), (node.args.kwarg, ast.Dict([], []))) if each})
    used = {each.id for statement in node.body for each in ast.walk(statement) if isinstance(each, ast.Name)}
    return [f"{name} = {ast.unparse(given[name]) if given.get(name) else None}" for name in names(node) if name not in names(wanted) and name in used]


def change_signature(text, node, wanted):
    """Replaces the header. Decorators, body and comments keep their bytes. A parameter that goes becomes a variable, so that the body still runs."""
    end_line, end_column = header_end(text, node)
    lines = text.splitlines(keepends=True)
    first = lines[node.lineno - 1]
    start_column = len(first.encode()[:node.col_offset].decode())
    indent = first[:start_column]
    header = header_text(wanted)
    if isinstance(node, ast.AsyncFunctionDef) != isinstance(wanted, ast.AsyncFunctionDef):
        raise Problem(f"`{node.name}` exists and is {'' if isinstance(node, ast.AsyncFunctionDef) else 'not '}async")
    before = lines[:node.lineno - 1] + [indent + header + lines[end_line - 1][end_column:]]
    first = next((each for each in node.body if not is_text(each)), node.body[0])
    if first.lineno > end_line:     # Else the body is on the line of the header.
        inner = lines[first.lineno - 1][:len(lines[first.lineno - 1]) - len(lines[first.lineno - 1].lstrip())]
        lines[first.lineno - 1:first.lineno - 1] = [inner + each + "\n" for each in removed_parameters(node, wanted)]
    return "".join(before + lines[end_line:])


def default_values(arguments):
    """Returns the defaults by the parameters' names."""
    named = arguments.posonlyargs + arguments.args
    return {each.arg: default for each, default in list(zip(named[len(named) - len(arguments.defaults):], arguments.defaults)) + list(zip(arguments.kwonlyargs, arguments.kw_defaults))}


def keep_defaults(known, wanted):
    """Keeps the existing defaults of parameters. A new default is behaviour, and RED's tests must see that it is missing."""
    old, arguments = default_values(known.args), wanted.args
    named = arguments.posonlyargs + arguments.args
    having = named[len(named) - len(arguments.defaults):]
    arguments.defaults = [old.get(each.arg) or default for each, default in zip(having, arguments.defaults)]
    arguments.kw_defaults = [default and (old.get(each.arg) or default) for each, default in zip(arguments.kwonlyargs, arguments.kw_defaults)]


def insert_lines(text, line, new):
    """Inserts `new` after the first `line` lines."""
    lines = text.splitlines(keepends=True)
    if lines and line > 0 and not lines[line - 1].endswith("\n"):
        lines[line - 1] += "\n"
    return "".join(lines[:line] + [each + "\n" for each in new] + lines[line:])


def append_to_module(text, tree, new):
    """Inserts at the end, or before a final `if __name__ == "__main__":`."""
    last = tree.body[-1] if tree.body else None
    if isinstance(last, ast.If) and "__name__" in ast.unparse(last.test):
        return insert_lines(text, last.lineno - 1, new + ["", ""])
    stripped = text.rstrip()
    if not stripped:
        return text + "\n".join(new) + "\n" if text and not text.isspace() else "\n".join(new) + "\n"
    return stripped + "\n\n\n" + "\n".join(new) + "\n"


def append_to_class(text, owner, new_lines):
    first = owner.body[0]
    if first.lineno == header_end(text, owner)[0]:
        raise Problem(f"the class `{owner.name}` stands on one line; a method cannot be added to it")
    indent = text.splitlines()[first.lineno - 1]
    start = min((decorator.lineno for decorator in getattr(first, "decorator_list", [])), default=first.lineno)
    indent = text.splitlines()[start - 1]
    indent = indent[:len(indent) - len(indent.lstrip())]
    return insert_lines(text, owner.end_lineno, [""] + new_lines(indent))


def declare(text, interface, marker):
    """Returns the file's text with one declared interface and the imports of its signature."""
    statements, signature = split_imports(interface["signature"])
    ready = text
    if statements:
        parsed(text, interface)
        ready = add_imports(text, statements)
    changed = declare_one(ready, {**interface, "signature": signature}, marker)
    return text if changed == ready else changed


def parsed(text, interface):
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError) as error:
        raise Problem(f"`{interface['file']}` does not parse: {error}") from error


def field_name(node):
    return (node.targets[0] if isinstance(node, ast.Assign) else node.target).id


def declare_field(text, owner, field, indent):
    """Adds a missing field to the class, after its existing fields."""
    if any(isinstance(part, ast.Name) and part.id == field_name(field) and isinstance(part.ctx, ast.Store)
           for each in owner.body if not isinstance(each, DECLARATIONS) for part in ast.walk(each)):
        return text
    if owner.body[0].lineno == header_end(text, owner)[0]:
        raise Problem(f"the class `{owner.name}` stands on one line; a field cannot be added to it")
    fields = [each for at, each in enumerate(owner.body) if isinstance(each, (ast.Assign, ast.AnnAssign)) or (at == 0 and is_text(each))]
    line = fields[-1].end_lineno if fields else header_end(text, owner)[0]
    return insert_lines(text, line, ([] if fields and not is_text(fields[-1]) else [""] if fields else []) + [indent + ast.unparse(field)])


def declare_one(text, interface, marker):
    """Returns the file's text with one declared interface."""
    name = interface["name"]
    parts = check_name(name)
    value = parse_value(interface["signature"], parts[-1])
    wanted = parse_signature(interface["signature"], parts[-1]) if value is None else None
    tree = parsed(text, interface)
    names = known_names(tree)
    if value is not None and len(parts) == 1:
        return declare_value(text, tree, value, name, names)
    needed = []
    if value is not None:
        if value.value is not None:
            needed += imports_for(value.value, names, f"the value of `{name}` is not known in `{interface['file']}`")
    elif isinstance(wanted, ast.ClassDef):
        for base in wanted.bases + [item.value for item in wanted.keywords]:
            needed += imports_for(base, names, f"the base `{ast.unparse(base)}` of `{name}` is not known in `{interface['file']}`")
        own = names | {field_name(each) for each in wanted.body if isinstance(each, (ast.Assign, ast.AnnAssign))}
        for each in wanted.body:
            if isinstance(each, (ast.Assign, ast.AnnAssign)) and each.value is not None:
                needed += imports_for(each.value, own, f"the value of `{name}.{field_name(each)}` is not known in `{interface['file']}`")
    else:
        for default in _defaults(wanted):
            needed += imports_for(default, names, f"the default `{ast.unparse(default)}` of `{name}` is not known in `{interface['file']}`")
    for decorator in kept_decorators(wanted) if wanted is not None else []:
        if not isinstance(decorator, ast.Attribute) or decorator.attr not in ACCESSORS:
            needed += imports_for(decorator, names, f"the decorator `{ast.unparse(decorator)}` of `{name}` is not known in `{interface['file']}`")
    ready = add_imports(text, needed)
    tree = ast.parse(ready)
    if value is None and len(parts) == 1 and is_method(wanted):
        parts = likely_owner(tree, name) + parts
        interface = {**interface, "name": ".".join(parts)}
    names = known_names(tree) - declared_from(tree, parts)
    for each in [value] if value is not None else wanted.body if isinstance(wanted, ast.ClassDef) else []:
        if isinstance(each, ast.AnnAssign):
            quote_field(each, names)
    if isinstance(wanted, FUNCTIONS):
        quote_unknown(wanted, names)
    changed = place(ready, tree, interface, parts, wanted, value, marker)
    return text if changed == ready else changed


def declared_from(tree, parts):
    """Returns the names that the module declares at the place of a declaration or later. An annotation cannot use them there, such as a class in its own methods."""
    known = find(tree.body, parts[0])
    later = {node.name for node in tree.body if isinstance(node, DECLARATIONS) and known is not None and node.lineno >= known.lineno}
    return later | {parts[0]} if len(parts) > 1 or isinstance(known, ast.ClassDef) else later


def place(text, tree, interface, parts, wanted, value, marker):
    """Returns the text with the declaration in its place."""
    name = interface["name"]
    body, owner, missing = tree.body, None, list(parts[:-1])
    while missing:
        inner = find(body, missing[0])
        if inner is None:
            break
        if not isinstance(inner, ast.ClassDef):
            raise Problem(f"`{missing[0]}` in `{interface['file']}` is not a class")
        owner, body = inner, inner.body
        missing.pop(0)
    if value is not None and not missing:
        first = text.splitlines()[owner.body[0].lineno - 1]
        return declare_field(text, owner, value, first[:len(first) - len(first.lstrip())])
    kind = accessor(wanted) if value is None else ""
    known = None if missing or value is not None else find(body, parts[-1], kind)
    if kind and (missing or find(body, parts[-1]) is None):
        raise Problem(f"`{name}` has no property of which this could be the {kind}; declare it before")
    if known is not None:
        if isinstance(known, ast.ClassDef) != isinstance(wanted, ast.ClassDef):
            raise Problem(f"`{name}` exists in `{interface['file']}` and is not what the signature declares")
        if isinstance(known, ast.ClassDef):
            return declare_members(text, interface, name, wanted, marker)
        keep_defaults(known, wanted)
        return text if normal_form(known) == normal_form(wanted) else change_signature(text, known, wanted)

    def lines(indent):
        new = []
        for depth, each in enumerate(missing):
            new.append(indent + "    " * depth + f"class {each}:")
        inner = indent + "    " * len(missing)
        return new + ([inner + ast.unparse(value)] if value is not None else skeleton_lines(wanted, name, marker, inner))

    text = append_to_module(text, tree, lines("")) if owner is None else append_to_class(text, owner, lines)
    return declare_members(text, interface, name, wanted, marker) if isinstance(wanted, ast.ClassDef) else text


def declare_members(text, interface, name, wanted, marker):
    """Adds the missing fields and methods of a class."""
    for each in wanted.body:
        if isinstance(each, (ast.Assign, ast.AnnAssign)):
            text = declare_one(text, {**interface, "name": f"{name}.{field_name(each)}", "signature": ast.unparse(each)}, marker)
        elif isinstance(each, FUNCTIONS):
            header = header_only(each)
            text = declare_one(text, {**interface, "name": f"{name}.{each.name}", "signature": ast.unparse(header)}, marker)
    return text


def package_files(path, existing):
    """Adds an empty `__init__.py` to new folders of a package."""
    folders = {name.rsplit("/", depth)[0] for name in existing for depth in range(1, name.count("/") + 1)}
    made, parts = [], path.split("/")[:-1]
    for depth in range(1, len(parts)):
        parent, folder = "/".join(parts[:depth]), "/".join(parts[:depth + 1])
        if folder not in folders and (parent + "/__init__.py" in existing or parent + "/__init__.py" in made):
            made.append(folder + "/__init__.py")
    return made


def declare_in(results, contents, existing, interface, marker):
    """Adds the interface to the changed files."""
    file = interface["file"]
    check_path(file)
    original = results.get(file, contents.get(file, ""))
    crlf, mark = "\r\n" in original, original.startswith("\ufeff")
    text = original[1:] if mark else original
    text = text.replace("\r\n", "\n") if crlf else text
    changed = declare(text, interface, marker)
    if changed != text:
        changed = changed.replace("\n", "\r\n") if crlf else changed
        results[file] = ("\ufeff" if mark else "") + changed
        for package in package_files(file, existing):
            results.setdefault(package, "")


def main():
    request = json.loads(sys.stdin.buffer.read().decode("utf-8", "surrogateescape"))
    contents, existing, marker = dict(request["contents"]), set(request["existing"]), request["marker"]
    results, problems, waiting = {}, [], list(request["interfaces"])
    while waiting:
        later = []
        for interface in waiting:
            try:
                declare_in(results, contents, existing, interface, marker)
            except Problem as problem:
                # A class may come before its base.
                another = any(each is not interface and each["file"] == interface["file"] and each["name"] == problem.unknown for each in waiting)
                later.append(interface) if another else problems.append(str(problem))
                last = problem
            except RecursionError:
                problems.append(f"`{interface['name']}` is nested too deeply")
        if len(later) == len(waiting):
            problems.append(str(last))
            break
        waiting = later
    out = io.StringIO()
    for problem in problems:
        out.write(json.dumps({"problem": problem}) + "\n")
    if not problems:
        for path, content in results.items():
            out.write(json.dumps({"path": path, "content": content}) + "\n")
    out.write(json.dumps({"end": True}) + "\n")
    sys.stdout.write(out.getvalue())


if __name__ == "__main__":
    main()
