#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks, from a clone alone, that a commit carries its proof. Uses none of AgentForge's code: only Python, git and the program that checks signatures.

    git clone URL repository && cd repository
    git fetch origin 'refs/agentforge/archive/*:refs/agentforge/archive/*'
    python3 verify.py --allowed-signers signers . agentforge/TASK

Checks that the commit's trailers name a task whose archive is in the clone; that the journal's hash chain is unbroken and has the trailer's record; that the statement (in-toto
Statement v1) is the one that commit, journal and archive give, field by field; that someone you trust signed statement and commit. What it does not check, it names. Exit codes: 0 everything holds, 1 something does not, 2 something cannot be checked.
"""
import argparse
import datetime
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile

TYPES, PROOF = ("https://in-toto.io/Statement/v1", "urn:agentforge:verified-change:v1"), ("proof/statement.json", "proof/statement.json.sig")
UNCHECKED = re.compile(r"state\.yaml|working_memory\.yaml|detached\.log|pause\.request|actions\.yaml\.torn-[0-9]+|escalations/(\.told/.*|[^/]+\.early-[0-9]+\.yaml)")
NEVER = ("lock", "abort.request", "plugin_call", ".fold", ".followed", ".steps")        # Files of a task that no archive has.
TRUST = ("TRUST_UNDEFINED", "TRUST_NEVER", "TRUST_MARGINAL", "TRUST_FULLY", "TRUST_ULTIMATE")
FORMAT, BLOBS, TURNS = "agentforge_journal: 1\n", "agentforge_blobs: 1\nblobs:\n", r"\\u(061c|200[ef]|202[a-e]|206[6-9a-f])|\\."   # TURNS: marks that turn text around, as a header shows them. Its hash is that of the marks.
ARMOUR = rb"-----BEGIN ([A-Z ]+)-----\n(?:[A-Za-z]+: .*\n)*\n?(?:[A-Za-z0-9+/=]+\n)+-----END \1-----\n?"      # One signature, and nothing else.

class Wrong(Exception): """Something does not hold."""
class Unknown(Exception): """Something cannot be checked here."""

def require(condition, message, otherwise=Wrong):
    if not condition:
        raise otherwise(message)

def sha256(data):
    return hashlib.sha256(data).hexdigest()

def parsed(text):
    """Returns the value of a JSON text. Two readers may read an object with a repeated key differently, so it is refused."""
    def members(pairs):
        require(len(dict(pairs)) == len(pairs), f"a JSON object has a key twice: {[key for key, _ in pairs]}")
        return dict(pairs)
    return json.loads(text, object_pairs_hook=members)

def require_same(stated, given, place):
    """Compares order and types too: to Python, 1 and True are equal."""
    if json.dumps(stated) != json.dumps(given):
        if isinstance(stated, (dict, list)) and isinstance(given, type(stated)):
            left, right = (value if isinstance(value, dict) else dict(enumerate(value)) for value in (stated, given))
            for key in (*right, *left):
                require(key in left, f"{place} lacks {key}")
                require(key in right, f"{place} has {key}, which commit, journal and archive do not give")
                require_same(left[key], right[key], f"{place}.{key}")
        raise Wrong(f"{place} is {json.dumps(stated)[:200]}; commit, journal and archive give {json.dumps(given)[:200]}")

class Repository:
    """Reads objects and compares each with its name. Refuses those in whose place git shows others (refs/replace)."""

    def __init__(self, folder):
        self.folder = folder
        self.reader = subprocess.Popen(["git", "-C", folder, "cat-file", "--batch"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.replaced = set(self.said("replace", "--list").split())

    def said(self, *words):
        return subprocess.run(["git", "-C", self.folder, *words], capture_output=True, check=False).stdout.decode(errors="replace").strip()

    def identity(self, name, otherwise):
        found = self.said("rev-parse", "--verify", "--quiet", "--end-of-options", name)
        require(found, otherwise, Unknown)
        return found

    def object(self, identity):
        require(identity not in self.replaced, f"git shows another object in place of {identity}: `git replace -d {identity}` ends that")
        self.reader.stdin.write(identity.encode() + b"\n")
        self.reader.stdin.flush()
        head = self.reader.stdout.readline().split()
        require(len(head) == 3, f"object {identity} is missing or damaged")
        data = self.reader.stdout.read(int(head[2]) + 1)[:-1]
        require(hashlib.sha1(b"%s %d\0" % (head[1], len(data)) + data).hexdigest() == identity, f"object {identity} is damaged")
        return data

    def commit(self, name):
        """Returns its id, tree, parents and message, and its signature (empty if there is none) with the bytes and the time that it is of."""
        identity = self.identity(name + "^{commit}", f"there is no commit {name}")
        raw = self.object(identity)
        head, _, message = raw.partition(b"\n\n")
        fields = [line.split(b" ", 1) for line in head.split(b"\n") if not line.startswith(b" ")]
        found = re.search(rb"\ngpgsig (.*(?:\n .*)*)", head)
        signature, signed = (found.group(1).replace(b"\n ", b"\n") + b"\n", raw[:found.start()] + raw[found.end():]) if found else (b"", raw)
        parents, time = [value.decode() for key, value in fields if key == b"parent"], int(dict(fields)[b"committer"].split()[-2])
        return identity, dict(fields)[b"tree"].decode(), parents, message.decode(errors="replace"), (signed, signature, time)

    def files(self, tree, prefix=""):
        """Returns mode and object of each file of a tree by its path."""
        found, data = {}, self.object(tree)
        while data:
            (mode, name), data = data.partition(b"\0")[0].split(b" ", 1), data.partition(b"\0")[2]
            path, identity, data = prefix + name.decode(errors="surrogateescape"), data[:20].hex(), data[20:]
            below = self.files(identity, path + "/") if mode == b"40000" else {path: (mode, identity)}
            require(not set(found) & set(below), f"tree {tree} has {path} twice")
            found.update(below)
        return found

def read_journal(data, name, follows):
    """Returns the header, and the records by number. Each names the hash of the one before; the first names that of the header. `follows` looks up a record of the parent's journal."""
    begin, mark, rest = data.partition(b"\nactions:\n")
    require(mark and (begin + b"\n").startswith(FORMAT.encode()), f"{name} is not a journal")
    written = dict(line.split(": ", 1) for line in begin.decode().split("\n")[1:])
    header = {key: parsed(value) for key, value in written.items()}
    compact = {key: json.dumps(value, sort_keys=True, separators=(",", ":")) if isinstance(value, dict) else re.sub(TURNS, lambda mark: chr(int(mark[1], 16)) if mark[1] else mark[0], written[key]) for key, value in header.items()}
    before = sha256(("{" + ",".join(f'"{key}":{compact[key]}' for key in sorted(compact)) + "}").encode())
    origin, records, lines = header.get("forked_from", {"seq": 0}), {}, rest.split(b"\n")
    if origin["seq"]:
        require(follows(origin["task"], origin["seq"]) == origin["hash"], f"{name} does not continue from the record that its header names")
    require(lines.pop() == b"", f"{name}: the last line is not whole")
    for seq, line in enumerate(lines, origin["seq"] + 1):
        found = re.search(rb', "hash": "([0-9a-f]{64})"}$', line)
        require(line.startswith(b"- {") and found, f"{name}: line {seq} is not a record")
        require(sha256(line[2:found.start()] + b"}") == found.group(1).decode(), f"{name}: record {seq} does not have the hash that it names")
        record = parsed(line[2:])
        require(record["seq"] == seq and record["prev"] == before, f"{name}: record {seq} does not follow the one before")
        before = record["hash"]
        records[seq] = {**record, "line": line.decode()}
    return header, records

def named_blobs(value):
    """Yields all hashes of blobs that a record names."""
    for key, item in value.items() if isinstance(value, dict) else [("", item) for item in value]:
        if key.endswith("_blob") and isinstance(item, str):
            yield item
        elif isinstance(item, (dict, list)):
            yield from named_blobs(item)

def trailer(message, key):
    found = re.findall(rf"^{key}: (.*)$", message, re.MULTILINE)
    require(found, f"the commit has no trailer {key}: it is not from a task", Unknown)
    return found[-1]

def all_records(archive):
    """Returns the journal's header, the records of the task and of the tasks that it continues, and the names of these."""
    def head_of(task, seq):
        name = f"history/{task}.yaml"
        require(name in archive, f"{name}, which the journal continues, is not in the archive")
        read.add(name)
        header, before = read_journal(archive[name], name, head_of)
        if seq <= header.get("forked_from", {"seq": 0})["seq"]:     # It is in the part that this task shares with its own parent.
            return head_of(header["forked_from"]["task"], seq)
        records.update({number: record for number, record in before.items() if number <= seq and number not in records})
        require(seq in before, f"{name} has no record {seq}")
        return before[seq]["hash"]
    require("actions.yaml" in archive, "the archive has no journal")
    records, read = {}, set()
    header, own = read_journal(archive["actions.yaml"], "actions.yaml", head_of)
    records.update(own)
    require(read == {name for name in archive if name.startswith("history/")}, "the archive has a journal that this task does not continue")
    return header, dict(sorted(records.items())), {name[len("history/"):-len(".yaml")] for name in read}

def is_unstated(name):      # The journal's chain covers what a fork shares with its parent, whose files may have grown since.
    return name in PROOF + NEVER or UNCHECKED.fullmatch(name) or name.startswith("history/") or name.startswith("escalations/") and name.count("/") > 1 or name.startswith("artifacts/blobs/") and name.count("/") > 2

def read_blobs(archive, records, continued):
    stored = {}
    for name in [name for name in archive if name.startswith("artifacts/blobs/")]:
        require(name.split("/")[2:] in [["blobs.yaml"], *([parent, "blobs.yaml"] for parent in continued)], f"{name} is of a task that this one does not continue")
        require(archive[name].startswith(BLOBS.encode()) and archive[name].endswith(b"\n"), f"{name} is not a complete file of blobs")
        for number, line in enumerate(archive[name][len(BLOBS):].split(b"\n")[:-1], 1):
            entry = parsed(line[2:])
            data = bytes.fromhex(entry["hex"]) if "hex" in entry else entry["text"].encode()
            require(len(data) == entry["bytes"] and sha256(data) == entry["sha256"] and re.fullmatch(rb'- \{"sha256": "\w+", "bytes": \d+, "(text|hex)": ".*"\}', line), f"{name}: blob {number} does not have the hash that it names, or was written by another program")
            stored[entry["sha256"]] = data
    named = {blob for record in records.values() for blob in named_blobs(record) if blob} | {record["artifact_hash"] for record in records.values() if record["type"] == "artifact_accepted"}
    require(named <= set(stored), f"blobs that records name are missing: {sorted(named - set(stored))[:3]}")
    return stored

def gate_entry(record):
    if record["type"] == "rebased":
        return {"gate": "deliver", "tree": record["tree"], "passed": record["gate_passed"], "record": record["seq"], "record_sha256": record["hash"]}
    entry = {"gate": record["gate"], "tree": record["tree"], "passed": record["passed"], "record": record["seq"], "record_sha256": record["hash"]}
    entry.update({key: record[key] for key in ("tests", "tests_passed", "inputs", "confinement") if key in record})
    return {**entry, "commands": list(dict.fromkeys(run.get("command", "") for run in record.get("commands", [])))}

def make_statement(header, records, blobs, archive, tree, hashes):
    """Returns the statement that commit, journal and archive give. `hashes`: of the delivered files."""
    def values(key, *kinds):
        return [record[key] for record in records.values() if record["type"] in kinds and record.get(key)]
    created, moves = records[1], ("task_created", "task_continued", "delivered", "rebased")
    pipeline = [created["pipeline"], *(longer["pipeline"] for longer in values("extension", "task_continued", "approval_decided"))][-1]
    stages, artifacts, gates, approvals = [stage["name"] for stage in pipeline["stages"]], {}, {}, []
    for record in records.values():
        if record["type"] == "rebased" or record["type"] == "gate" and not record.get("partial"):
            gates[record.get("gate", "rebase")] = gate_entry(record)
        elif record["type"] == "approval_decided":
            approvals.append({"stage": record.get("stage", ""), "approved": record["approved"], "artifact_sha256": record["artifact_hash"],
                              "decided_by": record.get("decided_by", ""), "record": record["seq"]})
        elif record["type"] == "artifact_accepted":
            artifacts[record["stage"]] = parsed(blobs[record["artifact_hash"]])
        elif record["type"] == "cycle_started" and record["to"] in stages:      # It discards what was made from that stage on.
            artifacts = {stage: made for stage, made in artifacts.items() if stage in stages[:stages.index(record["to"])]}
    text = created["line"][created["line"].index('"pipeline": {') + len('"pipeline": '):]
    policy = {"pipeline": pipeline["name"], "pipeline_sha256": sha256(text[:json.JSONDecoder().raw_decode(text)[1]].encode())}
    policy.update({"gate_inputs": inputs for inputs in values("inputs", "gate")})
    policy.update({"settings_sha256": header["task_sha256"]} if header.get("task_sha256") else {})
    tests = sorted({file["path"] for artifact in artifacts.values() for file in artifact.get("test_files", []) if file["path"] in hashes})
    return {"_type": TYPES[0], "subject": [{"name": values("branch", "delivered")[-1], "digest": {"gitTree": tree}}], "predicateType": TYPES[1], "predicate": {
        "task": values("task_id", "task_created", "forked")[-1], "request": created["request"],
        "base": {"commit": values("base_commit", *moves)[-1], "tree": values("base_tree", *moves)[-1]}, "commit": values("commit", "delivered", "rebased")[-1],
        "journal": {"records": max(records), "head": records[max(records)]["hash"]}, "policy": policy, "gates": sorted(gates.values(), key=lambda gate: gate["record"]),
        "tests": [{"path": path, "sha256": hashes[path]} for path in tests], "approvals": approvals, "files": {name: sha256(archive[name]) for name in sorted(archive) if not is_unstated(name)}}}

def check_signature(content, signature, namespace, time, allowed_signers, least, revoked_keys):
    """Returns who signed, and the fingerprint of a key that gpg does not trust. The key must be valid at `time` (in seconds): it may have expired since. `least`: gpg.minTrustLevel. `revoked_keys`: gpg.ssh.revocationFile."""
    require(re.fullmatch(ARMOUR, signature), "the signature is not one armoured signature with nothing before, in or after it")
    with tempfile.NamedTemporaryFile(buffering=0) as file:
        file.write(signature)
        if signature.startswith(b"-----BEGIN SSH SIGNATURE-----"):
            require(allowed_signers, "it is signed with SSH: name the keys that you trust with --allowed-signers (ssh-keygen's file)", Unknown)
            at = datetime.datetime.fromtimestamp(time, datetime.timezone.utc)
            command = ["ssh-keygen", "-Y", "find-principals", "-s", file.name, "-f", allowed_signers, "-O", f"verify-time={at:%Y%m%d%H%M%S}"]
            principal = subprocess.run(command, capture_output=True, check=False, env={**os.environ, "TZ": "UTC"}).stdout.decode().split("\n")[0]
            require(principal, "--allowed-signers does not name the key, or not for the time of the signature")
            command[2:3] = ["verify", "-n", namespace, "-I", principal, *(["-r", revoked_keys] if revoked_keys else [])]
        else:
            program = "gpgsm" if signature.startswith(b"-----BEGIN SIGNED MESSAGE-----") else "gpg"
            command = [program, "--batch", "--status-fd=1", "--verify", file.name, "-"]
        done = subprocess.run(command, input=content, capture_output=True, check=False, env={**os.environ, "TZ": "UTC"})
        lines = (done.stdout + done.stderr).decode(errors="replace").strip().split("\n")
        told = {words[1]: words[2:] for words in map(str.split, done.stdout.decode(errors="replace").split("\n")) if words[:1] == ["[GNUPG:]"] and len(words) > 1}
        revoked = {"REVKEYSIG", "EXPSIG"} & set(told) or "EXPKEYSIG" in told and int(told["VALIDSIG"][2]) >= int(told["KEYEXPIRED"][0])
        require(done.returncode == 0 and not revoked, f"the signature is not good: {'its key is revoked, or it has expired' if revoked else lines[-1]}")
        trust, by_gpg = max((TRUST.index(word) for word in told if word in TRUST), default=0), "VALIDSIG" in told
        require(not by_gpg or not least or trust >= TRUST.index("TRUST_" + least.upper()), f"gpg.minTrustLevel ({least}) asks for more trust in the key")
        require(not by_gpg or not allowed_signers or trust > 2, "--allowed-signers names SSH keys, and gpg does not trust this one")
        return next((line for line in lines if "Good" in line), lines[-1]), "" if trust > 2 else told.get("VALIDSIG", [""])[-1]

def verify(arguments):
    repository = Repository(arguments.repository)
    identity, tree, parents, message, signed = repository.commit(arguments.commit)
    task, (seq, _, head) = trailer(message, "AgentForge-Task"), trailer(message, "AgentForge-Journal").partition(":")
    kept = repository.identity(f"refs/agentforge/archive/{task}", f"the archive of task {task} is not here: git fetch origin 'refs/agentforge/archive/*:refs/agentforge/archive/*'")
    archive = {}
    for name, (mode, blob) in repository.files(kept).items():
        path = name.removeprefix("task/")
        known = re.fullmatch(r"escalations/(\.told/)?[A-Z]{3}-%s-(?!([^/]*-)?[0-9a-f]{8}-)[^/]+" % task, name) if path == name else path not in NEVER and not path.startswith("escalations/")
        require(known and mode == b"100644", f"the archive has {name} ({mode.decode()}), as no archive of this task has")
        archive[path] = repository.object(blob)
    header, records, continued = all_records(archive)
    require(int(seq) in records and records[int(seq)]["hash"] == head, f"the journal does not have record {seq}, which the commit's trailer names")
    print(f"journal    {len(records)} records, the chain is unbroken; the commit's trailer names record {seq}")
    blobs = read_blobs(archive, records, continued)
    print(f"blobs      {len(blobs)}; each has the hash that it names")
    require(PROOF[0] in archive, "the archive has no statement", Unknown)
    predicate = (statement := parsed(archive[PROOF[0]]))["predicate"]
    require(predicate["commit"] == identity, f"the statement is about commit {predicate['commit']}: this one was amended, rebased or cherry-picked")
    hashes = {path: sha256(repository.object(blob)) for path, (mode, blob) in repository.files(tree).items() if mode != b"160000"}      # Submodules are elsewhere.
    predicate["files"] = {name: value for name, value in predicate["files"].items() if not is_unstated(name)}    # Older ones name more.
    require_same(statement, make_statement(header, records, blobs, archive, tree, hashes), "the statement")
    own = {"task_id": task, "request": predicate["request"], "task_sha256": sha256(archive["task.yaml"])}
    require(predicate["task"] == task and own.items() <= {**own, **header}.items(), "the journal began with another task, request or settings")
    require(parents == [predicate["base"]["commit"]], "the commit's parent is not the commit that the change was measured on")
    require([gate["passed"] for gate in predicate["gates"] if (gate["gate"], gate["tree"]) == ("deliver", tree)][-1:] == [True], "no deliver gate passed on this tree")
    ends = [record["type"] for record in records.values() if record["type"] in ("task_completed", "task_aborted", "task_continued")]
    require(ends[-1:] == ["task_completed"], "the task has not completed the delivery, or was aborted or continued after it made the commit")
    print(f"statement  is what commit, journal and archive give; about this commit and its tree {tree}\n"
          f"gates      {len(predicate['gates'])}, and {len(predicate['approvals'])} approvals, as the journal records them; the deliver gate passed on this tree")
    print(f"tests      {len(predicate['tests'])} files of tests are the measured ones; all {len(hashes)} files of the commit are whole\n"
          f"files      {len(predicate['files'])} of the task; each has the hash that the statement gives")
    note = ["the note of the commit"] if repository.said("notes", "--ref=agentforge", "list", identity) else []
    print(f"unchecked  {', '.join([name for name in archive if UNCHECKED.fullmatch(name)] + note) or 'nothing'}: `agentforge audit verify` compares the projections and the note")
    trusted, least, revoked = arguments.allowed_signers, repository.said("config", "gpg.minTrustLevel"), repository.said("config", "--type=path", "gpg.ssh.revocationFile")
    require([record["signed"] for record in records.values() if "signed" in record][-1:] in ([], [bool(signed[1])]), "the journal and the commit disagree on whether the commit is signed")
    signer, key = check_signature(signed[0], signed[1], "git", signed[2], trusted, least, revoked) if signed[1] else ("none", "")
    print(f"commit     signature: {signer}")
    if PROOF[1] in archive:
        time = datetime.datetime.fromisoformat(records[max(records)]["timestamp"].replace("Z", "+00:00"))
        signer, other = check_signature(archive[PROOF[0]], archive[PROOF[1]], "agentforge", time.timestamp(), trusted, least, revoked)
        require(not other or key == other, f"the statement is signed by another key than the commit, which gpg does not trust: {signer}")
        print(f"signature  {signer}")
    else:
        require(not (signed[1] or trusted or arguments.require_signature), "the statement is not signed")
        print("signature  none: only the owner of this repository vouches for the statement, and for the files that only it names")

def main():
    parser = argparse.ArgumentParser(description="Check that a commit carries its proof")
    parser.add_argument("--allowed-signers", help="ssh-keygen's file of the keys that you trust; if it limits a key to namespaces, it must name git and agentforge")
    parser.add_argument("--require-signature", action="store_true", help="fail if the statement is not signed")
    list(map(parser.add_argument, ("repository", "commit")))
    try:
        verify(parser.parse_args())
    except (Unknown, OSError) as error:
        print(f"cannot be checked: {error}", file=sys.stderr)
        return 2
    except (Wrong, LookupError, ValueError, TypeError, AttributeError, RecursionError) as error:
        print(f"DOES NOT HOLD: {error if isinstance(error, Wrong) else f'something has an unexpected form: {error!r}'}", file=sys.stderr)
        return 1
    print("VERIFIED")
    return 0

if __name__ == "__main__":
    sys.exit(main())
