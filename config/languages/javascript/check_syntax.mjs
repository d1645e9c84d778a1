// SPDX-License-Identifier: Apache-2.0
// Compiles files without running them. Started with `--experimental-vm-modules`.
//
// Input: {"root": folder, "files": [relative path]}. Output, one JSON object a line: {"file", "line", "message"} for each file
// that does not compile, then {"end": true, "checked": number of files}. node itself reads JavaScript. TypeScript and JSX need
// the project's `typescript`, or else the machine's.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import vm from 'node:vm';

import { loadTypescript, missing, parse, syntaxError, write } from './source_tree.mjs';

const { root, files } = JSON.parse(readFileSync(0, 'utf8'));
let typescript;

function problemOf(error, file) {
  const place = new RegExp(`^${file.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}:(\\d+)`).exec(String(error.stack));
  return { line: place === null ? 0 : Number(place[1]), message: `${error.name}: ${error.message}` };
}

function asModule(text, file) {
  try {
    new vm.SourceTextModule(text, { identifier: file, context: vm.createContext({}) });
    return null;
  } catch (error) {
    return problemOf(error, file);
  }
}

function asScript(text, file) {
  try {
    vm.compileFunction(text.replace(/^#!.*/, ''), ['exports', 'require', 'module', '__filename', '__dirname'], { filename: file });
    return null;
  } catch (error) {
    return problemOf(error, file);
  }
}

function check(file) {
  const text = readFileSync(path.join(root, file), 'utf8').replace(/^\ufeff/, '');
  if (/\.([cm]?ts|[jt]sx)$/.test(file)) {
    typescript ??= loadTypescript(root);
    if (typescript === null) throw new Error(missing);
    return syntaxError(typescript, parse(typescript, file, text));
  }
  if (file.endsWith('.mjs')) return withLine(asModule(text, file), file, text);
  if (file.endsWith('.cjs')) return asScript(text, file);
  // package.json decides which of the two a `.js` file is. A file that is neither has an error in any case.
  const module = asModule(text, file);
  if (module === null) return null;
  const script = asScript(text, file);
  if (script === null) return null;
  return withLine(/^\s*(import|export)\b/m.test(text) ? module : script, file, text);
}

/** node does not report the place of a module's error; `typescript` does, if it is installed. */
function withLine(problem, file, text) {
  if (problem === null || problem.line > 0) return problem;
  typescript ??= loadTypescript(root);
  const found = typescript === null ? null : syntaxError(typescript, parse(typescript, file, text));
  return { ...problem, line: found?.line ?? 0 };
}

const lines = [];
for (const file of files) {
  let problem;
  try {
    problem = check(file);
  } catch (error) {
    problem = { line: 0, message: error.message };
  }
  if (problem !== null) lines.push({ file, line: problem.line, message: problem.message.slice(0, 500) });
}
write([...lines, { end: true, checked: files.length }]);
