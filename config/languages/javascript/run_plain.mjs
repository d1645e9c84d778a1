// SPDX-License-Identifier: Apache-2.0
// usage: run_plain.mjs BEFORE FILE... -- ID...   runs node's own test runner in the working directory: first all files, then each top-level test alone.
// A test that passes with the others and fails alone depends on the state that they leave. Then varied_calls.mjs repeats the tests' calls and compares
// them with those that the same tests make in BEFORE, the same tree without the change.
// The processes that run the tests contain nothing of this file.
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { finding, onlyBefore } from './varied_calls.mjs';

// Processor time, which a busy machine does not lengthen. Slower tests do not run again.
const mostMilliseconds = 5000;
const hangsAfter = 60_000;              // Milliseconds until a program is killed.
const mostTests = 50;

function notMeasured(why) {
  console.log(`agentforge: not measured: ${why}`);
  process.exit(77);
}

function passes(words, stdio) {
  return spawnSync(process.execPath, ['--no-warnings', '--test', ...words], { stdio }).status === 0;
}

const [before, ...words] = process.argv.slice(2);
const files = words.slice(0, words.indexOf('--'));
const tests = words.slice(words.indexOf('--') + 1).map((id) => id.split('::')).filter((parts) => parts.length === 2);
if (fs.existsSync('tsconfig.json') || files.some((file) => /\.[mc]?tsx?$/.test(file))) notMeasured('TypeScript needs the loader of the gates');
/** Returns the processor time of the programs that have ended. */
function spentMilliseconds() {
  const fields = fs.readFileSync('/proc/self/stat', 'utf8').replace(/^.*\) /, '').split(' ');
  return 10 * (Number(fields[13]) + Number(fields[14]));        // cutime and cstime, in hundredths of a second.
}

if (!passes(files, 'inherit')) process.exit(1);
if (spentMilliseconds() > mostMilliseconds) process.exit(0);
for (const [file, name] of tests.slice(0, mostTests)) {
  if (spentMilliseconds() > 2 * mostMilliseconds) break;
  const pattern = `^${name.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&')}$`;
  if (passes([`--test-name-pattern=${pattern}`, file], 'ignore')) continue;
  console.error(`'${name}' passes after the tests before it and fails alone`);
  process.exit(1);
}

/** Returns the tests' calls to the project's functions, whose files are below `root`. `failing`: also those of failing tests. */
function recorded(root, failing) {
  const scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'calls-'));
  const calls = [];
  const tests = files.map((file) => path.resolve(root, file));
  for (const file of tests) {
    const out = path.join(scratch, 'calls.json');
    const env = { ...process.env, AGENTFORGE_CALLS: JSON.stringify({ root, tests, out }) };
    const { status } = spawnSync(process.execPath, ['--no-warnings', '--import', new URL('record_calls.mjs', import.meta.url).href, file],
                                 { cwd: root, env, stdio: 'ignore', timeout: hangsAfter, killSignal: 'SIGKILL' });
    if ((status === 0 || failing) && fs.existsSync(out)) calls.push(...JSON.parse(fs.readFileSync(out, 'utf8')));
    fs.rmSync(out, { force: true });
  }
  fs.rmSync(scratch, { recursive: true, force: true });
  return calls;
}

const root = fs.realpathSync(process.cwd());
const calls = recorded(root, false);
const without = fs.realpathSync(before);
const text = files.map((file) => fs.readFileSync(file, 'utf8')).join('\n');
const found = finding(calls, root, process.env, text) || onlyBefore({ root, calls }, { root: without, all: () => recorded(without, true) });
if (found !== '') {
  console.error(found);
  process.exit(1);
}
