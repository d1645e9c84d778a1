// SPDX-License-Identifier: Apache-2.0
// Runs one test file with the project's tap. The results come from tap's own parser, not from the output of the process.
// Input besides that of run_node_file.mjs: tap (folder of the package).
import { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

import { OneFile } from './one_file.mjs';
import { seal } from './seal.mjs';

const run = new OneFile();
const { request, root, target } = run;
const require = createRequire(path.join(request.tap, 'package.json'));
const tap = require('tap');
if (tap.parser === undefined) throw new Error('this release of tap is not supported: 16 is');
for (let owner = Object.getPrototypeOf(tap), depth = 0; owner !== Object.prototype && depth < 3; owner = Object.getPrototypeOf(owner), ++depth) {
  seal(`tap.Test.prototype ${depth}`, owner);
}
seal('tap.Parser.prototype', Object.getPrototypeOf(tap.parser));

const canaries = await run.canaryTests();
run.readTypescript();

/** Returns a failed assertion of tap in the form that other libraries throw. A value that the test itself threw stays as it is. */
function thrown({ name, diag = {} }) {
  const caught = diag.tapCaught !== undefined;
  const error = new Error(caught ? String(name) : [name, diag.diff].filter(Boolean).join(': '));
  error.name = caught ? diag.type ?? 'Error' : 'AssertionError';
  if (!caught || /AssertionError/.test(error.name)) error.code = 'ERR_ASSERTION';
  const at = diag.at ?? {};
  error.stack = at.file === undefined ? String(diag.stack ?? '') : `${error.name}: ${error.message}\n    at ${path.resolve(root, at.file)}:${at.line}`;
  return error;
}

function watch(parser, names) {
  let failure;
  let assertions = 0;
  parser.on('child', (child) => {
    run.started([...names, child.name]);
    watch(child, [...names, child.name]);
  });
  const inner = new Set();
  parser.on('child', (child) => inner.add(child.name));
  parser.on('assert', (result) => {
    if (inner.has(result.name)) {        // The final line of a subtest, which was already reported.
      if (!result.ok) failure ??= { name: `${result.name} failed` };
      assertions += 1;
      return;
    }
    const skipped = result.skip || result.todo;
    if (names.length === 0) {
      if (skipped) run.ended([result.name], { skipped: String(skipped) });
      else run.ended([result.name], result.ok ? {} : { error: thrown(result), failed: true });
      return;
    }
    if (skipped) return;
    assertions += 1;
    if (!result.ok) failure ??= result;
  });
  parser.on('complete', () => {
    if (names.length === 0) run.finish();
    else if (failure !== undefined) run.ended(names, { error: thrown(failure), failed: true });
    else if (assertions === 0) run.ended(names, { error: new Error('made no assertion'), status: 'error' });
    else run.ended(names, {});
  });
}
watch(tap.parser, []);
if (target !== '') {
  try {
    await import(pathToFileURL(target).href);
  } catch (error) {
    run.notLoaded(error);
  }
}
for (const [name, body] of canaries) tap.test(name, body);
