// SPDX-License-Identifier: Apache-2.0
// Runs each test file in a separate process, with the canary last, and records the results in the ledger.
import os from 'node:os';
import { fileURLToPath } from 'node:url';

import { inParallel, runChild } from './child.mjs';
import { findTypescript, usesTypescript } from './project.mjs';

export const here = fileURLToPath(new URL('.', import.meta.url));

/** `argv` starts the process of one file. `extra`: more fields of its request. */
export async function runEachFile(argv, extra, { root, files, canary, marker }, ledger, running) {
  const typescript = usesTypescript(root, files) ? findTypescript(root) : '';
  if (typescript === null) {
    throw new Error('these tests are TypeScript, and neither the project nor this machine has a `typescript` package; install it, ' +
                    'or use a node that strips types (22.18 or later)');
  }
  const one = async (file) => {
    running.add(file);
    const outcome = await runChild({ argv, directory: root, request: { root, file, canary, marker, typescript, ...extra } });
    running.delete(file);
    return outcome;
  };
  const outcomes = await inParallel(files, Math.max(2, Math.min(4, os.availableParallelism?.() ?? os.cpus().length)), one);
  let whole = false;
  outcomes.forEach(({ lines, problem, words }, index) => {
    const file = files[index];
    const results = lines.filter(({ type }) => type === 'result');
    if (problem !== '') {
      // No message of this process counts.
      const last = lines.filter(({ type }) => type === 'start').pop();
      const told = `${problem}${last === undefined ? '' : `, in or after ${last.id}`}${words === '' ? '' : ` (${words})`}`;
      ledger.test({ id: file, name: file, file, line: 0, status: 'error', message: told });
      for (const { id } of lines.filter(({ type }) => type === 'start')) {
        ledger.test({ id, name: id.slice(file.length + 2), file, line: 0, status: 'error', message: `not trusted: ${told}` });
      }
      return;
    }
    whole ||= results.some(({ canary: is }) => is);
    for (const each of results) {
      if (each.canary) ledger.canary(each.name, each.status, file, each.message);
      else ledger.test({ ...each, file });
    }
  });
  if (whole) return;
  // There was no file, or each process failed. A run of only the canary shows whether the runner works.
  const { lines, problem, words } = await one('');
  if (problem !== '' && files.length === 0) throw new Error(`${problem}${words === '' ? '' : ` (${words})`}`);
  if (problem === '') {
    for (const each of lines.filter(({ canary: is }) => is)) ledger.canary(each.name, each.status, 'no file', each.message);
  }
}
