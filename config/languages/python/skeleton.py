# SPDX-License-Identifier: Apache-2.0
"""Declares interfaces: functions and methods whose body is the skeleton's marker, constants and other names of types, and nothing else.

Input: {"interfaces": [{"name", "file", "signature"}], "contents": {path: text of existing files}, "existing": [paths of the
tree], "marker": text}. Output, one JSON object a line: {"path", "content"} for each file that changes, or {"problem": text} for
each interface that cannot be declared, then {"end": true}. Nothing of the project is run.

An existing function keeps its body, and its parameters the defaults they had, when its signature changes; it is left alone when it does not. Annotations with names that
the file does not know are quoted, so that the module can be imported. Parent folders get an empty `__init__.py` only inside a package.
"""
import ast
import builtins
import io
import json
import keyword
import sys
import tokenize

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
DECLARATIONS = FUNCTIONS + (ast.ClassDef,)
DECORATORS = {"staticmethod", "classmethod", "property"}


class Problem(Exception):
    """Why an interface cannot be declared."""


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
          ast.Attribute, ast.Subscript, ast.keyword)


def parse_value(signature, name):
    """`LIMIT = 100`, `LIMIT: int = 100`, `LIMIT: int`, `Pair = tuple[int, int]`: the assignment; None: it is none."""
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
    if node.value is None:
        node.value = ast.Constant(None)
    named = node.value
    if isinstance(named, ast.Call):         # `Point = namedtuple("Point", "x y")`, `UserId = NewType("UserId", int)`
        if not isinstance(named.func, (ast.Name, ast.Attribute)) or not all(isinstance(part, VALUES) for each in named.args for part in ast.walk(each)):
            raise Problem(f"the signature `{signature}` has a value that is more than a constant")
    elif not all(isinstance(part, VALUES) for part in ast.walk(named)):
        raise Problem(f"the signature `{signature}` has a value that is more than a constant")
    return node


def declare_value(text, tree, node, name, names):
    """The assignment, behind the imports where it stands."""
    if name in names and any(isinstance(part, ast.Name) and part.id == name and isinstance(part.ctx, ast.Store)
                             for each in tree.body for part in ast.walk(each)):
        return text
    unknown = [part.id for part in ast.walk(node.value) if isinstance(part, ast.Name) and part.id not in names]
    if unknown:
        raise Problem(f"`{unknown[0]}` in the value of `{name}` is not known in the file; a declaration brings no import")
    if isinstance(node, ast.AnnAssign) and any(isinstance(part, ast.Name) and part.id not in names for part in ast.walk(node.annotation)):
        node.annotation = ast.Constant(ast.unparse(node.annotation))
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


def parse_signature(signature, name):
    """The declared function or class, with an empty body."""
    text = signature.strip().rstrip(":").rstrip()
    try:
        body = ast.parse(text + ":\n    ...\n").body
    except (SyntaxError, ValueError, RecursionError) as error:
        raise Problem(f"the signature `{signature}` does not parse: {error}") from error
    if len(body) != 1 or not isinstance(body[0], DECLARATIONS):
        raise Problem(f"the signature `{signature}` is not one `def` or `class`")
    node = body[0]
    only = node.body[0]
    if len(node.body) != 1 or not (isinstance(only, ast.Expr) and isinstance(only.value, ast.Constant) and only.value.value is ...):
        raise Problem(f"the signature `{signature}` has a body; give only the declaration")
    for decorator in node.decorator_list:
        if not (isinstance(decorator, ast.Name) and decorator.id in DECORATORS):
            raise Problem(f"the signature `{signature}` has a decorator that a skeleton may not have")
    if node.name != name:
        raise Problem(f"the signature `{signature}` declares `{node.name}`, but the interface is called `{name}`")
    for default in _defaults(node):
        if not all(isinstance(part, (ast.Constant, ast.Tuple, ast.List, ast.Dict, ast.Set, ast.UnaryOp, ast.unaryop, ast.expr_context,
                                     ast.Name, ast.Attribute)) for part in ast.walk(default)):
            raise Problem(f"the signature `{signature}` has a default that is more than a value")
    return node


def _defaults(node):
    if isinstance(node, ast.ClassDef):
        return []
    return [default for default in node.args.defaults + node.args.kw_defaults if default is not None]


def known_names(tree):
    """Names that the module defines or imports at its top level, and the built-in ones."""
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
    """(owner, field) of every annotation of a function."""
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
    """The signature as text, whether annotations are quoted or not."""
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
    """`def f(a: int) -> str:` without decorators and body."""
    copy = header_only(node)
    copy.decorator_list = []
    lines = ast.unparse(copy).strip().splitlines()
    return "\n".join(lines[:-1]) if lines[-1].strip() == "..." else lines[0].rsplit("...", 1)[0].rstrip()


def skeleton_lines(node, qualified, marker, indent):
    lines = [f"{indent}@{decorator.id}" for decorator in getattr(node, "decorator_list", [])]
    lines.append(indent + header_text(node))
    if isinstance(node, ast.ClassDef):
        lines.append(f"{indent}    def __init__(self, *args, **kwargs):")
        lines.append(f'{indent}        raise NotImplementedError("{marker} {qualified}")')
    else:
        lines.append(f'{indent}    raise NotImplementedError("{marker} {qualified}")')
    return lines


def find(body, name):
    """The last declaration of a name, which is the one that counts; also inside `if` and `try`."""
    found = None
    for node in body:
        if isinstance(node, DECLARATIONS) and node.name == name:
            found = node
        for field in ("body", "orelse", "finalbody"):
            if isinstance(node, (ast.If, ast.Try, ast.With)):
                found = find(getattr(node, field, []), name) or found
    return found


def is_method(node):
    first = node.args.posonlyargs + node.args.args if isinstance(node, FUNCTIONS) else []
    return bool(first) and first[0].arg in ("self", "cls")


def likely_owner(tree, name):
    """The class that has a method of that name, else the only class of the module, as a list; none: a function with such a parameter."""
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    having = [node for node in classes if find(node.body, name) is not None]
    return [node.name for node in (having or classes)] if len(having or classes) == 1 else []


def header_end(text, node):
    """(line, column) just behind the colon that ends the header of a function."""
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


def change_signature(text, node, wanted):
    """Replaces the header; decorators, body and comments stay byte for byte."""
    end_line, end_column = header_end(text, node)
    lines = text.splitlines(keepends=True)
    first = lines[node.lineno - 1]
    start_column = len(first.encode()[:node.col_offset].decode())
    indent = first[:start_column]
    header = header_text(wanted)
    if isinstance(node, ast.AsyncFunctionDef) != isinstance(wanted, ast.AsyncFunctionDef):
        raise Problem(f"`{node.name}` exists and is {'' if isinstance(node, ast.AsyncFunctionDef) else 'not '}async")
    before = lines[:node.lineno - 1] + [indent + header + lines[end_line - 1][end_column:]]
    return "".join(before + lines[end_line:])


def keep_defaults(known, wanted):
    """Parameters that had a default keep it: another one is behaviour, which RED's tests must see missing."""
    def values(arguments):
        named = arguments.posonlyargs + arguments.args
        return {each.arg: default for each, default in list(zip(named[len(named) - len(arguments.defaults):], arguments.defaults)) + list(zip(arguments.kwonlyargs, arguments.kw_defaults))}

    old, arguments = values(known.args), wanted.args
    named = arguments.posonlyargs + arguments.args
    having = named[len(named) - len(arguments.defaults):]
    arguments.defaults = [old.get(each.arg) or default for each, default in zip(having, arguments.defaults)]
    arguments.kw_defaults = [default and (old.get(each.arg) or default) for each, default in zip(arguments.kwonlyargs, arguments.kw_defaults)]


def insert_lines(text, line, new):
    """`new` after the first `line` lines."""
    lines = text.splitlines(keepends=True)
    if lines and line > 0 and not lines[line - 1].endswith("\n"):
        lines[line - 1] += "\n"
    return "".join(lines[:line] + [each + "\n" for each in new] + lines[line:])


def append_to_module(text, tree, new):
    """At the end, or before `if __name__ == "__main__":` where that is last."""
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
    """The file's text with one interface declared."""
    name = interface["name"]
    parts = check_name(name)
    value = parse_value(interface["signature"], parts[-1])
    wanted = parse_signature(interface["signature"], parts[-1]) if value is None else None
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError) as error:
        raise Problem(f"`{interface['file']}` does not parse: {error}") from error
    names = known_names(tree)
    if value is not None:
        if len(parts) > 1:
            raise Problem(f"`{name}` is a value in a class; only functions and values of a module can be declared")
        return declare_value(text, tree, value, name, names)
    if isinstance(wanted, ast.ClassDef):
        for base in wanted.bases + [item.value for item in wanted.keywords]:
            if any(isinstance(part, ast.Name) and part.id not in names for part in ast.walk(base)):
                raise Problem(f"the base `{ast.unparse(base)}` of `{name}` is not known in `{interface['file']}`")
    else:
        quote_unknown(wanted, names)
        for default in _defaults(wanted):
            if any(isinstance(part, ast.Name) and part.id not in names for part in ast.walk(default)):
                raise Problem(f"the default `{ast.unparse(default)}` of `{name}` is not known in `{interface['file']}`")
    if len(parts) == 1 and is_method(wanted):
        parts = likely_owner(tree, name) + parts
        name = ".".join(parts)
    body, owner, missing = tree.body, None, list(parts[:-1])
    while missing:
        inner = find(body, missing[0])
        if inner is None:
            break
        if not isinstance(inner, ast.ClassDef):
            raise Problem(f"`{missing[0]}` in `{interface['file']}` is not a class")
        owner, body = inner, inner.body
        missing.pop(0)
    known = None if missing else find(body, parts[-1])
    if known is not None:
        if isinstance(known, ast.ClassDef) != isinstance(wanted, ast.ClassDef):
            raise Problem(f"`{name}` exists in `{interface['file']}` and is not what the signature declares")
        if not isinstance(known, ast.ClassDef):
            keep_defaults(known, wanted)
        if isinstance(known, ast.ClassDef) or normal_form(known) == normal_form(wanted):
            return text
        return change_signature(text, known, wanted)

    def lines(indent):
        new = []
        for depth, each in enumerate(missing):
            new.append(indent + "    " * depth + f"class {each}:")
        return new + skeleton_lines(wanted, name, marker, indent + "    " * len(missing))

    if owner is None:
        return append_to_module(text, tree, lines(""))
    return append_to_class(text, owner, lines)


def package_files(path, existing):
    """Empty `__init__.py` for new folders of a package."""
    folders = {name.rsplit("/", depth)[0] for name in existing for depth in range(1, name.count("/") + 1)}
    made, parts = [], path.split("/")[:-1]
    for depth in range(1, len(parts)):
        parent, folder = "/".join(parts[:depth]), "/".join(parts[:depth + 1])
        if folder not in folders and (parent + "/__init__.py" in existing or parent + "/__init__.py" in made):
            made.append(folder + "/__init__.py")
    return made


def main():
    request = json.loads(sys.stdin.buffer.read().decode("utf-8", "surrogateescape"))
    contents, existing, marker = dict(request["contents"]), set(request["existing"]), request["marker"]
    results, problems = {}, []
    for interface in request["interfaces"]:
        file = interface["file"]
        try:
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
        except Problem as problem:
            problems.append(str(problem))
        except RecursionError:
            problems.append(f"`{interface['name']}` is nested too deeply")
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
