# SPDX-License-Identifier: Apache-2.0
"""Reads the trace of faults.cpp, from which power.py makes the contents of a disk after a power cut."""

import dataclasses
import os
import re
import struct

OPERATIONS = ("none", "create", "write", "sync", "rename", "link", "symlink", "unlink", "mkdir", "rmdir", "truncate", "copy", "close", "allocate")
KINDS = ("kill-before", "kill-after", "eio", "enospc", "full", "eintr", "emfile", "short")
HEADER = struct.Struct("<IIQqqQIIII")
SHARED = struct.Struct("<QQII512i")
O_TRUNC, O_EXCL, RENAME_EXCHANGE = os.O_TRUNC, os.O_EXCL, 2


@dataclasses.dataclass
class Call:
    op: str
    number: int
    result: int
    offset: int
    inode: int
    process: int
    path: str
    other: str
    data: bytes


def read_trace(path):
    """Returns the calls in order."""
    raw, at, calls = path.read_bytes() if path.exists() else b"", 0, []
    while at + HEADER.size <= len(raw):
        size, op, number, result, offset, inode, process, path_length, other_length, data_length = HEADER.unpack_from(raw, at)
        body = raw[at + HEADER.size:at + size]
        name, other = body[:path_length], body[path_length:path_length + other_length]
        calls.append(Call(OPERATIONS[op], number, result, offset, inode, process, os.path.normpath(os.fsdecode(name)),
                          os.path.normpath(os.fsdecode(other)) if other else "", body[path_length + other_length:]))
        assert len(calls[-1].data) == data_length
        at += size
    return sorted(calls, key=lambda call: call.number)


@dataclasses.dataclass
class Shared:
    count: int
    struck_at: int
    struck: str
    processes: list


def read_shared(path):
    count, at, op, processes, *ids = SHARED.unpack(path.read_bytes())
    return Shared(count, at, OPERATIONS[op], ids[:processes])


# Parts that differ from run to run, or that stand for many files written by the same code. Applied in this order.
SAME_SITE = [(re.compile(pattern), word) for pattern, word in (
    (r"(?<=^tmp/)(?!agentforge-)[0-9a-f]+(?=/|$)", "RANDOM"),
    (r"(?:task|set)-[0-9a-f]{6,}[a-z0-9-]*", "TASK"),
    (r"(?<=\.git/objects/)[0-9a-f]{2}(?=/|$)", "HH"),
    (r"[0-9a-f]{7,}", "HASH"),
    (r"(?<=[-_.])[A-Za-z0-9]{6}(?=/|$)", "RANDOM"),
    (r"\d+", "N"),
    (r"(?<=worktrees/)measured-head|(?<=worktrees/HASH/)measured-head|TASK-(?:textkit-HASH|RANDOM)", "TASK"),
    (r"(?<=agentforge-)measured-head", "TASK"),
    (r"(?<=state/sets/TASK)(\.removed|)/.+", r"\1/FILE"),
    (r"(?<=/TASK/)(work|verify|base)(\.removed|)/.*\.agentforge-(?:new|tmp).*", r"\1\2/TEMPORARY"),
    (r"(?<=/TASK/)(work|verify|base)(\.removed|)/.+", r"\1\2/FILE"),
    (r"(?<=/run-HASH/HASH/HASH/).+|(?<=/apply/files/).+|(?<=^REPOSITORY/)(?!\.git/|\.agentforge/|\.git$|\.agentforge$).+", "FILE"),
    (r"(?<=/phases/)[a-z]+|(?<=/iteration_history/)[a-z]+", "STAGE"),
    (r"(?<=/STAGE/)[a-z_]+\.yaml", "ARTIFACT"))]


def kind_of_file(path, root):
    """Returns `path` without the parts that differ from run to run, such as `REPOSITORY/.agentforge/tasks/TASK/actions.yaml`."""
    first, slash, rest = os.path.relpath(path, root).partition("/")
    kind = (first if first in ("state", "home", "tmp") else "REPOSITORY") + slash + rest
    for pattern, word in SAME_SITE:
        kind = pattern.sub(word, kind)
    return kind


def site_of(call, root):
    """Returns the call and the kind of its files. The same code makes calls with the same site, for the same reason."""
    return " ".join([call.op, kind_of_file(call.path, root), *([kind_of_file(call.other, root)] if call.other else [])])
