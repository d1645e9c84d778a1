# SPDX-License-Identifier: Apache-2.0
"""A project's own pipelines, whose stages have other names and another order."""

import yaml

from harness import ProgramTest, main, short_transcript

OTHER_NAMES = {"intake": "listen", "analyze": "study", "clarify": "ask", "spec": "promise", "red": "doubt", "green": "build", "refactor": "tidy", "deliver": "ship"}
CONTRACTS = {"intake": "intake_record", "clarify": "clarification", "analyze": "analysis", "spec": "specification", "red": "test_suite", "green": "implementation",
             "refactor": "implementation", "deliver": "delivery_report"}
AGENTS = {"intake": "requirements_analyst", "clarify": "business_analyst", "analyze": "software_architect", "spec": "software_architect", "red": "test_engineer",
          "green": "software_developer", "refactor": "senior_developer", "deliver": "devops_engineer"}
GATES = {"red": "red", "green": "green", "refactor": "refactor"}


def stage(plugin, name, **more):
    config = {"exit_gate": GATES[plugin]} if plugin in GATES else {}
    return {"name": name, "executor": plugin, "agent": AGENTS[plugin], "contract": CONTRACTS[plugin], "config": config, **more}


class OwnPipelinesTest(ProgramTest):
    def pipeline(self, name, plugins, **more):
        """Writes a template of the project with these plugins under other names, in this order."""
        stages = [stage(plugin, OTHER_NAMES[plugin], **more.get(plugin, {})) for plugin in plugins]
        template = {"pipeline": {"name": name, "description": "Ours", "goal_type": "implement", "stages": stages, "exit": {"stage": stages[-1]["name"]}}}
        file = self.repository / ".agentforge" / "pipelines" / f"{name}.yaml"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(yaml.safe_dump(template, sort_keys=False))
        return name

    @staticmethod
    def renamed(transcript, plugins):
        kept = [dict(entry, stage=OTHER_NAMES[entry["stage"]]) for entry in transcript["entries"] if entry["stage"] in plugins]
        return dict(transcript, entries=kept)


class TestOwnPipelinesWithOtherNames(OwnPipelinesTest):
    def test_a_pipeline_with_renamed_and_reordered_stages_delivers(self):
        self.make_repository()
        plugins = ["analyze", "intake", "spec", "red", "green", "deliver"]
        name = self.pipeline("ours", plugins)
        outcome = self.start("--pipeline", name, transcript=self.renamed(short_transcript(), plugins))
        self.assert_code(outcome, 0)
        completed = [record["stage"] for record in self.records("stage_completed")]
        self.assertEqual(completed, [OTHER_NAMES[plugin] for plugin in plugins])
        self.assertIn("textkit/slug.py", self.git("show", "--stat", "--format=", self.records("delivered")[0]["commit"]))
        self.assertTrue([record for record in self.records("gate") if record["gate"] == "deliver" and record["passed"]])

    def test_tests_are_locked_whatever_the_name_of_their_stage(self):
        self.make_repository()
        plugins = ["intake", "analyze", "spec", "red", "green", "deliver"]
        name = self.pipeline("ours", plugins)
        transcript = self.renamed(short_transcript(), plugins)
        suite = [entry for entry in transcript["entries"] if entry["stage"] == "doubt"]
        written = next(call["arguments"]["path"] for entry in suite for call in entry["tool_calls"] if call["name"] == "create_file")
        first = next(index for index, entry in enumerate(transcript["entries"]) if entry["stage"] == "build")
        attack = {"stage": "build", "role": "software_developer", "step": 1, "tool_calls": [{"name": "create_file", "arguments": {"path": written, "content": "", "overwrite": True}}]}
        entries = [dict(entry, step=entry["step"] + 1) if entry["stage"] == "build" else entry for entry in transcript["entries"]]
        self.assert_code(self.start("--pipeline", name, transcript=dict(transcript, entries=entries[:first] + [attack] + entries[first:])), 0)
        refused = [record for record in self.records("step") if record["phase"] == "build"][0]
        self.assertEqual(refused["result"]["status"], "failure")


class TestOwnPipelinesComparison(OwnPipelinesTest):
    PLUGINS = ["analyze", "spec", "red", "green", "deliver"]

    def run_compared(self, **trees):
        self.make_repository()
        name = self.pipeline("ours", self.PLUGINS, **{plugin: {"compares_with": tree} for plugin, tree in trees.items()})
        return self.start("--pipeline", name, transcript=self.renamed(short_transcript(), self.PLUGINS))

    def test_a_pipeline_that_sets_the_comparison_tree_of_its_gates_delivers(self):
        self.assert_code(self.run_compared(red="base", green="locked_tests", deliver="locked_tests"), 0)
        self.assertIn("compares with the locked tests", self.run_program("pipelines", "show", "ours").out)

    def test_a_gate_that_compares_with_the_users_commit_refuses_new_tests(self):
        self.assertNotEqual(self.run_compared(green="base").code, 0)
        judged = {record["gate"]: record for record in self.records("gate") if record["stage"] == "build"}
        self.assertFalse(judged["green"]["passed"])
        self.assertIn("tests/test_slug.py", judged["green"]["summary"])

    def test_a_tree_that_does_not_exist_is_refused_with_its_line(self):
        self.assert_error(self.run_compared(green="locked_test"), "AF-PIPE-001", "ours.yaml:", "`compares_with`", "Did you mean `locked_tests`?")


class TestOwnPipelinesEntry(OwnPipelinesTest):
    def test_a_pipeline_may_begin_at_analyze(self):
        self.make_repository()
        plugins = ["analyze", "spec", "red", "green", "deliver"]
        name = self.pipeline("ours", plugins)
        self.assert_code(self.start("--pipeline", name, transcript=self.renamed(short_transcript(), plugins)), 0)
        self.assertEqual([record["stage"] for record in self.records("stage_started")], [OTHER_NAMES[plugin] for plugin in plugins])


if __name__ == "__main__":
    main()
