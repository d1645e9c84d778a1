# SPDX-License-Identifier: Apache-2.0
"""Compares the documentation with the sources and the program.

usage: test_documentation.py AGENTFORGE [test…]
"""
import collections
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest

import yaml

ROOT = pathlib.Path(__file__).resolve().parents[3]
PROGRAM = None
CODE = re.compile(r"\bAF-[A-Z]+-\d{3}\b")
ROW = re.compile(r"^\| (AF-[A-Z]+-\d{3}) \| (.+) \| (.+) \|$", re.M)
EXAMPLE_OF_THE_SDK = "AF-X-001"     # The example of a code in result.hpp.
CODES_OF_TASKS = {
    "001": "stage execution failed", "002": "stage timeout", "003": "cycle limit reached", "004": "escalation triggered",
    "005": "context budget exceeded", "006": "transition failed", "007": "pipeline cancelled",
}


def files(*patterns, folder=ROOT):
    found = subprocess.run(["git", "-c", "safe.directory=*", "-C", str(folder), "ls-files", "--cached", "--others", "--exclude-standard", "--", *patterns], capture_output=True, text=True, check=True)
    return [folder / name for name in sorted(set(found.stdout.splitlines())) if (folder / name).is_file()]


def sources():
    return [file for file in files("kernel", "sdk", "plugins", "config", "scripts", "examples/plugins") if file.suffix != ".md"]


def pages():
    """Returns the project's own pages, without those of example projects and templates."""
    return [file for file in files("*.md") if not name(file).startswith(("examples/", "sdk/templates/"))]


def name(file):
    return str(file.relative_to(ROOT))


def without_comment(line):
    return "" if line.lstrip().startswith(("//", "#", "*")) else line


def error_rows():
    return ROW.findall((ROOT / "docs" / "errors.md").read_text())


def codes_of_sources():
    """Returns a map from each code to the places where code outside comments has it."""
    found = collections.defaultdict(list)
    for file in sources():
        for number, line in enumerate(file.read_text(errors="replace").splitlines(), 1):
            for code in CODE.findall(without_comment(line)):
                found[code].append((name(file), number, line))
    found.pop(EXAMPLE_OF_THE_SDK, None)
    return found


def initializers(text, at):
    """Returns the values of a braced list that begins before `at`, without splitting nested lists."""
    values, depth, quoted, value = [], 0, False, ""
    while at < len(text):
        c = text[at]
        if quoted:
            value += c
            if c == "\\":
                at += 1
                value += text[at]
            quoted = c != '"'
        elif c in ")]}" and depth == 0:
            return [*values, value.strip()]
        elif c == "," and depth == 0:
            values.append(value.strip())
            value = ""
        else:
            depth += (c in "([{") - (c in ")]}")
            quoted = c == '"'
            value += c
        at += 1
    return values


class ErrorCodes(unittest.TestCase):
    def test_each_code_is_listed_once(self):
        counts = collections.Counter(code for code, _, _ in error_rows())
        self.assertEqual([code for code, count in counts.items() if count != 1], [])

    def test_each_code_of_the_sources_is_listed(self):
        listed = {code for code, _, _ in error_rows()}
        missing = {code: places[0][:2] for code, places in codes_of_sources().items() if code not in listed}
        self.assertEqual(missing, {}, "add a row to docs/errors.md")

    def test_each_listed_code_is_in_the_sources(self):
        known = codes_of_sources()
        self.assertEqual([code for code, what, _ in error_rows() if code not in known and not what.startswith("Reserved:")], [])

    def test_a_reserved_code_is_not_used(self):
        known = codes_of_sources()
        self.assertEqual([code for code, what, _ in error_rows() if code in known and what.startswith("Reserved:")], [], "describe it in docs/errors.md")

    def test_each_code_of_a_comment_is_listed(self):
        listed = {code for code, _, _ in error_rows()} | {EXAMPLE_OF_THE_SDK}
        unknown = {(name(file), code) for file in sources() for code in CODE.findall(file.read_text(errors="replace")) if code not in listed}
        self.assertEqual(sorted(unknown), [])

    def test_no_code_is_used_by_two_areas(self):
        # The same error can occur in two folders: a program that cannot start (the SDK's runner and the kernel's), a cancelled model call,
        # a stage that the pipeline does not have, a missing task or blob, an effect that a tool does not declare (in a run and in `plugins check`).
        shared = {"AF-JRNL-011", "AF-EXEC-001", "AF-EXEC-002", "AF-EXEC-003", "AF-LLM-104", "AF-ORCH-041", "AF-TASK-002", "AF-TOOL-005"}
        folders = collections.defaultdict(set)
        for path in sources():
            file = name(path)
            # A list of codes returns no error. The fake host returns the host's errors.
            for code in re.findall(r'[{(]\s*"(AF-[A-Z]+-\d{3})",(?!\s*"AF-)', path.read_text(errors="replace")):
                if file.startswith("sdk/testing/") and not code.startswith("AF-FAKE-"):
                    continue
                area = "/".join(file.split("/")[:3] if file.startswith("plugins/") else file.split("/")[:2])
                folders[code].add("sdk/http" if area == "plugins/llm/http" else area)      # One area: the exchange, and the backends that read its answers.
        self.assertEqual({code: sorted(where) for code, where in folders.items() if len(where) > 1 and code not in shared}, {})

    def test_each_error_says_what_to_do(self):
        # A step of the state machine is not an error yet; a plugin that fails on purpose; a way to a model that is only listed.
        elsewhere = {"kernel/pipeline/machine.cpp", "kernel/plugins/check/host_setup.cpp"}
        empty = []
        for file in files("kernel/*.cpp", "kernel/*.hpp", "plugins/*.cpp", "sdk/src/*.cpp"):
            text = file.read_text()
            for found in re.finditer(r'\{\s*"(AF-[A-Z]+-\d{3})"\s*,', text):
                values = initializers(text, found.start() + 1)
                if name(file) not in elsewhere and (len(values) < 4 or values[3] == '""') and values[1] != "candidate.missing":
                    empty.append((name(file), text.count("\n", 0, found.start()) + 1, found.group(1)))
        self.assertEqual(empty, [], "a remedy says what to do; where there is nothing to be done, that")

    def test_each_variable_that_is_not_a_setting_is_in_the_manual(self):
        own = re.search(r"other_variables\[\] = \{(.*?)\}", (ROOT / "kernel/config/settings.cpp").read_text(), re.S).group(1)
        manual = re.sub(r"\\f.", " ", subprocess.run([PROGRAM, "help", "--man"], capture_output=True, text=True, check=True).stdout)
        section = manual[manual.index(".SH ENVIRONMENT"):manual.index(".SH FILES")]
        for variable in [*re.findall(r'"(\w+)"', own), "ANTHROPIC_API_KEY", "OPENAI_API_KEY", "HOME", "PATH", "TMPDIR", "XDG_STATE_HOME", "LC_ALL", "LANG", "TERM", "NO_COLOR", "PAGER", "HTTPS_PROXY", "NO_PROXY"]:
            with self.subTest(variable):
                self.assertRegex(section, rf"\b{variable}\b")

    def test_the_first_codes_of_a_task_have_their_meanings(self):
        what = {code: text.lower() for code, text, _ in error_rows()}
        for number, meaning in CODES_OF_TASKS.items():
            with self.subTest(number):
                self.assertIn(meaning, what.get("AF-ORCH-" + number, ""))

    def test_each_code_that_a_page_names_is_listed(self):
        listed = {code for code, _, _ in error_rows()}
        self.assertEqual([(name(page), code) for page in pages() for code in CODE.findall(page.read_text()) if code not in listed], [])


def anchors(page):
    made = set()
    for heading in re.findall(r"^#+ (.+)$", re.sub(r"```.*?```", "", page.read_text(), flags=re.S), re.M):
        text = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading)
        made.add(re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-"))
    return made


class Links(unittest.TestCase):
    def test_each_relative_link_leads_somewhere(self):
        broken = []
        for page in pages():
            text = re.sub(r"```.*?```", "", page.read_text(), flags=re.S)
            for target in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`\n]*`", "", text)):
                if re.match(r"[a-z]+:", target):
                    continue
                path, _, anchor = target.partition("#")
                file = (page.parent / path).resolve() if path else page
                if not file.exists() or (anchor and anchor not in anchors(file)):
                    broken.append((name(page), target))
        self.assertEqual(broken, [])

    def test_each_page_is_reached_from_the_readme(self):
        reached, todo = set(), [ROOT / "README.md"]
        while todo:
            page = todo.pop()
            if page in reached:
                continue
            reached.add(page)
            for target in re.findall(r"\]\(([^)\s#]+)", page.read_text()):
                file = (page.parent / target).resolve()
                if file.is_dir():
                    file = file / "README.md"
                if file.suffix == ".md" and file.exists():
                    todo.append(file)
        self.assertEqual([name(page) for page in pages() if page not in reached], [])

    def test_no_page_contains_a_local_path_of_its_author(self):
        place = re.compile(r"(?<![\w.~$}])/(?:work|root|home|tmp/(?!\.\.\.)|builds?/|mnt|Users)(?:/[\w.+-]+)+|\b\w+\.internal\b|localhost:(?!11434|4318)\d+")
        found = [(name(file), hit.group(0)) for file in pages() + files("docs/*.svg") for hit in place.finditer(file.read_text())]
        self.assertEqual(found, [])


def command_lines(page):
    """Returns the lines of code blocks and code spans that call the program."""
    text = page.read_text()
    for block in re.findall(r"```[a-z]*\n(.*?)```", text, flags=re.S):
        for line in block.replace("\\\n", " ").splitlines():
            found = re.match(r"\s*(?:\$ )?(?:[A-Z_]+=\S+ )*(agentforge(?: [^#]*)?)$", line.split("   #")[0].rstrip())
            if found:
                yield found.group(1)
    for span in re.findall(r"`(agentforge [^`\n]*)`", re.sub(r"```.*?```", "", text, flags=re.S)):
        yield span


class Grammar:
    """The program's grammar, from `agentforge help --json`."""

    def __init__(self):
        self.top = json.loads(subprocess.run([PROGRAM, "help", "--json"], capture_output=True, text=True, check=True, timeout=30).stdout)

    def flags(self, command):
        """Returns a map from each flag to whether it takes a value."""
        found = {"--help": False, "-h": False}
        for option in command["options"] + self.top["options"]:
            found.update({name: bool(option["value"]) for name in option["names"] if not option["positional"]})
        return found

    def leaves(self, command=None):
        command = command or self.top
        return [command] if not command["commands"] else [leaf for each in command["commands"] for leaf in self.leaves(each)]

    def problem(self, line):
        words = [word.replace("…", "x") if word != "…" else word for word in shlex.split(line)[1:]]
        end = next((at for at, word in enumerate(words) if word in ("|", "||", "&&", "<") or word.startswith((">", "2>"))), len(words))
        words = words[:end]
        if "COMMAND" in words:      # A placeholder for any command.
            words = words[words.index("COMMAND") + 1:]
            return next((f"there is no {word}" for word in words if word.startswith("-") and word not in self.flags(self.top)), None)
        command, texts, takes_value = self.top, [], False
        for word in words:
            if takes_value:
                takes_value = False
            elif word.startswith("-") and len(word) > 1:
                name = word.split("=")[0]
                if name not in self.flags(command):
                    return f"there is no {name}"
                takes_value = "=" not in word and self.flags(command)[name]
            elif command["commands"] and word == "…":
                return None
            elif command["commands"]:
                found = [each for each in command["commands"] if each["name"].split()[-1] == word]
                if not found and not any(option["positional"] for option in command["options"]):
                    return "there is no such command"
                if found:
                    command = found[0]
                else:
                    texts.append(word)      # A group that is also a command, such as `audit TASK`.
            else:
                texts.append(word)
        positionals = [option for option in command["options"] if option["positional"]]
        if any(option["repeatable"] for option in positionals):
            return None
        return "too many words" if len(texts) > len(positionals) else None


class Commands(unittest.TestCase):
    grammar = None

    @classmethod
    def setUpClass(cls):
        cls.grammar = Grammar()

    def test_each_command_line_on_a_page_is_valid(self):
        wrong = [(name(page), line, problem) for page in pages() for line in command_lines(page) if (problem := self.grammar.problem(line))]
        self.assertEqual(wrong, [])

    def test_the_check_finds_each_command_line_of_a_page(self):
        self.assertGreaterEqual(len(list(command_lines(ROOT / "docs" / "first-task.md"))), 6)
        self.assertEqual(len(list(command_lines(ROOT / "README.md"))), 3)

    def test_each_command_is_in_the_table_of_commands(self):
        table = re.search(r"\| command \|.*?\n\n", (ROOT / "docs" / "cli.md").read_text(), re.S).group(0)
        self.assertEqual([command["name"] for command in self.grammar.top["commands"] if f"`{command['name']}" not in table], [])

    def test_the_command_page_is_generated_from_the_program(self):
        ran = subprocess.run([sys.executable, "-B", str(ROOT / "scripts" / "make-cli-page"), "--check", PROGRAM], capture_output=True, text=True, check=False)
        self.assertEqual(ran.returncode, 0, ran.stderr)

    @staticmethod
    def rows_of_the_stream():
        """Returns the words in backquotes of each row of the page, by the first one."""
        rows = [re.findall("`([^`]*)`", line) for line in (ROOT / "docs" / "stream-json.md").read_text().splitlines() if line.startswith("| `")]
        return {row[0]: set(row[1:]) for row in rows}

    @staticmethod
    def events_of_the_kernel():
        """Returns the fields of each event that is not a record, by its type."""
        text = (ROOT / "kernel" / "base" / "event_sink.hpp").read_text()
        structs = re.findall(r'string_view type = "([a-z_]+)";.*?BOOST_DESCRIBE_STRUCT\(\w+, \(\), \((.*?)\)\)', text, re.S)
        return {event: {field.strip() for field in fields.split(",")} for event, fields in structs}

    def test_each_stream_event_and_field_is_documented(self):
        rows, events = self.rows_of_the_stream(), self.events_of_the_kernel()
        self.assertGreater(len(events), 5)
        self.assertEqual([(event, field) for event, fields in events.items() for field in sorted(fields - rows.get(event, set()))], [])

    def test_each_documented_stream_type_is_sent(self):
        stream = (ROOT / "kernel" / "program" / "log" / "event_stream.cpp").read_text()
        of_records = set(re.findall(r'(?:add|write)\(\{?"([a-z_]+)"', stream)) | {"step", "gate"}  # These two types have the names of their records.
        self.assertEqual(sorted(set(self.rows_of_the_stream()) ^ (of_records | set(self.events_of_the_kernel()))), [])

    def test_man_can_show_each_manual_page(self):
        for command in [self.grammar.top, *self.grammar.leaves()]:
            page = subprocess.run([PROGRAM, "help", *command["name"].split()[1:], "--man"], capture_output=True, check=True).stdout
            ran = subprocess.run(["groff", "-k", "-man", "-Tutf8", "-ww", "-z"], input=page, capture_output=True, check=False)
            self.assertEqual((ran.returncode, ran.stderr), (0, b""), command["name"])

    def test_the_exit_codes_are_those_of_the_program(self):
        wanted = dict(re.findall(r"(\d+) ([a-z ]+)", re.search(r"Exit codes:(.*)", self.grammar.top["footer"]).group(1)))
        table = re.search(r"\| exit code \|.*?\n\n", (ROOT / "docs" / "cli.md").read_text(), re.S).group(0)
        self.assertEqual(re.findall(r"^\| (\d+) \|", table, re.M), list(wanted))


REQUEST = "Add a slugify function that turns a title into a URL slug"


def settled(text):
    """Replaces the parts that differ from run to run."""
    text = re.sub(r"\b\d{4}-\d\d-\d\dT[\d:.]+Z", "TIME", text)
    text = re.sub(r"task-\d{8}-([a-z-]+)-[0-9a-f]{8}", r"task-DAY-\1-ID", text)
    text = re.sub(r"\b[0-9a-f]{8}\b", "ID", text)
    return re.sub(r"\b[\d.]+ (ms|s)\b", "N ms", text)


class Examples(unittest.TestCase):
    """Runs the examples of docs/cli.md again."""

    @classmethod
    def setUpClass(cls):
        page = (ROOT / "docs" / "cli.md").read_text()
        cls.blocks = {block.split("\n")[0][2:]: block.split("\n")[1:] for block in re.findall(r"```\n(\$ agentforge .*?)```", page, re.S)}

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.home = pathlib.Path(folder.name).resolve()
        self.repository = self.home / "textkit"
        shutil.copytree(ROOT / "examples" / "textkit", self.repository)
        self.environment = {"PATH": os.environ["PATH"], "HOME": str(self.home), "AGENTFORGE_STATE_HOME": str(self.home / "state"), "AGENTFORGE_LLM_BACKEND": "replay",
                            "AGENTFORGE_LLM_TRANSCRIPT": str(ROOT / "examples" / "transcripts" / "slugify.yaml")}
        for words in (["init", "-q", "-b", "main"], ["add", "-A"], ["-c", "user.name=D", "-c", "user.email=d@example.invalid", "commit", "-q", "-m", "Import"]):
            subprocess.run(["git", *words], cwd=self.repository, env=self.environment, check=True)

    def run_program(self, *words):
        ran = subprocess.run([PROGRAM, *words], cwd=self.repository, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, timeout=60)
        return settled(ran.stdout.replace(str(self.home), "~/demo")), ran.returncode

    def newest_task(self):
        return json.loads(subprocess.run([PROGRAM, "status", "--json"], cwd=self.repository, env=self.environment, capture_output=True, text=True, check=True).stdout)["tasks"][0]["task_id"]

    def check(self, command, *words):
        """Runs `words`. The program must print each line that the page shows for `command`, up to the page's `…`."""
        printed, code = self.run_program(*words)
        for line in self.blocks[command]:
            for shown in settled(line).split("…"):
                self.assertIn(shown.strip(), printed)
        return code

    def test_the_example_of_init_is_current(self):
        self.check("agentforge init", "init")

    def test_the_example_of_plugins_new_is_current(self):
        self.check("agentforge plugins new tool word_count", "plugins", "new", "tool", "word_count")

    def test_the_example_of_plugins_list_is_current(self):
        self.check("agentforge plugins list", "plugins", "list")

    def test_the_examples_of_plugins_are_current(self):
        for command in ("plugins show read_file", "plugins lock", "plugins verify", "trust"):
            with self.subTest(command):
                self.assertEqual(self.check("agentforge " + command, *command.split()), 0)

    def test_the_examples_of_effective_settings_are_current(self):
        shown = [command for command in self.blocks if re.match(r"agentforge (agents|contracts|pipelines|config|start --dry-run)\b", command)]
        self.assertGreaterEqual(len(shown), 8)
        for command in shown:
            with self.subTest(command):
                self.assertEqual(self.check(command, *shlex.split(command)[1:]), 0)

    def test_the_examples_of_a_supervised_task_are_current(self):
        start = [command for command in self.blocks if command.startswith("agentforge start") and "--supervised" in command][0]
        self.assertEqual(self.check(start, *shlex.split(start)[1:]), 22)
        task = self.newest_task()
        self.assertEqual(self.check("agentforge approve c46bf5a3", "approve", task), 22)
        self.check('agentforge feedback c46bf5a3 "Say what becomes of digits"', "feedback", task[-8:], "Say what becomes of digits")
        self.assertEqual(self.check('agentforge abort c46bf5a3 --reason "wrong request"', "abort", task[-8:], "--reason", "wrong request"), 0)

    def test_the_example_of_reject_is_current(self):
        self.run_program("start", "--approve", "intake", REQUEST)
        self.assertEqual(self.check("agentforge reject 935e22a2", "reject", self.newest_task()[-8:]), 23)


class Settings(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.keys = list(yaml.safe_load((ROOT / "config" / "settings_schema.yaml").read_text())["settings"])

    def test_the_settings_page_is_current(self):
        ran = subprocess.run([sys.executable, "-B", str(ROOT / "scripts" / "make-settings-page"), "--check"], capture_output=True, text=True, check=False)
        self.assertEqual(ran.returncode, 0, ran.stderr)

    def test_the_journal_page_is_current(self):
        ran = subprocess.run([sys.executable, "-B", str(ROOT / "scripts" / "make-journal-page"), "--check"], capture_output=True, text=True, check=False)
        self.assertEqual(ran.returncode, 0, ran.stderr)

    def test_each_setting_is_read_by_the_kernel(self):
        text = "\n".join(file.read_text() for file in files("kernel/*.cpp") if "settings_schema" not in file.name)
        model_settings = (ROOT / "kernel" / "program" / "project" / "model_settings.cpp").read_text()    # This file also reads each key of llm for a role.
        unread = []
        for key in self.keys:
            section, _, rest = key.partition(".")
            by_section = f'section("{section}")' in text and f'"{rest.split(".")[0]}"' in text
            by_role = key.startswith("agents.*.llm.") and f'"{key.removeprefix("agents.*.")}"' in model_settings
            if f'"{key}"' not in text and not by_section and not by_role:
                unread.append(key)
        self.assertEqual(unread, [], "a setting that nothing reads is a promise that is not kept")

    def known(self, key):
        parts = key.rstrip(".").split(".")

        def begins(pattern):
            segments = pattern.split(".")[:len(parts)]
            return len(segments) == len(parts) and all(segment in ("*", part) for segment, part in zip(segments, parts))

        return any(begins(pattern) for pattern in self.keys) or key.startswith(("llm.settings.", "plugins.settings."))

    def test_each_dotted_key_that_a_page_names_exists(self):
        sections = "|".join(sorted({key.split(".")[0] for key in self.keys}))
        wrong = []
        for page in pages():
            for key in re.findall(rf"(?:`|--set ')((?:{sections})\.[a-z_.*]+)(?:`|=)", page.read_text()) + re.findall(r"--set '?([a-z_.*]+)=", page.read_text()):
                if not self.known(key.replace("*", "x")) and not key.endswith((".yaml", ".md", ".py", ".lock", ".json")):
                    wrong.append((name(page), key))
        self.assertEqual(wrong, [])

    def test_each_settings_file_on_a_page_has_known_keys(self):
        sections = {key.split(".")[0] for key in self.keys}
        wrong = []

        def walk(page, value, prefix):
            for key, inner in value.items():
                at = f"{prefix}{key}"
                if not self.known(at):
                    wrong.append((name(page), at))
                elif isinstance(inner, dict) and at not in ("llm.settings", "plugins.settings"):
                    walk(page, inner, at + ".")

        for page in pages():
            for block in re.findall(r"```yaml\n(.*?)```", page.read_text(), flags=re.S):
                value = yaml.safe_load(block)
                if isinstance(value, dict) and value.keys() <= sections:
                    walk(page, value, "")
        self.assertEqual(wrong, [])


    def test_the_first_settings_of_a_model_mention_trust_if_they_need_it(self):
        schema = yaml.safe_load((ROOT / "config" / "settings_schema.yaml").read_text())["settings"]
        text = (ROOT / "docs" / "models.md").read_text()
        text = re.search(r"## Your first model\n(.*?)\n## ", text, re.S)[1] + "\n\n"
        untold = []
        blocks = list(re.finditer(r"```yaml\n(.*?)```\n\n(.*?)\n\n", text, flags=re.S))
        self.assertEqual(len(blocks), 1)
        for block in blocks:
            value = yaml.safe_load(block[1])
            guarded = [f"{section}.{key}" for section, inner in value.items() for key in inner if (schema.get(f"{section}.{key}") or {}).get("project") == "trust"]
            untold += [key for key in guarded if "`agentforge trust`" not in block[2]]
        self.assertEqual(untold, [])


class SpecDecisions(unittest.TestCase):
    """Compares docs/spec-decisions.md with the program."""

    def setUp(self):
        self.text = (ROOT / "docs" / "spec-decisions.md").read_text()
        self.absent = self.text[self.text.index("## Not implemented yet"):]

    def test_types_run_after_an_edit_as_the_page_says(self):
        stages = {stage["name"]: stage for stage in yaml.safe_load((ROOT / "config" / "pipelines" / "implement.yaml").read_text())["pipeline"]["stages"]}
        self.assertIn("types", stages["green"]["config"]["verify_edits"])
        self.assertFalse("types are checked after every edit" in self.text, "the page lists a difference that there is none of")

    def test_missing_commands_are_listed(self):
        for word in ("metrics", "layer-dependencies"):
            self.assertIn(word, self.absent)

    def test_commands_and_options_listed_as_missing_do_not_exist(self):
        grammar = json.loads(subprocess.run([PROGRAM, "help", "--json"], capture_output=True, text=True, check=True).stdout)
        commands = {command["name"].split()[-1] for command in grammar["commands"]}
        options = set(re.findall(r'"(--[a-z-]+)"', json.dumps(grammar)))
        listed = [word for line in self.absent.splitlines() if line.startswith("|") for word in re.findall(r"`([a-z_]+|--[a-z-]+)`", line.split("|")[1])]
        self.assertGreaterEqual(len(listed), 1)
        self.assertEqual([word for word in listed if word in options | commands], [])


def defines(text, function):
    """True if a C++ text defines this function, or this type or members of it. `A::b` also matches `b` in the body of class A."""
    scope, _, plain = function.rpartition("::")
    if re.search(rf"^(?! *(?:return|if|for|while|else)\b)[\w\[ ][^;/]*(?:[ *&]|\w::){function}\([^;]*(?:$|\{{)", text, re.M):
        return True
    type_body = r"^ *(?:class|struct) (?:\w+::)*{}\b[^;]*{{$"
    if not scope:
        return bool(re.search(type_body.format(function), text, re.M) or re.search(rf"^\w[^;]* {function}::\w+\(", text, re.M))
    return bool(re.search(type_body.format(scope.rpartition("::")[2]), text, re.M)) and defines(text, plain)


def undefined_names(line):
    """Returns the missing files that a row of the decision table names, and the functions that are not in the file named with them: "file: `a`, `b` and `c`", or "`a` (`file`)"."""
    places = {path: next((root / path for root in (ROOT / "kernel", ROOT) if (root / path).is_file()), None) for path in re.findall(r"`([\w./-]+/[\w.-]+\.(?:cpp|hpp|yaml|py))`", line) if path.upper() != path and not re.search(r"[A-Z]{4}", path)}
    named = [(path, function) for path, functions in re.findall(r"`([\w/]+\.cpp)`(?::| \() ?((?:`[\w:]+`(?:, | and )?)+)", line) for function in re.findall(r"`([\w:]+)`", functions)]
    named += [(path, function) for functions, path in re.findall(r"((?:`[\w:]+`(?:, | and )?)+) \(`([\w/]+\.cpp)`\)", line) for function in re.findall(r"`([\w:]+)`", functions)]
    return [path for path, place in places.items() if place is None] + [f"{path}: {function}" for path, function in named if places.get(path) and not defines(places[path].read_text(), function)]


class Architecture(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.text = (ROOT / "ARCHITECTURE.md").read_text()

    def test_the_walk_names_functions_that_their_files_define(self):
        walk = re.search(r"^## How a request becomes a commit\n(.*?)^###", self.text, re.S | re.M)[1]
        hops = re.findall(r"^\d+\. (.*)$", walk, re.M)
        self.assertLessEqual(len(hops), 10)
        self.assertEqual([hop for hop in hops if not re.match(r"`[\w:]+` \(`[\w/]+\.cpp`\)", hop)], [], "a hop begins with its function and the file")
        named = re.findall(r"`([\w:]+)` \(`([\w/.]+)`\)", walk)
        self.assertEqual([(function, file) for function, file in named if not defines((ROOT / file).read_text(), function)], [])

    def test_the_decision_table_names_functions_that_their_files_define(self):
        table = re.search(r"^### Where to find each decision\n(.*?)^##", self.text, re.S | re.M)[1]
        self.assertEqual([wrong for line in table.splitlines() for wrong in undefined_names(line)], [])

    def test_a_renamed_function_and_a_moved_file_of_the_decision_table_are_found(self):
        self.assertEqual(undefined_names("| what? | `pipeline/delivery/delivery.cpp`: `made_before` and `Deliverer` |"), ["pipeline/delivery/delivery.cpp: made_before"])
        self.assertEqual(undefined_names("| what? | `made_before` (`pipeline/delivery/delivery.cpp`) |"), ["pipeline/delivery/delivery.cpp: made_before"])
        self.assertEqual(undefined_names("| what? | `pipeline/moved.cpp` decides |"), ["pipeline/moved.cpp"])

    def test_each_folder_has_its_paragraph(self):
        folders = sorted({"/".join(file.relative_to(ROOT).parts[:2]) + "/" for file in files("kernel/*/*", "plugins/*/*", "tests/*/*")})
        folders += ["sdk/", "config/", "scripts/", "docs/", "examples/"]
        self.assertEqual([folder for folder in folders if f"**{folder}**" not in self.text], [])

    def test_the_paragraphs_of_kernel_folders_name_files_that_exist(self):
        other_words = {"agentforge", "complete", "config/", "exit", "git", "status"}    # Commands, programs and tools.
        text = self.text[self.text.index("## Folders"):self.text.index("## Dependencies between folders")]
        named, missing = 0, []
        for folder, paragraphs in re.findall(r"^\*\*(kernel/\w+)/\*\*(.*?)(?=^\*\*)", text, re.S | re.M):
            present = {part for file in (ROOT / folder).rglob("*") for part in (file.name, file.stem)}
            for word in re.findall(r"`([a-z_/]+)`", paragraphs):
                named += 1
                is_file = word.rstrip("/").rpartition("/")[2] in present or list((ROOT / "kernel").glob(word + "*")) or (ROOT / word).exists()
                is_function = "_" in word and any(f" {word}(" in file.read_text() for file in files("kernel/*.hpp"))
                if not is_file and not is_function and word not in other_words:
                    missing.append((folder, word))
        self.assertGreater(named, 80)
        self.assertEqual(missing, [])

    def test_the_arrows_match_the_build(self):
        shown = {folder.strip(): sorted(uses.strip().split(", ")) for folders, uses in re.findall(r"^\| ([a-z, ]+) \| ([a-z, ]+) \|$", self.text, re.M)
                 for folder in folders.split(",") if uses.strip() not in ("uses", "what it does")}
        shown["base"] = []
        built = {}
        for file in files("kernel/*/CMakeLists.txt"):
            text = re.search(r"agentforge_kernel_folder\((\w+)(.*?)\)\n", file.read_text(), re.S)
            folders = re.search(r"\bFOLDERS\b([a-z\s]*)", text.group(2))
            built[text.group(1)] = sorted(folders.group(1).split())
        self.assertEqual({key: value for key, value in shown.items() if key in built}, built)

    def test_each_thread_in_the_sources_is_listed(self):
        makers = [name(file) for file in files("kernel/*.cpp", "sdk/*.cpp", "plugins/*.cpp") if re.search(r"(?<!\")std::(thread|jthread|async)\b(?! *::)|\btry_thread\(", file.read_text())]
        self.assertEqual(makers, ["kernel/pipeline/task_session.cpp", "kernel/plugins/call_watch.cpp", "kernel/plugins/check/call_watchdog.cpp", "kernel/program/terminal/display.cpp", "kernel/task/task_listing.cpp", "kernel/telemetry/exporter.cpp", "sdk/http/src/exchange.cpp", "sdk/testing/src/fake_host.cpp"], "say in ARCHITECTURE.md what the new thread does")


class Picture(unittest.TestCase):
    def test_the_picture_is_made_from_the_recorded_output(self):
        ran = subprocess.run([sys.executable, "-B", str(ROOT / "scripts" / "make-picture"), "--check"], capture_output=True, text=True, check=False)
        self.assertEqual(ran.returncode, 0, ran.stderr)


class Changelog(unittest.TestCase):
    def test_the_newest_section_is_unreleased(self):
        self.assertEqual(re.findall(r"^## (.+)$", (ROOT / "CHANGELOG.md").read_text(), re.M)[0], "Unreleased")

    def test_the_licence_matches_the_sources(self):
        self.assertIn("Apache License\n                           Version 2.0", (ROOT / "LICENSE").read_text())


if __name__ == "__main__":
    if len(sys.argv) < 2:
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    PROGRAM = sys.argv.pop(1)
    unittest.main()
