// SPDX-License-Identifier: Apache-2.0
// Reports which changed lines of a task the tests run, which test files run them, and which of these lines compare with values of the
// tests. Works with node's own runner; with others it reports that it cannot measure.
//
// Input: {"root", "files": test files, "changed": {path: [line, …]}, "marker"}. Output, one JSON object a line:
//   {"file", "line", "count", "tests"}       a changed line that starts a statement: how many test files ran it, and the first five
//   {"special", "file", "line", "tests"}     a changed line that compares with the literal `special`, which a test file also has
//   {"end": true, "tests": test files run}
// Lines that only a separate process runs are not seen. Nothing here is a proof: the project's code runs in the recorder's process.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

import { inParallel, runChild } from './child.mjs';
import { withMarks } from './marks.mjs';
import { findTypescript } from './project.mjs';
import { loadTypescript, missing, parse, write } from './source_tree.mjs';

const { root, files, changed, marker } = JSON.parse(readFileSync(0, 'utf8'));
const here = fileURLToPath(new URL('.', import.meta.url));
const ts = loadTypescript(root);
if (ts === null) {
  process.stderr.write(`agentforge: not measured: ${missing}\n`);
  process.exit(4);
}
const texts = new Map(files.map((file) => [file, readFileSync(path.join(root, file), 'utf8')]));
const foreign = files.find((file) => !/['"]node:test['"]/.test(texts.get(file)));
if (foreign !== undefined) {
  process.stderr.write(`agentforge: not measured: coverage is measured for node's own test runner, which ${foreign} does not import\n`);
  process.exit(4);
}

const marked = Object.keys(changed).filter((file) => /\.[cm]?[jt]sx?$/.test(file));
const ran = new Map();
await inParallel(files, 4, async (file) => {
  const { lines, problem } = await runChild({
    argv: [process.execPath, '--no-warnings', `--test-reporter=${pathToFileURL(path.join(here, 'node_reporter.mjs')).href}`,
           '--test-reporter-destination=stdout', path.join(here, 'run_node_file.mjs')],
    directory: root,
    request: { root, file, canary: path.join(here, 'canary_node.mjs'), marker, typescript: findTypescript(root), marked },
  });
  if (problem !== '') return;
  for (const { type, place } of lines) {
    if (type === 'ran') ran.set(place, [...(ran.get(place) ?? []), file]);
  }
});

/** True if a literal is specific to a test: not the empty string, a single letter, a flag or a small number. */
function telling(node) {
  if (ts.isStringLiteralLike(node)) return node.text.length > 1 ? JSON.stringify(node.text) : null;
  if (ts.isNumericLiteral(node)) return Math.abs(Number(node.text)) > 2 ? String(Number(node.text)) : null;
  return null;
}

const known = new Set();
for (const [file, text] of texts) {
  const visit = (node) => {
    const value = telling(node);
    if (value !== null) known.add(value);
    ts.forEachChild(node, visit);
  };
  visit(parse(ts, file, text));
}

const equal = new Set([ts.SyntaxKind.EqualsEqualsEqualsToken, ts.SyntaxKind.EqualsEqualsToken]);
const answer = [];
for (const file of marked.sort()) {
  const numbers = new Set(changed[file]);
  const source = parse(ts, file, readFileSync(path.join(root, file), 'utf8'));
  const executable = withMarks(ts, source, file).lines;
  for (const line of [...executable].sort((a, b) => a - b)) {
    const tests = ran.get(`${file}:${line}`) ?? [];
    if (numbers.has(line)) answer.push({ file, line, count: tests.length, tests: tests.slice(0, 5) });
  }
  const told = new Set();
  const tell = (node, literal, depends) => {
    const value = telling(literal);
    const line = source.getLineAndCharacterOfPosition(node.getStart(source)).line + 1;
    const at = depends === undefined ? line : source.getLineAndCharacterOfPosition(depends.getStart(source)).line + 1;
    const tests = ran.get(`${file}:${at}`) ?? ran.get(`${file}:${line}`) ?? [];
    if (value === null || !known.has(value) || !numbers.has(line) || told.has(`${line} ${value}`) || tests.length === 0) return;
    told.add(`${line} ${value}`);
    answer.push({ special: value.slice(0, 80), file, line, tests: tests.slice(0, 5) });
  };
  const first = (node) => (node !== undefined && ts.isBlock(node) ? node.statements[0] : node);
  const visit = (node, depends) => {
    if (ts.isBinaryExpression(node) && equal.has(node.operatorToken.kind)) for (const each of [node.left, node.right]) tell(node, each, depends);
    if (ts.isCaseClause(node)) tell(node, node.expression, first(node.statements[0]));
    if (ts.isIfStatement(node)) {
      visit(node.expression, first(node.thenStatement));
      visit(node.thenStatement, undefined);
      if (node.elseStatement !== undefined) visit(node.elseStatement, undefined);
      return;
    }
    ts.forEachChild(node, (child) => visit(child, depends));
  };
  visit(source, undefined);
}
write([...answer, { end: true, tests: files.length }]);
