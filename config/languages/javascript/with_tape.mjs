// SPDX-License-Identifier: Apache-2.0
// The project's own Tape.
import path from 'node:path';

import { here, runEachFile } from './each_file.mjs';
import { frameworkFolder } from './project.mjs';

export async function run(request, ledger, running) {
  const tape = frameworkFolder(request.root, 'tape', 'Tape');
  await runEachFile([process.execPath, '--no-warnings', path.join(here, 'run_tape_file.mjs')], { tape }, request, ledger, running);
}
