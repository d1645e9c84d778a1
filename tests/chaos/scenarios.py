# SPDX-License-Identifier: Apache-2.0
"""Every command that writes: what it begins from, and how a person goes on after it was struck."""

import dataclasses
import shutil
import typing

import harness
from harness import REQUEST, entry, load_transcript, short_transcript

QUESTION = "Do digits stay in a slug?"


def doubtful_transcript():
    """Intake finds a blocking question and clarify is not sure of its answer."""
    transcript = load_transcript()
    entry(transcript, "intake", 2)["tool_calls"][0]["arguments"]["identified_ambiguities"] = [{"area": "characters", "question": QUESTION, "impact": "blocking"}]
    clarified = entry(transcript, "clarify", 2)["tool_calls"][0]["arguments"]
    clarified["questions"] = [{"question": QUESTION, "source": "agent_inference", "answer": "Perhaps", "confidence": 0.6, "evidence": []}]
    return transcript


# -- what commands begin from

def fresh(world):
    world.make()


def initialized(world):
    world.make()
    world.program("init")


def delivered(world):
    world.make()
    world.program("start", "--transcript", world.transcript, REQUEST)


def moved_on(world):
    delivered(world)
    (world.repository / "later.txt").write_text("later\n", encoding="utf-8")
    world.git("add", "later.txt")
    world.git("commit", "-q", "-m", "Later")


def specified(world):
    world.make()
    world.program("start", "--transcript", world.transcript, "--exit-after", "spec", REQUEST)


def waiting(stage):
    def prepare(world):
        world.make()
        world.program("start", "--transcript", world.transcript, "--approve", stage, REQUEST, codes=(22,))
    return prepare


def asking(world):
    world.make()
    world.write_transcript(doubtful_transcript())
    world.program("start", "--transcript", world.transcript, "--exit-after", "clarify", REQUEST, codes=(22,))


def answered(world):
    asking(world)
    world.program("resolve", question(world), "Yes", "--no-resume")


def paused(world):
    world.make()
    world.program("start", "--transcript", world.transcript, "--set", "limits.max_steps=3", REQUEST, codes=(1, 22))


def folder_lost(world):
    delivered(world)
    shutil.rmtree(world.repository / ".agentforge" / "tasks" / world.task())


def unpublished(world):
    """Delivered, and only the push failed; now the remote is there."""
    world.make()
    bare, gh = world.root / "remote.git", world.root / "bin" / "gh"
    world.git("remote", "add", "origin", "https://github.example.org/acme/textkit.git")
    world.git("config", f"url.{bare}.insteadOf", "https://github.example.org/acme/textkit.git")
    gh.parent.mkdir()
    gh.write_text("#!/bin/sh\necho https://github.example.org/acme/textkit/pull/7\n", encoding="utf-8")
    gh.chmod(0o755)
    world.environment["PATH"] = f"{gh.parent}:{world.environment['PATH']}"
    world.program("start", "--transcript", world.transcript, "--deliver", "pr", REQUEST, codes=(1,))
    world.git("init", "-q", "--bare", bare)


def question(world):
    return world.program("escalations", "list", "--json").json["escalations"][0]["id"]


# -- how one goes on

def again(world, arguments):
    """The command once more: done, or refused because it is done."""
    world.program(*arguments, codes=(0, 1, 22, 23))


def start_or_resume(world, arguments):
    if not world.tasks() or unborn(world, world.task()):
        world.program(*arguments)
    else:
        resume(world, arguments)


def resume(world, arguments):      # noqa: ARG001
    world.program("resume", world.task(), *world.answered)


def continue_or_resume(world, arguments):
    """The command once more if the task is completed: it had not begun, or it is refused because it is done."""
    if world.program("status", world.task(), "--json").json["status"] == "completed":
        again(world, arguments)
    else:
        resume(world, arguments)


def approve_and_resume(world, arguments):
    if world.program("escalations", "list", "--json").json["escalations"]:
        world.program(*arguments, codes=(0, 1, 22, 23))
    resume(world, arguments)


def resolve_and_resume(world, arguments):
    if world.program("escalations", "list", "--json").json["escalations"]:
        world.program(*arguments)


def abort_again(world, arguments):
    """Said again, it does what is left of it."""
    world.program(*arguments, codes=(0, 23))


def resume_all(first):
    """For commands that make a second task from `first`: it goes on if it was born, else it is made again."""
    def recover(world, arguments):
        if len(world.tasks()) == first or unborn(world, world.tasks()[-1]):
            world.program(*arguments)
            return
        newest = world.tasks()[-1]
        if world.program("status", newest, "--json").json["status"] != "aborted":
            world.program("resume", newest, *world.answered)
    return recover


def unborn(world, task):
    """A task whose process ended before the first record is ended by `abort`, as the error says."""
    if "AF-TASK-016" not in world.program("status", task, "--json", codes=(0, 1)).all:
        return False
    world.program("abort", task, codes=(0, 23))
    return True


def fork_again(world, arguments):
    if len(world.tasks()) == 1 or unborn(world, world.tasks()[-1]):
        world.program(*arguments)


@dataclasses.dataclass(frozen=True)
class Scenario:
    name: str
    prepare: typing.Callable
    arguments: typing.Callable
    recover: typing.Callable
    changes_checkout: bool = False
    codes: tuple = (0,)
    weight: int = 4                  # In a random choice; what takes seconds has less.


SCENARIOS = (
    Scenario("init", fresh, lambda w: ("init",), again),
    Scenario("start", fresh, lambda w: ("start", "--transcript", w.transcript, REQUEST), start_or_resume, weight=2),
    Scenario("start to spec", fresh, lambda w: ("start", "--transcript", w.transcript, "--exit-after", "spec", REQUEST), start_or_resume, weight=4),
    Scenario("resume", paused, lambda w: ("resume", w.task(), *w.answered, "--set", "limits.max_steps=400"),
             lambda w, a: w.program(*a), weight=2),
    Scenario("continue", specified, lambda w: ("continue", w.task(), "--extend-to", "red", *w.answered), continue_or_resume, weight=2),
    Scenario("approve (deliver)", waiting("refactor"), lambda w: ("approve", w.task(), *w.answered), approve_and_resume, weight=4),
    Scenario("reject", waiting("spec"), lambda w: ("reject", w.task(), "--reason", "no", "--no-resume"), again),
    Scenario("resolve", asking, lambda w: ("resolve", question(w), "Yes", "--no-resume"), resolve_and_resume),
    Scenario("resume (answered)", answered, lambda w: ("resume", w.task(), *w.answered), resume),
    Scenario("abort", waiting("spec"), lambda w: ("abort", w.task()), abort_again, codes=(0, 23)),
    Scenario("publish", unpublished, lambda w: ("resume", w.task(), *w.answered), resume),
    Scenario("apply", delivered, lambda w: ("apply", w.task()), again, changes_checkout=True),
    Scenario("rebase", moved_on, lambda w: ("rebase", w.task(), *w.answered), again, weight=2),
    Scenario("replay --onto", moved_on, lambda w: ("replay", w.task(), "--onto", "main"), resume_all(1), weight=2),
    Scenario("fork", delivered, lambda w: ("fork", w.task(), "--from-step", "5", "--no-resume"), fork_again),
    Scenario("archive restore", folder_lost, lambda w: ("archive", "restore", "--all"), again),
    Scenario("gc", delivered, lambda w: ("gc", "--older-than", "0", "--blobs"), again),
    Scenario("repo add", initialized, lambda w: ("repo", "add"), again),
    Scenario("config set", initialized, lambda w: ("config", "set", "limits.max_steps", "77"), again),
    Scenario("check", initialized, lambda w: ("check",), again),
)
BY_NAME = {scenario.name: scenario for scenario in SCENARIOS}
