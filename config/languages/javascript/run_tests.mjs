// SPDX-License-Identifier: Apache-2.0
// Runs a project's tests with the runner named by the argument (node, vitest, jest) and reports each result to the kernel.
//
// Input and output are those of config/languages/python/run_tests.py. This process loads no code of the project: each test file
// runs in a separate process, which never learns the kernel's secret. This writes the results when all processes have ended.
// Exit codes: 0 all tests except the canary passed or were skipped, 1 some did not, 3 the runner itself failed.
import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';
import path from 'node:path';

import { Ledger } from './ledger.mjs';

async function main() {
  const request = JSON.parse(readFileSync(0, 'utf8'));
  const ledger = new Ledger();
  const { run } = await import(new URL(`./with_${process.argv[2]}.mjs`, import.meta.url));
  const running = new Set();
  process.on('SIGTERM', () => {
    process.stderr.write(`\nstill running: ${[...running].join(', ')}\n`);
    process.exit(3);
  });
  await run({ ...request, root: path.resolve(request.root) }, ledger, running);
  const { text, failed } = ledger.lines(request.nonce);
  const results = openSync(request.results, 'wx', 0o600);
  for (let rest = Buffer.from(text); rest.length > 0;) rest = rest.subarray(writeSync(results, rest));
  closeSync(results);
  return failed ? 1 : 0;
}

main().then((code) => process.exit(code), (error) => {
  process.stderr.write(`\nagentforge: the test runner stopped: ${error?.message ?? error}\n`);
  process.exit(3);
});
