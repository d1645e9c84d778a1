// SPDX-License-Identifier: Apache-2.0
// Runs test files with the project's AVA (5 or 6) and reports each test's result to run_tests.mjs (through channel.mjs). The tests run in
// AVA's own workers; this process loads the project's configuration, which is locked after RED.
// Input: secret, root, files (relative; none: the canary alone), canary (path), marker, ava (folder of the package).
import { randomBytes } from 'node:crypto';
import { mkdtempSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

import { open } from './channel.mjs';
import { Outcomes, describe, lineIn, shorten } from './outcomes.mjs';

const { request, tell, leave } = open();
const { canary, marker, ava } = request;
const alone = request.files.length === 0;
const mark = `agentforge-canary ${randomBytes(12).toString('hex')} `;
const root = alone ? mkdtempSync(path.join(os.tmpdir(), 'ava-')) : request.root;
if (alone) {
  writeFileSync(path.join(root, 'package.json'), '{"type": "module"}');
  writeFileSync(path.join(root, 'test.js'), `import ${JSON.stringify(pathToFileURL(path.join(ava, 'entrypoints', 'main.mjs')).href)};\n`);
}
const targets = alone ? ['test.js'] : request.files;
const script = (name) => fileURLToPath(new URL(name, import.meta.url));
const { default: Api } = await import(pathToFileURL(path.join(ava, 'lib', 'api.js')).href);
const { default: main } = await import(pathToFileURL(path.join(ava, 'lib', 'cli.js')).href);

const events = [];
const { run } = Api.prototype;
Api.prototype.run = function (...rest) {
  Object.assign(this.options, { failFast: false, match: [], cacheEnabled: false, updateSnapshots: false, parallelRuns: null });
  this.options.nodeArguments = [...(this.options.nodeArguments ?? []), `--require=${script('ava_canary.cjs')}`];
  const told = { mark, canary, ava, files: targets.map((file) => path.join(root, file)) };
  this.options.environmentVariables = { ...this.options.environmentVariables, AGENTFORGE_AVA: JSON.stringify(told) };
  this.on('run', (plan) => {
    const { status } = plan.data ?? plan;
    status.on('stateChange', (event) => events.push(event.data ?? event));
  });
  return run.apply(this, rest);
};
process.chdir(root);
process.argv = [process.argv[0], path.join(ava, 'entrypoints', 'cli.mjs'), '--tap', ...targets];
process.stdout.write = (chunk, encoding, done) => {      // Drops the output of AVA's reporter.
  (typeof encoding === 'function' ? encoding : done)?.();
  return true;
};
await main();

/** Returns the thrown value in the form of other frameworks. */
function thrown({ message = '', name, stack, values, formattedDetails, originalError, formatted, formattedError }) {
  if (name === undefined) return shorten(String(formatted ?? formattedError ?? originalError ?? message));
  const own = /^(?:Error thrown in test|Rejected promise returned by test)/.test(message);
  const [, kind = 'Error', text = ''] = own ? /^(?:Uncaught )?(\w+)(?: \[\w+\])?(?:: ([\s\S]*?))?(?:\n\s+at |$)/.exec(String(stack)) ?? [] : [];
  const details = (formattedDetails ?? values ?? []).map((each) => `${each.label} ${each.formatted}`).join(' ');
  const error = new Error(own ? text : details.startsWith(message) ? details : `${message} ${details}`);
  error.name = own ? kind : name;
  error.stack = String(stack);
  return error;
}

const fresh = (file) => ({ outcomes: new Outcomes(file, marker), canaries: new Outcomes('agentforge-canary', marker), waiting: new Set(), broken: false });
const files = new Map(targets.map((file) => [path.join(root, file), fresh(file)]));
for (const event of events) {
  const known = files.get(event.testFile);
  if (known === undefined) {
    if (event.err !== undefined) tell({ type: 'note', text: shorten(`outside any test: ${describe(thrown(event.err))}`) });
    continue;
  }
  const { outcomes, canaries, waiting } = known;
  const title = event.title ?? '';
  const kept = title.startsWith(mark) ? canaries : outcomes;
  const names = [title.startsWith(mark) ? title.slice(mark.length) : title];
  const failed = event.err === undefined ? undefined : thrown(event.err);
  const line = () => event.err.source?.line ?? lineIn(failed, event.testFile);
  if (event.type === 'selected-test') {
    if (event.skip || event.todo) kept.add(names, 'skipped', event.todo ? 'todo' : 'skipped', 0);
    else waiting.add(title);
  } else if (event.type === 'test-passed' || event.type === 'test-failed') {
    waiting.delete(title);
    if (event.type === 'test-passed') kept.add(names, event.knownFailing ? 'skipped' : 'passed', event.knownFailing ? 'failed, as it says' : '', 0);
    else kept.add(names, kept.classify(failed), describe(failed), line());
  } else if (event.type === 'hook-failed') {
    outcomes.add(names, outcomes.classifyInHook(failed), `in a hook: ${describe(failed)}`, line());
  } else if (event.err !== undefined && !known.broken) {
    outcomes.broken(`cannot be loaded: ${describe(failed)}`, line());
    known.broken = true;
  } else if (['missing-ava-import', 'worker-failed', 'process-exit', 'timeout'].includes(event.type) && !known.broken) {
    outcomes.broken(`cannot be run: ${event.type}`, 0);
    known.broken = true;
  }
}

let complete = true;
for (const [file, { outcomes, canaries, waiting }] of files) {
  const relative = path.relative(root, file).split(path.sep).join('/');
  for (const title of waiting) {
    if (!title.startsWith(mark)) outcomes.add([title], 'error', 'was not run', 0);
  }
  const all = alone ? [] : outcomes.all();
  for (const each of all) tell({ type: 'result', file: relative, ...each, canary: false });
  for (const each of canaries.all()) tell({ type: 'result', file: relative, ...each, canary: true });
  if (canaries.all().length === 0 && !all.some(({ id, status }) => id === relative && status === 'error')) complete = false;
}
if (!complete) tell({ type: 'tampered', text: 'a test file ran without the canary at its end' });
tell({ type: 'end' });
leave(0);
