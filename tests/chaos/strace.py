# SPDX-License-Identifier: Apache-2.0
"""Reads the calls that change files, as the kernel saw them, from strace's output. A call that faults.cpp does not see cannot be struck."""

import collections
import re

OPERATION = {
    "creat": "create", "open": "create", "openat": "create", "openat2": "create", "write": "write", "pwrite64": "write", "writev": "write", "pwritev": "write",
    "pwritev2": "write", "fsync": "sync", "fdatasync": "sync", "syncfs": "sync", "rename": "rename", "renameat": "rename", "renameat2": "rename", "link": "link",
    "linkat": "link", "symlink": "symlink", "symlinkat": "symlink", "unlink": "unlink", "unlinkat": "unlink", "mkdir": "mkdir", "mkdirat": "mkdir", "rmdir": "rmdir",
    "ftruncate": "truncate", "truncate": "truncate", "copy_file_range": "copy", "sendfile": "copy", "fallocate": "allocate",
    # These calls have no failpoint, so they must not change a file.
    "splice": "splice", "mknod": "mknod", "mknodat": "mknod", "ioctl": "clone", "mmap": "mapped", "io_uring_setup": "io_uring", "sync_file_range": "sync range",
    "open_by_handle_at": "by handle", "process_vm_writev": "of a process",
}
CREATES_PROCESS = ("clone", "clone3", "fork", "vfork")
OUTPUT = re.compile(r"[12]<")       # A command in the background prints to a file, on which nothing depends.
PREFIX = ("strace", "-f", "-qq", "-y", "-s", "4096", "-e", "signal=none", "-e", "trace=execve,clone,clone3,fork,vfork," + ",".join(OPERATION))
LINE = re.compile(r"^(\d+) +(\w+)\((.*)\) += (-?\d+)")
RESUMED = re.compile(r"^(\d+) +<\.\.\. \w+ resumed>(.*)$")
PATHS = re.compile(r'<(/[^<>]*)>|"((?:[^"\\]|\\.)*)"')


def whole_lines(text):
    begun = {}
    for line in text.splitlines():
        process = line.split(" ", 1)[0]
        if line.endswith("<unfinished ...>"):
            begun[process] = line[:-len("<unfinished ...>")]
            continue
        resumed = RESUMED.match(line)
        if resumed and process in begun:
            line = begun.pop(process) + resumed.group(2)
        yield line


def seen_by_the_kernel(text, root):
    """Counter of operations below `root` that the program itself did and that succeeded; and an example of each."""
    counts, examples, seen = collections.Counter(), collections.defaultdict(list), set()
    calls = [found for found in map(LINE.match, whole_lines(text)) if found]
    # A child's first calls may come before the line of the call that made it. For a sandboxed program's children, strace has other numbers than that call returned, so their parent is unknown.
    own = {calls[0].group(1)} if calls else set()
    parents = {found.group(4): found.group(1) for found in calls if found.group(2) in CREATES_PROCESS}
    for found in calls:
        line, process, call, arguments, result = found.group(0), found.group(1), found.group(2), found.group(3), int(found.group(4))
        if process not in seen:
            seen.add(process)
            if parents.get(process) in own:
                own.add(process)
        if call in CREATES_PROCESS:
            continue
        if call == "execve":
            if result == 0 and arguments.split('"')[1].endswith("/agentforge"):
                own.add(process)
            elif result == 0:
                own.discard(process)
            continue
        if result < 0 or process not in own or OUTPUT.match(arguments):
            continue
        op = OPERATION[call]
        if call in ("open", "openat", "openat2") and "O_CREAT" not in arguments and "O_TRUNC" not in arguments:
            continue
        if call == "mmap" and not ("MAP_SHARED" in arguments and "PROT_WRITE" in arguments) or call == "ioctl" and "FICLONE" not in arguments:
            continue
        if call == "unlinkat" and "AT_REMOVEDIR" in arguments:
            op = "rmdir"
        by_descriptor = op in ("write", "sync", "copy", "allocate", "mapped") or call == "ftruncate"
        text_of_paths = arguments.split('"')[0] if by_descriptor else arguments
        text_of_paths = re.sub(r'(?:AT_FDCWD|\d+)<[^<>]*>, "/', '"/', text_of_paths)      # Removes the folder in front of an absolute path.
        paths = [(first or second) for first, second in PATHS.findall(text_of_paths)]
        if not any(path.startswith(root + "/") or not path.startswith("/") and not by_descriptor for path in paths):
            continue
        counts[op] += 1
        if len(examples[op]) < 400:
            examples[op].append(line[:300])
    return counts, examples
