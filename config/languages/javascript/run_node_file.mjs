// SPDX-License-Identifier: Apache-2.0
// Runs one test file with node's own test runner, in a separate process, and reports each test's result to run_tests.mjs.
// Started as `node --test-reporter=…/node_reporter.mjs run_node_file.mjs`, with one JSON object on standard input:
//   secret, root, file (relative; empty: the canary alone), canary (path), marker, typescript (path of typescript.js, or empty),
//   marked (optional: relative paths of sources that report which of their lines run)
// Lines on descriptor 3 (channel.mjs): {type: "start", id}, {type: "result", id, name, line, status, message, canary},
// {type: "tampered", text}, {type: "ran", place: "file:line"}, and finally {type: "end"}.
import { pathToFileURL, fileURLToPath } from 'node:url';
import path from 'node:path';
import test from 'node:test';

import { open } from './channel.mjs';
import { connect } from './node_reporter.mjs';
import { Outcomes, describe, lineIn } from './outcomes.mjs';
import { replaced } from './seal.mjs';
import { readTypescript } from './typescript_require.mjs';

const { request, tell, leave } = open();
const { root, file, canary, marker } = request;
const target = file === '' ? '' : path.join(root, file);
const canaryMark = `agentforge-canary ${Math.random().toString(36).slice(2)} `;
const opening = 'agentforge-opening';
const outcomes = new Outcomes(file, marker);
const canaries = new Outcomes('agentforge-canary', marker);
const { setImmediate: later } = globalThis;
let canariesLeft = -1;
let cut = false;        // A test waits for an event that never comes. Then node gives up, and later tests and canaries do not run.
const stack = [];

function statusOf(data) {
  const error = data.details?.error;
  const kind = error?.failureType ?? '';
  const cause = error?.cause ?? error;
  if (kind === 'subtestsFailed') return { status: '', message: describe(cause), cause };
  // Node knows the test of a callback, such as a timer's or a stream's, so an error in the callback fails that test.
  if (['', 'testCodeFailure', 'uncaughtException', 'unhandledRejection'].includes(kind)) {
    return { status: outcomes.classify(cause), message: describe(cause), cause };
  }
  if (kind === 'hookFailed') return { status: outcomes.classifyInHook(cause), message: `in a hook: ${describe(cause)}`, cause, inHook: true };
  return { status: 'error', message: (kind === 'cancelledByParent' ? 'not run to its end: ' : '') + describe(cause), cause, cancelled: kind === 'cancelledByParent' };
}

function look() {
  const name = replaced();
  if (name !== '') tell({ type: 'tampered', text: `project code replaced ${name} while its tests ran` });
}

function finished(data, passed) {
  look();
  const names = [...stack.slice(0, data.nesting), data.name];
  const isCanary = names[0].startsWith(canaryMark);
  // For TypeScript, node counts the lines of the compiled text.
  const line = data.file !== undefined && !/tsx?$/.test(target) && toPath(data.file) === target ? data.line : 0;
  const suite = data.details?.type === 'suite';
  if (names[0] === opening) return;
  // A canary is handled like every other test, so code that changes their results also changes the canary's.
  const kept = isCanary ? canaries : outcomes;
  if (isCanary) names[0] = names[0].slice(canaryMark.length);
  if (data.skip !== undefined) {
    if (!suite) kept.add(names, 'skipped', typeof data.skip === 'string' ? data.skip : 'skipped', line);
  } else if (data.todo !== undefined) {
    if (!suite) kept.add(names, 'skipped', typeof data.todo === 'string' ? `todo: ${data.todo}` : 'todo', line);
  } else if (passed) {
    if (!suite) kept.add(names, 'passed', '', line);
  } else {
    const { status, message, cause, inHook, cancelled } = statusOf(data);
    if (status === '') {
      if (!suite) kept.addParent(names, message, line);
    } else if (suite && !inHook && !cancelled) {
      // The tests of this suite may be unknown.
      outcomes.broken(`cannot be loaded: ${message}`, lineIn(cause, target) || line);
    } else if (!(suite && inHook && kept.failInside(names, status, message))) {
      kept.add(names, status, message, lineIn(cause, target) || line, cancelled);
    }
  }
  if (isCanary) {
    if (data.details?.error?.failureType === 'cancelledByParent') cut = true;
    canariesLeft -= 1;
    if (canariesLeft === 0) later(finish);
  }
}

function toPath(place) {
  return place.startsWith('file:') ? fileURLToPath(place) : place;
}

function finish() {
  look();
  for (const each of outcomes.all()) {
    const doubtful = cut && each.status === 'passed';
    tell({ type: 'result', ...each, canary: false, ...(doubtful ? { status: 'error', message: 'not trusted: another test of the file never ended' } : {}) });
  }
  if (!cut) {
    for (const each of canaries.all()) tell({ type: 'result', ...each, canary: true });
  }
  for (const place of ran) tell({ type: 'ran', place });
  tell({ type: 'end' });
  leave(0);
}

connect((event) => {
  const { type, data } = event;
  if (type === 'test:start') {
    stack.length = data.nesting;
    stack.push(data.name);
    if (data.nesting === 0 && data.name !== opening && !data.name.startsWith(canaryMark)) {
      tell({ type: 'start', id: `${file}::${data.name}` });
    }
  } else if (type === 'test:pass') {
    finished(data, true);
  } else if (type === 'test:fail') {
    finished(data, false);
  } else if (type === 'agentforge:second-reporter') {
    tell({ type: 'tampered', text: 'project code called the reporter of the test run' });
  }
});

// The first test makes node create its runner with our reporter, before any project code is loaded.
await test(opening, () => {});
const canaryTests = (await import(pathToFileURL(canary).href)).default;
const { marked = [] } = request;       // Sources that report which of their lines run (coverage.mjs).
const ran = new Set();
if (marked.length > 0) globalThis.agentforgeRan = (source, line) => { ran.add(`${source}:${line}`); };
if (request.typescript !== '') readTypescript({ root, typescript: request.typescript, marked });
process.chdir(root);
process.argv = [process.argv[0], target];
process.execArgv = [];
if (file !== '') {
  try {
    await import(pathToFileURL(target).href);
  } catch (error) {
    outcomes.broken(`cannot be loaded: ${describe(error)}`, lineIn(error, target));
  }
}
canariesLeft = canaryTests.length;
for (const [name, body] of canaryTests) test(canaryMark + name, body);
