# SPDX-License-Identifier: Apache-2.0
"""What the skeleton commands of Python and JavaScript declare: each result loads, and what they do not accept says why."""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

LANGUAGES = pathlib.Path(__file__).resolve().parents[3] / "config" / "languages"
MARKER = "agentforge: skeleton of"


class Skeletons(unittest.TestCase):
    command: list = []
    file = ""
    contents: dict = {}

    def run_command(self, interfaces, contents):
        request = {"interfaces": [{"name": name, "file": file, "signature": signature} for name, file, signature in interfaces],
                   "contents": contents, "existing": list(contents), "marker": MARKER}
        done = subprocess.run(self.command, input=json.dumps(request), capture_output=True, text=True, check=True)
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual(lines[-1], {"end": True})
        return {each["path"]: each["content"] for each in lines if "path" in each}, [each["problem"] for each in lines if "problem" in each]

    def declared(self, *interfaces, text=None, **contents):
        """The file's text with these interfaces, (name, signature) or (name, file, signature); declared twice, they change nothing."""
        whole = [each if len(each) == 3 else (each[0], self.file, each[1]) for each in interfaces]
        contents = {**self.contents, **({self.file: text} if text is not None else {})}
        files, problems = self.run_command(whole, contents)
        self.assertEqual(problems, [])
        self.assertEqual(self.run_command(whole, {**contents, **files}), ({}, []))
        self.loads({**contents, **files})
        return files[self.file]

    def refused(self, name, signature):
        files, problems = self.run_command([(name, self.file, signature)], self.contents)
        self.assertEqual(files, {})
        return problems[0]

    def loads(self, files):
        with tempfile.TemporaryDirectory() as root:
            for path, content in files.items():
                target = pathlib.Path(root, path)
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_text(content, encoding="utf-8")
            done = subprocess.run(self.load_command(root), cwd=root, capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stderr + files[self.file])


class Python(Skeletons):
    command = [sys.executable, "-I", "-B", "-S", str(LANGUAGES / "python" / "skeleton.py")]
    file = "memo.py"

    def load_command(self, _root):
        return [sys.executable, "-B", "-c", "import memo"]

    def test_a_parameter_that_goes_becomes_a_variable(self):
        self.assertEqual(
            self.declared(("poll", "def poll(url, timeout=10.0)"), text='def poll(url, retries=3, *rest, unused=1):\n    """Polls."""\n    return [url, retries, rest]\n'),
            'def poll(url, timeout=10.0):\n    """Polls."""\n    retries = 3\n    rest = ()\n    return [url, retries, rest]\n')
        self.assertEqual(self.declared(("join", "def join(a)"), text="def join(a, b): return a + b\n"), "def join(a): return a + b\n")

    def test_the_standard_library_is_imported(self):
        self.assertEqual(
            self.declared(("remember", "def remember(clock=time.monotonic)"), ("override", "@contextlib.contextmanager\ndef override(environ=os.environ)")),
            "import time\nimport os\nimport contextlib\n\n\ndef remember(clock=time.monotonic):\n"
            '    raise NotImplementedError("agentforge: skeleton of remember")\n\n\n@contextlib.contextmanager\ndef override(environ=os.environ):\n'
            '    raise NotImplementedError("agentforge: skeleton of override")\n')
        self.assertIn("from enum import Enum\n", self.declared(("Color", "class Color(Enum):\n    RED = 'red'")))
        self.assertIn("import concurrent.futures\n", self.declared(("Pool", "class Pool(concurrent.futures.Executor)")))

    def test_a_named_tuple_raises_where_it_is_made(self):
        self.assertIn('class Info(tuple):\n    hits: int\n\n    def __new__(cls, *args, **kwargs):\n        raise NotImplementedError("agentforge: skeleton of Info")\n',
                      self.declared(("Info", "class Info(NamedTuple):\n    hits: int")))

    def test_a_dataclass_has_its_fields_and_raises_where_it_is_made(self):
        text = self.declared(("Settings", "@dataclass(frozen=True)\nclass Settings:\n    retries: int = 3\n    paths: list[Path] = field(default_factory=list)"),
                             ("Settings.read", "@classmethod\ndef read(cls, environ=os.environ) -> Settings"))
        self.assertIn("@dataclass(frozen=True)\nclass Settings:\n    retries: int = 3\n    paths: 'list[Path]' = field(default_factory=list)\n\n    def __init__(", text)
        self.assertIn("    @classmethod\n    def read(cls, environ=os.environ) -> 'Settings':\n", text)

    def test_types_without_behaviour_are_declared_as_they_are(self):
        self.assertIn("class Color(enum.Enum):\n    RED = 'red'\n    BLUE = auto()\n", self.declared(("Color", "class Color(enum.Enum):\n    RED = 'red'\n    BLUE = auto()")))
        self.assertIn("class Row(TypedDict, total=False):\n    a: int\n", self.declared(("Row", "class Row(TypedDict, total=False):\n    a: int")))
        self.assertNotIn("__init__", self.declared(("Clock", "class Clock(Protocol):\n    def now(self) -> float: ...")))

    def test_what_async_for_and_async_with_take_is_generated(self):
        text = self.declared(("lines", "async def lines() -> AsyncIterator[str]"), ("opened", "@asynccontextmanager\nasync def opened()"), ("read", "async def read() -> str"))
        self.assertEqual(text.count("    yield\n"), 2)

    def test_members_and_fields_of_a_known_class_are_added(self):
        self.assertEqual(self.declared(("A", "class A:\n    x: int = 1\n    def f(self): ..."), text='class A:\n    """D."""\n\n    def g(self):\n        pass\n'),
                         'class A:\n    """D."""\n\n    x: int = 1\n\n    def g(self):\n        pass\n\n    def f(self):\n'
                         '        raise NotImplementedError("agentforge: skeleton of A.f")\n')
        self.assertIn("    @size.setter\n", self.declared(("A.size", "@property\ndef size(self) -> int"), ("A.size", "@size.setter\ndef size(self, value)")))

    def test_annotations_in_a_class_do_not_name_it_before_it_is_there(self):
        self.assertIn("def mix(self, other: 'A') -> 'A':", self.declared(("A.f", "def f(self)"), ("A.mix", "def mix(self, other: A) -> A")))

    def test_a_signature_may_begin_with_its_imports(self):
        self.assertEqual(self.declared(("Late", "from errors import Base\n\nclass Late(Base)"), ("Base", "errors.py", "class Base(Exception)")).partition("\n")[0],
                         "from errors import Base")
        self.assertIn("more than imports", self.refused("f", "import os; os.remove('x')\ndef f()"))
        self.assertIn("more than imports", self.refused("f", "from os import *\ndef f()"))

    def test_a_class_may_stand_before_its_base(self):
        self.assertRegex(self.declared(("B", "class B(A)"), ("A", "class A(Exception)")), r"(?s)class A\b.*class B\b")

    def test_imports_stand_behind_those_of_the_file(self):
        self.assertTrue(self.declared(("f", "def f(a=time.time)"), text='"""D."""\nimport os\n\n\ndef g():\n    pass\n').startswith('"""D."""\nimport os\nimport time\n\n\ndef g'))
        self.assertTrue(self.declared(("f", "def f(a=time.time)"), text="#!/usr/bin/python3\n# Text.\n\ndef g():\n    pass\n").startswith("#!/usr/bin/python3\n# Text.\n\nimport time\n"))

    def test_what_does_more_than_declare_is_refused(self):
        for name, signature, why in (
                ("f", "def f(a=open('x'))", "more than a value"), ("f", "def f(a=lambda: open('x'))", "more than a value"), ("f", "def f(): return 1", "has a body"),
                ("A", "class A:\n    def f(self): return 1", "has a body"), ("A", "class A:\n    x = open('x').read() or [a for a in b]", "more than a value"),
                ("A", "class A:\n    if True: pass", "more than fields and methods"), ("A", "@dataclass\nclass A:\n    x: list = []", "default_factory"),
                ("f", "@atexit.register\ndef f()", "decorator"), ("f", "@lru_cache(open('x'))\ndef f()", "decorator"), ("A", "class A(Unknown)", "begin the signature with its import")):
            self.assertIn(why, self.refused(name, signature), signature)


@unittest.skipUnless(shutil.which("node"), "node is not installed")
class Javascript(Skeletons):
    command = ["node", str(LANGUAGES / "javascript" / "skeleton.mjs")]
    file = "src/a.js"
    contents = {"package.json": '{"type": "module"}'}

    def load_command(self, _root):
        return ["node", "-e", f"import('./{self.file}').catch((error) => {{ console.error(error); process.exit(1); }})"]

    def test_bases_of_node_and_of_other_files_are_imported(self):
        text = self.declared(("Lines", "export class Lines extends Transform"), ("Tally", "export class Tally extends EventEmitter"), ("Late", "export class Late extends Base"),
                             ("Base", "src/base.js", "export class Base extends Error"))
        self.assertTrue(text.startswith("import { Transform } from 'node:stream';\nimport { EventEmitter } from 'node:events';\nimport { Base } from './base.js';\n\nexport class Lines extends Transform {\n"))
        self.assertIn("begin the signature with its import", self.refused("A", "export class A extends Unknown"))

    def test_a_class_may_stand_before_its_base(self):
        self.assertRegex(self.declared(("B", "export class B extends A"), ("A", "export class A extends Error")), r"(?s)class A\b.*class B\b")

    def test_a_signature_may_begin_with_its_imports(self):
        self.assertTrue(self.declared(("Tally", "import { EventEmitter as Events } from 'node:events';\nexport class Tally extends Events")).startswith(
            "import { EventEmitter as Events } from 'node:events';\n\nexport class Tally extends Events {\n"))
        self.assertIn("no names", self.refused("A", "import './x.js';\nexport class A"))

    def test_members_of_a_class_become_its_skeleton(self):
        text = self.declared(("Ring", "export class Ring {\n  #items = [];\n  static from(items) {}\n  constructor(size = 10) {}\n  get size() {}\n  *[Symbol.iterator]() {}\n}"))
        self.assertIn("export class Ring {\n  #items = [];\n\n  constructor(size = 10) {\n", text)
        for part in ("  static from(items) {\n", "  get size() {\n", "  *[Symbol.iterator]() {\n"):
            self.assertIn(part, text)
        self.assertEqual(text.count(MARKER), 4)

    def test_a_method_may_have_no_plain_name(self):
        self.assertIn("  [Symbol.asyncIterator]() {\n", self.declared(("Items", "export class Items"), ("Items.[Symbol.asyncIterator]", "[Symbol.asyncIterator]()")))
        self.assertIn("  [Symbol.iterator]() {\n", self.declared(("Items", "export class Items"), ("Items[Symbol.iterator]", "[Symbol.iterator]()")))
        self.assertIn("  map(change) {\n", self.declared(("Items", "export class Items"), ("map", "map(change)")), "of the only class")

    def test_a_parameter_that_goes_becomes_a_variable_with_its_default(self):
        before = "export function table(rows, { sep = '|', align = 'left', old } = {}, limit = 3) {\n  if (align) return rows.slice(limit).join(sep);\n}\n"
        self.assertEqual(self.declared(("table", "export function table(rows, options = {}, limit = 5)"), text=before),
                         "export function table(rows, options = {}, limit = 3) {\n  let sep = '|';\n  let align = 'left';\n"
                         "  if (align) return rows.slice(limit).join(sep);\n}\n")
        self.assertEqual(self.declared(("table", "export function table(rows, { separator, align = 'left' } = {})"), text="export function table(rows, { sep, align }) { return sep + align; }\n"),
                         "export function table(rows, { separator, align = 'left' } = {}) { let sep = undefined; return sep + align; }\n")

    def test_defaults_may_be_what_is_everywhere(self):
        self.assertIn("(argv = process.argv.slice(2), now = () => Date.now(), separator = path.sep, limit = undefined)",
                      self.declared(("main", "export default function main(argv = process.argv.slice(2), now = () => Date.now(), separator = path.sep, limit = LIMIT)")))

    def test_what_does_more_than_declare_is_refused(self):
        for name, signature, why in (
                ("A", "export class A { f() { return 1; } }", "has a body"), ("A", "export class A { x = evil(); }", "more than a constant"),
                ("A", "export class A { static { evil(); } }", "has a body"), ("A", "export class A extends mix(B)", "more than a name"), ("A", "evil();\nexport class A", "not one declaration"),
                ("A", "export const A = evil()", "more than a constant"), ("f", "function f(a = evil())", "more than a value"), ("f", "function f(a = () => { evil(); })", "more than a value")):
            self.assertIn(why, self.refused(name, signature), signature)


class CommonJs(Javascript):
    contents = {}

    def test_bases_of_node_and_of_other_files_are_imported(self):
        text = self.declared(("Tally", "class Tally extends EventEmitter"), ("Late", "class Late extends Base"), ("Base", "src/base.js", "class Base extends Error"))
        self.assertTrue(text.startswith("const { EventEmitter } = require('node:events');\nconst { Base } = require('./base');\n\nclass Tally extends EventEmitter {\n"))

    def test_a_signature_may_begin_with_its_imports(self):
        self.assertTrue(self.declared(("Tally", "const { EventEmitter: Events } = require('events');\nclass Tally extends Events")).startswith(
            "const { EventEmitter: Events } = require('events');\n\nclass Tally extends Events {\n"))

    def test_imports_stand_behind_use_strict(self):
        self.assertTrue(self.declared(("Tally", "class Tally extends EventEmitter"), text="'use strict';\n\nexports.a = 1;\n").startswith(
            "'use strict';\n\nconst { EventEmitter } = require('node:events');\n\nexports.a = 1;\n"))

    def test_members_of_a_class_become_its_skeleton(self):
        self.assertIn("  push(item) {\n", self.declared(("Ring", "class Ring {\n  constructor(size)\n  push(item)\n}")))

    test_a_class_may_stand_before_its_base = test_a_method_may_have_no_plain_name = test_defaults_may_be_what_is_everywhere = None


class Typescript(Skeletons):
    command = Javascript.command
    file = "src/a.ts"

    def loads(self, files):
        """Nothing: node does not read all of TypeScript."""

    def test_a_class_with_members(self):
        text = self.declared(("PageError", "export class PageError extends Error"), ("PageError.attempts", "readonly attempts: number"),
                             ("Items", "export class Items<T> implements AsyncIterable<T> {\n  constructor(source: AsyncIterable<T>);\n  static of<T>(from: T[]): Items<T>;\n"
                                       "  [Symbol.asyncIterator](): AsyncIterator<T>;\n  async toArray(): Promise<T[]>;\n}"))
        for part in ("  readonly attempts!: number;\n", "export class Items<T> implements AsyncIterable<T> {\n  constructor(source: AsyncIterable<T>) {\n",
                     "  static of<T>(from: T[]): Items<T> {\n", "  [Symbol.asyncIterator](): AsyncIterator<T> {\n", "  async toArray(): Promise<T[]> {\n"):
            self.assertIn(part, text)

    def test_enums_overloads_and_abstract_classes(self):
        text = self.declared(("Color", "export enum Color { Red = 'red' }"), ("Shape", "export abstract class Shape {\n  abstract area(): number;\n}"),
                             ("parse", "export function parse(text: string): string;\nexport function parse(text: number): number;"))
        for part in ("export enum Color { Red = 'red' }\n", "  abstract area(): number;\n", "export function parse(text: string): string;\nexport function parse(text: number): number;\n"
                     "export function parse(...args: any[]): any {\n"):
            self.assertIn(part, text)

    def test_constants(self):
        for name, signature in (("TIMEOUT", "export const TIMEOUT = 60 * 1000"), ("NAMES", "export const NAMES = ['a', 'b'] as const"), ("EMPTY", "export const EMPTY: ReadonlySet<string> = new Set(['a'])")):
            self.assertIn(signature, self.declared((name, signature)))


del Skeletons

if __name__ == "__main__":
    unittest.main()
