# SPDX-License-Identifier: Apache-2.0
"""Checks the dependencies between folders by their include lines: sdk <- kernel folders in their order; sdk <- plugins.

The order is the list in kernel/CMakeLists.txt.
"""
import pathlib
import re
import tempfile
import unittest

import yaml

ROOT = pathlib.Path(__file__).resolve().parents[3]
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.M)
SOURCES = {".hpp", ".cpp", ".h", ".c", ".hpp.in"}
# Headers of the standard library (no folder, no file ending) and of the operating system.
SYSTEM = re.compile(r"^([a-z_0-9]+|[a-z_0-9]+\.h|(sys|linux|asm|net|netinet|arpa)/[a-z_0-9]+\.h)$")


def kernel_order(root):
    listed = re.search(r"foreach\(folder ([a-z ]+)\)", (root / "kernel/CMakeLists.txt").read_text())
    return listed.group(1).split() if listed else []


def sources(folder):
    return sorted(file for file in folder.rglob("*") if file.is_file() and file.suffix in SOURCES)


def includes(file):
    return INCLUDE.findall(file.read_text(encoding="utf-8"))


def resolves_beside(file, name, top):
    """True if a quoted include means a file beside this one and inside `top`."""
    there = (file.parent / name).resolve()
    return there.is_file() and there.is_relative_to(top.resolve())


def sdk_violations(root):
    found = []
    # This rule applies to all folders without their own rule below, also to new ones.
    apart = {root / "sdk/testing", root / "sdk/templates", root / "sdk/http"}
    for file in [file for file in sources(root / "sdk") if not any(file.is_relative_to(folder) for folder in apart)]:
        for quote, name in includes(file):
            # boost/version.hpp: the fingerprint names the Boost whose JSON values cross the boundary.
            allowed = name.startswith(("agentforge/", "boost/json")) or name == "boost/version.hpp" or (quote == "<" and SYSTEM.match(name))
            if not allowed and not (quote == '"' and resolves_beside(file, name, root / "sdk")):
                found.append(f"{file.relative_to(root)}: the SDK includes {name}")
    return found


def http_violations(root):
    """Finds includes of the kernel or of plugins in the exchange that both share."""
    found = []
    for file in sources(root / "sdk/http"):
        for quote, name in includes(file):
            allowed = name.startswith(("agentforge/", "agentforge_http/", "Poco/")) or (quote == "<" and SYSTEM.match(name))
            if not allowed and not (quote == '"' and resolves_beside(file, name, root / "sdk/http")):
                found.append(f"{file.relative_to(root)}: the HTTP exchange includes {name}")
    return found


# Plain functions over text that sdk/testing compiles in, so that the fake host's path rules are the host's.
TESTING_SHARES = {"base/text.hpp", "base/tool_effects.hpp", "tools/file_view.hpp", "tools/hunks.hpp", "tools/path_rules.hpp", "tools/text_edit.hpp"}


def testing_violations(root):
    found = []
    for file in sources(root / "sdk/testing"):
        shared = TESTING_SHARES if file.is_relative_to(root / "sdk/testing/src") else set()
        for quote, name in includes(file):
            allowed = name.startswith("agentforge/") or name in shared or (quote == "<" and SYSTEM.match(name))
            if not allowed and not (quote == '"' and resolves_beside(file, name, root / "sdk/testing")):
                found.append(f"{file.relative_to(root)}: the fake host includes {name}")
    return found


def template_violations(root):
    """Finds includes that an installation does not have. A template may use the SDK, the standard library, and GoogleTest in its test."""
    found = []
    for file in sources(root / "sdk/templates"):
        for quote, name in includes(file):
            allowed = name.startswith("agentforge/") or (quote == "<" and SYSTEM.match(name)) or (file.name.startswith("test_") and name == "gtest/gtest.h")
            if not allowed and not (quote == '"' and (file.parent / name).is_file() and "/" not in name):
                found.append(f"{file.relative_to(root)}: the template includes {name}")
    return found


def kernel_violations(root):
    order = kernel_order(root)
    found = []
    for folder in sorted(entry for entry in (root / "kernel").iterdir() if entry.is_dir()):
        if folder.name not in order:
            if sources(folder):
                found.append(f"kernel/{folder.name} is not in the order of kernel/CMakeLists.txt")
            continue
        above = set(order[:order.index(folder.name) + 1])
        for file in sources(folder):
            for quote, name in includes(file):
                place = f"{file.relative_to(root)}: {name}"
                target = pathlib.PurePosixPath(name).parts[0]
                # `plugins` is also a kernel folder, so this looks for the file in the kernel.
                outside = target in ("kernel", "plugins", "tests") and not (root / "kernel" / name).is_file()
                if ".." in pathlib.PurePosixPath(name).parts or outside:
                    found.append(f"{place} is not a path below kernel/")
                elif target in order and "/" in name and target not in above:
                    found.append(f"{place} stands below kernel/{folder.name}")
                elif quote == '"' and target not in order and not any(folder.rglob(name)) and not any((root / "sdk").rglob(name)):
                    found.append(f"{place} is not a file of this kernel folder or the SDK")
    return found


def plugin_violations(root):
    kernel = set(kernel_order(root))
    found = []
    for kind in sorted(entry for entry in (root / "plugins").iterdir() if entry.is_dir()):
        for plugin in sorted(entry for entry in kind.iterdir() if entry.is_dir()):
            for file in sources(plugin):
                for quote, name in includes(file):
                    place = f"{file.relative_to(root)}: {name}"
                    target = pathlib.PurePosixPath(name).parts[0]
                    if quote == '"':
                        if not resolves_beside(file, name, plugin):
                            found.append(f"{place} is not a file of this plugin")
                    elif target in kernel or target in ("kernel", "plugins", "tests") or ".." in name:
                        found.append(f"{place} is the kernel's or another plugin's")
    return found


def violations(root):
    return sdk_violations(root) + http_violations(root) + testing_violations(root) + kernel_violations(root) + plugin_violations(root) + template_violations(root)


FAKE_LINK = re.compile(r"\bagentforge_testing\b|\bAgentForge::testing\b")


def fake_violations(root):
    """Finds folders of the kernel and plugins that link the fake host. Only tests may link it."""
    found = []
    for file in sorted([*(root / "kernel").rglob("CMakeLists.txt"), *(root / "plugins").rglob("CMakeLists.txt")]):
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
            name = file.relative_to(root)
            if FAKE_LINK.search(line.split("#")[0]) and "tests" not in name.parts:
                found.append(f"{name}:{number}: {line.strip()}")
    return found


class Arrows(unittest.TestCase):
    def test_the_include_lines_are_found(self):
        self.assertGreater(len(kernel_order(ROOT)), 10)
        self.assertGreater(len(sources(ROOT / "sdk/include")), 5)
        for folder in kernel_order(ROOT):
            self.assertTrue(sources(ROOT / "kernel" / folder), f"kernel/{folder} holds no source: this test looks in the wrong place")
        self.assertGreater(len(sources(ROOT / "plugins")), 20)

    def test_no_folder_points_down_or_across(self):
        self.assertEqual([], violations(ROOT))

    def test_no_production_library_links_the_fake_host(self):
        self.assertEqual([], fake_violations(ROOT))

    def test_a_link_to_the_fake_host_is_found(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for name, line in (("kernel/plugins", "agentforge_kernel_folder(plugins PRIVATE_LIBRARIES agentforge_testing)"), ("plugins/tools/x", "target_link_libraries(x PRIVATE AgentForge::testing)"),
                               ("plugins/tools/x/tests", "target_link_libraries(x PRIVATE AgentForge::testing)"), ("kernel/base", "# Not agentforge_testing.")):
                (root / name).mkdir(parents=True)
                (root / name / "CMakeLists.txt").write_text(line + "\n")
            self.assertEqual(["kernel/plugins/CMakeLists.txt:1", "plugins/tools/x/CMakeLists.txt:1"], [place.rsplit(": ", 1)[0] for place in fake_violations(root)])

    def test_the_architecture_names_the_same_folders(self):
        described = (ROOT / "ARCHITECTURE.md").read_text()
        self.assertEqual([], [folder for folder in kernel_order(ROOT) if f"kernel/{folder}" not in described and f"`{folder}`" not in described])


def stage_names(root):
    """Returns the names of stages in the shipped pipelines."""
    files = sorted((root / "config/pipelines").glob("*.yaml"))
    return sorted({stage["name"] for file in files for stage in yaml.safe_load(file.read_text(encoding="utf-8"))["pipeline"]["stages"]})


STAGES = stage_names(ROOT)
STAGE_NAME = re.compile('"(' + "|".join(STAGES) + ')"')
# Ids of artifacts (`SPEC-…`) are not names of stages.
STAGE_IN_MESSAGE = re.compile('"[^"]*\\b(' + "|".join(STAGES).upper() + ')\\b(?!-)[^"]*"')
# Words with another meaning that are spelled like a stage's name: the file, the part of a line with the word, and its meaning there.
OTHER_WORDS = [
    ("kernel/config/gate_names.hpp", 'std::string_view tests = "tests"', "a gate"),
    ("kernel/config/gate_names.hpp", 'std::string_view red = "red"', "a gate"),
    ("kernel/config/gate_names.hpp", 'std::string_view green = "green"', "a gate"),
    ("kernel/config/gate_names.hpp", 'std::string_view refactor = "refactor"', "a gate"),
    ("kernel/config/gate_names.hpp", 'std::string_view deliver = "deliver"', "a gate"),
    ("kernel/contracts/names.hpp", 'std::string_view tests = "tests"', "what is wrong, in a hand-back"),
    ("kernel/contracts/names.hpp", '{{"red", tests}, {"spec", specification}}', "older words for what is wrong"),
    ("kernel/contracts/rules.cpp", 'action == "refactor"', "what a request intends"),
    ("kernel/gates/engine/rules.cpp", 'evidence_.intent != "refactor"', "what a request intends"),
    ("kernel/gates/engine/rules.cpp", 'evidence_.intent == "refactor"', "what a request intends"),
    ("kernel/gates/engine/tests_gate.cpp", '"test", "tests")', "the plural"),
    ("kernel/gates/engine/readiness.cpp", 'add(*command, "tests", true)', "a command of a language"),
    ("kernel/gates/engine/helper_results.cpp", 'type == "plan"', "a line of TAP"),
    ("kernel/gates/formats/ctest.cpp", 'type == "plan"', "a line of a report"),
    ("kernel/gates/formats/ctest.cpp", 'type == "tests"', "a line of a report"),
    ("kernel/gates/language/language.cpp", '"/run", "tests"', "a command of a language"),
    ("kernel/gates/language/language.cpp", '"/single", "tests"', "a command of a language"),
    ("kernel/gates/language/language.cpp", '"path", "tests", "fill"', "a field"),
    ("kernel/gates/language/language.cpp", '"sources", "tests", "test_support"', "a field"),
    ("kernel/gates/report.cpp", 'a test must be a mapping.", "tests"', "a field"),
    ("kernel/gates/report.cpp", 'fields(value.get_object(), "tests")', "a field"),
    ("kernel/gates/run/language_commands.cpp", 'commands{"tests", ', "a command of a language"),
    ("kernel/gates/run/runner.cpp", 'start(language, "tests"', "a command of a language"),
    ("kernel/audit/files/recorded_history.cpp", '"patch_file", "review"', "fields of records"),
    ("kernel/audit/signature.cpp", 'verify{"verify"', "an option of ssh-keygen"),
    ("kernel/pipeline/acceptance.cpp", 'reviewer.version, "review"', "an agent's mode"),
    ("kernel/pipeline/agent_run/run_role.cpp", 'review ? "review"', "an agent's mode"),
    ("kernel/pipeline/agent_run/run_workspace.cpp", 'no_paths(run_.agent, "review")', "a rule for paths"),
    ("kernel/pipeline/entry/imports.cpp", 'fs::path("tests")', "a folder"),
    ("kernel/pipeline/garbage.cpp", '/ "verify"', "a folder"),
    ("kernel/pipeline/git_workspace.cpp", '/ "verify"', "a folder"),
    ("kernel/pipeline/stage_host.cpp", 'durable("deliver"', "a host call"),
    ("kernel/plugins/check/check_host.cpp", 'request(rules_, "deliver"', "a host call"),
    ("kernel/plugins/check/tool_exercise.cpp", '"describe", "spec"', "a tool's function"),
    ("kernel/plugins/check/tool_exercise.cpp", 'judge_name(calls_, "spec"', "a tool's function"),
    ("kernel/plugins/check/stage_exercise.cpp", 'make("execute"', "a stage's function"),
    ("kernel/plugins/guard.cpp", 'run("execute"', "a stage's function"),
    ("kernel/plugins/guard.cpp", 'result("spec"', "a tool's function"),
    ("kernel/plugins/guard.cpp", 'named("spec"', "a tool's function"),
    ("kernel/program/commands/audit.cpp", '*command, "verify"', "a command"),
    ("kernel/program/commands/plugins_verify.cpp", 'group, "verify"', "a command"),
    ("kernel/program/commands/run.cpp", '{"plan", word_of(job.plan)}', "a field"),
    ("kernel/program/commands/start.cpp", '{"review", "Review code without changing it", "review"', "a command and its goal"),
    ("kernel/program/commands/start.cpp", 'arguments->goal == "review"', "a goal"),
    ("kernel/program/commands/doctor.cpp", '{"tests", ', "what is checked"),
    ("kernel/program/log/event_stream.cpp", 'add("review"', "a type of docs/stream-json.md"),
    ("kernel/program/program.cpp", '{"review", [](', "a command"),
    ("kernel/program/program.cpp", 'program, "review")', "a command"),
    ("kernel/program/terminal/closing_card.cpp", 'print_field(program, "tests"', "a word on the screen"),
    ("kernel/task/state_names.hpp", 'EscalationCause::review, "review"', "why a person is asked"),
    ("plugins/stages/execute/execute.cpp", '{"plan", "test_suite"}', "a contract"),
    ("plugins/stages/execute/execute.cpp", 'artifacts.find("plan")', "a contract"),
]
# The field `tests` of a document: written with a value, or read by one of these functions.
FIELD_TESTS = re.compile(r'\["tests"\]|\{"tests", (?!Verdict|suite)|\b(if_contains|list|list_of|list_in|objects_of|texts|texts_of|each_object|number|getValue|gtest_number)\((?:[*\w.()]+, )*(?:"", )?"tests"')


# Words with another meaning that are spelled like a type of record.
LIKE_A_RECORD = {
    "kernel/program/log/event_stream.cpp": "the types of docs/stream-json.md",
    "kernel/base/event_sink.hpp": "the same, of what is no record",
}
# The files that read records, and why. All other code uses the state. One entry means a header and its source.
READERS = {
    "kernel/task/fold": "the fold",
    "kernel/task/journal_fold": "folds a journal in parts, with its snapshot",
    "kernel/task/step_index": "finds the record of a step",
    "kernel/task/task_store": "opens a journal: whose it is",
    "kernel/task/task_listing": "verifies a journal that is newer than its state",
    "kernel/pipeline/task_session": "opens a task: folds its journal",
    "kernel/aggregate/followed_task": "folds a journal that another process writes",
    "kernel/task/own_journal": "looks for the hash of this machine's last record",
    "kernel/aggregate/overview": "takes the newest action and tests while that journal is folded",
    "kernel/aggregate/aggregator": "tells of records while that journal is folded",
    "kernel/program/commands/attach": "folds a journal that another process writes, and shows the records",
    "kernel/program/commands/history": "shows records",
    "kernel/program/commands/inspect": "shows records",
    "kernel/program/commands/logs": "shows records",
    "kernel/program/commands/status": "shows records",
    "kernel/dashboard/api_work": "shows records",
    "kernel/audit/evidence": "verifies a journal whole",
    "kernel/audit/files/recorded_history": "compares files with the records of them",
    "kernel/audit/report": "shows records",
    "kernel/audit/statement": "names records by their hashes, which the fold never sees: a record is hashed after it is folded",
    "kernel/audit/checks/artifacts_check": "compares the files of artifacts with the records of them",
    "kernel/audit/checks/blobs_check": "finds the blobs that records name",
    "kernel/audit/checks/end_check": "finds the records that the log confirms",
    "kernel/audit/checks/journal_check": "verifies the journals that a fork's archive continues, whole",
    "kernel/audit/checks/patches_check": "compares patches with the trees of steps",
    "kernel/audit/checks/projections_check": "computes the projections again",
    "kernel/audit/checks/statement_check": "takes the time of the record that a statement names",
    "kernel/audit/checks/trees_check": "finds the trees that records name",
    "kernel/audit/verify_commit": "compares records with a commit",
    "kernel/replay/actions": "takes the recorded steps",
    "kernel/replay/recorded_task": "sorts what was recorded by its place",
    "kernel/replay/replay": "goes on with a replay that another process began",
    "kernel/replay/replay_watch": "compares each record with the recorded one",
    "kernel/replay/rejudge": "takes the recorded verdicts",
}
RECORD_TYPE = re.compile(r'static constexpr std::string_view type = "([a-z_]+)"')
BODY = r"(?<!call)(?<!request)(\.|->)body(\.(get|as)_object\(\))?"
KEY_OF_A_RECORD = re.compile(BODY + r"(\.(at|if_contains|contains|find|at_pointer)\(|\[)|\w+_(of|in|path)\((?!call)[\w.>()*\[\]-]+(\.|->)body, \"")
TYPE_AS_TEXT = re.compile(r'type\(\) [!=]= "')
READ = re.compile(r"\bconst Record&|record\w*(\.|->)body;|\brecords::as<|\brecords::read_record\(|\bJournalTail\b|\bJournalVisitor\b|\bJournal::read\(|(\.|->)records\((?!\))|\bread_task_state\([^;]*, &")


def without_comment(line):
    return line.split("//")[0]


def statements(root, folder):
    """Yields each statement of a folder's sources, on one line and without comments: the file, the place of its beginning, the text."""
    for file in sources(root / folder):
        name = file.relative_to(root).as_posix()
        text, begin = "", 0
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
            line = without_comment(line).strip()
            if line and not text:
                begin = number
            text = f"{text} {line}".replace("( ", "(").strip()
            if not line or line.endswith((";", "{", "}", ":")):
                if text:
                    yield name, f"{name}:{begin}: {text}", text
                text = ""
        if text:
            yield name, f"{name}:{begin}: {text}", text


def record_violations(root):
    """Finds keys and types of records as text, and scans of a journal, in all of kernel/."""
    types = RECORD_TYPE.findall((root / "kernel/records/records.hpp").read_text(encoding="utf-8"))
    # A single word (step, gate, plugins) has other meanings, too; the search for `type() == "…"` finds these types.
    as_text = re.compile('"(' + "|".join(name for name in types if "_" in name and name != "held_out") + ')"')
    found = []
    for file, place, line in statements(root, "kernel"):
        if file.startswith(("kernel/records/", "kernel/journal/")):
            continue
        if TYPE_AS_TEXT.search(line) or KEY_OF_A_RECORD.search(line) or (as_text.search(line) and file not in LIKE_A_RECORD):
            found.append(place)
        if READ.search(line) and without_ending(file) not in READERS:
            found.append(place)
    return found


def without_ending(name):
    return name.rsplit(".", 1)[0]


def names_a_stage(file, line):
    for name, part, _ in OTHER_WORDS:
        line = line.replace(part, "") if name == file else line
    own = file.startswith("plugins/stages/") and ("info.name = " in line or line.startswith("AGENTFORGE_PLUGIN("))
    return not own and bool(STAGE_NAME.search(FIELD_TESTS.sub("", line)))


def stage_violations(root, folder):
    return [place for file, place, line in statements(root, folder) if names_a_stage(file, line)]


class Records(unittest.TestCase):
    """Only kernel/records has the keys of records, and only the fold derives the state from records."""

    def test_a_record_is_written_as_a_struct(self):
        written = [place for _, place, line in statements(ROOT, "kernel") if re.search(r'(session|session_)(\.|->)record\((json|\{|")', line)]
        self.assertEqual([], written)

    def test_record_keys_and_types_are_typed_and_only_the_fold_scans_journals(self):
        self.assertEqual([], record_violations(ROOT))

    def test_every_exception_is_needed(self):
        reads = {without_ending(file) for file, _, line in statements(ROOT, "kernel") if READ.search(line)}
        self.assertEqual(set(), set(READERS) - reads)
        for name in LIKE_A_RECORD:
            self.assertTrue((ROOT / name).is_file(), name)

    def test_no_event_duplicates_a_record(self):
        types = set(RECORD_TYPE.findall((ROOT / "kernel/records/records.hpp").read_text(encoding="utf-8")))
        events = set(RECORD_TYPE.findall((ROOT / "kernel/base/event_sink.hpp").read_text(encoding="utf-8")))
        self.assertGreater(len(events), 5)
        self.assertEqual({"gate"}, events & types, "a rebase's measurement is the only one that no journal has")

    def test_every_event_is_a_typed_struct(self):
        named = [place for _, place, line in statements(ROOT, "kernel") if re.search(r'events_?(\.|->)event\("|void event\(std::string_view', line)]
        self.assertEqual([], named)

    def test_the_kernel_names_no_stage(self):
        self.assertEqual([], stage_violations(ROOT, "kernel"))

    def test_every_listed_exception_still_exists(self):
        lines = {}
        for file, _, line in [*statements(ROOT, "kernel"), *statements(ROOT, "plugins/stages")]:
            lines.setdefault(file, []).append(line)
        self.assertEqual([], [(file, part) for file, part, _ in OTHER_WORDS if not any(part in line for line in lines.get(file, []))])

    def test_a_stage_of_any_shipped_pipeline_is_found_by_its_name(self):
        for name in ("red", "plan", "tests", "execute", "verify", "review"):
            self.assertTrue(names_a_stage("kernel/pipeline/machine.cpp", f'if (state.stage().name == "{name}") {{'), name)
            self.assertTrue(names_a_stage("kernel/pipeline/machine.cpp", f'const auto at = state.pipeline.index_of("{name}");'), name)
        self.assertFalse(names_a_stage("kernel/pipeline/machine.cpp", 'told["tests"] = list_of(file, "tests");'))

    def test_no_message_names_a_stage(self):
        named = [place for folder in ("kernel", "sdk", "plugins/stages") for _, place, line in statements(ROOT, folder) if STAGE_IN_MESSAGE.search(line)]
        self.assertEqual([], named, "a pipeline may call its stages otherwise")

    def test_a_message_with_the_name_of_a_stage_is_found(self):
        self.assertTrue(STAGE_IN_MESSAGE.search('block(path + " was changed since RED; restore it.");'))
        self.assertFalse(STAGE_IN_MESSAGE.search('{"spec_id", "SPEC-" + suffix}'))

    def test_no_stage_plugin_knows_another_stage(self):
        self.assertEqual([], stage_violations(ROOT, "plugins/stages"))


LITERAL = re.compile(r'"((?:\\.|[^"\\\n])*)"')
PARSER_INCLUDE = re.compile(r"#include <CLI/")
SEARCHED = re.compile(r'(?:\b(?:r?find|starts_with|ends_with|contains|compare)\((?:[^"()]*, )?|[=!]= |string_view \w+ = )("(?:\\.|[^"\\\n])*")')
PARSER_HEADERS = ("Error.hpp", "Validators.hpp")


def phrases(text):
    """Returns the string literals of a source that are parts of sentences, without surrounding blanks."""
    found = (literal.strip(" :[](){}'`") for line in text.splitlines() if "#include" not in line for literal in LITERAL.findall(without_comment(line)))
    return {phrase for phrase in found if len(re.findall("[A-Za-z]", phrase)) >= 5}


def parser_phrases():
    """Returns the parts of sentences in CLI11's exceptions and checks."""
    return set().union(*(phrases((pathlib.Path("/usr/include/CLI") / name).read_text(encoding="utf-8")) for name in PARSER_HEADERS))


def parsed_messages(root, theirs):
    """Finds code that searches for parts of the parser's messages, or uses these messages other than to show them unchanged."""
    found = []
    for file in [file for file in sources(root / "kernel") if PARSER_INCLUDE.search(file.read_text(encoding="utf-8"))]:
        text, name = file.read_text(encoding="utf-8"), file.relative_to(root).as_posix()
        searched = phrases("\n".join(SEARCHED.findall(text)))
        found += [f"{name}: {phrase}" for phrase in sorted(searched) if any(phrase == other or (" " in phrase and phrase in other) for other in theirs)]
        found += [f"{name}: {line.strip()}" for line in text.splitlines() if ".what()" in line and "printable(problem.what(), 400)" not in line]
    return found


class ParserMessages(unittest.TestCase):
    """The type of the parser's exception gives the kind of a usage error. The parser's messages change with its version."""

    def test_no_message_of_the_parser_is_taken_apart(self):
        self.assertEqual([], parsed_messages(ROOT, parser_phrases()))

    def found(self, line):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "kernel/program/usage_problem.cpp"
            file.parent.mkdir(parents=True)
            file.write_text("#include <CLI/CLI.hpp>\n" + line + "\n")
            return len(parsed_messages(pathlib.Path(folder), parser_phrases()))

    def test_a_piece_of_a_message_is_found(self):
        for piece in (" not in range ", " excludes ", " requires ", " is required", "At Most ", "The following argument was not expected", " not in range"):
            self.assertEqual(1, self.found(f'const auto at = text.find("{piece}");'), piece)
        self.assertEqual(1, self.found('const std::string text = problem.what();'))
        self.assertEqual(0, self.found('return text.empty() ? printable(problem.what(), 400) : text;'))


QUESTION_PREFIX = re.compile(r'"(ESC|APR|ACT)-?"')
# Code that makes a thread that can be abandoned, or a context that can be disconnected from the run.
ABANDONS = re.compile(r"(?<!\bcontext)(\.|->)detach\(\)|\brun_bounded\(|CallContext\* \w")


def question_violations(root):
    """Finds prefixes of a question's id outside the one table, in all of kernel/."""
    return [place for file, place, line in statements(root, "kernel") if QUESTION_PREFIX.search(line) and file != "kernel/escalation/question.cpp"]


def guard_violations(root):
    """Finds calls into plugins that are guarded by other code than guarded_call.hpp."""
    guards = ("kernel/plugins/call_watch.", "kernel/pipeline/guarded_call.hpp", "kernel/pipeline/detachable_context.hpp")
    return [place for file, place, line in statements(root, "kernel") if ABANDONS.search(line) and not file.startswith(guards)]


class People(unittest.TestCase):
    """Questions, approvals and actions share one mechanism. All calls that may hang share one guard."""

    def test_the_kind_of_a_question_is_read_from_its_id_in_one_place(self):
        self.assertEqual([], question_violations(ROOT))

    def test_calls_that_may_hang_are_guarded_in_one_place(self):
        self.assertEqual([], guard_violations(ROOT))

    def found(self, violations, line):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "kernel/pipeline/people/people.cpp"
            file.parent.mkdir(parents=True)
            file.write_text(line + "\n")
            return len(violations(pathlib.Path(folder)))

    def test_a_prefix_is_found_and_a_whole_id_is_not(self):
        self.assertEqual(1, self.found(question_violations, 'if (id.starts_with("ESC-")) {}'))
        self.assertEqual(1, self.found(question_violations, 'if (id.substr(0, 3) == "APR") {}'))
        self.assertEqual(0, self.found(question_violations, 'example("agentforge approve ACT-20260102-add-oauth2-1f2e3d4c-green-7");'))

    def test_a_second_guard_is_found(self):
        self.assertEqual(1, self.found(guard_violations, "worker.detach();"))
        self.assertEqual(1, self.found(guard_violations, "const bool returned = run_bounded(work, watch, overdue);"))
        self.assertEqual(1, self.found(guard_violations, "KernelCallContext* inner_;"))
        self.assertEqual(0, self.found(guard_violations, "context->detach();"))


COMPARED_CODE = re.compile(r'(?:[!=]= |starts_with\(|find\()"(AF-[A-Z0-9-]+)"')


def failure_violations(root):
    """Finds codes that both a `failures.hpp` and another file compare. The dashboard is an exception: it reads errors of another process, which have no kind."""
    apart = ("kernel/dashboard/command_runner.cpp",)
    named = {code for file in root.glob("kernel/*/failures.hpp") for code in COMPARED_CODE.findall(file.read_text(encoding="utf-8"))}
    return [place for file, place, line in statements(root, "kernel") if not file.endswith("/failures.hpp") and file not in apart and named.intersection(COMPARED_CODE.findall(line))]


class Failures(unittest.TestCase):
    """Code tells errors apart by kind, or else by the functions of `failures.hpp`."""

    def test_a_code_is_compared_in_one_place(self):
        self.assertEqual([], failure_violations(ROOT))

    def test_a_second_comparison_is_found(self):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in (("task/failures.hpp", 'return error.code == "AF-TASK-003";\n'), ("pipeline/a.cpp", 'if (error.code != "AF-TASK-003") {}\n'),
                               ("pipeline/b.cpp", 'if (error.code == "AF-TASK-004") {}\n')):
                file = pathlib.Path(folder) / "kernel" / name
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text)
            self.assertEqual(["kernel/pipeline/a.cpp"], [place.split(":")[0] for place in failure_violations(pathlib.Path(folder))])


# Comments and literals, in which the search ignores conditional operators.
NO_CODE = re.compile(r'//[^\n]*|/\*.*?\*/|R"([^(\n]*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<![0-9A-Za-z_])\'(?:\\.|[^\'\\\n])+\'', re.S)


def nested_conditionals(text):
    """Returns the lines on which a conditional operator has another one as an operand, within the same brackets."""
    code = NO_CODE.sub(lambda match: re.sub(r"[^\n]", " ", match.group()), text)
    lines, line, inside = [], 1, [False]
    for letter in code:
        line += letter == "\n"
        if letter in "([{":
            inside.append(False)
        elif letter in ")]}" and len(inside) > 1:
            inside.pop()
        elif letter in ";,":
            inside[-1] = False
        elif letter == "?":
            if inside[-1]:
                lines.append(line)
            inside[-1] = True
    return lines


class Form(unittest.TestCase):
    def test_no_conditional_operator_is_nested(self):
        files = [file for folder in ("kernel", "plugins", "sdk", "tests/unit", "tests/bench", "tests/pipelines", "tests/fuzz", "tests/bad_plugins", "tests/attacks") for file in sources(ROOT / folder)]
        found = [f"{file.relative_to(ROOT)}:{line}" for file in files for line in nested_conditionals(file.read_text(encoding="utf-8"))]
        self.assertEqual([], found)

    def test_a_nested_conditional_operator_is_found(self):
        self.assertEqual([2], nested_conditionals('int a = b ? 1\n : c ? 2 : 3;'))
        self.assertEqual([], nested_conditionals('f(b ? 1 : 2, c ? 3 : 4); g = a ? "x ? y : z" : "w"; // why ? what ? so'))


# A header of functions or plain structs may have one small helper class.
CLASS_IN_A_TOPIC = {
    "kernel/base/json_keywords.hpp": "TextPattern is the check of one keyword",
    "kernel/base/versions.hpp": "VersionRange compares Version, which the header is about",
    "kernel/program/usage_problem.hpp": "WrongValue is one of the problems that the header's functions word",
    "kernel/sandbox/exec/usage.hpp": "NamelessFiles measures a part of the struct Usage",
}
CLASS = re.compile(r"^class (\w+)(?: final)?(?: : [^;{]*)?\s*\{", re.M)


def misnamed_headers(root):
    """Returns the kernel's headers with exactly one class and another name than the class."""
    found = []
    for file in sorted((root / "kernel").rglob("*.hpp")):
        classes = CLASS.findall(file.read_text(encoding="utf-8"))
        if len(classes) == 1 and file.stem != re.sub(r"(?<!^)(?=[A-Z])", "_", classes[0]).lower():
            found.append(str(file.relative_to(root)))
    return found


class Names(unittest.TestCase):
    def test_a_class_lives_in_the_file_of_its_name(self):
        self.assertEqual(sorted(CLASS_IN_A_TOPIC), misnamed_headers(ROOT))

    def test_a_header_with_another_name_is_found(self):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in (("task_store.hpp", "class TaskStore {\n};\n"), ("store.hpp", "class TaskStore final : public Store {\n};\n"),
                               ("paths.hpp", "struct TaskPaths {\n};\nclass Redactor;\n"), ("two.hpp", "class One {\n};\nclass Two {\n};\n")):
                file = pathlib.Path(folder) / "kernel/task" / name
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text)
            self.assertEqual(["kernel/task/store.hpp"], misnamed_headers(pathlib.Path(folder)))


class PlantedRecords(unittest.TestCase):
    """Tests the test: it finds each kind of record that code reads as text."""

    def found(self, line, name="kernel/program/commands/status.cpp"):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for file, text in (("kernel/records/records.hpp", 'static constexpr std::string_view type = "stage_started";\n'), (name, line + "\n")):
                (root / file).parent.mkdir(parents=True, exist_ok=True)
                (root / file).write_text(text)
            return record_violations(root)

    def test_typed_code_has_none(self):
        self.assertEqual([], self.found("if (record.type() == records::Step::type) { show(records::as<records::Step>(record)->phase); }  // \"stage_started\""))

    def test_type_in_quotes(self):
        self.assertEqual(1, len(self.found('if (type == "stage_started") {}')))

    def test_short_type_in_quotes(self):
        self.assertEqual(1, len(self.found('if (record->type() == "step") {}')))

    def test_key_asked_of_a_body(self):
        self.assertEqual(1, len(self.found('const json::value* stage = record.body.if_contains("stage");')))

    def test_key_read_from_a_body(self):
        self.assertEqual(1, len(self.found('const std::string stage = text_of(records->front().body, "stage");')))

    def test_key_on_the_next_line(self):
        self.assertEqual(1, len(self.found('const json::value* stage =\n    record.body.if_contains(\n        "stage");')))

    def test_key_in_brackets(self):
        self.assertEqual(1, len(self.found('const json::value& stage = record.body["stage"];')))
        self.assertEqual(1, len(self.found('const json::value& stage = record.body.get_object()["stage"];')))

    def test_a_body_under_another_name_is_found(self):
        self.assertEqual(1, len(self.found("const json::object& fields = record.body;", "kernel/program/commands/diff.cpp")))

    def test_a_scan_of_a_journal_is_found(self):
        for line in ("for (const Record& record : *store.records(id)) {}", "JournalTail tail(paths.journal());", "const auto step = records::as<records::Step>(each);",
                     "followed.refresh([&](const Record& record) { keep(record); });"):
            self.assertEqual(1, len(self.found(line, "kernel/program/commands/diff.cpp")), line)


class PlantedViolations(unittest.TestCase):
    """Tests the test: it finds each kind of wrong dependency."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.root = pathlib.Path(self.folder.name)
        self.write("kernel/CMakeLists.txt", "foreach(folder base task pipeline)\n  add_subdirectory(${folder})\nendforeach()\n")
        self.write("sdk/include/agentforge/stage.hpp", "#include <string>\n#include <agentforge/json.hpp>\n#include <boost/json.hpp>\n")
        self.write("sdk/testing/src/fake.cpp", '#include <agentforge/testing/fake.hpp>\n#include "tools/path_rules.hpp"\n')
        self.write("sdk/testing/include/agentforge/testing/fake.hpp", "#include <agentforge/stage.hpp>\n#include <mutex>\n")
        self.write("sdk/process/src/process.cpp", '#include <agentforge/json.hpp>\n#include "tree.hpp"\n#include <sys/wait.h>\n')
        self.write("sdk/process/src/tree.hpp", "#include <vector>\n")
        self.write("sdk/templates/tool/template_name.cpp", "#include <agentforge/stage.hpp>\n#include <filesystem>\n")
        self.write("sdk/templates/tool/test_template_name.cpp", '#include "template_name.cpp"\n#include <gtest/gtest.h>\n')
        self.write("kernel/base/text.hpp", "#include <agentforge/stage.hpp>\n#include <string>\n")
        self.write("kernel/task/state.cpp", '#include "task/state.hpp"\n#include "base/text.hpp"\n#include <yaml-cpp/yaml.h>\n')
        self.write("kernel/pipeline/machine.cpp", '#include "task/state.hpp"\n')
        self.write("plugins/stages/a/a.cpp", '#include <agentforge/plugin.hpp>\n#include "own.hpp"\n#include <re2/re2.h>\n')
        self.write("plugins/stages/a/own.hpp", "#include <vector>\n")
        self.write("plugins/stages/b/b.hpp", "#include <vector>\n")

    def write(self, name, text):
        file = self.root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def plant(self, name, line):
        file = self.root / name
        file.write_text(file.read_text() + line + "\n")
        found = violations(self.root)
        self.assertEqual(1, len(found), f"{line} in {name}: {found}")
        self.assertIn(name, found[0])

    def test_a_valid_tree_has_none(self):
        self.assertEqual([], violations(self.root))

    def test_sdk_that_uses_the_kernel(self):
        self.plant("sdk/include/agentforge/stage.hpp", '#include "base/text.hpp"')

    def test_sdk_that_uses_another_library(self):
        self.plant("sdk/include/agentforge/stage.hpp", "#include <yaml-cpp/yaml.h>")

    def test_runner_of_the_sdk_that_uses_the_kernel(self):
        self.plant("sdk/process/src/process.cpp", '#include "sandbox/process_runner.hpp"')

    def test_exchange_of_the_sdk_that_uses_the_kernel(self):
        self.write("sdk/http/src/exchange.cpp", '#include <Poco/Buffer.h>\n#include <agentforge_http/exchange.hpp>\n')
        self.plant("sdk/http/src/exchange.cpp", '#include "base/text.hpp"')

    def test_new_folder_of_the_sdk_that_uses_the_kernel(self):
        self.write("sdk/other/other.cpp", '#include "base/text.hpp"\n')
        self.assertEqual(1, len(violations(self.root)))

    def test_public_header_that_includes_a_private_file_beside_it(self):
        self.plant("sdk/include/agentforge/stage.hpp", '#include "../../../kernel/base/text.hpp"')

    def test_template_that_uses_the_kernel(self):
        self.plant("sdk/templates/tool/template_name.cpp", "#include <base/text.hpp>")

    def test_template_that_uses_a_library_outside_the_installation(self):
        self.plant("sdk/templates/tool/template_name.cpp", "#include <fmt/format.h>")

    def test_fake_host_that_uses_more_of_the_kernel(self):
        self.plant("sdk/testing/src/fake.cpp", '#include "tools/tool_bridge.hpp"')

    def test_fake_host_whose_header_shows_the_kernel(self):
        self.plant("sdk/testing/include/agentforge/testing/fake.hpp", '#include "tools/path_rules.hpp"')

    def test_fake_host_that_needs_a_test_framework(self):
        self.plant("sdk/testing/include/agentforge/testing/fake.hpp", "#include <gtest/gtest.h>")

    def test_kernel_folder_that_uses_one_below(self):
        self.plant("kernel/task/state.cpp", '#include "pipeline/machine.hpp"')

    def test_kernel_folder_that_uses_one_below_in_angle_brackets(self):
        self.plant("kernel/base/text.hpp", "  #  include <task/state.hpp>")

    def test_kernel_that_uses_a_plugin(self):
        self.plant("kernel/pipeline/machine.cpp", '#include "plugins/stages/a/own.hpp"')

    def test_kernel_that_leaves_its_folder(self):
        self.plant("kernel/base/text.hpp", '#include "../pipeline/machine.hpp"')

    def test_kernel_folder_outside_the_order(self):
        self.write("kernel/utils/misc.cpp", "")
        self.assertEqual(1, len(violations(self.root)))

    def test_plugin_that_uses_the_kernel(self):
        self.plant("plugins/stages/a/a.cpp", '#include "task/state.hpp"')

    def test_plugin_that_uses_another(self):
        self.plant("plugins/stages/a/a.cpp", '#include "../b/b.hpp"')

    def test_plugin_that_uses_the_kernel_in_angle_brackets(self):
        self.plant("plugins/stages/a/a.cpp", "#include <base/text.hpp>")


class OneBuild(unittest.TestCase):
    def test_scripts_and_presets_leave_the_unity_build_to_its_default(self):
        """Otherwise CI proves another build than the one that people run."""
        files = [ROOT / "CMakePresets.json", *(file for file in (ROOT / "scripts").iterdir() if file.is_file()), *(file for file in (ROOT / ".ci").iterdir() if file.is_file())]
        self.assertEqual([file.name for file in files if "UNITY_BUILD" in file.read_text(encoding="utf-8")], [])


if __name__ == "__main__":
    unittest.main()
