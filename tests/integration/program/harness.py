# SPDX-License-Identifier: Apache-2.0
"""The shared part of the tests of the `agentforge` program: for each test a repository, a home, and the program.

AGENTFORGE_PROGRAM names the program, AGENTFORGE_SOURCE the source tree (both set by ctest).
"""

import copy
import hashlib
import json
import os
import pathlib
import re
import shutil
import signal
import stat
import subprocess
import tempfile
import time
import unittest

import yaml

PROGRAM = os.environ.get("AGENTFORGE_PROGRAM", "")
SOURCE = pathlib.Path(os.environ.get("AGENTFORGE_SOURCE", pathlib.Path(__file__).resolve().parents[3]))
REQUEST = "Add a slugify function that turns a title into a URL slug"
TRANSCRIPT = SOURCE / "examples" / "transcripts" / "slugify.yaml"
ERROR = re.compile(r"\bAF-[A-Z]+-\d{3}\b")
GENEROUS_SECONDS = 120


def load_transcript():
    return copy.deepcopy(_transcript())


def _transcript(cache={}):  # noqa: B006  parsed once for all tests
    if not cache:
        cache.update(yaml.safe_load(TRANSCRIPT.read_text(encoding="utf-8")))
    return cache


def entry(transcript, stage, step, role=None):
    """Returns the transcript's entry for this step of a stage and role. Without `role`, the first entry of any role."""
    for candidate in transcript["entries"]:
        if candidate["stage"] == stage and candidate["step"] == step and (role is None or candidate["role"] == role):
            return candidate
    raise KeyError(f"{stage} {step} {role}")


def call(name, **arguments):
    return [{"name": name, "arguments": arguments}]


def insert(transcript, stage, role, step, *calls):
    """Inserts one step per call before `step`, and renumbers the later steps of that role."""
    for candidate in transcript["entries"]:
        if candidate["stage"] == stage and candidate["role"] == role and candidate["step"] >= step:
            candidate["step"] += len(calls)
    for offset, tool_calls in enumerate(calls):
        transcript["entries"].append({"stage": stage, "role": role, "step": step + offset, "tool_calls": tool_calls})


def remove(transcript, stage, step):
    """Removes a step, and renumbers the later steps of that role."""
    gone = entry(transcript, stage, step)
    transcript["entries"].remove(gone)
    for candidate in transcript["entries"]:
        if candidate["stage"] == stage and candidate["role"] == gone["role"] and candidate["step"] > step:
            candidate["step"] -= 1


IMPLEMENTATION = '''"""Slugs for URLs."""

import re
import unicodedata


def slugify(text: str) -> str:
    """Return the slug of a title: lower-case ASCII words joined by hyphens, accents dropped."""
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    plain = "".join(letter for letter in decomposed if not unicodedata.combining(letter))
    return "-".join(re.findall("[a-z0-9]+", plain))
'''


def short_transcript():
    """Returns a transcript for the same request with every stage, and as few steps and gates as possible."""
    transcript = load_transcript()
    for stage, step in (("intake", 1), ("clarify", 1), ("analyze", 1), ("red", 4), ("red", 2), ("red", 1), ("green", 7), ("green", 6),
                        ("green", 5), ("green", 3), ("green", 2), ("green", 1), ("refactor", 2), ("refactor", 1), ("deliver", 1)):
        remove(transcript, stage, step)
    entry(transcript, "green", 1)["tool_calls"][0]["arguments"]["replace"] = IMPLEMENTATION
    entry(transcript, "green", 2)["tool_calls"] = call("complete", summary="slugify joins ASCII words by hyphens.",
                                                       file_notes={"textkit/slug.py": "the function"})
    entry(transcript, "refactor", 1, "senior_developer")["tool_calls"] = call("complete", summary="Nothing to improve.", file_notes={},
                                                                              improvements=[])
    entry(transcript, "deliver", 1)["tool_calls"][0]["arguments"]["documentation"] = ["CHANGELOG.md"]
    return transcript


def wait_until(condition, what, seconds=GENEROUS_SECONDS):
    """Waits for a state of a running process. To wait for the end of a process, use the process."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError(f"waited {seconds} s for {what}")
        os.sched_yield()
        time.sleep(0.002)


class Outcome:
    """The result of one run of the program."""

    def __init__(self, arguments, code, out, err):
        self.arguments, self.code, self.out, self.err = arguments, code, out, err

    @property
    def json(self):
        return json.loads(self.out)

    @property
    def all(self):
        return self.out + self.err

    def __str__(self):
        return f"agentforge {' '.join(map(str, self.arguments))[:300]}\nexit code {self.code}\n--- out\n{self.out[-6000:]}\n--- err\n{self.err[-6000:]}"


class ProgramTest(unittest.TestCase):
    """Each test has a separate folder, home, state folder and (after `make_repository`) repository."""

    maxDiff = 4000

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="agentforge-test-"))
        self.addCleanup(self._remove)
        self.home = self.folder / "home"
        self.home.mkdir()
        self.state = self.folder / "state"
        self.environment = {
            "PATH": "/usr/local/bin:/usr/bin:/bin",
            "HOME": str(self.home),
            "XDG_CONFIG_HOME": str(self.home / ".config"),
            "XDG_STATE_HOME": str(self.home / ".state"),
            "XDG_CACHE_HOME": str(self.home / ".cache"),
            "GIT_CONFIG_GLOBAL": "/dev/null",
            "GIT_CONFIG_NOSYSTEM": "1",
            "AGENTFORGE_STATE_HOME": str(self.state),
            # Mutants and the second run of the suite before the task take half of a task's time; tests of the gates use all.
            "AGENTFORGE_GATES_MUTANTS": "1",
            "AGENTFORGE_GATES_BASELINE_RUNS": "1",
            "LANG": "C.UTF-8",
            "TERM": "dumb",
        }
        for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS"):
            if name in os.environ:
                self.environment[name] = os.environ[name]
        self.repository = None

    @classmethod
    def tearDownClass(cls):
        for kept, _ in cls.__dict__.get("kept_deliveries", {}).values():
            shutil.rmtree(kept)
        super().tearDownClass()

    def deliver(self, *arguments, transcript=TRANSCRIPT):
        """Delivers the example's task, once for each class: later tests with the same arguments get a copy of its folder, in the same place."""
        if "kept_deliveries" not in type(self).__dict__:
            type(self).kept_deliveries = {}
        wanted = (arguments, str(transcript))
        if wanted in self.kept_deliveries:
            self._remove()
            kept, fields = self.kept_deliveries[wanted]
            vars(self).update(copy.deepcopy(fields))
            shutil.copytree(kept, self.folder, symlinks=True)
            return
        self.assert_code(self.start(*arguments, transcript=transcript), 0)
        kept = self.folder.with_name(self.folder.name + "-delivered")
        shutil.copytree(self.folder, kept, symlinks=True)
        fields = {name: value for name, value in vars(self).items() if not name.startswith("_") and isinstance(value, (str, pathlib.Path, dict, list))}
        self.kept_deliveries[wanted] = (kept, copy.deepcopy(fields))

    def _remove(self):
        for root, folders, _ in os.walk(self.folder):
            for name in folders:
                path = os.path.join(root, name)
                if not os.path.islink(path):
                    os.chmod(path, stat.S_IRWXU)
        shutil.rmtree(self.folder)

    # ---------------------------------------------------------------------------------- repository --

    def make_repository(self, name="textkit"):
        """Copies examples/textkit and makes it a repository with one commit on main."""
        path = self.folder / name
        shutil.copytree(SOURCE / "examples" / "textkit", path, ignore=shutil.ignore_patterns("__pycache__"))
        self.git("init", "-q", "-b", "main", cwd=path)
        self.git("config", "user.name", "Test User", cwd=path)
        self.git("config", "user.email", "test@example.invalid", cwd=path)
        self.git("add", "-A", cwd=path)
        self.git("commit", "-q", "-m", "Import textkit", cwd=path)
        if self.repository is None:
            self.repository = path
        return path

    def git(self, *arguments, cwd=None, check=True):
        done = subprocess.run(["git", *map(str, arguments)], cwd=cwd or self.repository, env=self.environment, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, check=False)
        if check and done.returncode != 0:
            raise AssertionError(f"git {arguments}: {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout if check else done

    def branches(self):
        return self.git("for-each-ref", "--format=%(refname)", "refs/heads").split()

    def commits(self):
        return self.git("rev-list", "--all", "--count").strip()

    def checkout(self):
        """Returns everything that a user would notice in their checkout: branch, HEAD, index, files, status."""
        files = {}
        for path in sorted(self.repository.rglob("*")):
            relative = path.relative_to(self.repository)
            if relative.parts[0] in (".git", ".agentforge") or not path.is_file():
                continue
            files[str(relative)] = (path.read_bytes(), path.stat().st_mode, path.stat().st_mtime_ns)
        index = (self.repository / ".git" / "index").read_bytes()
        return {"files": files, "index": index, "HEAD": (self.repository / ".git" / "HEAD").read_text(),
                "commit": self.git("rev-parse", "HEAD"), "status": self.git("--no-optional-locks", "status", "--porcelain")}

    def assert_nothing_delivered(self):
        self.assertEqual(self.branches(), ["refs/heads/main"])
        self.assertEqual(self.git("rev-list", "--branches", "--tags", "--count").strip(), "1")

    # ------------------------------------------------------------------------------------- program --

    def command(self, *arguments):
        return [PROGRAM, *map(str, arguments)]

    def run_program(self, *arguments, cwd=None, environment=None, text_input=None, seconds=GENEROUS_SECONDS):
        place = cwd or self.repository or self.folder
        with subprocess.Popen(self.command(*arguments), cwd=place, env=environment or self.environment, text=True, encoding="utf-8",
                              errors="surrogateescape", stdin=subprocess.PIPE if text_input is not None else subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            try:
                out, err = process.communicate(text_input, timeout=seconds)
            except subprocess.TimeoutExpired:
                process.kill()
                raise
        outcome = Outcome(arguments, process.returncode, out, err)
        self.assertNotIn("Sanitizer", err, outcome)
        self.assertGreaterEqual(outcome.code, 0, f"ended by a signal: {outcome}")
        return outcome

    def spawn(self, *arguments, **options):
        options.setdefault("stdout", subprocess.PIPE)
        options.setdefault("stderr", subprocess.PIPE)
        process = subprocess.Popen(self.command(*arguments), cwd=self.repository, env=self.environment, text=True, stdin=subprocess.DEVNULL,
                                   start_new_session=True, **options)
        self.addCleanup(self._end, process)
        return process

    @staticmethod
    def _end(process):
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()

    def start(self, *arguments, transcript=TRANSCRIPT, request=REQUEST, **options):
        """Runs `agentforge start` with a transcript: a file, or a dictionary, which is written to a file."""
        if isinstance(transcript, dict):
            file = self.folder / "transcript.yaml"
            file.write_text(yaml.safe_dump(transcript, allow_unicode=True, sort_keys=False), encoding="utf-8")
            transcript = file
        self.transcript_arguments = ["--set", "llm.backend=replay", "--set", f"llm.transcript={transcript}"]
        return self.run_program("start", "--transcript", transcript, *arguments, request, **options)

    def go_on(self, command, *arguments, **options):
        """Runs a command that may run stages, with the transcript of the last start."""
        return self.run_program(command, *self.transcript_arguments, *arguments, **options)

    def assert_code(self, outcome, code):
        self.assertEqual(outcome.code, code, outcome)
        return outcome

    def assert_error(self, outcome, code, *words, exit_code=1):
        """Checks the exit code, and that stderr contains the error's code and these words."""
        self.assertEqual(outcome.code, exit_code, outcome)
        self.assertIn(code, outcome.err, outcome)
        for word in words:
            self.assertIn(word, outcome.err, outcome)
        return outcome

    def wait_for_process_of(self, task):
        """Waits until the process of a task has ended. After the task's end it still cleans up, and it is not the test's child."""
        pid = json.loads((self.task_folder(task) / "lock").read_text(encoding="utf-8"))["pid"]

        def is_gone():
            try:
                return pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] == "Z"
            except OSError:
                return True

        wait_until(is_gone, f"the end of process {pid}")

    # ---------------------------------------------------------------------------------------- task --

    def tasks(self):
        folder = self.repository / ".agentforge" / "tasks"
        return sorted(path.name for path in folder.iterdir() if not path.name.startswith(".")) if folder.exists() else []

    def task(self):
        tasks = self.tasks()
        self.assertEqual(len(tasks), 1, tasks)
        return tasks[0]

    def task_folder(self, task=None):
        return self.repository / ".agentforge" / "tasks" / (task or self.task())

    def journal(self, task=None):
        """Returns the records, read as YAML."""
        return yaml.safe_load((self.task_folder(task) / "actions.yaml").read_text(encoding="utf-8"))["actions"]

    def records(self, kind, task=None):
        return [record for record in self.journal(task) if record["type"] == kind]

    def steps(self, task=None):
        return self.records("step", task)

    def assert_journal_verifies(self, task=None):
        outcome = self.run_program("inspect", task or self.task(), "--json")
        self.assert_code(outcome, 0)
        return outcome.json["records"]

    def delivered_tree(self, task=None):
        return self.git("rev-parse", f"agentforge/{task or self.task()}^{{tree}}").strip()


def rewrite_journal(file, change):
    """Rewrites a journal as another version would have written it, with a valid chain. Leaves out records for which `change` returns None."""
    head, _, body = file.read_text().partition("\nactions:\n")
    lines, previous = [], None
    for line in body.splitlines():
        record = change(json.loads(line.removeprefix("- ")))
        if record is None:
            continue
        del record["hash"]
        record["seq"] = len(lines) + 1
        record["prev"] = previous or record["prev"]
        text = json.dumps(record, ensure_ascii=False)
        previous = hashlib.sha256(text.encode()).hexdigest()
        lines.append(f'- {text[:-1]}, "hash": "{previous}"}}\n')
    file.write_text(head + "\nactions:\n" + "".join(lines))


def trace(run):
    """Returns the journal and artifacts of the only task. Names replace times, ids and hashes that depend on them; blobs replace their hashes."""
    if not run.tasks():
        return None
    task, folder = run.task(), run.task_folder()
    blobs = {blob["sha256"]: blob.get("text", blob) for blob in yaml.safe_load((folder / "artifacts" / "blobs" / "blobs.yaml").read_text())["blobs"]}
    commits = {run.git("rev-parse", name).strip() for name in ("main", f"agentforge/{task}") if run.git("rev-parse", "-q", "--verify", name, check=False).returncode == 0}

    def settled(text):
        text = text.replace(task, "<task>").replace(task.removeprefix("task-"), "<id>")
        for commit in commits:
            text = text.replace(commit, "<commit>").replace(commit[:12], "<commit>")
        text = re.sub(r"(?<=/worktrees/)[0-9a-f]{12}(?=/)", "<repository>", text)
        text = re.sub(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", "<time>", text)
        text = re.sub(r"\b\d+(\.\d+)? ?m?s\b|(?<=\"duration_ms\":)\d+", "<duration>", text)
        return re.sub(r"\b[0-9a-f]{64}\b", lambda found: settled(str(blobs[found.group()])) if found.group() in blobs else "<hash>", text)

    def timeless(value):
        if isinstance(value, dict):
            return {key: timeless(item) for key, item in value.items() if key not in ("seq", "prev", "hash", "duration_ms", "configuration")}
        if isinstance(value, list):
            return [timeless(item) for item in value]
        return settled(value) if isinstance(value, str) else value

    artifacts = {str(path.relative_to(folder)): settled(path.read_text()) for path in sorted((folder / "artifacts").rglob("*"))
                 if path.is_file() and path.parent.name != "blobs"}
    journal = [timeless(record) for record in run.journal() if record["type"] != "plugins"]        # A replay uses another backend.
    return {"tree": run.delivered_tree(), "artifacts": artifacts, "journal": journal} if commits else None


def main():
    if not PROGRAM or not os.access(PROGRAM, os.X_OK):
        raise SystemExit("AGENTFORGE_PROGRAM must name the agentforge program")
    unittest.main(module="__main__", verbosity=2)
