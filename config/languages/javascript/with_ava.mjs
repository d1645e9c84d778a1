// SPDX-License-Identifier: Apache-2.0
// The project's own AVA: one process that controls AVA's workers, with the canary at the end of each test file.
import path from 'node:path';

import { tellAll } from './child.mjs';
import { here } from './each_file.mjs';
import { frameworkFolder } from './project.mjs';

export async function run(request, ledger, running) {
  const ava = frameworkFolder(request.root, 'ava', 'AVA');
  await tellAll([process.execPath, '--no-warnings', path.join(here, 'run_ava.mjs')], { ava }, request, ledger, running);
}
