// SPDX-License-Identifier: Apache-2.0
// Source in colour. Prism only says which part of a text is what; elements are made here, and every text is a text node.
import Prism from "/prism.js";
import { h } from "/dom.js";

const LANGUAGES = {
  js: "javascript", mjs: "javascript", cjs: "javascript", jsx: "javascript", ts: "typescript", mts: "typescript", tsx: "typescript", py: "python", pyi: "python", c: "c", h: "cpp", cc: "cpp", cpp: "cpp", cxx: "cpp", hh: "cpp", hpp: "cpp",
  yaml: "yaml", yml: "yaml", json: "json", rs: "rust", go: "go", java: "java", sh: "bash", bash: "bash", toml: "toml", html: "markup", htm: "markup", xml: "markup", svg: "markup", css: "css",
};
const LONGEST = 200000;

// The language of a file, or null.
export function language(name) {
  const key = LANGUAGES[name.slice(name.lastIndexOf(".") + 1).toLowerCase()];
  return (key && Prism.languages[key]) || null;
}

const KINDS = { comment: "comment", prolog: "comment", doctype: "comment", string: "string", char: "string", "template-string": "string", "attr-value": "string", regex: "string", keyword: "word", boolean: "word", builtin: "word", tag: "word", atrule: "word", important: "word",
  number: "number", constant: "number", function: "name", "class-name": "name", property: "name", key: "name", "attr-name": "name", selector: "name", decorator: "name", annotation: "name", macro: "name" };

// Texts with the kind of the innermost token that has one.
function parts(tokens, kind, found) {
  for (const token of [tokens].flat()) {
    if (typeof token === "string") found.push([kind, token]);
    else parts(token.content, KINDS[token.type] || KINDS[token.alias] || kind, found);
  }
  return found;
}

// For each line of a text the nodes that show it.
export function lines(text, grammar) {
  if (!grammar || text.length > LONGEST) return text.split("\n").map((line) => [line]);
  const all = [[]];
  for (const [kind, content] of parts(Prism.tokenize(text, grammar), "", [])) {
    content.split("\n").forEach((piece, index) => {
      if (index > 0) all.push([]);
      if (piece) all[all.length - 1].push(kind ? h("span", { class: "code-" + kind }, piece) : piece);
    });
  }
  return all;
}

// A whole text, as lines() shows it. `label` is what a screen reader calls it, if the page shows several of one name.
export function show(text, name, label) {
  const grammar = language(name);
  return h("pre", { tabindex: 0, class: "code", role: "region", "aria-label": label || name }, grammar ? lines(text, grammar).map((line, index) => (index ? ["\n", line] : line)) : text);
}
