// SPDX-License-Identifier: Apache-2.0
// Runs one test file in a separate process that also contains the recorder: the common part of the frameworks' scripts
// (run_mocha_file.mjs, run_jasmine_file.mjs, run_tape_file.mjs). Input and output are those of run_node_file.mjs.
import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

import { open } from './channel.mjs';
import { Outcomes, describe, lineIn } from './outcomes.mjs';
import { replaced } from './seal.mjs';
import { readTypescript } from './typescript_require.mjs';

export class OneFile {
  #tell;
  #leave;
  #outcomes;
  #canaries;
  #mark = `agentforge-canary ${randomBytes(12).toString('hex')} `;

  constructor() {
    const { request, tell, leave } = open();
    this.request = request;
    this.root = request.root;
    this.target = request.file === '' ? '' : path.join(request.root, request.file);
    this.#tell = tell;
    this.#leave = leave;
    this.#outcomes = new Outcomes(request.file, request.marker);
    this.#canaries = new Outcomes('agentforge-canary', request.marker);
    process.chdir(request.root);
    process.argv = [process.argv[0], this.target];
    process.execArgv = [];
  }

  /** Returns [name, body] of each test that must fail. The names begin with a mark that project code cannot know in advance. */
  async canaryTests() {
    const pairs = (await import(pathToFileURL(this.request.canary).href)).default;
    return pairs.map(([name, body]) => [this.#mark + name, body]);
  }

  /** Makes TypeScript loadable. */
  readTypescript() {
    if (this.request.typescript !== '') readTypescript({ root: this.root, typescript: this.request.typescript });
  }

  /** A test begins. If the process dies, the error names the tests that began and have no result. */
  started(names) {
    if (!names[0].startsWith(this.#mark)) this.#tell({ type: 'start', id: [this.request.file, ...names].join('::') });
  }

  /** `error`: the value that the test threw; undefined if it passed, or was skipped (`skipped`: the reason). */
  ended(names, { error, failed = error !== undefined, skipped, status }) {
    this.#look();
    const isCanary = names[0].startsWith(this.#mark);
    const kept = isCanary ? this.#canaries : this.#outcomes;
    const told = isCanary ? [names[0].slice(this.#mark.length), ...names.slice(1)] : names;
    if (skipped !== undefined) kept.add(told, 'skipped', skipped, 0);
    else if (failed) kept.add(told, status ?? kept.classify(error), describe(error), lineIn(error, this.target));
    else kept.add(told, 'passed', '', 0);
  }

  /** A hook failed: no test after it counts as passed. */
  hookFailed(names, error) {
    this.#outcomes.add(names, this.#outcomes.classifyInHook(error), `in a hook: ${describe(error)}`, lineIn(error, this.target));
  }

  notLoaded(error) {
    this.#outcomes.broken(`cannot be loaded: ${describe(error)}`, lineIn(error, this.target));
  }

  finish() {
    this.#look();
    for (const each of this.#outcomes.all()) this.#tell({ type: 'result', ...each, canary: false });
    for (const each of this.#canaries.all()) this.#tell({ type: 'result', ...each, canary: true });
    this.#tell({ type: 'end' });
    this.#leave(0);
  }

  #look() {
    const name = replaced();
    if (name !== '') this.#tell({ type: 'tampered', text: `project code replaced ${name} while its tests ran` });
  }
}
