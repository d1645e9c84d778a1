# SPDX-License-Identifier: Apache-2.0
"""Runs programs that must work inside the sandbox as they do outside.

usage: honest_programs.py [--small] CONFINED AGENTFORGE_EXEC [NAME…]

--small: those that need no more than what the build installs, and less than a second each. A program that the machine lacks is named.
Each runs in each mode and, where the tests run as root, as root and as an ordinary user.
In Landlock mode there are no sockets and no shared memory, so what needs these is tried in full mode alone.
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile

import yaml

HERE = os.path.dirname(os.path.abspath(__file__))
NOBODY = 65534


def main():
    arguments = [each for each in sys.argv[1:] if each != "--small"]
    small = len(arguments) != len(sys.argv) - 1
    only = arguments[2:]
    # Where another user may not go: what they run lies in a folder of their own.
    lent = tempfile.mkdtemp(prefix="agentforge-honest-", dir="/var/tmp")
    os.chmod(lent, 0o755)
    try:
        confined, helper = (shutil.copy2(path, lent) for path in arguments[:2])
        return run_all(confined, helper, small, only)
    finally:
        shutil.rmtree(lent, ignore_errors=True)


def run_all(confined, helper, small, only):
    users = {"root": 0, "user": NOBODY} if os.getuid() == 0 else {"user": os.getuid()}
    with open(HERE + "/honest_programs.yaml", encoding="utf-8") as file:
        programs = yaml.safe_load(file)
    bad = ran = 0
    for each in programs:
        if (only and each["name"] not in only) or (small and not each.get("small")):
            continue
        missing = [name for name in each.get("needs", []) if not shutil.which(name)]
        if missing:
            print(f"not run   {each['name']}: no {', '.join(missing)}")
            continue
        for mode in ("full", "landlock"):
            if mode not in each.get("modes", ["full", "landlock"]):
                continue
            for user, number in users.items():
                if user not in each.get("users", users):
                    continue
                ran += 1
                said = attempt([confined, helper], each, mode, number)
                bad += said != ""
                print(f"{'FAILED   ' if said else 'ok       '} {each['name']}, {mode}, {user}{': ' if said else ''}{said}", flush=True)
    print(f"{ran} ran, {bad} failed")
    return 1 if bad or not ran else 0


def attempt(command, each, mode, user):
    """What went wrong, or nothing."""
    work = tempfile.mkdtemp(prefix="agentforge-honest-", dir="/var/tmp")
    try:
        os.mkdir(work + "/tmp")
        for name, text in each.get("files", {}).items():
            with open(f"{work}/{name}", "w", encoding="utf-8") as file:
                file.write(text)
        if user != os.getuid():
            subprocess.run(["chown", "-R", f"{user}:{user}", work], check=True)
            command = ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups", *command]
        request = {"argv": ["sh", "-ec", each["run"]], "directory": work, "environment": {"HOME": work, "TMPDIR": work + "/tmp"}, "writable": [work],
                   "namespaces": mode == "full", "accepted_gaps": ["metadata"], "timeout_ms": 300000, "max_processes": each.get("max_processes", 512), "readable": each.get("readable", [])}
        told = subprocess.run(command, input=json.dumps(request), capture_output=True, text=True, check=False)
        outcome = json.loads(told.stdout) if told.returncode == 0 else {"error": "driver", "message": told.stderr}
        if "error" in outcome:
            return outcome["error"] + " " + outcome["message"]
        if outcome["confinement"]["mode"] != mode:
            return f"no {mode} mode: {outcome['confinement'].get('no_full_mode')}"
        if outcome["exit_code"] != 0 or each.get("says", "") not in outcome["out"] + outcome["err"]:
            return f"exit code {outcome['exit_code']} {outcome['confinement'].get('limit', '')}\n{outcome['out'][-800:]}{outcome['err'][-1500:]}"
        return ""
    finally:
        shutil.rmtree(work, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
