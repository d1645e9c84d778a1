// SPDX-License-Identifier: Apache-2.0
// Prints the files given as arguments and the files that import them, directly or indirectly, one a line, relative to the working
// directory. Finds imports in the text, so a path computed at run time is unknown: a file that imports by an expression, or
// something outside the tree, counts as importing everything. Runs nothing of the project.
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';

const isSource = /\.([cm]?[jt]s|[jt]sx|vue|svelte|json)$/;
const changed = process.argv.slice(2).map((file) => path.posix.normalize(file));

function walk(folder, files) {
  for (const entry of readdirSync(folder === '' ? '.' : folder, { withFileTypes: true })) {
    const name = folder === '' ? entry.name : `${folder}/${entry.name}`;
    if (entry.isDirectory()) {
      if (entry.name !== 'node_modules' && entry.name !== '.git') walk(name, files);
    } else if (entry.isFile() && isSource.test(entry.name)) {
      files.push(name);
    }
  }
  return files;
}

const stem = (file) => file.replace(/\.([cm]?[jt]s|[jt]sx)$/, '').replace(/\/index$/, '');
const files = walk('', []);
const byStem = new Map();
for (const file of files) byStem.set(stem(file), [...(byStem.get(stem(file)) ?? []), file]);
const importers = new Map();
const everything = [];
for (const file of files) {
  if (file.endsWith('.json')) continue;
  const text = readFileSync(file, 'utf8');
  if (/\b(import|require)\s*\(\s*[^'"\s)]/.test(text)) everything.push(file);
  for (const [, specifier] of text.matchAll(/(?:\bfrom|\bimport|\brequire\s*\(|\bimport\s*\(|\bmock\s*\()\s*['"]([^'"\n]+)['"]/g)) {
    // A name that is not a relative path may be mapped to a file of the project: this takes each file with the same ending.
    const targets = specifier.startsWith('.')
      ? byStem.get(stem(path.posix.normalize(path.posix.join(path.posix.dirname(file), specifier)))) ?? []
      : files.filter((each) => stem(each) === stem(specifier) || stem(each).endsWith(`/${stem(specifier).split('/').slice(1).join('/') || stem(specifier)}`));
    // A file that is not in the tree is built from its sources.
    if (specifier.startsWith('.') && targets.length === 0 && !existsSync(path.posix.join(path.posix.dirname(file), specifier))) everything.push(file);
    for (const target of targets) importers.set(target, [...(importers.get(target) ?? []), file]);
  }
}
const reached = new Set();
const waiting = [...changed, ...everything];
for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
  if (reached.has(next)) continue;
  reached.add(next);
  waiting.push(...(importers.get(next) ?? []));
}
// A file that is not a source (package.json, a configuration) may affect every test.
if (changed.some((file) => !isSource.test(file) || file.endsWith('.json') || /(^|\/)[^/]*\.config\.[^/]*$/.test(file))) process.exit(2);
process.stdout.write([...reached].map((file) => `${file}\n`).join(''));
