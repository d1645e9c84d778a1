// SPDX-License-Identifier: Apache-2.0
// The project's own Vitest: one process that controls Vitest's workers, with the canary at the end of each test file.
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { tellAll } from './child.mjs';
import { findPackage } from './project.mjs';

export async function run(request, ledger, running) {
  const vitest = findPackage(request.root, 'vitest');
  if (vitest === null) throw new Error('the project uses Vitest, which is not installed in its node_modules');
  const script = path.join(fileURLToPath(new URL('.', import.meta.url)), 'run_vitest.mjs');
  await tellAll([process.execPath, '--no-warnings', script], { vitest }, request, ledger, running);
}
