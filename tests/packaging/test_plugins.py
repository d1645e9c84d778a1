# SPDX-License-Identifier: Apache-2.0
"""What an author of plugins outside the project does: install, `plugins new` of each kind, build, test, check, and a pipeline of all four.

The plugins are built against the installation alone. The pipeline's one stage is the new stage; its agent, whose words come
from a program behind the new model backend, calls the new tool; a person approves through the new escalation handler.
"""
import json
import subprocess
import unittest

import yaml
from product import BUILD, SOURCE, Product, run

KINDS = {"stage": "find_out", "tool": "find_marks", "llm": "own_model", "escalation": "inbox"}

# The model: a program that reads a prompt and answers by the text protocol. It has read the tool's answer when it hands in.
MODEL_SAYS = "The number of the release is left open"
MODEL = """\
import sys
prompt = sys.stdin.read()
if "notes.md:2: TODO" not in prompt:
    print("ACTION find_marks\\nglob: *.md\\nEND")
else:
    print('ACTION complete\\n<<<artifact\\n{"answer": "The number of the release is left open", "evidence": ["notes.md"]}\\n>>>artifact\\nEND')
"""


def setUpModule():
    global PRODUCT, WORK
    PRODUCT = Product()
    unittest.addModuleCleanup(PRODUCT.close)
    WORK = PRODUCT.folder / "work"
    WORK.mkdir()
    for kind, name in KINDS.items():
        made = PRODUCT.agentforge("plugins", "new", kind, name, "--directory", str(WORK))
        assert made.returncode == 0, made.stdout
        for step in (PRODUCT.configure(WORK / name, WORK / name / "build"), PRODUCT.build(WORK / name / "build")):
            assert step.returncode == 0, step.stdout


def library(kind):
    name = KINDS[kind]
    return WORK / name / "build" / "plugins" / kind / name / f"{name}.so"


class Built(unittest.TestCase):
    def test_the_templates_own_tests_pass(self):
        for name in KINDS.values():
            with self.subTest(name):
                ran = run("ctest", "--test-dir", WORK / name / "build", "--output-on-failure", "--no-tests=error", env=PRODUCT.environment())
                self.assertEqual(0, ran.returncode, ran.stdout)
                self.assertIn("100% tests passed", ran.stdout)

    def test_nothing_came_from_the_tree_that_was_installed(self):
        """No command of the build, no dependency and no search path names the source or the build tree, or the prefix before it was
        moved. (Debug information of the static libraries does; nothing is read from there.)"""
        read = 0
        for name in KINDS.values():
            for file in (WORK / name).rglob("*"):
                if not file.is_file() or file.suffix in (".o", ".gch"):
                    continue
                held = file.read_bytes()
                if held.startswith(b"\x7fELF"):
                    held = run("readelf", "-d", file).stdout.encode()
                read += 1
                named = [str(place) for place in (SOURCE, BUILD, PRODUCT.first) if str(place).encode() + b"/" in held]
                self.assertEqual([], named, file)
        self.assertGreater(read, 50)

    def test_each_exports_its_entry_symbol_alone(self):
        for kind in KINDS:
            symbols = [line.split()[-1] for line in run("nm", "-D", "--defined-only", library(kind)).stdout.splitlines()]
            self.assertEqual(["agentforge_plugin"], symbols)

    def test_the_host_finds_nothing_wrong_with_them(self):
        for kind in KINDS:
            with self.subTest(kind):
                checked = PRODUCT.agentforge("plugins", "check", str(library(kind)), "--json")
                self.assertEqual(0, checked.returncode, checked.stdout)
                report = json.loads(checked.stdout)
                self.assertEqual([], [finding for finding in report["findings"] if finding["status"] != "pass"])

    def test_the_host_lists_them(self):
        with Project() as project:
            listed = json.loads(project.agentforge("plugins", "list", "--json").stdout)
            names = {entry["name"] for plugin in listed["plugins"] for entry in plugin["provides"]}
            self.assertLessEqual(set(KINDS.values()), names)


class Project:
    """A repository of a user who wants the four plugins in it; they are named by the user's own settings, not by the project's."""

    count = 0

    def __enter__(self):
        Project.count += 1
        self.home = PRODUCT.folder / f"user{Project.count}"
        self.root = self.home / "project"
        (self.root / ".agentforge").mkdir(parents=True)
        self.plugins = self.home / "plugins"
        for kind, name in KINDS.items():
            folder = self.plugins / kind / name
            folder.mkdir(parents=True)
            for file in library(kind).parent.iterdir():
                (folder / file.name).write_bytes(file.read_bytes())
        model = self.home / "model.py"
        model.write_text(MODEL)
        (self.home / ".agentforge").mkdir()
        (self.home / ".agentforge" / "config.yaml").write_text(yaml.safe_dump({
            "plugins": {"paths": [str(self.plugins)]},
            "llm": {"backend": KINDS["llm"], "settings": {"command": ["/usr/bin/python3", "-B", str(model)]}},
            "escalation": {"handlers": [KINDS["escalation"]]}}))
        (self.root / "notes.md").write_text("# Notes\nTODO: the number of the next release\n")
        run("cp", "-r", f"{WORK / KINDS['stage'] / 'project'}/.", self.root / ".agentforge")
        (self.root / ".agentforge" / "agents").mkdir()
        (self.root / ".agentforge" / "agents" / "business_analyst.yaml").write_text(yaml.safe_dump({
            "extends": "agentforge:business_analyst", "agent": {"role": "business_analyst"},
            "capabilities": {"tools": {"allowed": [KINDS["tool"], "complete"]}}}))
        for words in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-q", "-m", "Begin"]):
            subprocess.run(["git", *words], cwd=self.root, env=PRODUCT.environment(HOME=str(self.home)), check=True)
        return self

    def __exit__(self, *_):
        pass    # It lies in the product's folder, which goes as a whole.

    def agentforge(self, *words):
        return PRODUCT.agentforge(*words, cwd=self.root, HOME=str(self.home), AGENTFORGE_STATE_HOME=str(self.home / "state"))

    def journal(self, task):
        text = (self.root / ".agentforge" / "tasks" / task / "actions.yaml").read_text()
        return [json.loads(line[2:]) for line in text.splitlines() if line.startswith("- {")]


class UsedTogether(unittest.TestCase):
    maxDiff = None

    def run_to_its_end(self, project):
        """Starts the pipeline, answers the question as a person would, and returns the task's folder."""
        begun = project.agentforge("start", "--pipeline", KINDS["stage"], "--approve", KINDS["stage"], "What is left open?")
        self.assertEqual(22, begun.returncode, begun.stdout)
        (question,) = (project.root / ".agentforge" / "escalations" / "inbox").glob("*.question.txt")
        self.assertIn("notes.md", question.read_text())
        question.with_name(question.name.replace(".question.", ".answer.")).write_text("yes\n")
        (folder,) = (project.root / ".agentforge" / "tasks").iterdir()
        ended = project.agentforge("resume", "--wait", folder.name)
        self.assertEqual(0, ended.returncode, ended.stdout)
        return folder

    def test_a_pipeline_uses_all_four(self):
        with Project() as project:
            folder = self.run_to_its_end(project)
            records = project.journal(folder.name)
            self.assertEqual([KINDS["tool"], "complete"], [record["action"]["type"] for record in records if record["type"] == "step"])
            self.assertEqual([KINDS["stage"]], [record["stage"] for record in records if record["type"] == "stage_completed"])
            (approval,) = [record for record in records if record["type"] == "approval_decided"]
            self.assertEqual(KINDS["escalation"], approval["decided_by"])
            self.assertEqual(2, sum(record["type"] == "answer" for record in records))
            artifact = yaml.safe_load((folder / "artifacts" / "phases" / KINDS["stage"] / f"{KINDS['stage']}.yaml").read_text())
            self.assertEqual(["notes.md"], artifact["evidence"])
            self.assertEqual(MODEL_SAYS, artifact["answer"])        # Nobody else knows these words: they came through the new backend.

    def test_locked_plugins_are_used_and_a_changed_byte_is_refused(self):
        with Project() as project:
            locked = project.agentforge("plugins", "lock")
            self.assertEqual(0, locked.returncode, locked.stdout)
            verified = project.agentforge("plugins", "verify")
            self.assertEqual(0, verified.returncode, verified.stdout)
            self.run_to_its_end(project)

            changed = project.plugins / "tool" / KINDS["tool"] / f"{KINDS['tool']}.so"
            held = bytearray(changed.read_bytes())
            held[len(held) // 2] ^= 1
            changed.write_bytes(held)
            verified = project.agentforge("plugins", "verify")
            self.assertEqual(1, verified.returncode, verified.stdout)
            self.assertRegex(verified.stdout, r"AF-PLUG-031")
            self.assertIn(changed.name, verified.stdout)
            started = project.agentforge("start", "--pipeline", KINDS["stage"], "What is left open?")
            self.assertEqual(1, started.returncode, started.stdout)
            self.assertIn("AF-PLUG-031", started.stdout)
            self.assertIn(changed.name, started.stdout)
            self.assertEqual(1, len(list((project.root / ".agentforge" / "tasks").iterdir())), "a task was made that cannot be done")

    def test_a_projects_own_plugins_need_its_users_trust(self):
        with Project() as project:
            run("cp", "-r", project.plugins, project.root / "plugins")
            (project.home / ".agentforge" / "config.yaml").write_text("{}\n")
            (project.root / ".agentforge" / "config").mkdir()
            (project.root / ".agentforge" / "config" / "settings.yaml").write_text(yaml.safe_dump({"plugins": {"paths": ["plugins"]}}))
            before = project.agentforge("plugins", "show", KINDS["tool"])
            self.assertIn("not trusted", before.stdout)
            trusted = project.agentforge("trust")
            self.assertEqual(0, trusted.returncode, trusted.stdout)
            after = project.agentforge("plugins", "show", KINDS["tool"])
            self.assertEqual(0, after.returncode, after.stdout)
            self.assertNotIn("not trusted", after.stdout)


if __name__ == "__main__":
    unittest.main()
