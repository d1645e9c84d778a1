// SPDX-License-Identifier: Apache-2.0
// Makes a syntax tree of source text: the `typescript` package reads JavaScript and TypeScript. Runs nothing of the project.
import { createRequire } from 'node:module';

import { findTypescript } from './project.mjs';

/** Returns the package, or null if neither the project below `root` nor the machine has it. */
export function loadTypescript(root = '/') {
  const file = findTypescript(root);
  return file === null || file === '' ? null : createRequire(import.meta.url)(file);
}

export const missing = 'the package `typescript`, which reads JavaScript and TypeScript, is not installed (Debian: node-typescript)';

export function parse(ts, file, text) {
  const kind = /x$/.test(file) || /\.[cm]?js$/.test(file) ? (/\.tsx$/.test(file) ? ts.ScriptKind.TSX : ts.ScriptKind.JSX) : ts.ScriptKind.TS;
  return ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true, kind);
}

/** Returns {line, message} of the first syntax error, or null. */
export function syntaxError(ts, source) {
  const [first] = source.parseDiagnostics ?? [];
  if (first === undefined) return null;
  return { line: source.getLineAndCharacterOfPosition(first.start ?? 0).line + 1,
           message: `SyntaxError: ${ts.flattenDiagnosticMessageText(first.messageText, ' ')}` };
}

export function write(lines) {
  process.stdout.write(lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
}
