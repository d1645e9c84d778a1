// SPDX-License-Identifier: Apache-2.0
// usage: run_plain.mjs FILE... -- ID...   node's own test runner by itself, in the working directory: all files, then each test of a file's own level alone.
// A test that passes with the others and fails alone depends on what they left behind. Nothing of this file is in the processes that run the tests.
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';

const mostMilliseconds = 5000;          // Slower tests are not run again.
const mostTests = 50;

function notMeasured(why) {
  console.log(`agentforge: not measured: ${why}`);
  process.exit(77);
}

function passes(words, stdio) {
  return spawnSync(process.execPath, ['--no-warnings', '--test', ...words], { stdio }).status === 0;
}

const words = process.argv.slice(2);
const files = words.slice(0, words.indexOf('--'));
const tests = words.slice(words.indexOf('--') + 1).map((id) => id.split('::')).filter((parts) => parts.length === 2);
if (fs.existsSync('tsconfig.json') || files.some((file) => /\.[mc]?tsx?$/.test(file))) notMeasured('TypeScript needs the loader of the gates');
const began = Date.now();
if (!passes(files, 'inherit')) process.exit(1);
if (Date.now() - began > mostMilliseconds) process.exit(0);
for (const [file, name] of tests.slice(0, mostTests)) {
  if (Date.now() - began > 2 * mostMilliseconds) break;
  const pattern = `^${name.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&')}$`;
  if (passes([`--test-name-pattern=${pattern}`, file], 'ignore')) continue;
  console.error(`'${name}' passes after the tests before it and fails alone`);
  process.exit(1);
}
