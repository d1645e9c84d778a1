# SPDX-License-Identifier: Apache-2.0
"""Makes the contents that a disk may have after a power cut: from a trace, with unsynced data dropped, reordered or torn.

The rules are POSIX's, stricter than those of any one file system. fsync of a file keeps its bytes, not its name. fsync of a folder keeps the names in it,
not the folder's own name. Each unsynced piece may survive or not, independently of the others: a later write without an earlier one, a name without its bytes.
A rename happens completely or not at all. A write may be torn at any sector.
"""

import dataclasses
import os
import pathlib
import shutil
import stat

from trace import O_TRUNC, RENAME_EXCHANGE

SECTOR = 512


@dataclasses.dataclass(eq=False)
class Node:
    """A file, a link or a folder: its state before the trace (`entries` or `base`), and its changes."""
    kind: str
    base: bytes = b""
    source: str = ""                   # The path of an untouched file's bytes and permissions.
    mode: int = 0o644
    changes: list = dataclasses.field(default_factory=list)     # [number, durable, kind, offset, bytes]


@dataclasses.dataclass(eq=False)
class Naming:
    """Names that one call changed: (folder, name, node or None)."""
    number: int
    parts: list
    durable: bool = False


class Disk:
    """`before`: a copy of the folder `root` from before the trace."""

    def __init__(self, root, before):
        self.root = str(root)
        self.top = Node("folder")
        self.before = {}               # folder: {name: node}, durable
        self.live = {}
        self.namings = []
        self._load(self.top, str(before))

    def _load(self, folder, path):
        names = {}
        for entry in os.scandir(path):
            mode = entry.stat(follow_symlinks=False).st_mode
            if entry.is_symlink():
                node = Node("link", base=os.fsencode(os.readlink(entry.path)))
            elif entry.is_dir():
                node = Node("folder", mode=stat.S_IMODE(mode))
                self._load(node, entry.path)
            else:
                node = Node("file", source=entry.path, mode=stat.S_IMODE(mode))
            names[entry.name] = node
        self.before[folder] = dict(names)
        self.live[folder] = names

    def find(self, path):
        """Returns (folder, name, node) as the program sees them; None if a folder is missing (another process made it)."""
        parts = os.path.relpath(path, self.root).split("/")
        folder = self.top
        if parts == ["."]:
            return None, "", self.top
        for part in parts[:-1]:
            folder = self.live.get(folder, {}).get(part)
            if folder is None or folder.kind != "folder":
                return None, "", None
        return folder, parts[-1], self.live[folder].get(parts[-1])

    def adopt(self, call):
        """Adds a file that another program wrote and this one synced, and its folders. Treats them and their names as durable."""
        folder = self.top
        parts = os.path.relpath(call.path, self.root).split("/")
        for part in parts[:-1]:
            if part not in self.live[folder]:
                made = Node("folder", mode=0o755)
                self.before[made], self.live[made] = {}, {}
                self.before[folder][part] = self.live[folder][part] = made
            folder = self.live[folder][part]
        self.before[folder][parts[-1]] = self.live[folder][parts[-1]] = Node("file", base=call.data)

    def name(self, number, *parts):
        for folder, name, node in parts:
            if folder is None:
                return
        self.namings.append(Naming(number, list(parts)))
        for folder, name, node in parts:
            if node is None:
                self.live[folder].pop(name, None)
            else:
                self.live[folder][name] = node

    def apply(self, call):
        """Applies one finished call of the trace. Failed calls did nothing."""
        if call.result < 0:
            return
        folder, name, node = self.find(call.path)
        if call.op == "create":
            if node is None and folder is not None:
                self.name(call.number, (folder, name, Node("file", mode=0o755 if call.path.endswith(".sh") else 0o644)))
            elif node is not None and node.kind == "file" and call.offset & O_TRUNC:
                node.changes.append([call.number, False, "truncate", 0, b""])
        elif call.op in ("write", "copy") and node is not None:
            node.changes.append([call.number, False, "write", call.offset, call.data])
        elif call.op == "truncate" and node is not None:
            node.changes.append([call.number, False, "truncate", call.offset, b""])
        elif call.op == "sync" and node is None and call.data:
            self.adopt(call)
        elif call.op == "sync" and node is not None:
            if node.kind == "folder":
                for naming in self.namings:
                    # A rename between two folders is durable once the folder with the new name is synced.
                    naming.durable = naming.durable or any(each is node and (what is not None or len(naming.parts) == 1) for each, _, what in naming.parts)
            elif call.data:
                # All its bytes at that time, including those that another program wrote.
                node.changes[:] = [[call.number, True, "truncate", 0, b""], [call.number, True, "write", 0, call.data]]
            else:
                for change in node.changes:
                    change[1] = True
        elif call.op == "rename" and node is not None:
            to_folder, to_name, to_node = self.find(call.other)
            if call.offset & RENAME_EXCHANGE:
                self.name(call.number, (folder, name, to_node), (to_folder, to_name, node))
            else:
                self.name(call.number, (folder, name, None), (to_folder, to_name, node))
        elif call.op == "link":
            _, _, existing = self.find(call.other)
            if existing is not None:
                self.name(call.number, (folder, name, existing))
        elif call.op == "symlink":
            self.name(call.number, (folder, name, Node("link", base=os.fsencode(call.other))))
        elif call.op in ("unlink", "rmdir") and node is not None:
            self.name(call.number, (folder, name, None))
        elif call.op == "mkdir" and node is None and folder is not None:
            made = Node("folder", mode=0o755)
            self.before[made], self.live[made] = {}, {}
            self.name(call.number, (folder, name, made))

    def synced_journals(self, repositories):
        """Returns {path: synced bytes} of the journals that the program sees."""
        found = {}
        projects = [self.find(f"{repository}/.agentforge/tasks")[2] for repository in repositories]
        for task, folder in ((task, folder) for project in projects for task, folder in self.live.get(project, {}).items()):
            if task.startswith("."):
                continue            # Still being created; it gets its name when it is complete.
            node = self.live[folder].get("actions.yaml") if folder.kind == "folder" else None
            if node is not None and any(change[1] for change in node.changes):
                kept = self.bytes_of(node, None, "drop")
                found[task] = kept[:kept.rfind(b"\n") + 1]
        return found

    # -- the cut

    def cut(self, place, chance, how):
        """Writes the remaining contents to `place`. `how`: drop (no unsynced data), keep (everything), names (names without unsynced bytes), mixed (each by chance, torn)."""
        names = {folder: dict(entries) for folder, entries in self.before.items()}
        for naming in self.namings:
            stays = naming.durable or how in ("keep", "names") or how == "mixed" and chance.random() < 0.5
            if not stays:
                continue
            for folder, name, node in naming.parts:
                if node is None:
                    names[folder].pop(name, None)
                else:
                    names[folder][name] = node
        shutil.rmtree(place, ignore_errors=True)
        self._write(self.top, pathlib.Path(place), names, chance, how, set())

    def _write(self, folder, place, names, chance, how, above):
        place.mkdir(parents=True, exist_ok=True)
        for name, node in names[folder].items():
            path = place / name
            if node.kind == "folder":
                if node not in above:
                    self._write(node, path, names, chance, how, above | {node})
                    os.chmod(path, node.mode)
            elif node.kind == "link":
                os.symlink(node.base, path)
            elif not node.changes and not node.source and node.base:
                path.write_bytes(node.base)
            elif not node.changes and node.source:
                shutil.copy2(node.source, path)
            else:
                path.write_bytes(self.bytes_of(node, chance, how))
                os.chmod(path, node.mode)

    @staticmethod
    def bytes_of(node, chance, how):
        data = bytearray(pathlib.Path(node.source).read_bytes() if node.source else b"")
        for _, durable, kind, offset, given in node.changes:
            given = bytes(given)
            if not durable:
                if how in ("drop", "names") or how == "mixed" and chance.random() < 0.4:
                    continue
                if how == "mixed" and len(given) > 1 and chance.random() < 0.3:
                    given = given[:chance.choice([chance.randrange(1, len(given)), max(1, len(given) // SECTOR * SECTOR)])]
            if kind == "truncate":
                data[offset:] = bytes(max(0, offset - len(data)))
            else:
                data.extend(bytes(max(0, offset - len(data))))
                data[offset:offset + len(given)] = given
        return bytes(data)


HOWS = ("drop", "mixed", "names", "keep")
