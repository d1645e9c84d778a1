# SPDX-License-Identifier: Apache-2.0
"""A sample of what scripts/chaos does; and no call that changes files bypasses the failpoints."""

import collections
import json
import os
import random
import shutil
import tempfile
import unittest

import chaos
import strace
from scenarios import BY_NAME, SCENARIOS
from trace import read_trace

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


class TestPlan(unittest.TestCase):
    """One plan in several sessions; no program runs."""

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


class TestFailpoints(unittest.TestCase):
    """Each command once under strace: faults.cpp can fail every call that the kernel saw."""

    def test_no_call_that_changes_files_goes_past_the_failpoints(self):
        self.assertIsNotNone(shutil.which("strace"), "install strace")
        folder = tempfile.mkdtemp(prefix="agentforge-chaos-", dir=chaos.fast_place())
        self.addCleanup(shutil.rmtree, folder, True)
        runner = chaos.Chaos(folder)
        output = os.path.join(folder, "strace.out")
        for scenario in SCENARIOS:
            with self.subTest(scenario.name):
                clean, world = runner.prepare(scenario), runner.world
                world.environment["PATH"] = clean["path"]
                world.put_back(clean["base"])
                outcome, shared = world.run(*clean["arguments"], prefix=(*strace.PREFIX, "-o", output))
                self.assertIn(outcome.code, scenario.codes, outcome)
                self.assertGreater(shared.count, 0.8 * clean["calls"], "under strace the command did less than without")
                with open(output, encoding="utf-8", errors="replace") as text:
                    kernel, examples = strace.seen_by_the_kernel(text.read(), str(world.root))
                ours = collections.Counter(call.op for call in read_trace(world.trace) if call.result >= 0 and call.op != "close")
                self.assertGreater(sum(ours.values()), 3)
                for op in sorted(kernel.keys() | ours.keys()):
                    if kernel[op] != ours[op]:
                        unseen = random.Random(1).sample(examples[op], min(5, len(examples[op])))
                        self.fail(f"{op}: the kernel saw {kernel[op]}, faults.cpp {ours[op]}; some of the kernel's:\n" + "\n".join(unseen))


if __name__ == "__main__":
    unittest.main(verbosity=2)
