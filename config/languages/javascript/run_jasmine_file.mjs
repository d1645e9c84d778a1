// SPDX-License-Identifier: Apache-2.0
// Runs one test file with the project's Jasmine, with the helpers that its configuration (spec/support/jasmine.*), locked after RED, names.
// Input besides that of run_node_file.mjs: jasmine (folder of the package).
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

import { OneFile } from './one_file.mjs';
import { seal } from './seal.mjs';

const run = new OneFile();
const { request, root, target } = run;
const require = createRequire(path.join(request.jasmine, 'package.json'));
const Jasmine = require('./lib/jasmine.js');
const jasmine = new Jasmine({ projectBaseDir: root, globals: true });
seal('Jasmine.Env.prototype', Object.getPrototypeOf(jasmine.env));
seal('jasmine.env', jasmine.env);

const names = new Map();        // The names of suites and specs, from the outermost, by id.
const open = [];
const matches = (result) => (result.failedExpectations ?? []);

/** Returns the error of a failure in Jasmine's form: an expectation names its matcher, a thrown value does not. */
function thrown([first]) {
  const error = new Error(String(first?.message ?? 'failed'));
  error.stack = String(first?.stack ?? '');
  if (first?.matcherName) {
    error.name = 'AssertionError';
    error.code = 'ERR_ASSERTION';
  } else {
    const [, name, message] = /^([A-Za-z_$][\w$]*)(?: \[[\w]+\])?: ([\s\S]*)$/.exec(error.message) ?? [null, 'Error', error.message];
    error.name = name;
    error.message = message;
    if (/AssertionError/.test(name)) error.code = 'ERR_ASSERTION';
  }
  return error;
}

jasmine.clearReporters();
jasmine.addReporter({
  suiteStarted(result) {
    open.push(result.description);
    names.set(result.id, [...open]);
  },
  suiteDone(result) {
    if (matches(result).length > 0) run.hookFailed(names.get(result.id), thrown(matches(result)));
    open.pop();
  },
  specStarted(result) {
    names.set(result.id, [...open, result.description]);
    run.started(names.get(result.id));
  },
  specDone(result) {
    const told = names.get(result.id) ?? [...open, result.description];
    if (result.status === 'failed') run.ended(told, { error: thrown(matches(result)), failed: true });
    else if (result.status === 'passed') run.ended(told, {});
    else if (result.status !== 'excluded') run.ended(told, { skipped: result.pendingReason || result.status });
  },
  jasmineDone(result) {
    if (matches(result).length > 0) run.notLoaded(thrown(matches(result)));
  },
});

const canaries = await run.canaryTests();
run.readTypescript();
if (target !== '') {
  const configuration = ['spec/support/jasmine.json', 'spec/support/jasmine.mjs', 'spec/support/jasmine.js'].find((file) => existsSync(path.join(root, file)));
  if (configuration !== undefined) {
    await (jasmine.loadConfigFile(configuration));
    jasmine.specFiles = [];
  }
}
jasmine.exitOnCompletion = false;
jasmine.configureDefaultReporter = () => {};
jasmine.env.configure({ random: false, stopOnSpecFailure: false, stopSpecOnExpectationFailure: false, failSpecWithNoExpectations: true });
for (const [name, body] of canaries) jasmine.env.it(name, body);
try {
  await jasmine.execute(target === '' ? [] : [path.relative(root, target)]);
} catch (error) {
  run.notLoaded(error);
}
run.finish();
