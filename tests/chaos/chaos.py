# SPDX-License-Identifier: Apache-2.0
"""Kills or fails each command that writes, at one of its calls that change files. Then runs the commands that a user would run next, and checks every guarantee.
`scripts/chaos` runs it; docs/reliability.md has the results of many runs."""

import argparse
import collections
import concurrent.futures
import json
import multiprocessing
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import time

import world as worlds
import yaml
from power import HOWS, Disk
from scenarios import BY_NAME, SCENARIOS
from trace import KINDS, read_trace, site_of
from world import ERROR, Broken, World



ALL_KINDS = (*KINDS, "power")
# Another process writes, and this command's trace does not contain its calls: `git push` to the other repository, the running task, fetching packages.
WITHOUT_POWER = ("publish", "pause", "setup")


def differences(now, clean, where=""):
    """Yields the differences between two pictures, each with its place."""
    if isinstance(now, dict) and isinstance(clean, dict):
        for key in sorted(now.keys() | clean.keys(), key=str):
            yield from differences(now.get(key), clean.get(key), f"{where}.{key}")
    elif isinstance(now, (list, tuple)) and isinstance(clean, (list, tuple)) and len(now) == len(clean):
        for number, (one, other) in enumerate(zip(now, clean)):
            yield from differences(one, other, f"{where}[{number}]")
    elif now != clean:
        yield f"{where}: {json.dumps(now, default=str)[:300]} instead of {json.dumps(clean, default=str)[:300]}"


def began(journal):
    """True if a task has its first record and all imports that this record announces."""
    records = [yaml.safe_load(line[2:]) for line in journal.splitlines() if line.startswith(b"- {")]
    return len(records) > len(records[0].get("imports", []) if records else [])


class Chaos:
    """One worker: one world, and the calls and results of each command there without a fault."""

    def __init__(self, folder):
        self.world = World(folder)
        self.clean = {}
        self.prepared = {}

    def prepare(self, scenario):
        if scenario.name in self.clean:
            return self.clean[scenario.name]
        world = self.world
        base = scenario.name.replace(" ", "-").replace("(", "").replace(")", "")
        scenario.prepare(world)
        settings = world.settings()
        arguments = scenario.arguments(world)
        if list(arguments[:len(scenario.of.split())]) != scenario.of.split():
            raise Broken(f"`{scenario.name}` runs `{' '.join(map(str, arguments))}`, which is not the command `{scenario.of}`")
        world.keep(base)
        with scenario.beside(world):
            outcome, shared = world.run(*arguments, keys=scenario.keys)
            if outcome.code not in scenario.codes:
                raise Broken(f"`{scenario.name}` without a fault: {outcome}")
            sites = {call.number: site_of(call, world.root) for call in read_trace(world.trace)}
            scenario.recover(world, arguments)
        sites = [sites.get(number, "none") for number in range(1, shared.count + 1)]
        self.clean[scenario.name] = {"base": base, "calls": shared.count, "sites": sites, "ops": [site.partition(" ")[0] for site in sites], "picture": self.picture(scenario), "arguments": arguments,
                                     "settings": settings, "left": world.left_over()}
        return self.clean[scenario.name]

    def picture(self, scenario):
        return {"repositories": self.world.picture(), "shown": scenario.shows(self.world)}

    def strike(self, scenario, kind, at, collect):
        """Returns the struck operation ("none": the command finished first), the number of its call, its site, and how the command ended."""
        clean, world = self.prepare(scenario), self.world
        world.use(clean["settings"])
        world.put_back(clean["base"])
        with scenario.beside(world):
            return self.strike_here(scenario, kind, at, collect)

    def strike_here(self, scenario, kind, at, collect):
        clean, world = self.clean[scenario.name], self.world
        before, journals_before = world.checkout(), world.journals()
        outcome, shared = world.run(*clean["arguments"], at=at, kind=kind, keys=scenario.keys)
        told = self.check_outcome(scenario, kind, outcome, shared)
        site = next((site_of(call, world.root) for call in read_trace(world.trace) if call.number == shared.struck_at), None)
        journals = world.journals()
        for task, text in journals_before.items():
            if not journals.get(task, b"").startswith(text):
                raise Broken("the journal lost records that were there before the command")
        self.check_synced(journals)
        if not scenario.changes_checkout and world.checkout() != before:
            raise Broken("the user's files, index or HEAD changed")
        if collect:         # git refuses because of a killed command's lock, until the next command removes it.
            for _ in world.each():
                world.git("gc", "--quiet", "--prune=now", "--force", check=not kind.startswith("kill"))
        scenario.recover(world, clean["arguments"])
        self.check_recovered(scenario, journals)
        return shared.struck, shared.struck_at, site or self.site_without_a_fault(scenario, shared.struck_at), told

    def site_without_a_fault(self, scenario, number):
        """Returns the site of a call that a kill prevented, so that it is not in the trace."""
        sites = self.clean[scenario.name]["sites"]
        return sites[number - 1] if 0 < number <= len(sites) else "none"

    def cut_power(self, scenario, chance):
        """Cuts the power after a random call of the command without a fault. Returns the place and what happened to unsynced data."""
        clean, world = self.prepare(scenario), self.world
        world.use(clean["settings"])
        kept = world.folder / "kept" / clean["base"]
        if "trace" not in clean:
            world.put_back(clean["base"])
            world.run(*clean["arguments"], keys=scenario.keys)
            clean["trace"] = read_trace(world.trace)
        calls, how = clean["trace"], chance.choice(HOWS)
        place = chance.randint(1, len(calls))
        world.put_back(clean["base"])
        before = world.checkout()
        disk = Disk(world.root, kept)
        for call in calls[:place]:
            disk.apply(call)
        disk.cut(world.root, chance, how)
        shutil.rmtree(world.environment["TMPDIR"])      # A machine does this when it starts.
        os.mkdir(world.environment["TMPDIR"])
        synced = disk.synced_journals(world.repositories)
        if not scenario.changes_checkout and world.checkout() != before:
            raise Broken(f"cut at {place} ({how}): the user's files, index or HEAD changed")
        try:
            scenario.recover(world, clean["arguments"])
            self.check_recovered(scenario, synced)
        except Broken as broken:
            raise Broken(f"cut at {place} of {len(calls)} ({how}), after {calls[place - 1].op} {calls[place - 1].path[-80:]}: {broken}") from broken
        return place, how

    @staticmethod
    def check_outcome(scenario, kind, outcome, shared):
        if kind.startswith("kill") and shared.struck_at and outcome.code in (-9, *scenario.codes, 1, 22, 23):
            return "killed"
        if outcome.code in scenario.codes:
            return "done"
        if outcome.code in (1, 20, 21, 22, 23) and ERROR.search(outcome.err + outcome.out):
            return "error"
        raise Broken(f"it ended with {outcome.code} and no error's code: {outcome.all.strip()[-500:]}")

    def check_synced(self, journals):
        """Checks that successfully synced data is still there."""
        sizes = {}
        for call in read_trace(self.world.trace):
            if call.path.endswith("/actions.yaml"):
                if call.op == "write" and call.result > 0:
                    sizes[call.path] = max(sizes.get(call.path, 0), call.offset + call.result)
                elif call.op == "truncate" and call.result == 0:
                    sizes[call.path] = call.offset
        for path, size in sizes.items():
            text = journals.get(pathlib.Path(path).parent.name)
            if text is None and not (os.path.exists(path) and any(path.startswith(f"{repository}/") for repository in self.world.repositories)):
                continue            # The journal moved with its folder, the creation of its task was undone, or it is of a scratch task in the state folder.
            if text is None:
                raise Broken(f"{path} is there, but no task has it")
            if len(text) < size:
                raise Broken(f"{path} is {len(text)} bytes long; {size} had been written")

    def check_recovered(self, scenario, journals):
        world, clean = self.world, self.clean[scenario.name]
        picture = self.picture(scenario)
        different = list(differences(picture, clean["picture"]))
        if different:
            raise Broken(f"it came to something else than without the fault: {'; '.join(different[:8])}")
        after = world.journals()
        for task, text in journals.items():
            whole = text[:text.rfind(b"\n") + 1]
            if task not in after and not began(whole):     # `abort` or the next start removes it.
                continue
            if not after.get(task, b"").startswith(whole):
                raise Broken("recovery rewrote records of the journal, or lost them")
        for records in world.records.values():
            answers = [(r["phase"], r["visit"], r["run"], r["agent"]["role"], r["run_step"]) for r in records if r["type"] == "answer"]
            if len(answers) != len(set(answers)):
                raise Broken("a model was asked twice for the same step")
        for _ in world.each():
            world.git("fsck", "--strict", "--no-dangling")
        left = [name for name in world.left_over() if name not in clean["left"] and not name.startswith(scenario.known)]
        if left:
            raise Broken(f"left for ever: {left[:6]}")


def worker(folder, plans, fail_fast, log=None):
    """Runs each plan: (scenario, kind, at or None for a random call, seed). Returns a result for each, and adds it to the log."""
    chaos, results = Chaos(folder), []
    for name, kind, at, seed in plans:
        chance, scenario = random.Random(seed), BY_NAME[name]
        began = time.monotonic()
        result = {"scenario": name, "kind": kind, "seed": seed}
        try:
            calls = chaos.prepare(scenario)["calls"]
            if kind == "power":
                result["at"], result["told"] = chaos.cut_power(scenario, chance)
                result["op"] = "any"
                continue
            result["at"] = at or chance.randint(1, max(1, calls))
            result["op"], result["struck"], result["site"], result["told"] = chaos.strike(scenario, kind, result["at"], chance.random() < 0.5)
        except (Broken, subprocess.TimeoutExpired) as broken:
            result["broken"] = str(broken)
            kept = pathlib.Path(folder) / f"broken-{len(results)}"
            if fail_fast and chaos.world.root.exists():
                shutil.copytree(chaos.world.root, kept, symlinks=True, ignore_dangling_symlinks=True)
        finally:
            result["seconds"] = round(time.monotonic() - began, 2)
            results.append(result)
            if log:
                # One write at the end of the file, on a separate line: several workers and several sessions add to one log.
                with open(log, "a", encoding="utf-8") as to:
                    to.write("\n" + json.dumps(result) + "\n")
    return results


def plan(runs, seed, command, fault):
    """Chooses scenarios by weight, and kinds in turn. The same seed makes the same plan."""
    chance = random.Random(seed)
    scenarios = [scenario for scenario in SCENARIOS if command in (None, scenario.name)]
    kinds = ["power"] if fault == "power" else [kind for kind in KINDS if fault in (None, kind)]
    if fault == "power":
        scenarios = [scenario for scenario in scenarios if scenario.name not in WITHOUT_POWER]
    weights = [scenario.weight for scenario in scenarios]
    names = [scenario.name for scenario in scenarios] if runs >= len(scenarios) else []
    names += [scenario.name for scenario in chance.choices(scenarios, weights, k=runs - len(names))]
    return [(name, kinds[number % len(kinds)] if number < len(kinds) else chance.choice(kinds), None, chance.getrandbits(40)) for number, name in enumerate(names[:runs])]


def finished(log):
    """Returns the results in a log. Ignores a line that a kill has cut off; its run is repeated."""
    results = []
    if log and os.path.exists(log):
        with open(log, encoding="utf-8") as lines:
            for line in lines:
                try:
                    results.append(json.loads(line))
                except ValueError:
                    continue
    return results


def part_of(plans, first, last):
    """Returns the runs `first` to `last` of the plan, inclusive, counted from 1."""
    return plans[(first or 1) - 1:last]


def unfinished(plans, results):
    """Returns the plans without a result. Each plan has its own seed."""
    done = {(result["scenario"], result["kind"], result["seed"]) for result in results}
    return [each for each in plans if (each[0], each[1], each[3]) not in done]


def of_plan(plans, results):
    """Returns the newest result of each run of the plan."""
    newest = {(result["scenario"], result["kind"], result["seed"]): result for result in results}
    return [newest[key] for key in ((each[0], each[1], each[3]) for each in plans) if key in newest]


def fast_place():
    """Returns a memory file system if there is one: the runs depend on the calls, not on the speed of a disk."""
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


def run(plans, workers=None, fail_fast=False, log=None):
    workers = min(workers or os.cpu_count() or 1, max(1, len(plans)))
    folder = tempfile.mkdtemp(prefix="agentforge-chaos-", dir=fast_place())
    by_scenario = collections.defaultdict(list)
    for each in plans:
        by_scenario[each[0]].append(each)
    shares = [[] for _ in range(workers)]
    # A scenario's preparation costs seconds, so one worker runs all of a scenario, unless that is a large part of the work.
    for name in sorted(by_scenario, key=lambda name: -len(by_scenario[name]) / BY_NAME[name].weight):
        min(shares, key=lambda share: sum(4 / BY_NAME[each[0]].weight for each in share)).extend(by_scenario[name])
    try:
        with concurrent.futures.ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("fork")) as pool:
            futures = [pool.submit(worker, os.path.join(folder, f"w{number}"), share, fail_fast, log) for number, share in enumerate(shares) if share]
            for number, _ in enumerate(shares):
                os.makedirs(os.path.join(folder, f"w{number}"), exist_ok=True)
            return [result for future in futures for result in future.result()]
    finally:
        if not fail_fast:
            shutil.rmtree(folder, ignore_errors=True)
        else:
            print(f"kept: {folder}")


def matrix(results):
    """Markdown: commands, by kind of fault; `struck/missed`. Missed: the command finished before the call."""
    rows = collections.defaultdict(collections.Counter)
    for result in results:
        rows[result["scenario"]][result["kind"]] += 1
    lines = ["| command | " + " | ".join(ALL_KINDS) + " | all |", "|---|" + "---:|" * (len(ALL_KINDS) + 1)]
    for scenario in SCENARIOS:
        if rows[scenario.name]:
            counts = [rows[scenario.name][kind] for kind in ALL_KINDS]
            lines.append(f"| {scenario.name} | " + " | ".join(map(str, counts)) + f" | {sum(counts)} |")
    calls = collections.defaultdict(collections.Counter)
    for result in results:
        calls[result.get("op", "?")][result["kind"]] += 1
    lines += ["", "| call | " + " | ".join(ALL_KINDS) + " | all |", "|---|" + "---:|" * (len(ALL_KINDS) + 1)]
    for op in sorted(calls):
        counts = [calls[op][kind] for kind in ALL_KINDS]
        lines.append(f"| {op} | " + " | ".join(map(str, counts)) + f" | {sum(counts)} |")
    return "\n".join(lines)


ALLOCATING = ("create", "write", "rename", "link", "symlink", "mkdir", "truncate", "copy", "sync", "allocate")
INTERRUPTED = ("create", "write", "close", "truncate")


def can_come_of(kind, op):
    """True if Linux can return this fault for this call, as in faults.cpp."""
    return {"enospc": op in ALLOCATING, "full": op in ALLOCATING, "eintr": op in INTERRUPTED, "emfile": op == "create", "short": op == "write"}.get(kind, True)


def faults_of(ops):
    """Returns the {(number, kind)} that exist in a command whose calls are `ops`."""
    return {(number, kind) for number, op in enumerate(ops, 1) for kind in KINDS if can_come_of(kind, op)}


def struck_of(result, ops):
    """Returns (number, kind) of the call that a run struck, or None. An older log has only the requested number; the fault struck the next call that can return it."""
    if result["kind"] == "power" or "at" not in result:
        return None
    if "struck" in result:
        return (result["struck"], result["kind"]) if result["struck"] else None
    number = next((number for number in range(result["at"], len(ops) + 1) if can_come_of(result["kind"], ops[number - 1])), None)
    return number and (number, result["kind"])


def cross_table(results, names):
    """Markdown: a row for each command and call, a column for each fault; `runs`, or `runs (failed)`."""
    rows, failed = collections.Counter(), collections.Counter()
    for result in results:
        key = result["scenario"], result.get("op", "?"), result["kind"]
        rows[key] += 1
        failed[key] += "broken" in result
    kinds = [kind for kind in ALL_KINDS if any(key[2] == kind for key in rows)]

    def cell(keys):
        count, bad = sum(rows[key] for key in keys), sum(failed[key] for key in keys)
        if bad:
            return f"{count} ({bad} failed)"
        return str(count) if count else ""

    lines = ["| command | call | " + " | ".join(kinds) + " | all |", "|---|---|" + "---:|" * (len(kinds) + 1)]
    for name in names:
        for op in sorted({key[1] for key in rows if key[0] == name}):
            keys = [(name, op, kind) for kind in kinds]
            lines.append(f"| {name} | {op} | " + " | ".join([*(cell([key]) for key in keys), cell(keys)]) + " |")
    lines.append("| all | | " + " | ".join([*(cell([key for key in rows if key[2] == kind]) for kind in kinds), cell(list(rows))]) + " |")
    return "\n".join(lines)


def coverage_table(results, ops_of):
    """Markdown: how many of the faults that exist in each command were struck. `ops_of`: the calls of each command without a fault."""
    struck = collections.defaultdict(set)
    for result in results:
        ops = ops_of.get(result["scenario"])
        found = ops and struck_of(result, ops)
        if found:
            struck[result["scenario"]].add(found)
    lines, of_all = ["| command | calls | faults that exist | injected | share |", "|---|---:|---:|---:|---:|"], [0, 0, 0]
    for name, ops in ops_of.items():
        exist = faults_of(ops)
        counts = len(ops), len(exist), len(exist & struck[name])
        of_all = [one + other for one, other in zip(of_all, counts)]
        lines.append(f"| {name} | {counts[0]} | {counts[1]} | {counts[2]} | {100 * counts[2] / max(1, counts[1]):.0f} % |")
    lines.append(f"| all | {of_all[0]} | {of_all[1]} | {of_all[2]} | {100 * of_all[2] / max(1, of_all[1]):.0f} % |")
    return "\n".join(lines)


def sites_without_faults(names):
    """Returns the sites of each command's calls, in order."""
    folder = tempfile.mkdtemp(prefix="agentforge-chaos-", dir=fast_place())
    try:
        runner = Chaos(folder)
        return {name: runner.prepare(BY_NAME[name])["sites"] for name in names}
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def ops_of(sites):
    return [site.partition(" ")[0] for site in sites]


def faults_of_sites(sites):
    """Returns the {(site, kind)} that exist in commands with these sites."""
    return {(site, kind) for site in set(sites) for kind in KINDS if can_come_of(kind, site.partition(" ")[0])}


def site_struck(result, sites):
    """Returns the (site, kind) that a run struck, or None. An older log has only the number of the call."""
    if "site" in result:
        return result["site"], result["kind"]
    struck = struck_of(result, ops_of(sites))
    return (sites[struck[0] - 1], struck[1]) if struck and struck[0] <= len(sites) else None


def sites_struck(results, sites_of):
    return {site_struck(result, sites_of[result["scenario"]]) for result in results if result["scenario"] in sites_of and "broken" not in result}


def plan_of_sites(sites_of, results, fault, seed):
    """Plans one run for each site and fault that `results` lack: in the command with the fewest calls that has the site, at a random call of that site."""
    plans = []
    missing = faults_of_sites(site for sites in sites_of.values() for site in sites) - sites_struck(results, sites_of)
    for site, kind in sorted(missing):
        if fault in (None, kind):
            name = min((name for name, sites in sites_of.items() if site in sites), key=lambda name: len(sites_of[name]))
            chance = random.Random(f"{seed} {site} {kind}")
            plans.append((name, kind, chance.choice([number for number, each in enumerate(sites_of[name], 1) if each == site]), chance.getrandbits(40)))
    return plans


def sites_line(results, sites_of):
    exist = faults_of_sites(site for sites in sites_of.values() for site in sites)
    struck = exist & sites_struck(results, sites_of)
    of_commands = [(faults_of_sites(sites), sites_struck([result for result in results if result["scenario"] == name], sites_of)) for name, sites in sites_of.items()]
    return (f"{len({site for site, _ in exist})} sites (a call and the kind of its file), {len(exist)} faults at them: {len(struck)} struck in some command ({100 * len(struck) / max(1, len(exist)):.0f} %). "
            f"With each command's sites counted apart: {sum(len(exist & struck) for exist, struck in of_commands)} of {sum(len(exist) for exist, _ in of_commands)}.")


def print_report(log):
    """Prints a report on all runs of a log, whatever their plans."""
    results = list({(result["scenario"], result["kind"], result["seed"]): result for result in finished(log)}.values())
    names = [scenario.name for scenario in SCENARIOS if any(result["scenario"] == scenario.name for result in results)]
    print(cross_table(results, names))
    broken = sum("broken" in result for result in results)
    print(f"\n{len(results)} runs, {broken} broke a promise.")
    if worlds.FAULTS and os.path.exists(worlds.FAULTS):
        sites_of = sites_without_faults(names)
        print("\n" + coverage_table(results, {name: ops_of(sites) for name, sites in sites_of.items()}))
        print("\n" + sites_line(results, sites_of))
    return 1 if broken else 0


def main():
    parser = argparse.ArgumentParser(prog="scripts/chaos", description=__doc__)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--seed", type=int, default=int(os.environ.get("AGENTFORGE_SEED", "20261126")))
    parser.add_argument("--command", choices=[scenario.name for scenario in SCENARIOS])
    parser.add_argument("--fault", choices=(*KINDS, "power"), help="the fault; power cuts the power; default: all except power")
    parser.add_argument("--at", type=int, help="fail this call instead of a random one")
    parser.add_argument("--every", action="store_true", help="test each call of the command with each fault, instead of random ones")
    parser.add_argument("--sites", action="store_true", help="fail each site (a call and the kind of its file, such as the rename to a task's state.yaml) with each fault once, where the log has not yet; with --command, each site of that command")
    parser.add_argument("--log", help="append each result to this file as a line of JSON, and skip runs that it already has")
    parser.add_argument("--part", metavar="FIRST-LAST", help="only these runs of the plan, counted from 1, such as 1-2000; splits one plan over several sessions")
    parser.add_argument("--report", action="store_true", help="run nothing; print all runs of the log as Markdown: command × call × fault, and how many of the possible faults were injected")
    parser.add_argument("--keep", action="store_true", help="keep the folders of failed runs")
    parser.add_argument("--workers", type=int)
    arguments = parser.parse_args()
    if arguments.log and arguments.at:
        raise SystemExit("chaos: --log is for a plan's own calls; leave out --at")
    if arguments.report and not arguments.log:
        raise SystemExit("chaos: --report needs --log")
    if arguments.report:
        return print_report(arguments.log)
    if (not worlds.FAULTS or not os.path.exists(worlds.FAULTS)):
        raise SystemExit("chaos: AGENTFORGE_FAULTS must name agentforge_faults.so; build the target `agentforge_faults`")
    if arguments.fault == "power" and arguments.command in WITHOUT_POWER:
        raise SystemExit(f"chaos: no power cuts for `{arguments.command}`: another process makes its important writes")
    plans = plan(arguments.runs, arguments.seed, arguments.command, arguments.fault)
    if arguments.at:
        plans = [(name, kind, arguments.at, seed) for name, kind, _, seed in plans]
    if arguments.every:
        if not arguments.command:
            raise SystemExit("chaos: --every needs --command")
        calls = len(sites_without_faults([arguments.command])[arguments.command])
        plans = [(arguments.command, kind, at, arguments.seed + at) for at in range(1, calls + 1) for kind in KINDS if arguments.fault in (None, kind)]
    earlier = finished(arguments.log)
    if arguments.sites:
        sites_of = sites_without_faults([scenario.name for scenario in SCENARIOS if arguments.command in (None, scenario.name)])
        plans = plan_of_sites(sites_of, [result for result in earlier if arguments.command in (None, result["scenario"])], arguments.fault, arguments.seed)
    if arguments.part:
        first, _, last = arguments.part.partition("-")
        if not (first.isdigit() and last.isdigit() and 0 < int(first) <= int(last)):
            raise SystemExit(f"chaos: --part {arguments.part}: give the first and the last run, such as 1-2000")
        plans = part_of(plans, int(first), int(last))
    left = unfinished(plans, earlier)
    began = time.monotonic()
    results = of_plan(plans, earlier + (run(left, arguments.workers, arguments.keep, arguments.log) if left else []))
    broken = [result for result in results if "broken" in result]
    for result in broken:
        print(f"BROKEN {result['scenario']!r} --fault {result['kind']} --at {result.get('at')}: {result['broken']}\n")
    print(matrix(results))
    spent = sum(result["seconds"] for result in results)
    print(f"\nseed {arguments.seed}: {len(results)} of {len(plans)} runs, {len(broken)} failed; "
          f"{len(left)} of them now in {time.monotonic() - began:.0f} s, all in {spent:.0f} s of workers ({spent / max(1, len(results)):.1f} s a run)")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
