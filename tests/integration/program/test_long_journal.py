# SPDX-License-Identifier: Apache-2.0
"""A journal of several thousand records: its caches never contradict it."""

import hashlib
import json
import shutil

from harness import SOURCE, ProgramTest, main

RECORDS = 1500


class TestLongJournal(ProgramTest):
    def setUp(self):
        super().setUp()
        self.make_repository()
        kept = SOURCE / "tests" / "journals" / "killed_in_green"
        lines = (kept / "actions.yaml").read_text(encoding="utf-8").splitlines()
        begin = lines.index("actions:") + 1
        self.name = next(json.loads(line.partition(": ")[2]) for line in lines if line.startswith("task_id: "))
        shutil.copytree(kept, self.task_folder(self.name), ignore=shutil.ignore_patterns("actions.yaml"))
        (self.task_folder(self.name) / "task.yaml").write_text(json.dumps({"format": 1, "task_id": self.name, "request": "Add a slugify function"}), encoding="utf-8")
        records = [json.loads(line[2:]) for line in lines[begin:]]
        last = max(index for index, record in enumerate(records) if record["type"] == "step")
        written = lines[:begin + last + 1]
        step, before, self.steps = dict(records[last]), records[last]["hash"], records[last]["step"]
        for key in ("seq", "prev", "hash"):
            del step[key]
        for number in range(last + 2, RECORDS + 1):
            self.steps += 1
            text = json.dumps({"seq": number, **step, "step": self.steps, "prev": before}, ensure_ascii=False)[:-1]
            before = hashlib.sha256((text + "}").encode()).hexdigest()
            written.append(f'- {text}, "hash": "{before}"}}')
        self.file = self.task_folder(self.name) / "actions.yaml"
        self.file.write_text("\n".join(written) + "\n", encoding="utf-8")

    def status(self):
        """Returns the status without the time since the task began, which grows between two calls."""
        state = self.assert_code(self.run_program("status", self.name, "--json"), 0).json
        self.assertGreater(state["figures"]["timing"].pop("elapsed_seconds"), 0)
        return state

    def caches(self):
        return {name: self.task_folder(self.name) / name for name in (".fold", ".followed", ".steps")}

    def step(self, number):
        return self.run_program("inspect", self.name, "--step", str(number), "--json")

    def test_a_second_read_gives_the_same_output(self):
        first = self.status()
        self.assertEqual(first["steps"], self.steps)
        self.assertTrue(self.caches()[".followed"].exists())
        self.assertEqual(first, self.status())

    def test_damaged_or_missing_caches_change_nothing(self):
        first = self.status()
        self.step(5)
        for file in self.caches().values():
            file.write_bytes(file.read_bytes()[:-20] + b"nothing of any use..")
        self.assertEqual(first, self.status())
        for file in self.caches().values():
            file.unlink()
        self.assertEqual(first, self.status())

    def test_a_byte_changed_before_the_snapshot_is_found_when_the_task_opens(self):
        self.status()
        self.step(5)
        text = self.file.read_bytes()
        at = text.index(b'"seq": 30,')
        self.file.write_bytes(text[:at] + text[at:].replace(b"T", b"t", 1))
        for command in (("status", self.name), ("resume", self.name, "--set", "llm.backend=replay"), ("inspect", self.name), ("inspect", self.name, "--step", str(self.steps)), ("audit", "verify", self.name)):
            outcome = self.run_program(*command)
            self.assertNotEqual(outcome.code, 0, outcome)
            self.assertIn("record 30", outcome.all, outcome)

    def test_a_missing_step_is_named(self):
        self.assert_error(self.run_program("inspect", self.name, "--step", str(self.steps + 1)), "AF-CLI-012", f"steps 1 to {self.steps}")

    def test_an_invalid_time_gives_the_same_error_in_every_command(self):
        lines = self.file.read_text(encoding="utf-8").splitlines()
        record = json.loads(lines[-1][2:])
        del record["hash"]
        record["timestamp"] = "soon"
        text = json.dumps(record, ensure_ascii=False)
        lines[-1] = f'- {text[:-1]}, "hash": "{hashlib.sha256(text.encode()).hexdigest()}"}}'
        self.file.write_text("\n".join(lines) + "\n", encoding="utf-8")
        for command in ("status", "inspect", "logs"):
            outcome = self.run_program(command, self.name)
            self.assertEqual(outcome.code, 1, outcome)
            self.assertIn("AF-TASK-012", outcome.err)


if __name__ == "__main__":
    main()
