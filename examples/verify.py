#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks, from a clone alone, that a commit carries its proof. Uses none of AgentForge's code: only Python, git and the program that checks signatures.

    git clone URL repository && cd repository
    git fetch origin 'refs/agentforge/archive/*:refs/agentforge/archive/*'
    python3 verify.py --allowed-signers signers . agentforge/TASK

Checks that the commit's trailers name a task whose archive is in the clone; that the journal's hash chain is unbroken and has the trailer's record; that the statement (in-toto
Statement v1) is about this commit's tree and agrees with journal, tree and archive on gates, tests, approvals and files; that someone you trust signed statement and commit.
Exit codes: 0 everything holds, 1 something does not, 2 something cannot be checked.
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

TYPES = ("https://in-toto.io/Statement/v1", "urn:agentforge:verified-change:v1")
PROOF = ("proof/statement.json", "proof/statement.json.sig")
TRANSIENT = ("lock", "abort.request", "pause.request", "plugin_call", "detached.log", "state.yaml", "working_memory.yaml", *PROOF)
TRUST = ("TRUST_UNDEFINED", "TRUST_NEVER", "TRUST_MARGINAL", "TRUST_FULLY", "TRUST_ULTIMATE")
FORMAT, BLOBS = "agentforge_journal: 1\n", "agentforge_blobs: 1\nblobs:\n"
HASH = re.compile(rb', "hash": "([0-9a-f]{64})"}$')


class Wrong(Exception):
    """Something does not hold."""


class Unknown(Exception):
    """Something cannot be checked here."""


def require(condition, message, otherwise=Wrong):
    if not condition:
        raise otherwise(message)


def sha256(data):
    return hashlib.sha256(data).hexdigest()


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
        parents = [value.decode() for key, value in fields if key == b"parent"]
        found = re.search(rb"\ngpgsig (.*(?:\n .*)*)", head)
        signature, signed = (found.group(1).replace(b"\n ", b"\n") + b"\n", raw[:found.start()] + raw[found.end():]) if found else (b"", raw)
        return identity, dict(fields)[b"tree"].decode(), parents, message.decode(errors="replace"), (signed, signature, int(dict(fields)[b"committer"].split()[-2]))

    def files(self, tree, prefix=""):
        """Returns the object of each file of a tree by its path."""
        found, data = {}, self.object(tree)
        while data:
            (mode, name), data = data.partition(b"\0")[0].split(b" ", 1), data.partition(b"\0")[2]
            path, identity, data = prefix + name.decode(errors="surrogateescape"), data[:20].hex(), data[20:]
            if mode != b"160000":           # Submodules are elsewhere.
                found.update(self.files(identity, path + "/") if mode == b"40000" else {path: identity})
        return found


def read_journal(data, name, follows=None):
    """Returns the header, and the records by number. Each names the hash of the one before; the first names that of the header. `follows` looks up a record of the parent's journal."""
    begin, mark, rest = data.partition(b"\nactions:\n")
    require(mark and (begin + b"\n").startswith(FORMAT.encode()), f"{name} is not a journal")
    header = {key: json.loads(value) for key, _, value in (line.partition(": ") for line in begin.decode().split("\n")[1:])}
    before = sha256(json.dumps(header, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode())
    origin = header.get("forked_from")
    seq = origin["seq"] if origin else 0
    if origin and follows:
        require(follows(origin["task"], origin["seq"]) == origin["hash"], f"{name} does not continue from the record that its header names")
    records, lines = {}, rest.split(b"\n")
    require(lines.pop() == b"", f"{name}: the last line is not whole")
    for line in lines:
        seq += 1
        found = HASH.search(line)
        require(line.startswith(b"- {") and found, f"{name}: line {seq} is not a record")
        require(sha256(line[2:found.start()] + b"}") == found.group(1).decode(), f"{name}: record {seq} does not have the hash that it names")
        record = json.loads(line[2:])
        require(record["seq"] == seq and record["prev"] == before, f"{name}: record {seq} does not follow the one before")
        before = record["hash"]
        records[seq] = record
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
    """Returns the journal's header, and the records of the task and of the tasks that it continues."""
    def head_of(task, seq):
        name = f"history/{task}.yaml"
        require(name in archive, f"{name}, which the journal continues, is not in the archive")
        header, before = read_journal(archive[name], name, head_of)
        if seq <= header.get("forked_from", {"seq": 0})["seq"]:     # It is in the part that this task shares with its own parent.
            return head_of(header["forked_from"]["task"], seq)
        records.update({number: record for number, record in before.items() if number <= seq and number not in records})
        require(seq in before, f"{name} has no record {seq}")
        return before[seq]["hash"]

    records = {}
    require("actions.yaml" in archive, "the archive has no journal")
    header, own = read_journal(archive["actions.yaml"], "actions.yaml", head_of)
    records.update(own)
    return header, records


def is_transient(name):     # The journal's chain covers what a fork shares with its parent, whose files may have grown since.
    return name in TRANSIENT or name.startswith("history/") or name.startswith("artifacts/blobs/") and name.count("/") > 2


def check_files(archive, escalations, predicate):
    held = {name: data for name, data in archive.items() if not is_transient(name)}
    held.update({"escalations/" + name: data for name, data in escalations.items()})
    for name in sorted(set(held) | {name for name in predicate["files"] if not is_transient(name)}):
        require(name in held, f"{name}, which the statement names, is not in the archive")
        require(name in predicate["files"], f"{name} is in the archive, but not in the statement")
        require(sha256(held[name]) == predicate["files"][name], f"{name} is not the file that the statement names")
    return len(held)


def check_blobs(archive, records):
    stored = set()
    for name in [name for name in archive if name.startswith("artifacts/blobs/") and name.endswith("blobs.yaml")]:
        require(archive[name].startswith(BLOBS.encode()) and archive[name].endswith(b"\n"), f"{name} is not a complete file of blobs")
        for number, line in enumerate(archive[name][len(BLOBS):].split(b"\n")[:-1], 1):
            entry = json.loads(line[2:])
            data = bytes.fromhex(entry["hex"]) if "hex" in entry else entry["text"].encode()
            require(len(data) == entry["bytes"] and sha256(data) == entry["sha256"], f"{name}: blob {number} does not have the hash that it names")
            stored.add(entry["sha256"])
    named = {blob for record in records.values() for blob in named_blobs(record) if blob}
    named |= {record["artifact_hash"] for record in records.values() if record["type"] == "artifact_accepted"}
    require(named <= stored, f"blobs that records name are missing: {sorted(named - stored)[:3]}")
    return len(stored)


def check_gates(predicate, records, tree):
    for gate in predicate["gates"]:
        record = records.get(gate["record"])
        require(record and record["hash"] == gate["record_sha256"], f"gate {gate['gate']}: the journal has no such record {gate['record']}")
        passed = record["gate_passed"] if record["type"] == "rebased" else record["passed"]
        require(record["tree"] == gate["tree"] and passed == gate["passed"], f"gate {gate['gate']} differs from record {gate['record']}")
    final = [gate for gate in predicate["gates"] if gate["gate"] == "deliver" and gate["tree"] == tree]
    require(final and final[-1]["passed"], "no deliver gate passed on this tree")
    return len(predicate["gates"])


def check_approvals(predicate, records):
    for approval in predicate["approvals"]:
        record = records.get(approval["record"], {})
        same = record.get("artifact_hash") == approval["artifact_sha256"] and record.get("approved") == approval["approved"] and record.get("decided_by") == approval["decided_by"]
        require(same, f"the approval of {approval['stage']} differs from record {approval['record']}")
    ends = [records[number] for number in sorted(records) if records[number]["type"] in ("task_completed", "task_aborted", "approval_decided")]
    require(not ends or ends[-1].get("approved", ends[-1]["type"] == "task_completed"), "the task was aborted, or its delivery rejected, after it made the commit")
    return len(predicate["approvals"])


def check_tests(repository, predicate, tree):
    hashes = {path: sha256(repository.object(identity)) for path, identity in repository.files(tree).items()}
    for test in predicate["tests"]:
        require(test["path"] in hashes, f"the test {test['path']} is not in the commit")
        require(hashes[test["path"]] == test["sha256"], f"the test {test['path']} is not the one that was measured")
    return f"{len(predicate['tests'])} files of tests are the measured ones; all {len(hashes)} files of the commit are whole"


def check_signature(content, signature, namespace, time, allowed_signers, least):
    """Returns who signed, and the fingerprint of a key that gpg does not trust. The key must be valid at `time` (in seconds): it may have expired since. `least`: gpg.minTrustLevel."""
    with tempfile.NamedTemporaryFile() as file:
        file.write(signature)
        file.flush()
        if signature.startswith(b"-----BEGIN SSH SIGNATURE-----"):
            require(allowed_signers, "it is signed with SSH: name the keys that you trust with --allowed-signers (ssh-keygen's file)", Unknown)
            at = "verify-time=" + datetime.datetime.fromtimestamp(time, datetime.timezone.utc).strftime("%Y%m%d%H%M%S")
            command = ["ssh-keygen", "-Y", "find-principals", "-s", file.name, "-f", allowed_signers, "-O", at]
            principal = subprocess.run(command, capture_output=True, check=False, env={**os.environ, "TZ": "UTC"}).stdout.decode().split("\n")[0]
            require(principal, "--allowed-signers does not name the key, or not for the time of the signature")
            command[2:3] = ["verify", "-n", namespace, "-I", principal]
        else:
            program = "gpgsm" if signature.startswith(b"-----BEGIN SIGNED MESSAGE-----") else "gpg"
            command = [program, "--batch", "--status-fd=1", "--verify", file.name, "-"]
        done = subprocess.run(command, input=content, capture_output=True, check=False, env={**os.environ, "TZ": "UTC"})
        lines = (done.stdout + done.stderr).decode(errors="replace").strip().split("\n")
        revoked = any(line.startswith(("[GNUPG:] REVKEYSIG", "[GNUPG:] EXPSIG")) for line in lines)
        require(done.returncode == 0 and not revoked, f"the signature is not good: {'its key is revoked, or it has expired' if revoked else lines[-1]}")
        told = {words[1]: words[-1] for words in map(str.split, lines) if words[:1] == ["[GNUPG:]"] and len(words) > 1}
        trust = max((TRUST.index(word) for word in told if word in TRUST), default=0)
        require("GOODSIG" not in told or not least or trust >= TRUST.index("TRUST_" + least.upper()), f"gpg.minTrustLevel ({least}) asks for more trust in the key")
        return next((line for line in lines if "Good" in line), lines[-1]), "" if trust > 2 else told.get("VALIDSIG", "")


def verify(arguments):
    repository = Repository(arguments.repository)
    identity, tree, parents, message, signed = repository.commit(arguments.commit)
    task = trailer(message, "AgentForge-Task")
    seq, _, head = trailer(message, "AgentForge-Journal").partition(":")
    kept = repository.identity(f"refs/agentforge/archive/{task}", f"the archive of task {task} is not here: git fetch origin 'refs/agentforge/archive/*:refs/agentforge/archive/*'")
    files = repository.files(kept)
    archive = {name[5:]: repository.object(blob) for name, blob in files.items() if name.startswith("task/")}
    escalations = {name[12:]: repository.object(blob) for name, blob in files.items() if name.startswith("escalations/")}
    header, records = all_records(archive)
    require(header.get("task_id", task) == task, f"the journal is of task {header.get('task_id')}")
    require(int(seq) in records and records[int(seq)]["hash"] == head, f"the journal does not have record {seq}, which the commit's trailer names")
    print(f"journal    {len(records)} records, the chain is unbroken; the commit's trailer names record {seq}")
    print(f"blobs      {check_blobs(archive, records)}; each has the hash that it names")
    require(PROOF[0] in archive, "the archive has no statement", Unknown)
    statement = json.loads(archive[PROOF[0]])
    require((statement["_type"], statement["predicateType"]) == TYPES, "the statement is of another kind")
    predicate, last = statement["predicate"], max(records)
    require(predicate["task"] == task and predicate["journal"] == {"records": last, "head": records[last]["hash"]}, "the statement is not about this journal's last record")
    require([subject["digest"]["gitTree"] for subject in statement["subject"]] == [tree], f"the statement is about tree {statement['subject'][0]['digest']['gitTree']}, the commit has {tree}")
    require(predicate["commit"] == identity, f"the statement is about commit {predicate['commit']}: this one was amended, rebased or cherry-picked")
    require(parents == [predicate["base"]["commit"]], "the commit's parent is not the commit that the change was measured on")
    if "settings_sha256" in predicate["policy"]:
        require(header["task_sha256"] == predicate["policy"]["settings_sha256"] == sha256(archive["task.yaml"]), "the settings are not those that the task began with")
    print(f"statement  about this commit and its tree {tree}")
    print(f"gates      {check_gates(predicate, records, tree)}, as the journal records them; the deliver gate passed on this tree")
    print(f"tests      {check_tests(repository, predicate, tree)}")
    print(f"approvals  {check_approvals(predicate, records)}")
    print(f"files      {check_files(archive, escalations, predicate)} of the task; each has the hash that the statement gives")
    trusted, least = arguments.allowed_signers, repository.said("config", "gpg.minTrustLevel")
    recorded = [records[number]["signed"] for number in sorted(records) if "signed" in records[number]]
    require(not recorded or recorded[-1] == bool(signed[1]), "the journal and the commit disagree on whether the commit is signed")
    signer, key = check_signature(signed[0], signed[1], "git", signed[2], trusted, least) if signed[1] else ("none", "")
    print(f"commit     signature: {signer}")
    if PROOF[1] in archive:
        time = datetime.datetime.fromisoformat(records[last]["timestamp"].replace("Z", "+00:00")).timestamp()
        signer, other = check_signature(archive[PROOF[0]], archive[PROOF[1]], "agentforge", time, trusted, least)
        require(not signed[1] or not other or key == other, f"the statement is signed by another key than the commit, which gpg does not trust: {signer}")
        print(f"signature  {signer}")
    else:
        require(not arguments.require_signature, "the statement is not signed")
        print("signature  none: only the owner of this repository vouches for the statement")


def main():
    parser = argparse.ArgumentParser(description="Check that a commit carries its proof")
    parser.add_argument("--allowed-signers", help="ssh-keygen's file of the keys that you trust; if it limits a key to namespaces, it must name git and agentforge")
    parser.add_argument("--require-signature", action="store_true", help="fail if the statement is not signed")
    parser.add_argument("repository")
    parser.add_argument("commit")
    try:
        verify(parser.parse_args())
    except (Unknown, OSError) as error:
        print(f"cannot be checked: {error}", file=sys.stderr)
        return 2
    except (Wrong, KeyError, ValueError, TypeError, AttributeError) as error:
        print(f"DOES NOT HOLD: {error if isinstance(error, Wrong) else f'something has an unexpected form: {error!r}'}", file=sys.stderr)
        return 1
    print("VERIFIED")
    return 0


if __name__ == "__main__":
    sys.exit(main())
