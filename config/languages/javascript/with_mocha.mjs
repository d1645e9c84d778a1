// SPDX-License-Identifier: Apache-2.0
// The project's own Mocha.
import path from 'node:path';

import { here, runEachFile } from './each_file.mjs';
import { frameworkFolder } from './project.mjs';

export async function run(request, ledger, running) {
  const mocha = frameworkFolder(request.root, 'mocha', 'Mocha');
  await runEachFile([process.execPath, '--no-warnings', path.join(here, 'run_mocha_file.mjs')], { mocha }, request, ledger, running);
}
