// SPDX-License-Identifier: Apache-2.0
// The results for the kernel, collected in a process that runs no code of the project.
const statuses = new Set(['passed', 'failed_assertion', 'failed_skeleton', 'error', 'skipped']);

export class Ledger {
  #tests = new Map();
  #canaries = new Map();
  #notes = [];

  note(text) {
    if (!this.#notes.includes(text)) this.#notes.push(text);
  }

  /** Adds one test of one file. A second report on it is an error. */
  test({ id, name, file, line, status, message }) {
    const known = this.#tests.get(id);
    this.#tests.set(id, known === undefined
      ? { id, name, file, line: Number.isSafeInteger(line) && line > 0 ? line : 0, status: statuses.has(status) ? status : 'error', message }
      : { ...known, status: 'error', message: 'was reported twice' });
  }

  /** Each canary runs in each file's process. Reports a canary that did not fail at its assertion in one of them. */
  canary(name, status, file, message) {
    const known = this.#canaries.get(name);
    if (known === undefined || (known.status === 'failed_assertion' && status !== 'failed_assertion')) {
      this.#canaries.set(name, { status: statuses.has(status) ? status : 'error', message: `${file}: ${message}` });
    }
  }

  /** Writes the stream that kernel/gates/engine/helper_results.hpp describes. */
  lines(nonce) {
    let text = '';
    let count = 0;
    const line = (fields) => {
      text += `${JSON.stringify({ n: nonce, i: count, ...fields })}\n`;
      count += 1;
    };
    const all = [];
    for (const each of this.#tests.values()) all.push({ ...each, canary: false });
    for (const [name, each] of this.#canaries) {
      all.push({ id: `agentforge-canary::${name}`, name, file: 'agentforge-canary', line: 0, ...each, canary: true });
    }
    for (const { id, name, file, line: at, canary } of all) line({ type: 'plan', id, name, file, line: at, canary });
    for (const note of this.#notes) line({ type: 'note', text: note });
    for (const each of all) line({ type: 'result', ...each });
    const failed = all.some(({ canary, status }) => !canary && status !== 'passed' && status !== 'skipped');
    line({ type: 'end', lines: count, results: all.length, exit: failed ? 1 : 0 });
    return { text, failed };
  }
}
