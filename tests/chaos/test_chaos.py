# SPDX-License-Identifier: Apache-2.0
"""Runs a sample of scripts/chaos. Checks that its scenarios include every command that writes, and that the failpoints see every call that changes files."""

import collections
import datetime
import json
import os
import random
import shutil
import tempfile
import unittest

import chaos
import strace
from power import Disk
from scenarios import BY_NAME, SAME_AS, SCENARIOS, WRITES_NOTHING
from trace import SHARED, Call, read_shared, read_trace, site_of
from world import FAULTS, World

import test_every_command  # isort: skip  world.py says where it is

SEED = int(os.environ.get("AGENTFORGE_SEED", "20261126"))


def told(results):
    return "\n".join(f"scripts/chaos --command {r['scenario']!r} --fault {r['kind']} --at {r.get('at')}: {r['broken']}" for r in results if "broken" in r)


class TestFaults(unittest.TestCase):
    maxDiff = None

    def test_struck_at_random_calls_every_command_keeps_its_promises(self):
        results = chaos.run(chaos.plan(200, SEED, None, None))
        self.assertEqual(len(results), 200)
        self.assertEqual({result["scenario"] for result in results}, set(BY_NAME))
        self.assertFalse(told(results), f"seed {SEED}\n{told(results)}")


class TestPowerCut(unittest.TestCase):
    def test_after_a_power_cut_what_was_synced_is_there_and_the_command_can_be_done(self):
        results = chaos.run(chaos.plan(60, SEED, None, "power"))
        self.assertFalse(told(results), f"seed {SEED}\n{told(results)}")

    def test_the_projections_of_an_ended_task_are_on_disk_with_its_last_record(self):
        folder = tempfile.mkdtemp(prefix="agentforge-chaos-", dir=chaos.fast_place())
        self.addCleanup(shutil.rmtree, folder, True)
        runner = chaos.Chaos(folder)
        clean, world = runner.prepare(BY_NAME["start to spec"]), runner.world
        world.use(clean["settings"])
        world.put_back(clean["base"])
        world.run(*clean["arguments"])
        files = [world.repository / ".agentforge" / "tasks" / world.task() / name for name in ("state.yaml", "working_memory.yaml")]
        whole = [file.read_text(encoding="utf-8") for file in files]
        for how in ("drop", "names"):
            with self.subTest(how):
                disk = Disk(world.root, world.folder / "kept" / clean["base"])
                for call in read_trace(world.trace):
                    disk.apply(call)
                disk.cut(world.root, random.Random(SEED), how)
                self.assertEqual([file.read_text(encoding="utf-8") for file in files if file.exists()], whole)


class TestPlan(unittest.TestCase):
    """Tests one plan in several sessions. Runs no program."""

    def test_the_parts_of_a_plan_are_the_plan(self):
        plans = chaos.plan(1000, 7, None, None)
        self.assertEqual(chaos.part_of(plans, 1, 400) + chaos.part_of(plans, 401, 1000), plans)
        self.assertEqual(len({(name, kind, seed) for name, kind, _, seed in plans}), 1000)

    def test_what_the_log_has_is_not_run_again_and_a_line_cut_off_by_a_kill_is(self):
        plans = chaos.plan(30, 7, None, None)
        lines = [json.dumps({"scenario": name, "kind": kind, "seed": seed, "seconds": 1}) for name, kind, _, seed in plans]
        with tempfile.NamedTemporaryFile("w", suffix=".jsonl", encoding="utf-8") as log:
            log.write("".join(f"\n{line}\n" for line in lines[:10]) + "\n" + lines[10][:20] + f"\n{lines[11]}\n")
            log.flush()
            results = chaos.finished(log.name)
        self.assertEqual(chaos.unfinished(plans, results), [plans[10], *plans[12:]])
        self.assertEqual(len(chaos.of_plan(plans, results)), 11)


class TestReport(unittest.TestCase):
    """Tests the report of `--report` on a log. Runs no program."""

    RESULTS = [{"scenario": "gc", "kind": "eio", "seed": 1, "at": 1, "op": "create", "struck": 1},
               {"scenario": "gc", "kind": "eio", "seed": 2, "at": 1, "op": "create", "broken": "lost"},
               {"scenario": "gc", "kind": "short", "seed": 3, "at": 1, "op": "write"},
               {"scenario": "init", "kind": "full", "seed": 4, "at": 9, "op": "none", "struck": 0}]

    def test_there_is_a_row_for_each_command_and_call_and_a_column_for_each_fault(self):
        self.assertEqual(chaos.cross_table(self.RESULTS, ["init", "gc"]).splitlines(),
                         ["| command | call | eio | full | short | all |", "|---|---|---:|---:|---:|---:|",
                          "| init | none |  | 1 |  | 1 |",
                          "| gc | create | 2 (1 failed) |  |  | 2 (1 failed) |",
                          "| gc | write |  |  | 1 | 1 |",
                          "| all | | 2 (1 failed) | 1 | 1 | 4 (1 failed) |"])

    def test_a_fault_that_a_call_cannot_return_strikes_the_next_that_can(self):
        ops = ["create", "rename", "write"]
        self.assertEqual(len(chaos.faults_of(ops)), 7 + 5 + 7)
        self.assertEqual(chaos.struck_of(self.RESULTS[2], ops), (3, "short"))
        self.assertIsNone(chaos.struck_of(self.RESULTS[3], ops))
        self.assertIn("| gc | 3 | 19 | 2 | 11 % |", chaos.coverage_table(self.RESULTS, {"gc": ops}))


class TestSites(unittest.TestCase):
    """Tests which calls count as the same, and which faults `--sites` still has to inject. Runs no program."""

    SITES = {"gc": ["unlink A", "unlink A", "write B"], "apply": ["write B", "rename C"]}

    @staticmethod
    def call(op, path, other=""):
        return Call(op, 1, 0, 0, 0, 1, path, other, b"")

    def test_the_same_file_of_another_task_and_run_is_the_same_site(self):
        one = self.call("rename", "/w/textkit/.agentforge/tasks/task-0a1b2c3d-add-a-slug-0a1b2c3d/.agentforge-new-12-3", "/w/textkit/.agentforge/tasks/task-0a1b2c3d-add-a-slug-0a1b2c3d/state.yaml")
        other = self.call("rename", "/x/consumer/.agentforge/tasks/task-99999999-fix-it-99999999/.agentforge-new-77-1", "/x/consumer/.agentforge/tasks/task-99999999-fix-it-99999999/state.yaml")
        self.assertEqual(site_of(one, "/w"), "rename REPOSITORY/.agentforge/tasks/TASK/.agentforge-new-N-N REPOSITORY/.agentforge/tasks/TASK/state.yaml")
        self.assertEqual(site_of(other, "/x"), site_of(one, "/w"))

    def test_another_call_and_another_file_of_a_task_are_other_sites(self):
        sites = {site_of(self.call(op, f"/w/textkit/.agentforge/tasks/task-0a1b2c3d-x-0a1b2c3d/{name}"), "/w") for op in ("write", "sync") for name in ("actions.yaml", "state.yaml")}
        self.assertEqual(len(sites), 4)

    def test_each_site_is_struck_once_with_each_fault_in_the_command_with_the_fewest_calls(self):
        plans = chaos.plan_of_sites(self.SITES, [], None, 1)
        self.assertEqual(collections.Counter((name, at) for name, _, at, _ in plans if name == "apply"), {("apply", 1): 7, ("apply", 2): 5})
        self.assertEqual(sum(name == "gc" for name, *_ in plans), 3)
        self.assertTrue(all(at in (1, 2) for name, _, at, _ in plans if name == "gc"))

    def test_a_fault_that_the_log_has_at_a_site_is_not_planned_again_unless_it_failed(self):
        results = [{"scenario": "gc", "kind": "eio", "seed": 1, "at": 1, "site": "unlink A"}, {"scenario": "gc", "kind": "short", "seed": 2, "at": 3}, {"scenario": "apply", "kind": "eio", "seed": 3, "at": 2, "site": "rename C", "broken": "lost"}]
        left = {(kind, self.SITES[name][at - 1]) for name, kind, at, _ in chaos.plan_of_sites(self.SITES, results, None, 1)}
        self.assertEqual(len(left), 15 - 2)
        self.assertFalse({("eio", "unlink A"), ("short", "write B")} & left)
        self.assertIn(("eio", "rename C"), left)
        self.assertIn("2 struck in some command (13 %)", chaos.sites_line(results, self.SITES))


class TestBegan(unittest.TestCase):
    """Tests which journals recovery may remove. Runs no program."""

    HEADER = b"agentforge_journal: 1\nactions:\n"

    def test_a_journal_without_a_record_or_without_an_announced_import_has_not_begun(self):
        self.assertFalse(chaos.began(self.HEADER))
        self.assertFalse(chaos.began(self.HEADER + b'- {"seq": 1, "type": "task_created", "imports": ["specification"]}\n'))

    def test_a_journal_with_its_first_record_and_all_imports_has_begun(self):
        created = b'- {"seq": 1, "type": "task_created"'
        self.assertTrue(chaos.began(self.HEADER + created + b"}\n"))
        self.assertTrue(chaos.began(self.HEADER + created + b', "imports": ["specification"]}\n- {"seq": 2, "type": "external_artifact_imported"}\n'))


class TestCommands(unittest.TestCase):
    """Compares the program's own list of commands with the scenarios, so that none is forgotten."""

    def test_every_command_has_a_scenario_or_writes_nothing(self):
        with tempfile.TemporaryDirectory(prefix="agentforge-chaos-") as folder:
            world = World(folder)
            world.make()
            grammar = world.run("help", "--json", preload=False)[0].json
        commands = {leaf["name"].removeprefix("agentforge ") for leaf in test_every_command.leaves(grammar)} | {"audit"}       # `audit` runs, and has `verify` below it.
        struck = {scenario.of for scenario in SCENARIOS}
        self.assertEqual(sorted(commands - struck - SAME_AS.keys() - WRITES_NOTHING.keys()), [],
                         "give it a scenario in tests/chaos/scenarios.py, or say in WRITES_NOTHING why it needs none")
        self.assertEqual(sorted((struck | SAME_AS.keys() | WRITES_NOTHING.keys()) - commands), [], "no such command")
        self.assertFalse(struck & WRITES_NOTHING.keys())
        self.assertLessEqual({command for command, _ in SAME_AS.values()}, struck)


class TestWritesNothing(test_every_command.TestEveryCommand):
    """Checks that commands declared to write nothing make no call that changes files."""

    test_each_answers_in_text_and_json = None

    def test_commands_without_a_scenario_change_no_file(self):
        rows = self.commands()
        trace, shared = self.folder.parent / (self.folder.name + ".trace"), self.folder.parent / (self.folder.name + ".shared")
        self.addCleanup(trace.unlink, True)
        self.addCleanup(shared.unlink, True)
        environment = dict(self.environment, LD_PRELOAD=FAULTS, FAULTS_ROOT=str(self.folder), FAULTS_STATE=str(shared), FAULTS_TRACE=str(trace))
        for name in WRITES_NOTHING:
            with self.subTest(name):
                shared.write_bytes(bytes(SHARED.size))
                trace.unlink(missing_ok=True)
                outcome = self.run_program(*name.split(), *rows[name][0], environment=environment)
                self.assertGreater(len(read_shared(shared).processes), 0, outcome)
                self.assertEqual([(call.op, call.path) for call in read_trace(trace)], [], outcome)


CHEAP = ("reject", "resolve", "feedback", "remind", "config set", "repo add", "trust", "abort", "gc", "check", "start to spec")
TURNING = 2


def in_turn(day):
    """Returns a few of the scenarios that are not cheap, the next ones each day."""
    others = [scenario.name for scenario in SCENARIOS if scenario.name not in CHEAP]
    return [others[(TURNING * day + number) % len(others)] for number in range(TURNING)]


class FailpointTest(unittest.TestCase):
    """Runs each command once under strace, and checks that faults.cpp can strike every call that the kernel saw."""

    def check(self, scenarios):
        self.assertIsNotNone(shutil.which("strace"), "install strace")
        folder = tempfile.mkdtemp(prefix="agentforge-chaos-", dir=chaos.fast_place())
        self.addCleanup(shutil.rmtree, folder, True)
        runner = chaos.Chaos(folder)
        output = os.path.join(folder, "strace.out")
        for scenario in scenarios:
            with self.subTest(scenario.name):
                clean, world = runner.prepare(scenario), runner.world
                world.use(clean["settings"])
                world.put_back(clean["base"])
                with scenario.beside(world):
                    outcome, shared = world.run(*clean["arguments"], prefix=(*strace.PREFIX, "-o", output), keys=scenario.keys)
                self.assertIn(outcome.code, scenario.codes, outcome)
                self.assertGreater(shared.count, 0.6 * clean["calls"], "under strace the command did less than without")    # strace is slow, so the gates do less within their time limits.
                with open(output, encoding="utf-8", errors="replace") as text:
                    kernel, examples = strace.seen_by_the_kernel(text.read(), str(world.root))
                ours = collections.Counter(call.op for call in read_trace(world.trace) if call.result >= 0 and call.op != "close")
                self.assertGreater(sum(ours.values()), 3)
                for op in sorted(kernel.keys() | ours.keys()):
                    if kernel[op] != ours[op]:
                        unseen = random.Random(1).sample(examples[op], min(5, len(examples[op])))
                        self.fail(f"{op}: the kernel saw {kernel[op]}, faults.cpp {ours[op]}; some of the kernel's:\n" + "\n".join(unseen))


class TestFailpoints(FailpointTest):
    def test_no_call_that_changes_files_goes_past_the_failpoints(self):
        self.check(SCENARIOS)


class TestFailpointsSample(FailpointTest):
    """In CI: runs the cheap commands, and two others each day. AGENTFORGE_DAY chooses another day."""

    def test_no_call_of_a_sample_goes_past_the_failpoints(self):
        day = int(os.environ.get("AGENTFORGE_DAY", datetime.date.today().toordinal()))
        names = [*CHEAP, *in_turn(day)]
        print(f"AGENTFORGE_DAY={day}: {', '.join(names)}")
        self.check([BY_NAME[name] for name in names])

    def test_every_scenario_has_its_turn(self):
        seen = {name for day in range(len(SCENARIOS)) for name in in_turn(day)}
        self.assertEqual(seen | set(CHEAP), set(BY_NAME))


if __name__ == "__main__":
    unittest.main(verbosity=2)
