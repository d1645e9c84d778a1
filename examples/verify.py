#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks from a clone alone that a commit carries its proof: none of AgentForge's code is used, nothing but Python, git and what signs.

    git clone URL repository && cd repository
    git fetch origin 'refs/agentforge/archive/*:refs/agentforge/archive/*'
    python3 verify.py --allowed-signers signers . agentforge/TASK

What it checks: the commit's trailers name a task whose archive is here; the journal's hash chain holds from its header to its head; the trailer's record is in it; the
statement (in-toto Statement v1) is about this commit's tree, and says of gates, tests, approvals and files what journal, tree and archive hold; the signature is that of
somebody whom the reader names. Exit code 0: all of it holds. 1: something does not. 2: it could not be checked.
"""
import argparse
import hashlib
import json
import re
import subprocess
import sys
import tempfile

STATEMENT_TYPE = "https://in-toto.io/Statement/v1"
PREDICATE_TYPE = "urn:agentforge:verified-change:v1"
PROOF = ("proof/statement.json", "proof/statement.json.sig")
PASSING = ("lock", "abort.request", "pause.request", "plugin_call", "detached.log", "state.yaml", "working_memory.yaml", *PROOF)
FORMAT = "agentforge_journal: 1\n"
BLOBS = "agentforge_blobs: 1\nblobs:\n"
HASH = re.compile(rb', "hash": "([0-9a-f]{64})"}$')


class Wrong(Exception):
    """Something does not hold."""


class Unknown(Exception):
    """It cannot be checked here."""


def require(condition, message):
    if not condition:
        raise Wrong(message)


def sha256(data):
    return hashlib.sha256(data).hexdigest()


def canonical(value):
    """JSON without blanks, keys in the order of their bytes: what a journal's header is hashed as."""
    if isinstance(value, dict):
        return "{" + ",".join(canonical(key) + ":" + canonical(value[key]) for key in sorted(value, key=lambda key: key.encode())) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(canonical, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


class Repository:
    def __init__(self, folder):
        self.folder = folder

    def git(self, *arguments, data=None):
        done = subprocess.run(["git", "-C", self.folder, *arguments], input=data, capture_output=True, check=False)
        if done.returncode != 0:
            raise Unknown(f"git {' '.join(arguments)}: {done.stderr.decode(errors='replace').strip()}")
        return done.stdout

    def commit(self, name):
        """Its id, tree, parents and message."""
        identity = self.git("rev-parse", "--verify", "--end-of-options", name + "^{commit}").decode().strip()
        head, _, message = self.git("cat-file", "commit", identity).partition(b"\n\n")
        fields = [line.split(b" ", 1) for line in head.split(b"\n") if not line.startswith(b" ")]
        parents = [value.decode() for key, value in fields if key == b"parent"]
        return identity, dict(fields)[b"tree"].decode(), parents, message.decode(errors="replace")

    def files(self, tree):
        """Path and object of each file."""
        listed = self.git("ls-tree", "-r", "-z", "--full-tree", tree).split(b"\0")
        return {path.decode(errors="surrogateescape"): meta.split()[2].decode() for meta, _, path in (line.partition(b"\t") for line in listed if line)}

    def blob(self, identity):
        data = self.git("cat-file", "blob", identity)
        require(hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest() == identity, f"object {identity} is damaged")
        return data


def read_journal(data, name, follows=None):
    """The records by number. Each has the hash of the one before; the first has that of the header. `follows`: where another journal's head is what this one goes on from."""
    begin, mark, rest = data.partition(b"\nactions:\n")
    require(mark and (begin + b"\n").startswith(FORMAT.encode()), f"{name} is no journal")
    header = {}
    for line in begin.decode().split("\n")[1:]:
        key, _, value = line.partition(": ")
        header[key] = json.loads(value)
    before = sha256(canonical(header).encode())
    origin = header.get("forked_from")
    seq = origin["seq"] if origin else 0
    if origin and follows:
        require(follows(origin["task"], origin["seq"]) == origin["hash"], f"{name} does not go on from the record that its header names")
    records = {}
    lines = rest.split(b"\n")
    require(lines.pop() == b"", f"{name}: the last line is not whole")
    for line in lines:
        seq += 1
        found = HASH.search(line)
        require(line.startswith(b"- {") and found, f"{name}: record {seq} is none")
        require(sha256(line[2:found.start()] + b"}") == found.group(1).decode(), f"{name}: record {seq} has not the hash that it names")
        record = json.loads(line[2:])
        require(record["seq"] == seq and record["prev"] == before, f"{name}: record {seq} does not follow the one before")
        before = record["hash"]
        records[seq] = record
    return header, records


def read_blobs(data, name):
    """The hashes of the blobs in a file, each compared with its bytes."""
    require(data.startswith(BLOBS.encode()) and data.endswith(b"\n"), f"{name} is no whole file of blobs")
    hashes = set()
    for number, line in enumerate(data[len(BLOBS):].split(b"\n")[:-1], 1):
        entry = json.loads(line[2:])
        held = bytes.fromhex(entry["hex"]) if "hex" in entry else entry["text"].encode()
        require(len(held) == entry["bytes"] and sha256(held) == entry["sha256"], f"{name}: blob {number} has not the hash that it names")
        hashes.add(entry["sha256"])
    return hashes


def named_blobs(value):
    """All hashes of blobs that a record names."""
    if isinstance(value, dict):
        for key, item in value.items():
            if key.endswith("_blob") and isinstance(item, str):
                yield item
            else:
                yield from named_blobs(item)
    elif isinstance(value, list):
        for item in value:
            yield from named_blobs(item)


def trailer(message, key):
    lines = [line[len(key) + 2:] for line in message.split("\n") if line.startswith(key + ": ")]
    if not lines:
        raise Unknown(f"the commit has no trailer {key}: no task delivered it")
    return lines[-1]


def all_records(archive):
    """Those of the task, and before them those of the tasks that it goes on from."""
    def head_of(task, seq):
        name = f"history/{task}.yaml"
        require(name in archive, f"{name}, which the journal goes on from, is not in the archive")
        _, before = read_journal(archive[name], name, head_of)
        records.update({number: record for number, record in before.items() if number <= seq and number not in records})
        require(seq in before, f"{name} has no record {seq}")
        return before[seq]["hash"]

    records = {}
    require("actions.yaml" in archive, "the archive has no journal")
    header, own = read_journal(archive["actions.yaml"], "actions.yaml", head_of)
    records.update(own)
    return header, records


def is_passing(name):       # The journal's chain covers what a fork shares with its parent, whose files may have grown since.
    return name in PASSING or name.startswith("history/") or name.startswith("artifacts/blobs/") and name.count("/") > 2


def check_files(archive, escalations, predicate):
    held = {name: data for name, data in archive.items() if not is_passing(name)}
    held.update({"escalations/" + name: data for name, data in escalations.items()})
    for name in sorted(set(held) | {name for name in predicate["files"] if not is_passing(name)}):
        require(name in held, f"{name}, which the statement names, is not in the archive")
        require(name in predicate["files"], f"{name} is in the archive, and not in the statement")
        require(sha256(held[name]) == predicate["files"][name], f"{name} is not the file that the statement names")
    return len(held)


def check_blobs(archive, records):
    stored = set()
    for name, data in archive.items():
        if name.startswith("artifacts/blobs/") and name.endswith("blobs.yaml"):
            stored |= read_blobs(data, name)
    named = {blob for record in records.values() for blob in named_blobs(record) if blob}
    named |= {record["artifact_hash"] for record in records.values() if record["type"] == "artifact_accepted"}
    require(named <= stored, f"blobs that records name are missing: {sorted(named - stored)[:3]}")
    return len(stored)


def check_gates(predicate, records, tree):
    for gate in predicate["gates"]:
        record = records.get(gate["record"])
        require(record and record["hash"] == gate["record_sha256"], f"gate {gate['gate']}: the journal has no such record {gate['record']}")
        passed = record["gate_passed"] if record["type"] == "rebased" else record["passed"]
        require(record["tree"] == gate["tree"] and passed == gate["passed"], f"gate {gate['gate']} is not what record {gate['record']} says")
    final = [gate for gate in predicate["gates"] if gate["gate"] == "deliver" and gate["tree"] == tree]
    require(final and final[-1]["passed"], "no deliver gate has passed on this tree")
    return len(predicate["gates"])


def check_approvals(predicate, records):
    for approval in predicate["approvals"]:
        record = records.get(approval["record"], {})
        same = record.get("artifact_hash") == approval["artifact_sha256"] and record.get("approved") == approval["approved"] and record.get("decided_by") == approval["decided_by"]
        require(same, f"the approval of {approval['stage']} is not what record {approval['record']} says")
    ends = [records[number] for number in sorted(records) if records[number]["type"] in ("task_completed", "task_aborted", "approval_decided")]
    require(not ends or ends[-1].get("approved", ends[-1]["type"] == "task_completed"), "the task was aborted, or its delivery rejected, after it made the commit")
    return len(predicate["approvals"])


def check_tests(repository, predicate, tree):
    files = repository.files(tree)
    for test in predicate["tests"]:
        require(test["path"] in files, f"the test {test['path']} is not in the commit")
        require(sha256(repository.blob(files[test["path"]])) == test["sha256"], f"the test {test['path']} is not the one that was measured")
    return len(predicate["tests"])


def check_signature(statement, signature, allowed_signers):
    """Who signed it, in the words of what checked it."""
    with tempfile.NamedTemporaryFile() as file:
        file.write(signature)
        file.flush()
        if signature.startswith(b"-----BEGIN SSH SIGNATURE-----"):
            if not allowed_signers:
                raise Unknown("it is signed by SSH: name the keys that you trust by --allowed-signers (ssh-keygen's file)")
            found = subprocess.run(["ssh-keygen", "-Y", "find-principals", "-s", file.name, "-f", allowed_signers], capture_output=True, check=False)
            principal = found.stdout.decode().split("\n")[0]
            require(found.returncode == 0 and principal, "it is signed by nobody whom --allowed-signers names")
            done = subprocess.run(["ssh-keygen", "-Y", "verify", "-n", "agentforge", "-f", allowed_signers, "-I", principal, "-s", file.name], input=statement, capture_output=True, check=False)
        else:
            done = subprocess.run(["gpg", "--batch", "--verify", file.name, "-"], input=statement, capture_output=True, check=False)
        said = (done.stdout + done.stderr).decode(errors="replace").strip().split("\n")
        require(done.returncode == 0, f"the signature is not good: {said[-1]}")
        return next((line for line in said if "Good" in line), said[-1])


def verify(arguments):
    repository = Repository(arguments.repository)
    identity, tree, parents, message = repository.commit(arguments.commit)
    task = trailer(message, "AgentForge-Task")
    seq, _, head = trailer(message, "AgentForge-Journal").partition(":")
    try:
        files = repository.files(f"refs/agentforge/archive/{task}")
    except Unknown as error:
        raise Unknown(f"the archive of task {task} is not here: git fetch origin 'refs/agentforge/archive/*:refs/agentforge/archive/*'") from error
    archive = {name[5:]: repository.blob(blob) for name, blob in files.items() if name.startswith("task/")}
    escalations = {name[12:]: repository.blob(blob) for name, blob in files.items() if name.startswith("escalations/")}

    header, records = all_records(archive)
    require(header.get("task_id", task) == task, f"the journal is of task {header.get('task_id')}")
    require(int(seq) in records and records[int(seq)]["hash"] == head, f"the journal has not the record {seq} that the commit's trailer names")
    print(f"journal    {len(records)} records, the chain holds; the commit's trailer names record {seq}")
    print(f"blobs      {check_blobs(archive, records)}, each has the hash of its name")

    if PROOF[0] not in archive:
        raise Unknown("the archive holds no statement")
    statement = json.loads(archive[PROOF[0]])
    require(statement["_type"] == STATEMENT_TYPE and statement["predicateType"] == PREDICATE_TYPE, "the statement is of another kind")
    predicate = statement["predicate"]
    last = max(records)
    require(predicate["task"] == task and predicate["journal"] == {"records": last, "head": records[last]["hash"]}, "the statement is not of this journal's head")
    require([subject["digest"]["gitTree"] for subject in statement["subject"]] == [tree], f"the statement is about tree {statement['subject'][0]['digest']['gitTree']}, the commit has {tree}")
    require(predicate["commit"] == identity, f"the statement is about commit {predicate['commit']}: this one was amended, rebased or cherry-picked")
    require(parents == [predicate["base"]["commit"]], "the commit has another parent than the one that it was measured on")
    if "settings_sha256" in predicate["policy"]:
        require(header["task_sha256"] == predicate["policy"]["settings_sha256"] == sha256(archive["task.yaml"]), "the settings are not those that the task began with")
    print(f"statement  about this commit and its tree {tree}")
    print(f"gates      {check_gates(predicate, records, tree)}, as the journal records them; the deliver gate passed on this tree")
    print(f"tests      {check_tests(repository, predicate, tree)} files are those that were measured")
    print(f"approvals  {check_approvals(predicate, records)}")
    print(f"files      {check_files(archive, escalations, predicate)} of the task, each has the hash that the statement gives")
    if PROOF[1] in archive:
        print(f"signature  {check_signature(archive[PROOF[0]], archive[PROOF[1]], arguments.allowed_signers)}")
    elif arguments.require_signature:
        raise Wrong("the statement is not signed")
    else:
        print("signature  none: nobody vouches for the statement but who keeps this repository")


def main():
    parser = argparse.ArgumentParser(description="Check that a commit carries its proof")
    parser.add_argument("--allowed-signers", help="ssh-keygen's file of the keys that you trust, with the namespace agentforge where it names any")
    parser.add_argument("--require-signature", action="store_true", help="a statement that nobody signed does not hold")
    parser.add_argument("repository")
    parser.add_argument("commit")
    try:
        verify(parser.parse_args())
    except Wrong as error:
        print(f"DOES NOT HOLD: {error}", file=sys.stderr)
        return 1
    except (Unknown, OSError) as error:
        print(f"cannot be checked: {error}", file=sys.stderr)
        return 2
    except (KeyError, ValueError, TypeError, AttributeError) as error:
        print(f"DOES NOT HOLD: something is not written as it should be: {error!r}", file=sys.stderr)
        return 1
    print("VERIFIED")
    return 0


if __name__ == "__main__":
    sys.exit(main())
