# SPDX-License-Identifier: Apache-2.0
"""Repositories, a home and the program, in a folder that always has the same path, so that copying restores a prepared one."""

import contextlib
import fcntl
import hashlib
import os
import pathlib
import pty
import re
import select
import shutil
import signal
import subprocess
import sys
import termios
import time

import yaml

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "integration" / "program"))
import harness  # noqa: E402
from trace import SHARED, read_shared  # noqa: E402

# One mutant and one baseline need the same kinds of calls as ten and two, in half of the time.
FEWER_RUNS = {"AGENTFORGE_GATES_MUTANTS": "1", "AGENTFORGE_GATES_BASELINE_RUNS": "1"}
ERROR = re.compile(r"\bAF-[A-Z]+-\d{3}\b")
FAULTS = os.environ.get("AGENTFORGE_FAULTS", "")


class Broken(Exception):
    """A guarantee that did not hold after a fault."""


class World:
    """`ProgramTest` without unittest's life cycle, with faults. Not a test itself."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.root = self.folder / "root"
        self.repository = self.place = self.root / "textkit"
        self.repositories = [self.repository]
        self.trace, self.shared = self.folder / "trace", self.folder / "shared"
        home = self.root / "home"
        self.base_environment = {
            "PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(home), "XDG_CONFIG_HOME": str(home / ".config"), "XDG_STATE_HOME": str(home / ".state"),
            "XDG_CACHE_HOME": str(home / ".cache"), "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1", "LANG": "C.UTF-8", "TERM": "dumb",
            "AGENTFORGE_STATE_HOME": str(home / "state"), "TMPDIR": str(self.root / "tmp"), **FEWER_RUNS}
        self.environment = dict(self.base_environment)
        self.records = {}           # Of each task, as the last `picture` read them.
        self.beside = None          # A process that runs beside the command.
        self.transcript = self.root / "transcript.yaml"

    # -- the starting state

    def make(self, *names):
        """Makes one repository, `textkit`, in which commands run. Or makes several; then commands run in the folder that contains them."""
        self.remove()
        self.environment = dict(self.base_environment)
        for name in ("home", "tmp"):
            (self.root / name).mkdir(parents=True)
        self.repositories = [self.root / name for name in names or ("textkit",)]
        self.sign()
        for self.repository in reversed(self.repositories):
            shutil.copytree(harness.SOURCE / "examples" / "textkit", self.repository, ignore=shutil.ignore_patterns("__pycache__"))
            self.git("init", "-q", "-b", "main")
            self.git("config", "user.name", "Test User")
            self.git("config", "user.email", "test@example.invalid")
            self.commit("Import textkit")
        self.place = self.root if names else self.repository
        self.write_transcript(harness.short_transcript())

    def sign(self):
        """Lets git and AgentForge sign commits, and AgentForge write a note for each."""
        key, signers, settings = (self.folder / name for name in ("key", "signers", "gitconfig"))
        if not key.exists():
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "test", "-f", str(key)], check=True, stdin=subprocess.DEVNULL)
            signers.write_text(f"test@example.invalid {key.with_suffix('.pub').read_text(encoding='utf-8')}", encoding="utf-8")
            settings.write_text(f"[commit]\n\tgpgsign = true\n[gpg]\n\tformat = ssh\n[user]\n\tsigningkey = {key}\n[gpg \"ssh\"]\n\tallowedSignersFile = {signers}\n"
                                "[agentforge]\n\tstatementNote = true\n", encoding="utf-8")
        self.environment["GIT_CONFIG_GLOBAL"] = str(settings)

    def commit(self, message):
        self.git("add", "-A")
        self.git("commit", "-q", "-m", message)

    def write(self, name, text):
        file = self.repository / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        return file

    def remove(self):
        """Also removes read-only folders, such as those of fetched packages."""
        shutil.rmtree(self.root, ignore_errors=True)
        if self.root.exists():
            subprocess.run(["chmod", "-R", "u+rwX", str(self.root)], check=False)
            shutil.rmtree(self.root)

    def settings(self):
        """Returns the settings that `put_back` does not restore: the folder and the environment of commands."""
        return {"environment": dict(self.environment), "repositories": self.repositories, "repository": self.repository, "place": self.place}

    def use(self, settings):
        vars(self).update(settings, environment=dict(settings["environment"]))

    @contextlib.contextmanager
    def at(self, repository):
        before = self.repository, self.place
        self.repository = self.place = repository
        try:
            yield
        finally:
            self.repository, self.place = before

    def each(self):
        """Makes each repository in turn the current one."""
        for repository in self.repositories:
            with self.at(repository):
                yield repository

    def write_transcript(self, transcript):
        self.transcript.write_text(yaml.safe_dump(transcript, allow_unicode=True, sort_keys=False), encoding="utf-8")

    def keep(self, name):
        place = self.folder / "kept" / name
        shutil.rmtree(place, ignore_errors=True)
        place.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(["cp", "-a", str(self.root), str(place)], check=True)

    def put_back(self, name):
        self.remove()
        subprocess.run(["cp", "-a", str(self.folder / "kept" / name), str(self.root)], check=True)

    # -- running

    def git(self, *arguments, check=True):
        done = subprocess.run(["git", *map(str, arguments)], cwd=self.repository, env=self.environment, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              check=False)
        if check and done.returncode != 0:
            raise Broken(f"git {' '.join(map(str, arguments))}: {done.returncode} {done.stderr.strip()[-400:]}")
        return done.stdout

    def run(self, *arguments, at=0, kind=None, preload=True, prefix=(), keys=()):
        """Returns when the program and all its processes have ended: the outcome, and the counts of faults.cpp.
        `keys`: runs the program in a terminal, where a person presses each key once its words are on the screen."""
        environment = dict(self.environment)
        if preload:
            self.trace.unlink(missing_ok=True)
            self.shared.write_bytes(bytes(SHARED.size))
            environment |= {"LD_PRELOAD": FAULTS, "FAULTS_ROOT": str(self.root), "FAULTS_STATE": str(self.shared),
                            "FAULTS_TRACE": str(self.trace)}
            if kind:
                environment |= {"FAULTS_AT": str(at), "FAULTS_KIND": kind}
        command = [*prefix, harness.PROGRAM, *map(str, arguments)]
        if keys:
            outcome = harness.Outcome(arguments, *self._run_in_terminal(command, environment, keys), "")
        else:
            done = subprocess.run(command, cwd=self.place, env=environment, stdin=subprocess.DEVNULL, capture_output=True,
                                  text=True, errors="surrogateescape", check=False, timeout=180)
            outcome = harness.Outcome(arguments, done.returncode, done.stdout, done.stderr)
        shared = read_shared(self.shared) if preload else None
        if preload:
            self.wait_for(shared.processes)
            shared = read_shared(self.shared)
            self.wait_for(shared.processes)
            self.wait_for_forks()
            shared = read_shared(self.shared)
        return outcome, shared

    def _run_in_terminal(self, command, environment, keys):
        ours, theirs = pty.openpty()
        shown, seen, left, deadline = b"", 0, list(keys), time.monotonic() + 180
        with subprocess.Popen(command, cwd=self.place, env=environment, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True,
                              preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0)) as process:
            os.close(theirs)
            try:
                while True:
                    if time.monotonic() > deadline:
                        process.kill()
                        raise subprocess.TimeoutExpired(command, 180)
                    if not select.select([ours], [], [], 0.5)[0]:
                        continue
                    try:
                        data = os.read(ours, 65536)
                    except OSError:         # Linux returns this error once the last writer has closed its end.
                        break
                    if not data:
                        break
                    shown += data
                    if left and left[0][0].encode() in shown[seen:]:
                        seen = len(shown)
                        os.write(ours, left.pop(0)[1])
                code = process.wait()
            finally:
                os.close(ours)
        return code, shown.decode(errors="surrogateescape")

    @staticmethod
    def wait_for(processes, seconds=120):
        deadline = time.monotonic() + seconds
        for process in processes:
            while True:
                try:
                    state = pathlib.Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
                except OSError:
                    break
                if state == "Z":
                    break
                if time.monotonic() > deadline:
                    os.kill(process, signal.SIGKILL)
                    raise Broken(f"process {process} did not end within {seconds} s")
                time.sleep(0.002)

    def wait_for_forks(self, seconds=120):
        """Waits for processes that began without exec, such as that of `start --detach`. They are not in `Shared`, but have its path in their environment."""
        ours, deadline = f"FAULTS_STATE={self.shared}\0".encode(), time.monotonic() + seconds
        while True:
            running = [int(place.name) for place in pathlib.Path("/proc").glob("[0-9]*") if self.runs_with(place, ours)]
            if not running:
                return
            if time.monotonic() > deadline:
                for process in running:
                    os.kill(process, signal.SIGKILL)
                raise Broken(f"processes {running} did not end within {seconds} s")
            time.sleep(0.01)

    @staticmethod
    def runs_with(place, variable):
        try:
            return (place / "comm").read_bytes() == b"agentforge\n" and variable in (place / "environ").read_bytes() + b"\0"
        except OSError:
            return False

    def program(self, *arguments, codes=(0,), keys=()):
        """Runs the program without a fault. Traces it, to wait for its background processes."""
        outcome, _ = self.run(*arguments, keys=keys)
        if outcome.code not in codes:
            raise Broken(f"`{' '.join(map(str, arguments))}` without a fault: exit code {outcome.code}: {outcome.all.strip()[-600:]}")
        return outcome

    @property
    def answered(self):
        return "--set", "llm.backend=replay", "--set", f"llm.transcript={self.transcript}"

    # -- checking

    def tasks(self):
        """Returns the tasks in order of creation. task.yaml never changes, so its time shows the order."""
        folder = self.repository / ".agentforge" / "tasks"
        names = [path.name for path in folder.iterdir() if not path.name.startswith(".")] if folder.exists() else []
        born = {name: (folder / name / "task.yaml").stat().st_mtime_ns if (folder / name / "task.yaml").exists() else float("inf") for name in names}
        return sorted(names, key=born.get)

    def task(self):
        tasks = self.tasks()
        if len(tasks) != 1:
            raise Broken(f"tasks: {tasks}")
        return tasks[0]

    def journals(self):
        return {path.parent.name: path.read_bytes() for repository in self.repositories for path in repository.glob(".agentforge/tasks/[!.]*/actions.yaml")}

    def checkout(self):
        """Returns the user's own state in which they would notice a change: files, index, HEAD."""
        return [self._checkout() for _ in self.each()]

    def _checkout(self):
        seen = {}
        for root, folders, files in os.walk(self.repository):
            if pathlib.Path(root) == self.repository:
                folders[:] = [name for name in folders if name not in (".git", ".agentforge")]
            for name in files:
                path = pathlib.Path(root) / name
                seen[str(path.relative_to(self.repository))] = path.is_symlink() or (hashlib.sha256(path.read_bytes()).hexdigest(), path.stat().st_mode)
        return seen, (self.repository / ".git" / "HEAD").read_bytes(), self.git("ls-files", "--stage")

    def known_names(self, text):
        for number, task in enumerate(self.tasks()):
            text = text.replace(task, f"<task {number}>")
        return sorted(text.splitlines())

    def picture(self):
        """Returns the result, which must be the same after a fault and recovery as without the fault."""
        self.records = {}
        return [self._picture() for _ in self.each()]

    def _picture(self):
        tasks = []
        for task in self.tasks():
            status = self.program("status", task, "--json").json
            self.records[task] = self.program("inspect", task, "--json").json["records"]
            records = [record["type"] for record in self.records[task]]
            tasks.append({"status": status["status"], **{kind: records.count(kind) for kind in ("task_created", "delivered", "applied", "task_completed", "task_aborted",
                                                                                               "published", "rebased", "escalation_resolved", "approval_decided",
                                                                                               "action_decided", "task_continued")}})
        heads = self.git("for-each-ref", "--format=%(refname) %(tree)", "refs/heads")
        replayed = self.git("for-each-ref", "--format=%(refname) %(objectname)", "refs/agentforge/*/replayed")
        archived = self.git("for-each-ref", "--format=%(refname)", "refs/agentforge/archive")
        return {"tasks": tasks, "heads": self.known_names(heads), "archived": self.known_names(archived), "replayed": self.known_names(replayed), "checkout": self._checkout(),
                "worktrees": len(self.git("worktree", "list").splitlines()),
                "audit": [self.audit(task) for task in self.tasks()],
                "waiting": len(self.program("escalations", "list", "--json").json["escalations"])}

    def audit(self, task):
        """Returns the kinds of faults that `audit verify` finds, and if a signature holds."""
        verdict = self.program("audit", "verify", task, "--json", codes=(0, 1))
        findings = verdict.json["findings"] if verdict.out else []
        wrong = {each["part"] for each in findings if each["answer"] == "fails"} | set(ERROR.findall(verdict.err))
        return sorted(wrong), any(each["part"] == "signature" and each["answer"] == "holds" for each in findings)

    @staticmethod
    def in_use(path):
        """True if a process has that number. AgentForge removes a file of a process once none has, but on a busy machine another process may have it by now."""
        found = re.search(r"/\.agentforge-new-(\d+)-|/\.git/agentforge-[^/]*-(\d+)(?:/|$)", path)
        return found is not None and os.path.exists(f"/proc/{found.group(1) or found.group(2)}")

    def left_over(self):
        """Returns temporary files that nothing will ever remove: `agentforge gc` and `git gc` have already run."""
        for repository in self.each():
            for lock in (repository / ".git").rglob("*.lock"):
                os.utime(lock, (0, 0))          # Makes the lock look old.
            self.program("gc")
            self.git("gc", "--quiet", "--prune=now")
        found = []
        for root, folders, files in os.walk(self.root):
            for name in folders + files:
                inside_git = "/.git" in root or "/remote.git" in root
                if self.in_use(os.path.join(root, name)):
                    continue
                if name.startswith(".agentforge-new-") or root == self.environment["TMPDIR"] or inside_git and (name.endswith(".lock") or name.startswith("tmp_")):
                    found.append(os.path.relpath(os.path.join(root, name), self.root))
        return sorted(found)
