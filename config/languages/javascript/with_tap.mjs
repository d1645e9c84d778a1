// SPDX-License-Identifier: Apache-2.0
// The project's own tap (node-tap).
import path from 'node:path';

import { here, runEachFile } from './each_file.mjs';
import { frameworkFolder } from './project.mjs';

export async function run(request, ledger, running) {
  const tap = frameworkFolder(request.root, 'tap', 'tap');
  await runEachFile([process.execPath, '--no-warnings', path.join(here, 'run_tap_file.mjs')], { tap }, request, ledger, running);
}
