# SPDX-License-Identifier: Apache-2.0
"""Runs exercises through the whole program with a scripted model behind HTTP, and measures each result.

An exercise is data (README.md has the format): a repository, a request, the work of a competent model, and hidden tests that decide
whether a delivered commit is correct. Three models work on each:

  honest    writes the right thing first
  sloppy    hands in a wrong first draft wherever the exercise has one, then the right thing
  hopeless  never gets the implementation right

`scripts/exercises` is the command. Nothing leaves the machine: the model is a server on the loopback interface.
"""

import argparse
import collections
import concurrent.futures
import contextlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

import yaml

SOURCE = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(SOURCE / "tests" / "integration" / "program"))
from model_server import KEY, ModelServer, system_prompt  # noqa: E402

CASES = pathlib.Path(__file__).resolve().parent / "cases"
MODELS = ("honest", "sloppy", "hopeless")
TASK_SECONDS = 1200
FIELDS = {"agentforge_exercise", "shows", "language", "author", "needs", "request", "repository", "settings", "suite", "spec", "tests", "requirements",
          "solution", "hidden", "sloppy", "hopeless", "intake"}
DRAFT_FIELDS = {"spec", "tests", "requirements", "solution", "correction"}
AUTHORS = ("fresh", "own")
ANSWER = "Write what the requirements say; the tests are right."


class BadExercise(Exception):
    """A fault in an exercise's file."""


def read_exercise(file):
    """Reads and checks the exercise in `file`. An unknown or missing field is an error."""
    data = yaml.safe_load(file.read_text(encoding="utf-8"))
    where = f"{file.parent.name}/{file.name}"
    if not isinstance(data, dict) or data.get("agentforge_exercise") != 1:
        raise BadExercise(f"{where}: not an exercise (agentforge_exercise: 1)")
    unknown = set(data) - FIELDS
    missing = FIELDS - set(data) - {"needs", "settings", "sloppy", "intake"}
    if unknown or missing:
        raise BadExercise(f"{where}: unknown fields {sorted(unknown)}, missing fields {sorted(missing)}")
    if data["author"] not in AUTHORS:
        raise BadExercise(f"{where}: author is one of {AUTHORS}")
    for name in ("sloppy", "hopeless"):
        for draft in data.get(name, []):
            if set(draft) - DRAFT_FIELDS:
                raise BadExercise(f"{where}: {name}: unknown fields {sorted(set(draft) - DRAFT_FIELDS)}")
    if not any("solution" in draft for draft in data["hopeless"]):
        raise BadExercise(f"{where}: hopeless needs a wrong solution")
    return {**data, "name": f"{file.parent.name}/{file.stem}"}


# ------------------------------------------------------------------------------------------------ the model --

def call(tool, **arguments):
    return {"name": tool, "arguments": arguments}


def write(files):
    """Returns calls that write files. A file whose text is null is deleted."""
    return [call("delete_file", path=path) if text is None else call("create_file", path=path, content=text) for path, text in files.items()]


def test_suite(requirements):
    """Returns the artifact of RED, with the requirement that each test covers: its id, `R1 guard` for a test that passes before the change, or a map of the contract's fields."""
    def entry(name, ref):
        if isinstance(ref, dict):
            return {"name": name, **ref}
        return {"name": name, "requirement_ref": ref.split()[0], **({"kind": "guard"} if ref.endswith(" guard") else {})}
    return {"test_files": [{"path": path, "tests": [entry(*test) for test in tests.items()]} for path, tests in requirements.items()]}


def red(tests, requirements):
    return [*write(tests), call("complete", **test_suite(requirements))]


def green(files, summary="It does what the tests say"):
    return [*write(files), call("complete", summary=summary)]


def failing_tests(texts):
    """Returns the ids of tests that fail according to a context."""
    return re.findall(r"([\w./-]+\.\w+::[^\"\\;]+?)(?: \(line \d+\))? fails: ", texts)


def unbuilt_files(texts):
    """Returns the files that alone prevent the tests from building, according to a context."""
    return sorted({file for file, place in re.findall(r"([\w./-]+\.\w+)(?: \(line \d+\))? could not be loaded: does not build: ([\w./-]+):\d", texts) if file == place})


def is_test(id, file, name):
    """True if the gates may use this name for the test that RED's artifact names: with or without its class."""
    names = {name, name.replace(" > ", "::"), name.replace(".", "::")}
    return id.startswith(f"{file}::") and any(f"::{id.removeprefix(file + '::')}".endswith(f"::{each}") for each in names)


def worthless_tests(texts):
    """True if the last result in a context says that tests pass and prove nothing. Ignores the stage's instructions, which always mention such tests."""
    return "must be rewritten" in texts.rpartition("last_result:")[2]


class Script:
    """The model's work in one stage: one draft after another. The next begins when the previous one was handed in and refused. The last one is
    repeated. An existing file is edited, or deleted and created again if the stage's agent may not edit."""

    def __init__(self, drafts, edits=True):
        self.drafts = drafts
        self.edits = edits
        self.draft = 0
        self.todo = None

    def is_over(self):
        """True if the last draft was handed in."""
        return self.todo is not None and not self.todo and self.draft == len(self.drafts) - 1

    def begin(self):
        self.todo = collections.deque(self.drafts[self.draft])

    def next(self, failed):
        """Returns the next tool call. `failed`: the last action was refused or failed."""
        if self.todo is None:
            self.begin()
            failed = False
        elif not self.todo:
            self.draft = min(self.draft + 1, len(self.drafts) - 1)
            self.begin()
            failed = False
        if failed and self.last and self.last["name"] == "create_file":      # The file exists already: read it, then rewrite it.
            path, content = self.last["arguments"]["path"], self.last["arguments"]["content"]
            again = [call("read_file", path=path), call("edit_file", path=path, content=content)] if self.edits else [call("delete_file", path=path), self.last]
            self.todo.extendleft(reversed(again))
        self.last = self.todo.popleft()
        return self.last


class ExerciseModel(ModelServer):
    """A model that knows the exercise's solution. It only checks whether its last action failed."""

    def __init__(self, exercise, model):
        super().__init__({"entries": []}, SOURCE / "config")
        self.asked = collections.Counter()
        self.exercise = exercise
        self.become(model)

    def become(self, model):
        self.scripts = {(stage, role): Script(drafts, edits=stage != "red") for (stage, role), drafts in self.work(model).items()}
        self.scripts[("red", None)].requirements = [requirements for _, requirements in self.drafts_of_tests(model)]

    def wrong_drafts(self, model):
        if model == "honest":
            return []
        return self.exercise.get("sloppy", []) if model == "sloppy" else self.exercise["hopeless"]

    def drafts_of_tests(self, model):
        """Returns (tests, requirements), the right ones last."""
        exercise = self.exercise
        drafts = []
        for draft in self.wrong_drafts(model):
            if "tests" not in draft and "requirements" not in draft:
                continue
            requirements = draft.get("requirements", exercise["requirements"])
            drafts.append((draft.get("tests", exercise["tests"]), requirements))
            if "correction" in draft:
                drafts.append((draft["correction"], requirements))
        return [*drafts, (exercise["tests"], exercise["requirements"])]

    def work(self, model):
        """Returns the drafts that `model` hands in: (stage, role) -> drafts."""
        exercise = self.exercise
        wrong = collections.defaultdict(list)
        for draft in self.wrong_drafts(model):
            if "spec" in draft:
                wrong["spec"].append(draft["spec"])
            if "solution" in draft:
                wrong["green"].append(draft["solution"])
        spec = exercise["spec"]
        fine = [[call("complete", summary="Nothing to object to", blocking_issues=[], advisory_issues=[])]]
        return {
            ("intake", None): [[call("complete", **{"extracted_intent": {"action": "create", "target": spec["title"], "scope": "module"},
                                     "detected_scope": "feature_addition", "initial_complexity": "simple", "identified_ambiguities": [], **exercise.get("intake", {})})]],
            ("analyze", None): [[call("complete", analysis={"summary": spec["title"]},
                                      components=spec.get("components", [{"name": "main", "type": "module"}]))]],
            ("spec", None): [[call("complete", **draft)] for draft in [*wrong["spec"], spec]],
            ("spec", "security_architect"): fine,
            ("red", None): [red(*draft) for draft in self.drafts_of_tests(model)],
            ("green", None): [green(files) for files in wrong["green"]] + ([] if model == "hopeless" else [green(exercise["solution"])]),
            ("refactor", None): [[call("complete", summary="Nothing is worth changing")]],
            ("refactor", "security_architect"): fine,
            ("deliver", None): [[call("complete", summary="It is done", changelog_entry=spec["title"])]],
        }

    def answer(self, handler, body):
        self.body = body
        super().answer(handler, body)

    def entry(self, system, count):
        stage, role = self.place(system)
        script = self.scripts.get((stage, role)) or self.scripts.get((stage, None))
        if script is None:
            self.problems.append(f"nothing to say in {stage} as {role}")
            return None
        texts = json.dumps(self.body["messages"], ensure_ascii=False)
        last = re.search(r"last_result:.*?\\n\s*result: \\?\"?(success|failure)", texts)
        self.asked[stage] += 1
        back = self.hand_back(stage, script, texts)
        return {"tool_calls": [back or script.next(bool(last) and last.group(1) == "failure")]}

    def hand_back(self, stage, script, texts):
        """Returns the call that sends tests back from GREEN: once the right work was refused because of a wrong draft of tests that RED's gate could not detect."""
        red = self.scripts[("red", None)]
        if stage != "green" or not script.is_over() or red.draft == len(red.drafts) - 1:
            return None
        declared = red.requirements[red.draft]
        failing = sorted(set(failing_tests(texts)))
        unbuilt = [f"{file}::{name}" for file in unbuilt_files(texts) for name in declared.get(file, {})]
        every = [(file, name, of) for file, names in declared.items() for name, of in names.items()]
        wrong, criterion = [], ""
        for requirement in self.exercise["spec"]["requirements"]:
            covered = [(file, name) for file, name, of in every if of.startswith(requirement["id"])]
            tests = unbuilt or [test for test in failing if any(is_test(test, *each) for each in covered)]
            if tests and requirement.get("acceptance_criteria"):
                criterion = criterion or requirement["acceptance_criteria"][0]
                wrong += [test for test in tests if test not in wrong]
        if criterion:
            return call("complete", summary="A test is wrong", hand_back={
                "to": "red", "tests": wrong, "criterion": criterion, "reason": "The test expects something else than the specification says"})
        if not failing and worthless_tests(texts):
            return call("complete", summary="The tests prove nothing", hand_back={
                "to": "red", "tests": sorted(declared), "criterion": self.exercise["spec"]["requirements"][0]["acceptance_criteria"][0],
                "reason": "The tests pass whatever the code returns, so they must be rewritten"})
        return None


# ----------------------------------------------------------------------------------------------------- a run --

def environment(home):
    kept = {name: os.environ[name] for name in ("JAVA_HOME", "RUSTUP_HOME", "CARGO_HOME", "LANG") if name in os.environ}
    return {"LANG": "C.UTF-8", **kept, "PATH": "/usr/bin:/bin:/usr/local/bin:" + os.environ.get("PATH", ""), "HOME": str(home),
            "XDG_CONFIG_HOME": str(home / ".config"), "XDG_STATE_HOME": str(home / ".state"), "XDG_CACHE_HOME": str(home / ".cache"),
            "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1", "TERM": "dumb", "EXERCISE_KEY": KEY}


def write_files(folder, files):
    for path, text in files.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(text, dict):
            file.write_text(text["executable"], encoding="utf-8")
            file.chmod(0o755)
        else:
            file.write_text(text, encoding="utf-8")


def run_suite(command, folder, env):
    """Runs a shell command in `folder`. Returns (passed, seconds, output)."""
    began = time.monotonic()
    try:
        done = subprocess.run(["/bin/sh", "-ec", command], cwd=folder, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, errors="replace", timeout=600, check=False)
    except subprocess.TimeoutExpired:
        return False, 600.0, "timed out"
    return done.returncode == 0, time.monotonic() - began, done.stdout


class Run:
    make_model = ExerciseModel

    def __init__(self, exercise, model, program, keep=None):
        self.exercise, self.model, self.program, self.keep = exercise, model, program, keep

    def git(self, *arguments, check=True):
        done = subprocess.run(["git", *arguments], cwd=self.repository, env=self.env, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        if check and done.returncode != 0:
            raise RuntimeError(f"git {arguments}: {done.stderr}")
        return done.stdout.strip()

    def agentforge(self, *arguments):
        return subprocess.run([self.program, *arguments], cwd=self.repository, env=self.env, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              errors="replace", timeout=TASK_SECONDS, check=False)

    def __call__(self):
        folder = pathlib.Path(tempfile.mkdtemp(prefix="agentforge-exercise-"))
        try:
            with contextlib.closing(self.make_model(self.exercise, self.model)) as server:
                return self.measured(folder, server)
        finally:
            if self.keep:
                shutil.copytree(folder, pathlib.Path(self.keep) / f"{self.exercise['name'].replace('/', '-')}-{self.model}", symlinks=True, dirs_exist_ok=True)
            shutil.rmtree(folder, ignore_errors=True)

    def measured(self, folder, server):
        exercise = self.exercise
        home = folder / "home"
        home.mkdir()
        self.env = environment(home)
        self.repository = folder / "repository"
        self.repository.mkdir()
        write_files(self.repository, exercise["repository"])
        self.git("init", "-q", "-b", "main")
        self.git("config", "user.name", "Ada Example")
        self.git("config", "user.email", "ada@example.org")
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "Import")
        result = {"exercise": exercise["name"], "language": exercise["language"], "author": exercise["author"], "model": self.model}

        model = ["--set", "llm.backend=anthropic", "--set", "llm.model=scripted", "--set", f"llm.base_url={server.url}", "--set", "llm.api_key_env=EXERCISE_KEY"]
        for key, value in exercise.get("settings", {}).items():
            model += ["--set", f"{key}={value if isinstance(value, str) else json.dumps(value)}"]
        began = time.monotonic()
        try:
            done = self.agentforge("start", *model, exercise["request"])
            outcome = self.outcome(done)
            if outcome["outcome"] == "asked" and self.model == "hopeless":
                outcome["answer"] = self.answered(server, model)
        except subprocess.TimeoutExpired:
            outcome = {"outcome": "lost", "cause": f"no end after {TASK_SECONDS} s"}
        result.update(outcome)
        result["seconds"] = round(time.monotonic() - began, 1)
        result["floor_seconds"] = self.floor(folder)
        result["steps"] = sum(server.asked.values())
        result["prompt_tokens"], result["gates"] = self.used()
        if server.problems:
            result["problems"] = server.problems[:3]
        return result

    def outcome(self, done):
        """Returns the task's result, from its branch and the exit code, never from the program's own report."""
        branches = self.git("for-each-ref", "--format=%(refname:short)", "refs/heads/agentforge").split()
        said = re.findall(r"AF-[A-Z]+-\d{3}[^\n]*", done.stderr + done.stdout)
        cause = " | ".join(said[-2:])[:400] or (done.stderr or done.stdout).strip()[-300:]
        if branches:
            checkout = self.repository.parent / "delivered"
            if checkout.exists():
                self.git("worktree", "remove", "--force", str(checkout))
            self.git("worktree", "add", "-q", "--detach", str(checkout), branches[0])
            write_files(checkout, self.exercise["hidden"]["files"])
            correct, _, out = run_suite(self.exercise["hidden"]["command"], checkout, self.env)
            return {"outcome": "correct" if correct else "wrong", **({} if correct else {"cause": out[-400:]}), "exit_code": done.returncode}
        if done.returncode == 22:
            return {"outcome": "asked", "exit_code": 22, "cause": cause}
        return {"outcome": "lost", "exit_code": done.returncode, "cause": cause}

    def answered(self, server, model):
        """Answers the question and lets a competent model continue. Returns the result, and whether the model saw the answer."""
        listed = self.agentforge("escalations", "list", "--json")
        ids = re.findall(r"ESC-[0-9A-Za-z-]+", listed.stdout)
        if not ids:
            return "no question is open"
        server.become("honest")
        seen_before = len(server.requests)
        # Answers a question with one of its choices if it has any; otherwise with words.
        tasks = sorted(path.name for path in (self.repository / ".agentforge" / "tasks").iterdir())
        told = self.agentforge("resolve", ids[0], ANSWER)
        if told.returncode not in (0, 22):
            return "resolve: " + (told.stderr.strip() or told.stdout.strip())[-200:]
        done = self.agentforge("resume", *model, tasks[0])
        outcome = self.outcome(done)
        words = ANSWER in json.dumps([body for _, _, body in server.requests[seen_before:]], ensure_ascii=False)
        return outcome["outcome"] + ("" if words else ", answer not shown") + (": " + outcome["cause"] if "cause" in outcome else "")

    def floor(self, folder):
        """Returns the time of one clean build and suite of the finished tree."""
        clean = folder / "floor"
        files = {**self.exercise["repository"], **self.exercise["tests"], **self.exercise["solution"]}
        write_files(clean, {path: text for path, text in files.items() if text is not None})
        passed, seconds, out = run_suite(self.exercise["suite"], clean, self.env)
        return round(seconds, 2) if passed else f"the exercise's own suite fails: {out[-300:]}"

    def used(self):
        """Returns (prompt tokens, time of the gates) from the task's own figures; None if it has none."""
        tasks = sorted(path.name for path in (self.repository / ".agentforge" / "tasks").glob("*-*"))
        done = self.agentforge("cost", "--json", *tasks[:1])
        with contextlib.suppress(json.JSONDecodeError, KeyError):
            usage = json.loads(done.stdout)
            return usage["total"]["input_tokens"], usage["gate_time"]
        return None, None


# ---------------------------------------------------------------------------------------------------- report --

def without_mutants(result):
    return (result["gates"]["total_ms"] - result["gates"]["mutants_ms"]) / 1000


def middle(ratios):
    return f"{ratios[len(ratios) // 2]:.1f}" if ratios else ""


def gate_words(result):
    if not result.get("gates"):
        return ""
    return f", gates {without_mutants(result):.1f} s and {result['gates']['mutants_ms'] / 1000:.1f} s for mutants"


def report(results):
    print("\n| language | author | model | tasks | correct | wrong | asked | lost | median time ÷ floor | of gates without mutants ÷ floor |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    groups = collections.defaultdict(list)
    for result in results:
        groups[result["language"], result["author"], result["model"]].append(result)
        groups["all", result["author"], result["model"]].append(result)
        groups["all", "both", result["model"]].append(result)
    for (language, author, model), members in sorted(groups.items()):
        count = collections.Counter(result["outcome"] for result in members)
        ratios = sorted(result["seconds"] / max(result["floor_seconds"], 0.1) for result in members if isinstance(result["floor_seconds"], float))
        gates = sorted(without_mutants(result) / max(result["floor_seconds"], 0.1) for result in members
                       if isinstance(result["floor_seconds"], float) and result.get("gates"))
        print(f"| {language} | {author} | {model} | {len(members)} | {count['correct']} | {count['wrong']} | {count['asked']} | {count['lost']} | {middle(ratios)} | {middle(gates)} |")


def as_expected(result):
    if not isinstance(result["floor_seconds"], float):
        return False
    return result["outcome"] == ("asked" if result["model"] == "hopeless" else "correct") and result.get("answer", "correct").startswith("correct")


def read_arguments(parser):
    """Returns the arguments, with the flags that exercises and liars share."""
    parser.add_argument("--author", choices=AUTHORS)
    parser.add_argument("--open", dest="folder", action="store_const", const="open", default="cases", help="runs those that do not end right yet, from the folder open/")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--json", metavar="FILE", help="writes one line a run")
    parser.add_argument("--keep", metavar="FOLDER", help="keeps repositories, journals and homes")
    parser.add_argument("--program", type=os.path.abspath, default=os.environ.get("AGENTFORGE_PROGRAM", str(SOURCE / "build" / "dev" / "bin" / "agentforge")))
    return parser.parse_args()


def refuse_unknown(parser, names, known):
    """Exits if a name is neither one of `known` (`language/name`) nor a language of one."""
    unknown = [name for name in names if name not in known and not any(each.startswith(name + "/") for each in known)]
    if unknown:
        parser.error("nothing has the name " + ", ".join(unknown))


def main():
    parser = argparse.ArgumentParser(prog="scripts/exercises", description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="language or language/name; all of them where none is given")
    parser.add_argument("--model", choices=MODELS, action="append", help="only this model")
    arguments = read_arguments(parser)

    every = [read_exercise(file) for file in sorted(CASES.with_name(arguments.folder).glob("*/*.yaml"))]
    refuse_unknown(parser, arguments.names, [exercise["name"] for exercise in every])
    exercises = []
    for exercise in every:
        if arguments.names and not any(exercise["name"] == name or exercise["language"] == name for name in arguments.names):
            continue
        if arguments.author in (None, exercise["author"]):
            exercises.append(exercise)
    if not exercises:
        print("exercises: none of these is by that author", file=sys.stderr)
        return 2
    runs = []
    for exercise in exercises:
        missing = [program for program in exercise.get("needs", []) if shutil.which(program) is None]
        if missing:
            print(f"{exercise['name']}: not run: {', '.join(missing)} is not installed", flush=True)
            continue
        for model in arguments.model or MODELS:
            if model != "sloppy" or exercise.get("sloppy"):
                runs.append(Run(exercise, model, arguments.program, arguments.keep))
    results = []
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for future in concurrent.futures.as_completed([pool.submit(run) for run in runs]):
            result = future.result()
            results.append(result)
            mark = "ok  " if as_expected(result) else "FAIL"
            print(f"{mark} {result['exercise']} {result['model']}: {result['outcome']}, {result['seconds']} s (floor {result['floor_seconds']}{gate_words(result)}), {result['steps']} steps"
                  + (f"; answered: {result['answer']}" if "answer" in result else "") + (f"; {result['cause']}" if not as_expected(result) and "cause" in result else ""), flush=True)
            if arguments.json:
                with open(arguments.json, "a", encoding="utf-8") as out:
                    out.write(json.dumps(result, ensure_ascii=False) + "\n")
    report(results)
    unexpected = sum(not as_expected(result) for result in results)
    print(f"{len(results) - unexpected} passed, {unexpected} failed")
    return 1 if unexpected or not results else 0


if __name__ == "__main__":
    sys.exit(main())
