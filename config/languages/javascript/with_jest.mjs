// SPDX-License-Identifier: Apache-2.0
// The project's own Jest: one process that controls Jest's workers, with the canary in each test file.
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { tellAll } from './child.mjs';
import { findPackage } from './project.mjs';

export async function run(request, ledger, running) {
  const jest = findPackage(request.root, 'jest');
  if (jest === null) throw new Error('the project uses Jest, which is not installed in its node_modules');
  const script = path.join(fileURLToPath(new URL('.', import.meta.url)), 'run_jest.mjs');
  await tellAll([process.execPath, '--no-warnings', '--experimental-vm-modules', script], { jest }, request, ledger, running);
}
