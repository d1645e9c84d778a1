// SPDX-License-Identifier: Apache-2.0
// Node's own test runner.
import path from 'node:path';
import { pathToFileURL } from 'node:url';

import { here, runEachFile } from './each_file.mjs';

export async function run(request, ledger, running) {
  const reporter = pathToFileURL(path.join(here, 'node_reporter.mjs')).href;
  await runEachFile([process.execPath, '--no-warnings', `--test-reporter=${reporter}`, '--test-reporter-destination=stdout',
                     path.join(here, 'run_node_file.mjs')], {}, request, ledger, running);
}
