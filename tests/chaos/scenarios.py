# SPDX-License-Identifier: Apache-2.0
"""Every command that writes: its starting state, and how a person continues after a fault."""

import contextlib
import copy
import dataclasses
import hashlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import typing

import harness
import yaml
from harness import REQUEST, SOURCE, call, entry, load_transcript, short_transcript
from world import Broken

QUESTION = "Do digits stay in a slug?"


def doubtful_transcript():
    """Intake finds a blocking question, and clarify is not sure of its answer."""
    transcript = load_transcript()
    entry(transcript, "intake", 2)["tool_calls"][0]["arguments"]["identified_ambiguities"] = [{"area": "characters", "question": QUESTION, "impact": "blocking"}]
    clarified = entry(transcript, "clarify", 2)["tool_calls"][0]["arguments"]
    clarified["questions"] = [{"question": QUESTION, "source": "agent_inference", "answer": "Perhaps", "confidence": 0.6, "evidence": []}]
    return transcript


def second_specification():
    """Another version of the specification."""
    transcript = short_transcript()
    for found in [each for each in transcript["entries"] if each["stage"] == "spec"]:
        other = dict(copy.deepcopy(found), visit=2)
        if found["role"] == "software_architect" and found["tool_calls"][0]["name"] == "complete":
            other["tool_calls"][0]["arguments"]["title"] = "Add slugify, revised"
        transcript["entries"].append(other)
    return transcript


STORE = '''"""Counts of words in a database."""


def total(cursor, word):
    """Return how often a word was counted."""
    cursor.execute(f"SELECT count FROM words WHERE word = '{word}'")
    return cursor.fetchone()[0]
'''
STORE_TEST = '''import sqlite3
import unittest

from textkit.store import total


class TotalTest(unittest.TestCase):
    def test_total_is_what_was_counted(self):
        database = sqlite3.connect(":memory:")
        database.execute("CREATE TABLE words (word TEXT, count INTEGER)")
        database.execute("INSERT INTO words VALUES ('a', 3)")
        self.assertEqual(total(database.cursor(), "a"), 3)
        database.close()
'''
QUERY = STORE.splitlines()[5].strip()
OLD_SETTINGS = "# ours\nbudgets:\n  task_tokens: 5000\nlog:\n  level: debug  # for now\n"


def fixing_transcript():
    analysis = {"analysis": {"summary": "One query is put together from a value."}, "affected_files": ["textkit/store.py"], "dependencies": [], "risks": [],
                "components": [{"name": "store", "type": "module", "path": "textkit/store.py"}]}
    steps = [call("edit_file", path="textkit/store.py", search=QUERY, replace='cursor.execute("SELECT count FROM words WHERE word = ?", (word,))'),
             call("complete", summary="The value is a parameter of the query.", file_notes={"textkit/store.py": "the query"})]
    entries = [{"stage": "analyze", "role": "software_architect", "step": 1, "tool_calls": call("complete", **analysis)}]
    entries += [{"stage": "green", "role": "software_developer", "step": number, "tool_calls": calls} for number, calls in enumerate(steps, 1)]
    return {"agentforge_transcript": 1, "entries": entries}


# -- starting states

def fresh(world):
    world.make()


def initialized(world):
    world.make()
    world.program("init")


def delivered(world):
    world.make()
    world.program("start", "--transcript", world.transcript, REQUEST)


def applied(world):
    delivered(world)
    world.program("apply", world.task())


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


def paused_early(world):
    world.make()
    world.program("start", "--transcript", world.transcript, "--exit-after", "clarify", "--set", "limits.max_steps=1", REQUEST, codes=(1, 22))


def folder_lost(world):
    delivered(world)
    shutil.rmtree(world.repository / ".agentforge" / "tasks" / world.task())


def unpublished(world):
    """The task was delivered, and only the push failed. The remote exists now."""
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


def specified_twice(world):
    world.make()
    world.write_transcript(second_specification())
    world.program("start", "--transcript", world.transcript, "--exit-after", "spec", REQUEST)


def waiting_twice(world):
    world.make()
    world.write_transcript(second_specification())
    world.program("start", "--transcript", world.transcript, "--exit-after", "spec", "--approve", "spec", REQUEST, codes=(22,))


def overdue(world):
    """A question that nobody answered by its deadline, which has a default answer."""
    world.make()
    world.write_transcript(doubtful_transcript())
    world.program("start", "--transcript", world.transcript, "--exit-after", "clarify", "--set", "escalation.deadline_seconds=3600",
                  "--set", "escalation.on_deadline=default", "--set", "escalation.default_answer=Yes", REQUEST, codes=(22,))
    record, = (world.repository / ".agentforge" / "escalations").glob("ESC-*-1.yaml")
    told = yaml.safe_load(record.read_text(encoding="utf-8"))
    told.update(created_at="2020-01-01T00:00:00.000Z", deadline="2020-01-02T00:00:00.000Z")
    record.write_text(yaml.safe_dump(told, allow_unicode=True), encoding="utf-8")


def violating(world):
    world.make()
    world.write("textkit/store.py", STORE)
    world.write("tests/test_store.py", STORE_TEST)
    world.commit("Add a store")
    world.write_transcript(fixing_transcript())


def requests(world):
    world.make()
    lines = [json.dumps({"request": request, "exit_after": "intake", "transcript": str(world.transcript)}) for request in ("Add a slugify function", "Add a second function")]
    (world.root / "requests.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")


def with_plugin(world):
    world.make()
    shutil.copytree(SOURCE / "examples" / "plugins" / "survey", world.repository / "tools" / "survey")
    world.write(".agentforge/config/settings.yaml", "plugins:\n  paths: [tools]\n")


def trusted(world):
    with_plugin(world)
    world.program("trust")


def registered(world):
    initialized(world)
    world.program("repo", "add", "--name", "ours")


def of_an_older_format(world):
    world.make()
    world.write(".agentforge/config/settings.yaml", OLD_SETTINGS)


def blobs_lost(world):
    delivered(world)
    world.program("gc", "--older-than", "0", "--blobs")


def locked(world, servers={}):  # noqa: B006  one server for each worker
    """A package that a lockfile names and this machine lacks. Its registry ends with this process."""
    world.make()
    if os.getpid() not in servers:
        folder = world.folder / "registries"
        server = subprocess.Popen(["/usr/bin/python3", "-B", str(SOURCE / "tests/unit/gates/registries.py"), str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        servers[os.getpid()] = server, server.stdout.readline().strip(), folder
    _, port, folder = servers[os.getpid()]
    world.environment.update(GOPROXY=f"http://127.0.0.1:{port}/go", GOSUMDB="off")
    world.write("tool/go.mod", "module tool\n\ngo 1.16\n\nrequire example.com/greeter v1.0.0\n")
    world.write("tool/go.sum", (folder / "go.sum").read_text(encoding="utf-8"))
    world.write("tool/main.go", "package main\n\nfunc main() {}\n")
    world.commit("Add a tool")


def two_repositories(world):
    """A schema and its consumer, and a specification with a part for each."""
    world.make("schema", "consumer")
    transcript = short_transcript()
    transcript["entries"] = [each for each in transcript["entries"] if each["stage"] in ("red", "green", "refactor", "deliver")]
    world.write_transcript(transcript)
    for repository in world.repositories:
        world.program("repo", "add", repository, "--name", repository.name)
    made = entry(load_transcript(), "spec", 1, "software_architect")["tool_calls"][0]["arguments"]
    every = [each["id"] for each in made["requirements"]]
    made["parts"] = [{"repo": "consumer", "depends_on": ["schema"], "requirements": every}, {"repo": "schema", "requirements": every}]
    (world.root / "spec.yaml").write_text(yaml.safe_dump(made, allow_unicode=True, sort_keys=False), encoding="utf-8")


def start_set(world, *more):
    return "start", *world.answered, "--repos", "consumer,schema", "--from-spec", world.root / "spec.yaml", *more, REQUEST


def prepared_set(world):
    """Both commits are ready, and no branch exists, because the set's test failed."""
    two_repositories(world)
    world.program(*start_set(world, "--set", 'delivery.set_test=["false"]'), codes=(1, 22))


def set_id(world):
    sets = pathlib.Path(world.environment["HOME"]) / ".agentforge" / "sets"
    return next((path.name for path in sorted(sets.iterdir()) if path.name.startswith("set-")), None) if sets.exists() else None


def question(world):
    return world.program("escalations", "list", "--json").json["escalations"][0]["id"]


def violation(world):
    found, = [each for each in world.program("check", "--json", codes=(1,)).json["violations"] if each["new"] and each["check"] == "sql-injection"]
    return found["id"]


# -- how a person continues

def again(world, arguments):
    """Repeats the command: it succeeds, or is refused because it is already done."""
    world.program(*arguments, codes=(0, 1, 22, 23))


def repeat_and_collect(world, arguments):
    """Repeats the command. Then `agentforge gc` removes the worktree of a killed replay, as of any killed task, and archives tasks without an archive."""
    again(world, arguments)
    world.program("gc")


def again_whole(world, arguments):
    """Repeats the command, which must succeed however far it came before."""
    world.program(*arguments)


def start_or_resume(world, arguments):
    if not world.tasks() or unborn(world, world.task()):
        world.program(*arguments)
    else:
        resume(world, arguments)


def resume(world, arguments):      # noqa: ARG001
    resume_one(world, world.task())


def resume_one(world, task):
    world.program("resume", task, *world.answered)


def continue_or_resume(world, arguments):
    """Repeats the command if the task is completed: it had not begun, or it is refused because it is already done."""
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
    """Repeats `abort`, which finishes the rest."""
    world.program(*arguments, codes=(0, 23))


def tidy_ended(world):
    """`gc` removes leftovers. It also archives tasks that a fault struck after their last record."""
    for _ in world.each():
        world.program("gc", "--older-than", "0")


def abort_set_again(world, arguments):
    """Repeats `abort` of a set. An undone set refuses it."""
    world.program(*arguments, codes=(0, 1))
    tidy_ended(world)


def resume_all(first):
    """For commands that make a second task from `first`: continues that task if it has begun, else makes it again."""
    def recover(world, arguments):
        if len(world.tasks()) == first or unborn(world, world.tasks()[-1]):
            world.program(*arguments)
            return
        newest = world.tasks()[-1]
        if world.program("status", newest, "--json").json["status"] != "aborted":
            world.program("resume", newest, *world.answered)
    return recover


def unborn(world, task):
    """Ends a task whose process died before the first record, by `abort`, as the error says."""
    if "AF-TASK-016" not in world.program("status", task, "--json", codes=(0, 1)).all:
        return False
    world.program("abort", task, codes=(0, 23))
    return True


def with_keys(*keys):
    """For a command at a terminal: repeats it if there is no task; otherwise a person answers with commands."""
    def recover(world, arguments):
        if not world.tasks() or unborn(world, world.task()):
            world.program(*arguments, keys=keys)
            return
        for _ in range(6):
            if world.program("status", world.task(), "--json").json["status"] == "completed":
                world.program("gc")         # The fault may have struck after its last record.
                return
            if world.program("escalations", "list", "--json").json["escalations"]:
                asked = question(world)         # An action is approved by its own id.
                outcome = world.program("approve", asked if asked.startswith("ACT-") else world.task(), *world.answered, codes=(0, 1, 22))
                if "AF-ESC-035" in outcome.all:         # Killed before the journal had the question: the task asks it again.
                    resume_until_asked(world)
            else:
                resume_until_asked(world)
    return recover


def resume_until_asked(world):
    world.program("resume", world.task(), *world.answered, codes=(0, 22))


def feedback_and_resume(world, arguments):
    again(world, arguments)
    resume_until_asked(world)


def revise_or_resume(world, arguments):
    if world.program("status", world.task(), "--json").json["status"] == "completed":
        world.program(*arguments, codes=(22,))
    else:
        resume_until_asked(world)


def run_again(world, arguments):
    """Runs the same file again, which retries the failed requests."""
    world.program(*arguments, "--retry")
    tidy_ended(world)


def pause_and_resume(world, arguments):
    """The task pauses, now or at the first request."""
    world.program(*arguments, codes=(0, 1))
    world.beside.wait(timeout=120)
    resume(world, arguments)


def set_again(world, arguments):
    if set_id(world) is None:
        world.program(*arguments)
        return
    world.program("resume", set_id(world), *world.answered, "--set", 'delivery.set_test=["true"]', codes=(0, 1))
    for _ in world.each():
        world.program("gc")     # Removes leftovers.
        for task in world.tasks():      # A statement that could not be signed is made by `resume TASK`, as the warning says.
            if "statement" in world.audit(task)[0]:
                world.program("resume", task, *world.answered)


# -- processes beside the command

@contextlib.contextmanager
def nothing(world):     # noqa: ARG001
    yield


@contextlib.contextmanager
def asking_a_model(world):
    """Runs the task in another process, whose model does not answer."""
    asked, model = world.root / "asked", world.root / "model.sh"
    model.write_text(f"#!/bin/sh\n: > {asked}\nexec sleep 600\n", encoding="utf-8")
    model.chmod(0o755)
    command = [harness.PROGRAM, "resume", world.task(), "--set", "llm.backend=cli", "--set", f"llm.command=[{model}]", "--set", "limits.max_steps=400"]
    with subprocess.Popen(command, cwd=world.place, env=world.environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                          start_new_session=True) as world.beside:
        try:
            harness.wait_until(lambda: asked.exists() or world.beside.poll() is not None, "the model to be asked")
            if world.beside.poll() is not None:
                raise Broken(f"the task that was to be paused ended with {world.beside.returncode}")
            yield
        finally:
            if world.beside.poll() is None:
                os.killpg(world.beside.pid, signal.SIGKILL)


# -- results other than tasks, branches and files

def no_more(world):     # noqa: ARG001
    return None


def bytes_of(*names):
    """Returns files of the repository with their hashes."""
    def shows(world):
        found = sorted(path for name in names for path in world.repository.glob(name) if path.is_file())
        return {str(path.relative_to(world.repository)): hashlib.sha256(path.read_bytes()).hexdigest() for path in found}
    return shows


def told(*words, codes=(0,)):
    """Returns the JSON that a command prints."""
    return lambda world: world.program(*words, "--json", codes=codes).json


def locked_plugins(world):
    return bytes_of(".agentforge/config/plugins.lock")(world), told("trust", "--show")(world)["verdict"]


def report(world):
    file = world.root / "report.json"
    return sorted(json.loads(file.read_text(encoding="utf-8"))) if file.exists() else None


def state_of_set(world):
    return world.program("status", set_id(world), "--json").json["phase"]


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
    weight: int = 4                  # Weight in a random choice. Scenarios that take seconds have less.
    command: str = ""                # The command, if the name has more than the command.
    keys: tuple = ()                 # Words on a terminal, and the keys that a person presses there.
    beside: typing.Callable = nothing
    shows: typing.Callable = no_more
    known: str = "/"                 # A known fault: files with this prefix stay after a kill; docs/reliability.md lists it.

    @property
    def of(self):
        return self.command or self.name


APPROVED = (("Approve? [y/n", b"y\n"),)
ALLOWED = (("Do it? [y/n/e", b"y\n"),)


SCENARIOS = (
    Scenario("init", fresh, lambda w: ("init",), again, shows=bytes_of(".agentforge/config/**/*", ".agentforge/.gitignore")),
    Scenario("start", fresh, lambda w: ("start", "--transcript", w.transcript, REQUEST), start_or_resume, weight=2),
    Scenario("start to spec", fresh, lambda w: ("start", "--transcript", w.transcript, "--exit-after", "spec", REQUEST), start_or_resume, weight=4, command="start"),
    Scenario("start --detach", fresh, lambda w: ("start", "--detach", "--transcript", w.transcript, "--exit-after", "intake", REQUEST), start_or_resume, command="start"),
    Scenario("start --supervised (terminal)", fresh, lambda w: ("start", "--transcript", w.transcript, "--supervised", "--exit-after", "clarify", REQUEST),
             with_keys(*APPROVED), keys=APPROVED, command="start"),
    Scenario("start --interactive (terminal)", fresh, lambda w: ("start", "--transcript", w.transcript, "--interactive", "--exit-after", "intake", REQUEST),
             with_keys(*ALLOWED), keys=ALLOWED, command="start"),
    Scenario("start --repos", two_repositories, start_set, set_again, weight=1, command="start", shows=state_of_set),
    Scenario("run", requests, lambda w: ("run", w.root / "requests.txt", "--jobs", "2"), run_again),
    Scenario("resume", paused, lambda w: ("resume", w.task(), *w.answered, "--set", "limits.max_steps=400"),
             lambda w, a: w.program(*a), weight=2),
    Scenario("resume (set)", prepared_set, lambda w: ("resume", set_id(w), *w.answered, "--set", 'delivery.set_test=["true"]'), set_again, weight=2, command="resume",
             shows=state_of_set),
    Scenario("continue", specified, lambda w: ("continue", w.task(), "--extend-to", "red", *w.answered), continue_or_resume, weight=2),
    Scenario("continue --revise", specified_twice, lambda w: ("continue", w.task(), "--revise", *w.answered), revise_or_resume, codes=(22,), command="continue"),
    Scenario("approve (deliver)", waiting("refactor"), lambda w: ("approve", w.task(), *w.answered), approve_and_resume, weight=4, command="approve"),
    Scenario("reject", waiting("spec"), lambda w: ("reject", w.task(), "--reason", "no", "--no-resume"), again),
    Scenario("feedback", waiting_twice, lambda w: ("feedback", w.task(), "Say that it is revised", "--no-resume"), feedback_and_resume),
    Scenario("resolve", asking, lambda w: ("resolve", question(w), "Yes", "--no-resume"), resolve_and_resume),
    Scenario("resume (answered)", answered, lambda w: ("resume", w.task(), *w.answered), resume, command="resume"),
    Scenario("remind", overdue, lambda w: ("remind",), again),
    Scenario("pause", paused_early, lambda w: ("pause", w.task(), "--reason", "the machine is needed"), pause_and_resume, beside=asking_a_model),
    Scenario("abort", waiting("spec"), lambda w: ("abort", w.task()), abort_again, codes=(0, 23)),
    Scenario("abort (set)", prepared_set, lambda w: ("abort", set_id(w), "--reason", "no"), abort_set_again, command="abort", shows=state_of_set),
    Scenario("publish", unpublished, lambda w: ("resume", w.task(), *w.answered), resume, command="resume"),
    Scenario("apply", delivered, lambda w: ("apply", w.task()), again, changes_checkout=True),
    Scenario("undo", applied, lambda w: ("undo", w.task()), again, changes_checkout=True),
    Scenario("rebase", moved_on, lambda w: ("rebase", w.task(), *w.answered), again, weight=2),
    Scenario("replay", delivered, lambda w: ("replay", w.task()), resume_all(1), weight=2),
    Scenario("replay --onto", moved_on, lambda w: ("replay", w.task(), "--onto", "main"), resume_all(1), weight=2, command="replay"),
    Scenario("replay --actions-only", delivered, lambda w: ("replay", w.task(), "--actions-only"), repeat_and_collect, command="replay"),
    Scenario("fork", delivered, lambda w: ("fork", w.task(), "--from-step", "5", "--no-resume"), fork_again),
    Scenario("archive restore", folder_lost, lambda w: ("archive", "restore", "--all"), again),
    Scenario("archive restore (blobs)", blobs_lost, lambda w: ("archive", "restore", w.task()), again, command="archive restore",
             shows=bytes_of(".agentforge/tasks/*/artifacts/blobs/*")),
    Scenario("audit --output", delivered, lambda w: ("audit", w.task(), "--format", "json", "--output", w.root / "report.json"), again, codes=(0, 1), command="audit", shows=report),     # 1: a signature could not be checked.
    Scenario("gc", delivered, lambda w: ("gc", "--older-than", "0", "--blobs"), again),
    Scenario("repo add", initialized, lambda w: ("repo", "add"), again, shows=told("repo", "list")),
    Scenario("repo remove", registered, lambda w: ("repo", "remove", "ours"), again, shows=told("repo", "list")),
    Scenario("config set", initialized, lambda w: ("config", "set", "limits.max_steps", "77"), again, shows=bytes_of(".agentforge/config/settings.yaml")),
    Scenario("config migrate", of_an_older_format, lambda w: ("config", "migrate"), again, shows=bytes_of(".agentforge/config/settings.yaml")),
    Scenario("trust", with_plugin, lambda w: ("trust",), again, shows=told("trust", "--show")),
    Scenario("trust --revoke", trusted, lambda w: ("trust", "--revoke"), again, command="trust", shows=told("trust", "--show")),
    Scenario("plugins lock", trusted, lambda w: ("plugins", "lock"), again_whole, shows=locked_plugins),
    Scenario("plugins new", fresh, lambda w: ("plugins", "new", "tool", "count"), again, changes_checkout=True),
    Scenario("setup", locked, lambda w: ("setup",), again, weight=2, shows=told("setup", "--show")),
    Scenario("check", initialized, lambda w: ("check",), again),
    Scenario("check --update-baseline", violating, lambda w: ("check", "--update-baseline"), again, command="check", shows=told("check", codes=(0, 1))),
    Scenario("fix", violating, lambda w: ("fix", violation(w), "--transcript", w.transcript), start_or_resume, weight=2),
    Scenario("doctor", initialized, lambda w: ("doctor", *w.answered), again, codes=(0, 1)),
)
BY_NAME = {scenario.name: scenario for scenario in SCENARIOS}

# The same code as a command of the table above.
SAME_AS = {
    "design": ("start", "`start` with another pipeline"),
    "implement": ("start", "`start` with another pipeline"),
    "review": ("start", "`start` with another pipeline"),
    "test": ("start", "`start` with another pipeline"),
    "document": ("start", "`start` with another pipeline"),
}

# Every other command: why it writes nothing.
WRITES_NOTHING = {
    "status": "reads journals and states",
    "escalations list": "reads the escalations",
    "escalations show": "reads one escalation",
    "inspect": "reads a journal",
    "history": "reads a journal",
    "metrics": "reads a journal",
    "cost": "reads a journal",
    "stats": "reads journals and trees",
    "diff": "reads trees",
    "compare": "reads two journals",
    "audit verify": "reads journal, files and git objects, and repairs none",
    "archive list": "reads refs",
    "plugins list": "reads manifests",
    "plugins show": "reads one manifest",
    "plugins verify": "reads plugins and their lock",
    "plugins check": "loads the plugin in a process whose files are temporary",
    "servers list": "reads declarations",
    "servers check": "starts servers in a sandbox whose files are temporary",
    "attach": "follows a journal",
    "logs": "reads a journal",
    "repo list": "reads the list",
    "config show": "reads settings",
    "config get": "reads settings",
    "agents list": "reads definitions",
    "agents show": "reads a definition",
    "agents validate": "reads definitions",
    "contracts list": "reads definitions",
    "contracts show": "reads a definition",
    "contracts validate": "reads definitions",
    "contracts template": "reads a definition",
    "pipelines list": "reads definitions",
    "pipelines show": "reads a definition",
    "pipelines validate": "reads definitions",
    "dashboard": "changes tasks only by running the commands of this page's buttons, which have their own scenarios; its caches can be deleted",
    "completion": "prints a script",
    "help": "prints text",
}
