// SPDX-License-Identifier: Apache-2.0
// The project's own Jasmine.
import path from 'node:path';

import { here, runEachFile } from './each_file.mjs';
import { frameworkFolder } from './project.mjs';

export async function run(request, ledger, running) {
  const jasmine = frameworkFolder(request.root, 'jasmine', 'Jasmine');
  await runEachFile([process.execPath, '--no-warnings', path.join(here, 'run_jasmine_file.mjs')], { jasmine }, request, ledger, running);
}
