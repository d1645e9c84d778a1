# SPDX-License-Identifier: Apache-2.0
"""Journals of other sizes and names, made from those in tests/journals: each record's hash and its link to the one before are computed anew."""

import hashlib
import json
import pathlib
import re


def line_of(value):
    """As the program writes a record: JSON in one line."""
    return json.dumps(value, ensure_ascii=False)


def read(journals, name):
    """The header's fields and the records."""
    header, records, body = {}, [], False
    for line in (pathlib.Path(journals) / name / "actions.yaml").read_text(encoding="utf-8").splitlines():
        if line == "actions:":
            body = True
        elif body:
            records.append(json.loads(line[2:]))
        elif not line.startswith("agentforge_journal"):
            key, value = line.split(": ", 1)
            header[key] = json.loads(value)
    return header, records


class Writer:
    """A task's journal below `agentforge`/tasks, written record by record."""

    def __init__(self, agentforge, header):
        self.task_id = header["task_id"]
        folder = pathlib.Path(agentforge) / "tasks" / self.task_id
        folder.mkdir(parents=True)
        self.path = folder / "actions.yaml"
        self.hash = hashlib.sha256(json.dumps(header, sort_keys=True, ensure_ascii=False, separators=(",", ":")).encode()).hexdigest()
        self.seq = 0
        head = "agentforge_journal: 1\n" + "".join(f"{key}: {line_of(value)}\n" for key, value in header.items()) + "actions:\n"
        self.path.write_text(head, encoding="utf-8")

    def append(self, records):
        lines = []
        for record in records:
            self.seq += 1
            record = {key: value for key, value in record.items() if key not in ("prev", "hash")} | {"seq": self.seq, "prev": self.hash}
            text = line_of(record)
            self.hash = hashlib.sha256(text.encode()).hexdigest()
            lines.append(f'- {text[:-1]}, "hash": "{self.hash}"}}\n')
        with self.path.open("a", encoding="utf-8") as file:
            file.write("".join(lines))


def renamed(journals, name, agentforge, number, request=None):
    """A task of its own with the records of a kept journal."""
    header, records = read(journals, name)
    old = header["task_id"]
    new = re.sub(r"-[0-9a-f]{8}$", f"-{number:08x}", old)
    swap = lambda value: json.loads(json.dumps(value, ensure_ascii=False).replace(old, new))  # noqa: E731
    header, records = swap(header), swap(records)
    if request:
        header["request"] = records[0]["request"] = request
    writer = Writer(agentforge, header)
    writer.append(records)
    return writer


def with_steps(journals, agentforge, number, steps):
    """A task that is in GREEN and has done so many steps."""
    header, records = read(journals, "killed_in_green")
    header["request"] = records[0]["request"] = f"A task of {steps} steps"
    header["task_id"] = records[0]["task_id"] = re.sub(r"-[0-9a-f]{8}$", f"-{number:08x}", header["task_id"])
    at = max(index for index, record in enumerate(records) if record["type"] == "step")
    writer = Writer(agentforge, header)
    writer.append(records[:at + 1])
    writer.template = records[at]
    writer.steps = records[at]["step"]
    more_steps(writer, steps - writer.steps)
    return writer


def more_steps(writer, count):
    made = []
    for _ in range(count):
        writer.steps += 1
        made.append({key: value for key, value in writer.template.items() if key != "agent"} | {"step": writer.steps})
    writer.append(made)
