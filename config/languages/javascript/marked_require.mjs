// SPDX-License-Identifier: Apache-2.0
// Marks CommonJS sources when they are required (marks.mjs).
import { createRequire, Module } from 'node:module';
import path from 'node:path';

import { withMarks } from './marks.mjs';
import { parse } from './source_tree.mjs';

export function markRequired(root, typescript, marked) {
  const ts = createRequire(import.meta.url)(typescript);
  const wanted = new Set(marked);
  const compile = Module.prototype._compile;
  Module.prototype._compile = function marking(content, filename, ...rest) {
    const place = path.relative(root, filename).split(path.sep).join('/');
    const text = wanted.has(place) ? withMarks(ts, parse(ts, place, content), place).text : content;
    return compile.call(this, text, filename, ...rest);
  };
}
