// SPDX-License-Identifier: Apache-2.0
// Runs test files with the project's Jest and reports each test's result to run_tests.mjs (through channel.mjs). The tests run in
// Jest's workers; this process loads the project's configuration, which is locked after RED.
// Input: secret, root, files (relative; none: the canary alone), canary (path), marker, jest (folder of the package).
import { randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { open } from './channel.mjs';
import { Outcomes, lineIn, shorten } from './outcomes.mjs';

const { request, tell, leave } = open();
const { canary, marker, jest } = request;
const here = fileURLToPath(new URL('.', import.meta.url));
const alone = request.files.length === 0;
const scratch = path.join(process.env.TMPDIR ?? '/tmp', 'jest');
const mark = `agentforge-canary ${randomBytes(12).toString('hex')} `;
mkdirSync(path.join(scratch, 'alone'), { recursive: true });
if (alone) {
  writeFileSync(path.join(scratch, 'alone', 'package.json'), '{}');
  writeFileSync(path.join(scratch, 'alone', 'alone.test.js'), '');
}
const root = alone ? path.join(scratch, 'alone') : request.root;
const files = alone ? ['alone.test.js'] : request.files;

const require = createRequire(path.join(jest, 'package.json'));
const core = createRequire(require.resolve('@jest/core'));
let circus;
for (const name of ['jest-circus/runner', 'jest-circus/build/runner', 'jest-circus']) {
  try {
    circus = core.resolve(name);
    break;
  } catch {
    try {
      circus = createRequire(core.resolve('jest-config')).resolve(name);
      break;
    } catch {
      circus = undefined;
    }
  }
}
if (circus === undefined) throw new Error('jest-circus, which runs the tests, is not installed');
process.env.AGENTFORGE_CIRCUS = circus;
process.env.AGENTFORGE_CANARY = canary;
process.env.AGENTFORGE_CANARY_MARK = mark;
process.env.NODE_ENV ??= 'test';
process.chdir(root);
const { runCLI } = require('@jest/core');
const { results } = await runCLI({
  _: files.map((file) => path.join(root, file)), $0: 'jest', runTestsByPath: true, testRunner: path.join(here, 'run_jest_file.cjs'),
  cacheDirectory: scratch, watchman: false, watch: false, watchAll: false, coverage: false, collectCoverage: false, bail: 0, ci: true,
  silent: true, reporters: [], testLocationInResults: true, passWithNoTests: true, forceExit: false, notify: false, verbose: false,
}, [root]);

/** Returns the thrown value, from the text that Jest keeps: `Name: message` and a stack. */
function thrown(text, detail) {
  const plain = String(text ?? '').replace(/\u001b\[[0-9;]*m/g, '');
  const head = plain.split(/\n\s+at /)[0];
  const [, name, message] = /^(?:([A-Za-z_$][\w$]*)(?: \[\w+\])?: )?([\s\S]*)$/.exec(head);
  const asserts = /^AssertionError/.test(head) || /\[ERR_ASSERTION\]/.test(head) || /^(?:Error: )?expect\(/.test(head) || /^assert(\.\w+)?\(/.test(head) ||
    detail?.matcherResult !== undefined || detail?.code === 'ERR_ASSERTION';
  return { name: name ?? 'Error', message, stack: plain, ...(asserts ? { code: 'ERR_ASSERTION' } : {}) };
}

let complete = true;
const told = new Set();
for (const file of results.testResults) {
  const relative = path.relative(root, file.testFilePath).split(path.sep).join('/');
  told.add(relative);
  const outcomes = new Outcomes(relative, marker);
  const canaries = new Outcomes('agentforge-canary', marker);
  for (const test of file.testResults) {
    const names = [...test.ancestorTitles, test.title];
    const isCanary = names[0].startsWith(mark);
    const kept = isCanary ? canaries : outcomes;
    if (isCanary) names[0] = names[0].slice(mark.length);
    const line = test.location?.line ?? 0;
    if (test.status === 'passed') kept.add(names, 'passed', '', line);
    else if (['pending', 'todo', 'skipped', 'disabled'].includes(test.status)) kept.add(names, 'skipped', test.status, line);
    else {
      const error = thrown(test.failureMessages[0], test.failureDetails?.[0]);
      kept.add(names, outcomes.classify(error), shorten(`${error.name}: ${error.message}`), lineIn(error, file.testFilePath) || line);
    }
  }
  const failed = file.testExecError !== undefined && file.testExecError !== null;
  if (failed) {
    const error = thrown(file.testExecError.stack ?? file.testExecError.message ?? file.failureMessage, undefined);
    outcomes.broken(shorten(`cannot be loaded: ${error.message}`), lineIn(error, file.testFilePath));
  }
  for (const each of outcomes.all()) tell({ type: 'result', file: relative, ...each, canary: false });
  for (const each of canaries.all()) tell({ type: 'result', file: relative, ...each, canary: true });
  if (canaries.all().length === 0 && !failed) complete = false;
}
for (const file of files) {
  if (!told.has(file)) tell({ type: 'note', text: `Jest's configuration does not take ${file} for a test` });
}
if (!complete) tell({ type: 'tampered', text: 'a test file ran without the canary in it' });
tell({ type: 'end' });
leave(0);
