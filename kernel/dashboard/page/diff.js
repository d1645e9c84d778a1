// SPDX-License-Identifier: Apache-2.0
// A unified diff as tables, in one column or in two.
import { h } from "/dom.js";
import * as code from "/code.js";

// The files of a patch with their lines. How many lines a hunk has is in its head, so no line of a file is taken for a head.
export function files(patch) {
  const found = [];
  let file = null, before = 0, after = 0;
  const begin = (name) => { file = { name, lines: [] }; found.push(file); };
  for (const line of patch.split("\n")) {
    if (before > 0 || after > 0) {
      if (line[0] === "\\") { file.lines.push(line); continue; }
      if (line[0] !== "+") --before;
      if (line[0] !== "-") --after;
      file.lines.push(line || " ");
      continue;
    }
    const hunk = /^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@/.exec(line);
    if (line.startsWith("diff --git ")) begin(line.slice(11));
    else if (line.startsWith("--- ") && (!file || file.lines.length)) begin(plain(line.slice(4)));
    else if (!file) continue;
    else if (line.startsWith("--- ") || line.startsWith("+++ ")) { if (line.slice(4) !== "/dev/null") file.name = plain(line.slice(4)); }
    else if (hunk) { file.lines.push(line); before = Number(hunk[1] ?? 1); after = Number(hunk[2] ?? 1); }
    else if (line.startsWith("Binary files ") || line.startsWith("rename ") || line[0] === "\\") file.lines.push("\\ " + line.replace(/^\\ /, ""));
  }
  return found;
}

// git quotes a name with unusual letters, byte by byte, and puts a tab after one with a space.
const ESCAPES = { n: "\n", t: "\t", r: "\r", a: "\x07", b: "\b", f: "\f", v: "\v" };
function unquoted(name) {
  const bytes = [];
  for (const [, octal, escape, text] of name.matchAll(/\\([0-7]{3})|\\(.)|([^\\]+)/g)) bytes.push(...(octal ? [parseInt(octal, 8)] : new TextEncoder().encode(escape ? (ESCAPES[escape] ?? escape) : text)));
  return new TextDecoder().decode(new Uint8Array(bytes));
}
function plain(name) {
  const quoted = /^"(.*)"$/.exec(name.replace(/\t$/, ""));
  return (quoted ? unquoted(quoted[1]) : name.replace(/\t$/, "")).replace(/^[ab]\//, "");
}

function numbered(lines) {
  let before = 0, after = 0;
  return lines.map((line) => {
    const place = /^@@ -(\d+)(?:,\d+)? \+(\d+)/.exec(line);
    if (place) { before = +place[1]; after = +place[2]; return { kind: "hunk", text: line }; }
    if (line[0] === "+") return { kind: "add", after: after++, text: line.slice(1) };
    if (line[0] === "-") return { kind: "del", before: before++, text: line.slice(1) };
    if (line[0] === "\\") return { kind: "hunk", text: line.slice(2) };
    return { kind: "same", before: before++, after: after++, text: line.slice(1) };
  });
}

// Each side of a hunk in colour by itself: what stands on the other side does not belong to its text.
function colour(lines, name) {
  const grammar = code.language(name);
  if (!grammar) return lines;
  for (let from = 0; from < lines.length;) {
    let to = from;
    while (to < lines.length && lines[to].kind !== "hunk") ++to;
    for (const [side, other] of [["left", "add"], ["right", "del"]]) {
      const own = lines.slice(from, to).filter((line) => line.kind !== other);
      code.lines(own.map((line) => line.text).join("\n"), grammar).forEach((nodes, index) => { if (own[index]) own[index][side] = nodes; });
    }
    from = to + 1;
  }
  return lines;
}
const left = (line) => line.left || line.text;
const right = (line) => line.right || line.text;

function inline(lines) {
  return lines.map((line) => (line.kind === "hunk" ? h("tr", { class: "hunk" }, h("td", { colspan: 3 }, line.text)) : h("tr", { class: line.kind }, h("td", { class: "n" }, line.before || ""), h("td", { class: "n" }, line.after || ""),
    h("td", {}, h("span", { class: "sign" }, { add: "+ ", del: "− ", same: "  " }[line.kind]), line.kind === "del" ? left(line) : right(line)))));
}

function sideBySide(lines) {
  const rows = [];
  for (let at = 0; at < lines.length;) {
    if (lines[at].kind === "hunk") { rows.push(h("tr", { class: "hunk" }, h("td", { colspan: 4 }, lines[at++].text))); continue; }
    if (lines[at].kind === "same") {
      const line = lines[at++];
      rows.push(h("tr", {}, h("td", { class: "n" }, line.before), h("td", {}, left(line)), h("td", { class: "n" }, line.after), h("td", {}, right(line))));
      continue;
    }
    const gone = [], come = [];
    while (at < lines.length && lines[at].kind === "del") gone.push(lines[at++]);
    while (at < lines.length && lines[at].kind === "add") come.push(lines[at++]);
    for (let row = 0; row < Math.max(gone.length, come.length); ++row) {
      const one = gone[row], other = come[row];
      rows.push(h("tr", {}, h("td", { class: "n" }, one ? one.before : ""), h("td", { class: one ? "del" : "none" }, one ? left(one) : ""), h("td", { class: "n" }, other ? other.after : ""), h("td", { class: other ? "add" : "none" }, other ? right(other) : "")));
    }
  }
  return rows;
}

const LONGEST = 4000;
export function show(patch, twoColumns, only) {
  const shown = files(patch).filter((file) => !only || file.name === only);
  if (!shown.length) return h("p", { class: "quiet" }, "No difference in text.");
  return shown.map((file) => {
    const lines = colour(numbered(file.lines.slice(0, LONGEST)), file.name);
    return h("details", { open: true, "data-key": "diff-" + file.name }, h("summary", {}, file.name),
      h("div", { class: "diff" + (twoColumns ? " two" : ""), tabindex: 0, role: "region", "aria-label": "Changes in " + file.name }, h("table", {}, h("tbody", {}, twoColumns ? sideBySide(lines) : inline(lines)))),
      file.lines.length > LONGEST && h("p", { class: "quiet" }, "… and " + (file.lines.length - LONGEST) + " more lines"));
  });
}

// Two texts as a unified diff of whole lines, with three lines around each change.
export function between(name, one, other) {
  const a = one.replace(/\n$/, "").split("\n"), b = other.replace(/\n$/, "").split("\n");
  const rows = [];
  if (a.length * b.length > 4e6) rows.push(...a.map((line) => "-" + line), ...b.map((line) => "+" + line));
  else {
    const table = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1));
    for (let i = a.length - 1; i >= 0; --i) for (let j = b.length - 1; j >= 0; --j) table[i][j] = a[i] === b[j] ? table[i + 1][j + 1] + 1 : Math.max(table[i + 1][j], table[i][j + 1]);
    for (let i = 0, j = 0; i < a.length || j < b.length;) {
      if (i < a.length && j < b.length && a[i] === b[j]) { rows.push(" " + a[i++]); ++j; }
      else if (i < a.length && (j >= b.length || table[i + 1][j] >= table[i][j + 1])) rows.push("-" + a[i++]);
      else rows.push("+" + b[j++]);
    }
  }
  const AROUND = 3;
  const near = rows.map(() => false);
  rows.forEach((row, at) => { if (row[0] !== " ") for (let k = Math.max(0, at - AROUND); k <= Math.min(rows.length - 1, at + AROUND); ++k) near[k] = true; });
  if (!near.includes(true)) return "";
  const out = ["--- a/" + name, "+++ b/" + name];
  for (let at = 0, before = 1, after = 1; at < rows.length;) {
    const from = at;
    while (at < rows.length && near[at] === near[from]) ++at;
    const hunk = rows.slice(from, at);
    const counts = [hunk.filter((row) => row[0] !== "+").length, hunk.filter((row) => row[0] !== "-").length];
    if (near[from]) out.push("@@ -" + before + "," + counts[0] + " +" + after + "," + counts[1] + " @@", ...hunk);
    before += counts[0];
    after += counts[1];
  }
  return out.join("\n");
}
