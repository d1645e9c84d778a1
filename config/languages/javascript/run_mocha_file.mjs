// SPDX-License-Identifier: Apache-2.0
// Runs one test file with the project's Mocha and its configuration (.mocharc.*, package.json), which is locked after RED.
// Input besides that of run_node_file.mjs: mocha (folder of the package).
import { createRequire } from 'node:module';
import path from 'node:path';

import { OneFile } from './one_file.mjs';
import { seal } from './seal.mjs';

const run = new OneFile();
const { request, root, target } = run;
const require = createRequire(path.join(request.mocha, 'package.json'));
const Mocha = require(path.join(request.mocha, 'index.js'));
const { loadOptions } = require(path.join(request.mocha, 'lib', 'cli', 'options.js'));
const { handleRequires } = require(path.join(request.mocha, 'lib', 'cli', 'run-helpers.js'));
for (const name of ['Runner', 'Runnable', 'Test', 'Suite', 'Hook']) seal(`Mocha.${name}.prototype`, Mocha[name].prototype);

const canaries = await run.canaryTests();
run.readTypescript();
const options = target === '' ? {} : loadOptions([]);
const failFast = { bail: false, forbidOnly: false, forbidPending: false, parallel: false, dryRun: false, fullTrace: true, grep: undefined, fgrep: undefined, retries: options.retries };

/** Returns the titles of the suites and of the test. */
function namesOf(runnable) {
  return runnable.titlePath().filter((title) => title !== '');
}

class Recorder {
  constructor(runner) {
    runner.on('test', (test) => run.started(namesOf(test)));
    runner.on('pass', (test) => run.ended(namesOf(test), {}));
    runner.on('pending', (test) => run.ended(namesOf(test), { skipped: 'pending' }));
    runner.on('fail', (test, error) => {
      if (test.type === 'hook') run.hookFailed(namesOf(test), error);
      else run.ended(namesOf(test), { error, failed: true });
    });
  }
}

let mocha;
try {
  const plugins = target === '' ? {} : await handleRequires(options.require ?? [], { ignoredPlugins: [] });
  mocha = new Mocha({ ...options, ...failFast, ...plugins, reporter: Recorder, color: false });
  if (target !== '') {
    mocha.files = [...(options.file ?? []).map((file) => path.resolve(root, file)), target];
    await mocha.loadFilesAsync();
  }
} catch (error) {
  run.notLoaded(error);
  mocha = new Mocha({ reporter: Recorder, color: false });
}
// If the file uses `only`, Mocha runs only such tests, so the canaries use it too.
const tests = canaries.map(([name, body]) => new Mocha.Test(name, body));
const only = mocha.suite.hasOnly();
const home = only && mocha.suite._onlyTests.length === 0 ? Mocha.Suite.create(mocha.suite, '') : mocha.suite;
for (const test of tests) {
  home.addTest(test);
  if (only) home.appendOnlyTest(test);
}
mocha.run(() => {
  mocha.suite.eachTest((test) => {
    if (test.state === undefined && !test.isPending()) run.ended(namesOf(test), { error: new Error('was not run'), status: 'error' });
  });
  run.finish();
});
