# SPDX-License-Identifier: Apache-2.0
"""Tries the attacks in attacks.yaml: outside the sandbox, where each must succeed, and inside it, where each must fail.

usage: attacks.py CONFINED AGENTFORGE_EXEC [--sample] [--only NAME…]

--sample tries each attack in the modes of this Linux kernel, as one user, and every twentieth attack also in the modes of older kernels.
Prints a table of attacks by mode and user. The exit code is 1 if an attack got through, or if one did not run and the manifest gives no reason.
"""
import collections
import ctypes
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading

import yaml

HERE = os.path.dirname(os.path.abspath(__file__))
NOBODY = 65534

# Definitions for each attack. An attack calls `reached()` to report an effect that is not visible from outside.
PREAMBLE = r"""
import ctypes, errno, fcntl, mmap, os, signal, socket, stat, struct, subprocess, sys, time
libc = ctypes.CDLL(None, use_errno=True)
def call(number, *arguments):
    made = libc.syscall(number, *[ctypes.c_char_p(a) if isinstance(a, bytes) else ctypes.c_long(a) if isinstance(a, int) else a for a in arguments])
    if made < 0: raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return made
def reached(*what): print("REACHED", *what, flush=True)
OUTSIDE, WORK = os.environ["OUTSIDE"], os.environ["WORK"]
FILE, SECRET, SOCKET, ABSTRACT = OUTSIDE + "/file", OUTSIDE + "/secret", OUTSIDE + "/socket", os.environ["ABSTRACT"]
VICTIM, TCP, UDP, SEGMENT = (int(os.environ[name]) for name in ("VICTIM", "TCP", "UDP", "SEGMENT"))
"""


class Place:
    """The user's machine during one run: files, sockets, a process, a segment of shared memory."""

    def __init__(self, user):
        self.user = user
        self.root = tempfile.mkdtemp(prefix="agentforge-attacks-", dir="/var/tmp")
        os.chmod(self.root, 0o755)
        self.outside, self.work = self.root + "/outside", self.root + "/work"
        os.mkdir(self.outside)
        os.makedirs(self.work + "/there")
        self.put("file", "before")
        self.put("secret", "canary-of-a-file")
        self.heard = []
        self.sockets = [self.listen(socket.AF_UNIX, socket.SOCK_STREAM, self.outside + "/socket"),
                        self.listen(socket.AF_UNIX, socket.SOCK_STREAM, "\0agentforge-" + os.path.basename(self.root)),
                        self.listen(socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", 0)),
                        self.listen(socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", 0)),
                        self.listen(socket.AF_UNIX, socket.SOCK_DGRAM, self.outside + "/datagrams"),
                        self.listen(socket.AF_UNIX, socket.SOCK_STREAM, self.work + "/there/socket")]
        for folder, _, names in os.walk(self.root):
            for path in [folder, *(f"{folder}/{name}" for name in names)]:
                os.chown(path, user, user)
        for path in (self.outside + "/socket", self.outside + "/datagrams", self.work + "/there/socket"):
            os.chmod(path, 0o777)
        self.libc = ctypes.CDLL(None)
        self.segment = self.libc.shmget(0, 4096, 0o1666)
        self.victim = self.as_user(["/bin/sleep", "1000"], env={"CANARY": "canary-of-a-process"}, popen=True)
        self.before = self.state()

    def put(self, name, text):
        with open(self.outside + "/" + name, "w", encoding="utf-8") as file:
            file.write(text)

    def listen(self, family, kind, address):
        made = socket.socket(family, kind)
        made.bind(address)
        if kind == socket.SOCK_STREAM:
            made.listen(8)
        threading.Thread(target=self.serve, args=(made, kind), daemon=True).start()
        return made

    def serve(self, listening, kind):
        try:
            while True:
                if kind == socket.SOCK_DGRAM:
                    self.heard.append(listening.recv(100))
                else:
                    with listening.accept()[0] as one:
                        one.settimeout(5)
                        self.heard.append(one.recv(100))
        except OSError:
            return      # The socket is closed.

    def as_user(self, argv, popen=False, **more):
        if self.user != os.getuid():
            argv = ["setpriv", f"--reuid={self.user}", f"--regid={self.user}", "--clear-groups"] + argv
        return subprocess.Popen(argv, **more) if popen else subprocess.run(argv, capture_output=True, text=True, check=False, timeout=120, **more)

    def state(self):
        """Returns everything that an attack must not change."""
        found = {}
        for name in sorted(os.listdir(self.outside)):
            path = self.outside + "/" + name
            about = os.lstat(path)
            found[name] = (about.st_mode, about.st_uid, about.st_gid, about.st_mtime_ns, about.st_size, sorted(os.listxattr(path, follow_symlinks=False)))
        about = os.stat(self.outside)
        found["."] = (about.st_mode, about.st_uid, about.st_mtime_ns)
        pid = self.victim.pid
        found["victim"] = self.victim.poll() is None and self.state_of(pid)
        found["shm"] = sorted(os.listdir("/dev/shm"))
        found["heard"] = len(self.heard)
        return found

    @staticmethod
    def state_of(pid):
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            stopped = file.read().rsplit(")", 1)[1].split()[0] in "Tt"
        with open(f"/proc/{pid}/limits", encoding="utf-8") as file:
            limits = file.read()
        return (stopped, limits, os.getpriority(os.PRIO_PROCESS, pid), os.sched_getscheduler(pid), sorted(os.sched_getaffinity(pid)))

    def environment(self):
        return {"OUTSIDE": self.outside, "WORK": self.work, "ABSTRACT": "agentforge-" + os.path.basename(self.root), "VICTIM": str(self.victim.pid),
                "TCP": str(self.sockets[2].getsockname()[1]), "UDP": str(self.sockets[3].getsockname()[1]), "SEGMENT": str(self.segment), "IPC": str(os.stat("/proc/self/ns/ipc").st_ino),
                "DATAGRAMS": self.outside + "/datagrams", "IN_WORK": self.work + "/there/socket", "HOME": self.work, "TMPDIR": self.work}

    def survivors(self):
        """Returns the processes of an attack that outlived its call."""
        return [int(each) for each in os.listdir("/proc") if each.isdigit() and int(each) != os.getpid() and self.is_of_attack(each)]

    def is_of_attack(self, process):
        try:
            thread = os.listdir(f"/proc/{process}/task")[-1]       # The first thread may have ended.
            with open(f"/proc/{process}/task/{thread}/environ", "rb") as file:
                return f"OUTSIDE={self.outside}".encode() in file.read()
        except (OSError, IndexError):
            return False        # The process is gone.

    def close(self):
        for each in self.survivors():
            os.kill(each, signal.SIGKILL)
        self.victim.kill()
        self.victim.wait()
        for each in self.sockets:
            each.close()
        self.libc.shmctl(self.segment, 0, None)
        subprocess.run(["chattr", "-R", "-i", self.root], capture_output=True, check=False)
        shutil.rmtree(self.root, ignore_errors=True)


def attempt(programs, attack, user, settings):
    """Tries one attack. Returns (whether it had an effect, the runner's report)."""
    place = Place(user)
    try:
        request = {"argv": ["/usr/bin/python3", "-I", "-S", "-c", PREAMBLE + attack["program"]], "directory": place.work, "environment": place.environment(),
                   "writable": [place.work], "timeout_ms": 20000}
        request.update(attack.get("request", {}))
        request.update(attack["asked_by_channel"])
        request.update(settings)
        if attack.get("by_itself") and settings.get("confined") is False:       # The runner always ends the processes that a program leaves behind, so this runs without it.
            place.as_user(request["argv"], env={**os.environ, **request["environment"]}, cwd=place.work)
            return place.survivors() != [], {}
        told = place.as_user([programs[0], programs[1]], input=json.dumps(request))
        if told.returncode != 0 or not told.stdout:
            return False, {"error": "driver", "message": told.stderr}
        outcome = json.loads(told.stdout)
        effect = "REACHED" in outcome.get("out", "") or place.survivors() != []
        place.before["heard"] = 0
        return effect or place.state() != place.before, outcome
    finally:
        place.close()


def verdict(programs, attack, mode, user):
    effect, outcome = attempt(programs, attack, user, mode["settings"])
    if effect:
        return "GOT THROUGH"
    if outcome.get("error") == "AF-EXEC-004":
        return "refused"
    if "error" in outcome:
        return "DID NOT RUN: " + outcome["error"] + " " + outcome["message"].strip()[-300:]
    wanted = mode["report"]
    if outcome["confinement"].get("mode") != wanted:
        return f"DID NOT RUN: no {wanted} mode: {outcome['confinement'].get('no_full_mode')}"
    limit = attack.get("limit")
    if limit is not None and outcome["confinement"].get("limit") != limit and not attack.get("limit_or_error"):
        return f"GOT THROUGH: no limit `{limit}` in the report ({outcome['out'][-100:]}{outcome['err'][-200:]})"
    return "stopped"


def summary(cells):
    """Returns text such as `14 stopped, 2 not run`, with failures first."""
    counts = collections.Counter(cell.split(":")[0] for cell in cells)
    expected = ["stopped", "refused", "not run"]
    verdicts = [*(each for each in counts if each not in expected), *(each for each in expected if each in counts)]
    return ", ".join(f"{counts[verdict]} {verdict}" for verdict in verdicts)


def main():
    arguments = sys.argv[1:]
    sample = "--sample" in arguments
    if sample:
        arguments.remove("--sample")
    only = arguments[arguments.index("--only") + 1:] if "--only" in arguments else []
    programs = [os.path.abspath(path) for path in arguments[:2]]
    # Another user may not read the build folder, so this copies the programs.
    lent = tempfile.mkdtemp(prefix="agentforge-attacks-", dir="/var/tmp")
    os.chmod(lent, 0o755)
    programs = [shutil.copy2(path, lent) for path in programs]
    with open(HERE + "/attacks.yaml", encoding="utf-8") as file:
        manifest = yaml.safe_load(file)
    for attack in manifest["attacks"]:
        attack["asked_by_channel"] = manifest["channels"][attack.get("channel", "every")]
    users = {"root": 0, "user": NOBODY} if os.getuid() == 0 else {"user": os.getuid()}
    bad, count = 0, 0
    columns = [(mode, user) for mode in manifest["modes"] for user in manifest["users"]]
    heading = " | ".join(f"{mode}, {user}" for mode, user in columns) + " |"
    print(f"| attack | line | channel | {heading}")
    print("|---|---|---|" + "---|" * len(columns))
    tried = []
    for number, attack in enumerate(manifest["attacks"]):
        if only and attack["name"] not in only:
            continue
        cells, outside = [], {}
        reasons = attack.get("not_run", {})
        if not isinstance(reasons, dict):
            reasons = dict.fromkeys(manifest["users"], reasons)
        sampled = [user for user in users if user not in reasons] or list(users)
        for mode, user in columns:
            if sample and (user != sampled[number % len(sampled)] or (manifest["modes"][mode]["report"] != mode and number % 20 >= 2)):
                cells.append("not run: the sample leaves it out")
                continue
            reason = reasons.get(mode) or reasons.get(user)
            if reason is None and user not in users:
                reason = manifest["not_run"][user]
            if reason is not None:
                cells.append("not run: " + reason)
                continue
            if user not in outside and "limit" not in attack:
                outside[user] = attempt(programs, attack, users[user], {"confined": False})
            if user in outside and not outside[user][0] and "without_effect" in attack:
                cells.append("not run: " + attack["without_effect"])
            elif user in outside and not outside[user][0]:
                cells.append("DID NOT RUN: no effect outside the sandbox either: " + (outside[user][1].get("err") or outside[user][1].get("message") or "").strip()[-200:])
            else:
                cells.append(verdict(programs, attack, manifest["modes"][mode], users[user]))
        count += 1
        bad += sum(not cell.startswith(("stopped", "refused", "not run")) for cell in cells)
        tried.append((attack["line"], cells))
        print(f"| {attack['name'].replace('_', ' ')} | {attack['line']} | {attack.get('channel', 'every')} | " + " | ".join(cell.replace("\n", " ") for cell in cells) + " |", flush=True)
    shutil.rmtree(lent, ignore_errors=True)
    print(f"\n| attacks | {heading}\n|---|" + "---|" * len(columns))
    for line, title in manifest["lines"].items():
        of_line = [cells for each, cells in tried if each == line]
        if of_line:
            print(f"| {title} | " + " | ".join(summary([cells[column] for cells in of_line]) for column in range(len(columns))) + " |")
    print(f"\n{count} attacks, {bad} rows that failed")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
