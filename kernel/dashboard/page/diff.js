// SPDX-License-Identifier: Apache-2.0
// A unified diff as tables, in one column or in two.
import { h } from "/dom.js";

export function files(patch) {
  const found = [];
  let file = null;
  for (const line of patch.split("\n")) {
    if (line.startsWith("diff --git ")) { file = { name: line.slice(11), lines: [] }; found.push(file); }
    else if (line.startsWith("--- ") && (!file || file.lines.length)) { file = { name: "", lines: [] }; found.push(file); }
    if (!file) continue;
    if (line.startsWith("+++ ")) { file.name = line.slice(4) === "/dev/null" ? file.name : line.slice(4).replace(/^b\//, ""); continue; }
    if (line.startsWith("--- ")) { file.name = line.slice(4).replace(/^a\//, ""); continue; }
    if (line.startsWith("@@") || (file.started && /^[ +\-\\]/.test(line))) { file.started = true; file.lines.push(line); }
  }
  return found;
}

function numbered(lines) {
  let before = 0, after = 0;
  return lines.map((line) => {
    const place = /^@@ -(\d+)(?:,\d+)? \+(\d+)/.exec(line);
    if (place) { before = +place[1]; after = +place[2]; return { kind: "hunk", text: line }; }
    if (line[0] === "+") return { kind: "add", after: after++, text: line.slice(1) };
    if (line[0] === "-") return { kind: "del", before: before++, text: line.slice(1) };
    if (line[0] === "\\") return { kind: "hunk", text: line };
    return { kind: "same", before: before++, after: after++, text: line.slice(1) };
  });
}

function inline(lines) {
  return lines.map((line) => h("tr", { class: line.kind }, h("td", { class: "n" }, line.before || ""), h("td", { class: "n" }, line.after || ""),
    h("td", {}, { add: "+ ", del: "− ", same: "  ", hunk: "" }[line.kind], line.text)));
}

function sideBySide(lines) {
  const rows = [];
  for (let at = 0; at < lines.length;) {
    if (lines[at].kind === "hunk") { rows.push(h("tr", { class: "hunk" }, h("td", { colspan: 4 }, lines[at++].text))); continue; }
    if (lines[at].kind === "same") {
      const line = lines[at++];
      rows.push(h("tr", {}, h("td", { class: "n" }, line.before), h("td", {}, line.text), h("td", { class: "n" }, line.after), h("td", {}, line.text)));
      continue;
    }
    const gone = [], come = [];
    while (at < lines.length && lines[at].kind === "del") gone.push(lines[at++]);
    while (at < lines.length && lines[at].kind === "add") come.push(lines[at++]);
    for (let row = 0; row < Math.max(gone.length, come.length); ++row) {
      const left = gone[row], right = come[row];
      rows.push(h("tr", {}, h("td", { class: "n" }, left ? left.before : ""), h("td", { class: left ? "del" : "" }, left ? left.text : ""), h("td", { class: "n" }, right ? right.after : ""), h("td", { class: right ? "add" : "" }, right ? right.text : "")));
    }
  }
  return rows;
}

const LONGEST = 4000;
export function show(patch, twoColumns, only) {
  const shown = files(patch).filter((file) => !only || file.name === only);
  if (!shown.length) return h("p", { class: "quiet" }, "No difference in text.");
  return shown.map((file) => {
    const lines = numbered(file.lines.slice(0, LONGEST));
    return h("details", { open: true, "data-key": "diff-" + file.name }, h("summary", {}, file.name),
      h("div", { class: "diff", tabindex: 0, role: "region", "aria-label": "Changes in " + file.name }, h("table", {}, h("tbody", {}, twoColumns ? sideBySide(lines) : inline(lines)))),
      file.lines.length > LONGEST && h("p", { class: "quiet" }, "… and " + (file.lines.length - LONGEST) + " more lines"));
  });
}

// Two texts as a unified diff of whole lines: what they share at both ends, and what differs between.
export function between(name, one, other) {
  const a = one.split("\n"), b = other.split("\n");
  const table = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1));
  if (a.length * b.length > 4e6) return "--- a/" + name + "\n+++ b/" + name + "\n@@ -1 +1 @@\n" + a.map((l) => "-" + l).join("\n") + "\n" + b.map((l) => "+" + l).join("\n");
  for (let i = a.length - 1; i >= 0; --i) for (let j = b.length - 1; j >= 0; --j) table[i][j] = a[i] === b[j] ? table[i + 1][j + 1] + 1 : Math.max(table[i + 1][j], table[i][j + 1]);
  const out = [];
  let i = 0, j = 0;
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) { out.push(" " + a[i++]); ++j; }
    else if (i < a.length && (j >= b.length || table[i + 1][j] >= table[i][j + 1])) out.push("-" + a[i++]);
    else out.push("+" + b[j++]);
  }
  return "--- a/" + name + "\n+++ b/" + name + "\n@@ -1,0 +1,0 @@\n" + out.join("\n");
}
