# SPDX-License-Identifier: Apache-2.0
"""Published servers of the Model Context Protocol in a whole run of the program. Run by scripts/test --servers.

AGENTFORGE_PUBLISHED_SERVERS names the folder into which npm installed them.
"""

import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import test_servers  # noqa: E402
from test_servers import call, harness  # noqa: E402

FOLDER = pathlib.Path(os.environ.get("AGENTFORGE_PUBLISHED_SERVERS", "/nowhere"))


class TestPublished(test_servers.ServersTest):
    def setUp(self):
        super().setUp()
        place = FOLDER / "node_modules" / "@modelcontextprotocol"
        self.assertTrue(place.is_dir(), f"{place} is not there")

        def server(name, *arguments, **more):
            return {"command": "node", "args": [str(place / f"server-{name}" / "dist" / "index.js"), *arguments], "readable": [str(FOLDER)], **more}

        self.servers = {
            "everything": server("everything", "stdio"),
            "files": server("filesystem", "${AGENTFORGE_WORKSPACE}", paths="absolute", read_only_tools=["read_text_file", "list_directory"],
                            path_parameters={"read_text_file": ["path"], "write_file": ["path"], "list_directory": ["path"], "move_file": ["source", "destination"]}),
            "memory": server("memory", env={"MEMORY_FILE_PATH": "${AGENTFORGE_SCRATCH}/memory.jsonl"}),
        }
        # The tools of three servers do not fit into a prompt, so the role lists those that it needs.
        self.agent["capabilities"]["tools"] = {
            "allowed": ["complete", "everything__echo", "everything__get_sum", "everything__get_tiny_image", "everything__get_structured_content",
                        "everything__trigger_long_running_operation", "files__read_text_file", "files__write_file", "files__list_directory",
                        "files__move_file", "memory__create_entities", "memory__read_graph"],
            "forbidden": ["deploy"],
            "path_constraints": {"files__write_file": "notes/**"},
        }

    def one(self, name, **arguments):
        """Makes one call in a separate run. Returns its result, and the context that the model saw afterwards."""
        self.assert_code(self.survey(call(name, **arguments)), 0)
        shown = self.run_program("inspect", self.task(), "--step", "2", "--show", "context")
        self.assert_code(shown, 0)
        return self.outcome(1), shown.out

    def test_check_lists_the_tools_of_all_three(self):
        self.write()
        outcome = self.assert_code(self.run_program("servers", "check", "--json"), 0)
        counts = {server["name"]: len(server["tools"]) for server in outcome.json["servers"]}
        self.assertGreaterEqual(counts["everything"], 8)
        self.assertGreaterEqual(counts["files"], 10)
        self.assertGreaterEqual(counts["memory"], 9)

    def test_everything_echoes(self):
        result, shown = self.one("everything__echo", message="hello from a role")
        self.assertEqual(result["status"], "success", result)
        self.assertIn("hello from a role", shown)

    def test_everything_adds(self):
        result, shown = self.one("everything__get_sum", a=2, b=40)
        self.assertEqual(result["status"], "success", result)
        self.assertIn("42", shown)

    def test_an_image_is_named_and_not_shown(self):
        result, shown = self.one("everything__get_tiny_image")
        self.assertEqual(result["status"], "success", result)
        self.assertIn("[image, image/png", shown)

    def test_structured_content_is_returned(self):
        result, _ = self.one("everything__get_structured_content", location="New York")
        self.assertEqual(result["status"], "success", result)

    def test_an_operation_that_reports_progress_ends(self):
        result, _ = self.one("everything__trigger_long_running_operation", duration=1, steps=4)
        self.assertEqual(result["status"], "success", result)

    def test_wrong_arguments_do_not_reach_the_server(self):
        result, _ = self.one("everything__get_sum", a="two", b=40)
        self.assertIn("AF-TOOL-004", result["error"])

    def test_files_are_read_by_paths_of_the_workspace(self):
        result, shown = self.one("files__read_text_file", path="notes/old.txt")
        self.assertEqual(result["status"], "success", result)
        self.assertIn("old", shown)

    def test_a_path_outside_the_workspace_is_refused(self):
        result, _ = self.one("files__read_text_file", path="../../etc/passwd")
        self.assertIn("AF-TOOL-010", result["error"])

    def test_a_file_is_written_if_the_role_may(self):
        result, _ = self.one("files__write_file", path="notes/new.txt", content="new")
        self.assertEqual(result["status"], "success", result)
        self.assertEqual([change["path"] for change in self.steps()[0]["changes"]], ["notes/new.txt"])

    def test_a_file_is_not_written_if_the_role_may_not(self):
        result, _ = self.one("files__write_file", path="textkit/new.py", content="new")
        self.assertIn("AF-TOOL-013", result["error"])

    def test_the_sandbox_enforces_a_rule_on_an_undeclared_path(self):
        self.servers["files"]["path_parameters"] = {}
        self.servers["files"]["paths"] = "relative"
        result, _ = self.one("files__write_file", path="textkit/new.py", content="new")
        self.assertEqual(result["status"], "failure", result)
        self.assertRegex(result["error"], "EACCES|EROFS")

    def test_memory_remembers_within_a_stage(self):
        entity = {"name": "textkit", "entityType": "package", "observations": ["wraps text"]}
        self.assert_code(self.survey(call("memory__create_entities", entities=[entity]), call("memory__read_graph")), 0)
        self.assertEqual([step["result"]["status"] for step in self.steps()], ["success"] * 3)
        shown = self.run_program("inspect", self.task(), "--step", "3", "--show", "context")
        self.assertIn("wraps text", shown.out)


if __name__ == "__main__":
    harness.main()
