// SPDX-License-Identifier: Apache-2.0
// Runs one test file with the project's Tape. A test that throws ends the process, as it always does with Tape. Then no test of the file passed.
// Input besides that of run_node_file.mjs: tape (folder of the package).
import { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

import { OneFile } from './one_file.mjs';
import { seal } from './seal.mjs';

const run = new OneFile();
const { request, target } = run;
const require = createRequire(path.join(request.tape, 'package.json'));
const tape = require(request.tape);
const Test = require('./lib/test.js');
const Results = require('./lib/results.js');
seal('tape.Test.prototype', Test.prototype);
seal('tape.Results.prototype', Results.prototype);

const canaries = await run.canaryTests();
run.readTypescript();
const tests = new Map();        // By tape's id: {names, failures, assertions, todo}
const done = [];
let opening;                    // The id of the recorder's first test.

tape.createStream({ objectMode: true }).on('data', (row) => {
  if (row.test === opening || (row.type === 'test' && opening === undefined)) {
    opening ??= row.id;
  } else if (row.type === 'test') {
    const names = [...(tests.get(row.parent)?.names ?? []), row.name];
    tests.set(row.id, { names, assertions: 0, failure: undefined, skipped: row.skip ? 'skipped' : row.todo ? 'todo' : undefined });
    run.started(names);
  } else if (row.type === 'assert') {
    const test = tests.get(row.test);
    test.assertions += 1;
    if (!row.ok && !row.todo) test.failure ??= row;
  } else if (row.type === 'end') {
    done.push(row.test);
  }
});

/** Returns a failed assertion of Tape in the form that other libraries throw. The argument of `error` or `ifError` is a plain error. */
function thrown(row) {
  const error = new Error(`${row.name}: expected ${text(row.expected)}, got ${text(row.actual)}`);
  error.name = 'AssertionError';
  error.code = 'ERR_ASSERTION';
  error.stack = String(row.error?.stack ?? '');
  const marked = row.actual instanceof Error && row.operator !== 'throws' ? row.actual : undefined;
  return marked !== undefined && run.request.marker !== '' && String(marked.message).startsWith(run.request.marker) ? marked : error;
}

function text(value) {
  try {
    return typeof value === 'string' ? JSON.stringify(value) : String(JSON.stringify(value) ?? value);
  } catch {
    return String(value);
  }
}

tape.onFinish(() => {
  for (const id of done) {
    const { names, assertions, failure, skipped } = tests.get(id);
    if (skipped !== undefined) run.ended(names, { skipped });
    else if (failure !== undefined) run.ended(names, { error: thrown(failure), failed: true });
    else if (assertions > 0) run.ended(names, {});
    else run.ended(names, { error: new Error('made no assertion'), status: 'error' });
    tests.delete(id);
  }
  for (const { names, skipped } of tests.values()) {
    if (skipped !== undefined) run.ended(names, { skipped });
    else run.ended(names, { error: new Error('did not end'), status: 'error' });
  }
  run.finish();
});
// Tape ends once no test is left, so the recorder's first test stays open until the file is loaded.
tape('agentforge-opening', async (t) => {
  if (target !== '') {
    try {
      await import(pathToFileURL(target).href);
    } catch (error) {
      run.notLoaded(error);
    }
  }
  for (const [name, body] of canaries) tape(name, body);
  t.end();
});
