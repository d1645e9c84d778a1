# SPDX-License-Identifier: Apache-2.0
"""Reads what faults.cpp traced, and makes from it what a disk may hold after the power was cut."""

import dataclasses
import os
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
    """The calls that were made, in their order."""
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
