// SPDX-License-Identifier: Apache-2.0
// Runs test files with the project's Vitest and reports each test's result to run_tests.mjs (through channel.mjs). The tests run in
// Vitest's own workers; this process loads the project's configuration, which is locked after RED.
// Input: secret, root, files (relative; none: the canary alone), canary (path), marker, vitest (folder of the package).
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { randomBytes } from 'node:crypto';

import { open } from './channel.mjs';
import { Outcomes, describe, lineIn, shorten } from './outcomes.mjs';

const { request, tell, leave } = open();
const { canary, marker, vitest } = request;
const alone = request.files.length === 0;
const root = alone ? path.dirname(canary) : request.root;
const targets = new Set(request.files.map((file) => path.join(root, file)));
const mark = `agentforge-canary ${randomBytes(12).toString('hex')} `;
const { startVitest } = await import(pathToFileURL(path.join(vitest, 'dist', 'node.js')).href);

const appended = `\n;(await import(${JSON.stringify(canary)})).default(await import('vitest'), ${JSON.stringify(mark)});\n`;
const plugin = {
  name: 'agentforge-canary',
  enforce: 'pre',
  transform(code, id) {
    const file = id.split('?')[0];
    if (!alone && targets.has(file)) return { code: code + appended, map: null };
    if (alone && file === canary) return { code: code + appended.replace(/\(await import\("[^"]*"\)\)\.default/, 'register'), map: null };
    return null;
  },
};

process.chdir(root);
const context = await startVitest('test', alone ? [canary] : [...targets], {
  root, watch: false, run: true, ui: false, open: false, silent: true, coverage: { enabled: false }, cache: false, bail: 0, retry: 0,
  update: false, allowOnly: true, passWithNoTests: true, includeTaskLocation: true, typecheck: { enabled: false }, reporters: [{}],
  ...(alone ? { config: false, include: ['**/*.mjs'], environment: 'node' } : {}),
}, { plugins: [plugin], cacheDir: path.join(process.env.TMPDIR ?? '/tmp', 'vite'), configLoader: 'runner' });

function place(error, file) {
  const frame = (error?.stacks ?? []).find((each) => each.file === file);
  return frame?.line ?? lineIn(error, file);
}

let complete = true;
const told = new Set();
for (const file of context?.state.getFiles() ?? []) {
  const relative = path.relative(root, file.filepath).split(path.sep).join('/');
  if (told.has(relative)) {
    tell({ type: 'note', text: `${relative} belongs to several Vitest projects; the first of them counts` });
    continue;
  }
  told.add(relative);
  const outcomes = new Outcomes(relative, marker);
  const canaries = new Outcomes('agentforge-canary', marker);
  const visit = (task, names, broken) => {
    if (task.type === 'suite' && task.tasks !== undefined) {
      const [error] = task.result?.errors ?? [];
      if (error !== undefined && task.result.state === 'fail' && names.length > 0) {
        outcomes.add(names, outcomes.classifyInHook(error), `in a hook: ${describe(error)}`, place(error, file.filepath));
      }
      for (const each of task.tasks) visit(each, [...names, each.name], broken || task.result?.state === 'fail' && error !== undefined);
      return;
    }
    const isCanary = names[0].startsWith(mark);
    const kept = isCanary ? canaries : outcomes;
    if (isCanary) names[0] = names[0].slice(mark.length);
    const state = task.result?.state;
    const [error] = task.result?.errors ?? [];
    if (broken && state !== 'pass' && state !== 'fail') kept.add(names, 'error', 'not run: a hook of its suite failed', task.location?.line);
    else if (task.mode === 'skip' || task.mode === 'todo' || state === 'skip') kept.add(names, 'skipped', task.mode, task.location?.line);
    else if (state === 'pass') kept.add(names, 'passed', '', task.location?.line);
    else if (state === 'fail') kept.add(names, outcomes.classify(error), describe(error), place(error, file.filepath) || task.location?.line);
    else kept.add(names, 'error', 'not run', task.location?.line);
  };
  for (const task of file.tasks) visit(task, [task.name], false);
  const [error] = file.result?.errors ?? [];
  if (error !== undefined) outcomes.broken(`cannot be loaded: ${describe(error)}`, place(error, file.filepath));
  for (const each of outcomes.all()) tell({ type: 'result', file: relative, ...each, canary: false });
  for (const each of canaries.all()) tell({ type: 'result', file: relative, ...each, canary: true });
  if (canaries.all().length === 0 && error === undefined) complete = false;
}
for (const file of targets) {
  const relative = path.relative(root, file).split(path.sep).join('/');
  if (!told.has(relative)) tell({ type: 'note', text: `Vitest's configuration does not take ${relative} for a test` });
}
for (const error of context?.state.getUnhandledErrors() ?? []) tell({ type: 'note', text: shorten(`outside any test: ${describe(error)}`) });
if (!complete) tell({ type: 'tampered', text: 'a test file ran without the canary at its end' });
tell({ type: 'end' });
leave(0);
