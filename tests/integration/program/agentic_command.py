#!/usr/bin/python3 -B
# SPDX-License-Identifier: Apache-2.0
"""A command in agentic mode, scripted by a transcript: it makes all edits of the stage and role at once, then hands in the artifact.

usage: agentic_command.py TRANSCRIPT CONFIG LOG [FAULT,FAULT…]   (the prompt on standard input)

Each call writes its input as a line to LOG. The first FAULT happens in GREEN's first call, the next in its second, and so on; a FAULT that
ends with `*` also happens in all later calls.
"""

import json
import os
import pathlib
import re
import subprocess
import sys

import yaml

from model_server import role_names


def edit(call):
    arguments = call["arguments"]
    path = pathlib.Path(arguments.get("path", ""))
    if call["name"] == "create_file":
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(arguments["content"], encoding="utf-8")
    elif call["name"] == "edit_file":
        text = path.read_text(encoding="utf-8")
        if text.count(arguments["search"]) == 1:
            path.write_text(text.replace(arguments["search"], arguments["replace"]), encoding="utf-8")
    elif call["name"] == "delete_file":
        path.unlink()


def bury(folder):
    """Makes a folder that git cannot record: it contains `.git`, and is nested too deeply."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / ".git").write_text("gitdir: /tmp/evil\n", encoding="utf-8")
    os.chdir(folder)
    for _ in range(300):
        os.mkdir("deep")
        os.chdir("deep")
    pathlib.Path("file.py").write_text("", encoding="utf-8")


def do(fault):
    if fault == "fail":
        pathlib.Path("textkit/half.py").write_text("half = ", encoding="utf-8")
        sys.exit("out of luck")
    elif fault == "hang":
        subprocess.Popen(["sleep", "300"])
        os.execvp("sleep", ["sleep", "300"])
    elif fault == "children":
        subprocess.Popen(["setsid", "sleep", "300"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    elif fault == "tests":
        for test in pathlib.Path("tests").glob("*.py"):
            try:
                test.write_text("", encoding="utf-8")
            except OSError:
                print(f"refused: {test}")
    elif fault in ("delete", "delete_and_bury"):
        subprocess.run("rm -rf .git * .[a-z]*; cd ..; rm -rf *", shell=True, stderr=subprocess.DEVNULL, check=False)
        if fault == "delete_and_bury":
            bury(pathlib.Path("textkit").resolve())
        print("all is gone")
        sys.exit(0)
    elif fault == "not_a_mapping":
        pathlib.Path(os.environ["AGENTFORGE_ARTIFACT"]).write_text("- 1\n", encoding="utf-8")
        sys.exit(0)
    elif fault == "link":
        os.symlink("/etc/passwd", os.environ["AGENTFORGE_ARTIFACT"])
        sys.exit(0)
    elif fault == "odd":
        folder = pathlib.Path("textkit/odd")
        folder.mkdir()
        (folder / "latin'1 name.bin").write_bytes(b"\xe9\r\n\0 no last line end")
        (folder / "run").write_text("#!/bin/sh\n", encoding="utf-8")
        (folder / "run").chmod(0o755)
        (folder / "to").symlink_to("run")
        print("left odd files")
        sys.exit(0)
    elif fault == "act_later":
        pathlib.Path("textkit/.github/workflows").mkdir(parents=True)
        for path in ("textkit/.envrc", "textkit/.github/workflows/ci.yml", "textkit/CLAUDE.md"):
            pathlib.Path(path).write_text("touch /planted\n", encoding="utf-8")
    elif fault == "silent":
        sys.exit(0)


def main():
    transcript, config, log = (pathlib.Path(argument) for argument in sys.argv[1:4])
    faults = sys.argv[4].split(",") if len(sys.argv) > 4 else []
    prompt = sys.stdin.read()
    stage = re.search(r"^Stage: (\S+)$", prompt, re.M).group(1)
    role = role_names(config)[re.search(r"^# Role: (.+)$", prompt, re.M).group(1)]
    place = {"stage": stage, "role": role, "cwd": os.getcwd(), "home": os.environ.get("HOME"), "prompt": prompt}
    before = [json.loads(line)["stage"] for line in log.read_text(encoding="utf-8").splitlines()] if log.exists() else []
    with open(log, "a", encoding="utf-8") as file:
        file.write(json.dumps(place) + "\n")
    call = before.count("green")
    if stage == "green" and faults and (call < len(faults) or faults[-1].endswith("*")):
        do(faults[min(call, len(faults) - 1)].rstrip("*"))
    entries = yaml.safe_load(transcript.read_text(encoding="utf-8"))["entries"]
    artifact, text = None, ""
    for entry in sorted((e for e in entries if e["stage"] == stage and e.get("role") == role), key=lambda e: e["step"]):
        text = entry.get("text", text)
        for call in entry.get("tool_calls", []):
            if call["name"] == "complete":
                artifact = call["arguments"]
            else:
                edit(call)
    if artifact is None:
        print(text)
    elif role == "security_architect":
        print("ACTION complete", "<<<artifact", json.dumps(artifact), ">>>artifact", "END", sep="\n")
    else:
        pathlib.Path(os.environ["AGENTFORGE_ARTIFACT"]).write_text(yaml.safe_dump(artifact, allow_unicode=True), encoding="utf-8")
        print(f"{role} is done with {stage}")


main()
