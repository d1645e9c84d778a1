// SPDX-License-Identifier: Apache-2.0
// A process with project code, and its messages (channel.mjs). They count only if every line has the secret and its number, and
// the last line is the end mark.
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';

const kept = 4000;

/** Returns {lines, problem, words}. `problem` is empty if the channel is complete; `words`: the error that ended the process, or the last line on standard error. */
export function runChild({ argv, directory, environment, request, onLine }) {
  return new Promise((resolve) => {
    const secret = randomBytes(24).toString('hex');
    const env = { ...process.env, ...environment };
    delete env.NODE_OPTIONS;
    delete env.NODE_TEST_CONTEXT;
    const child = spawn(argv[0], argv.slice(1), { cwd: directory, env, stdio: ['pipe', 'ignore', 'pipe', 'pipe'] });
    let waiting = '';
    let problem = '';
    let ended = false;
    let stderr = '';
    const lines = [];
    const take = (line) => {
      if (problem !== '') return;
      let value = null;
      try {
        value = JSON.parse(line);
      } catch {
        value = null;
      }
      if (ended || value === null || typeof value !== 'object' || value.n !== secret || value.i !== lines.length) {
        problem = 'something that the kernel\'s runner did not write came over its channel';
        return;
      }
      lines.push(value);
      ended = value.type === 'end';
      if (value.type === 'tampered') problem = String(value.text);
      onLine?.(value);
    };
    child.stdio[3].setEncoding('utf8');
    child.stdio[3].on('data', (text) => {
      waiting += text;
      for (let end = waiting.indexOf('\n'); end >= 0; end = waiting.indexOf('\n')) {
        take(waiting.slice(0, end));
        waiting = waiting.slice(end + 1);
      }
      if (waiting.length > 1 << 20) problem ||= 'its channel holds a line without end';
    });
    child.stdio[3].on('error', () => {});
    child.stderr.setEncoding('utf8');
    child.stderr.on('data', (text) => { stderr = (stderr + text).slice(-kept); });
    child.stdin.on('error', () => {});
    child.stdin.end(JSON.stringify({ ...request, secret }));
    let over = false;
    const finish = (code, signal) => {
      if (over) return;
      over = true;
      const how = signal ? `was ended by ${signal}` : `ended with exit code ${code}`;
      if (problem === '' && !ended) problem = `the test process ${how} before all results were written`;
      const said = stderr.trim().split('\n').filter((line) => line.trim() !== '' && !/^Node\.js v/.test(line));
      const words = said.find((line) => /^(?:\w*Error\b|Error\b)/.test(line)) ?? said.pop() ?? '';
      resolve({ lines, problem, words: words.trim().slice(0, 300) });
    };
    child.on('error', (error) => {
      stderr = error.message;
      finish(127, null);
    });
    // `close` waits for every process with the pipes open. A process that a test left behind must not delay the run.
    child.on('exit', (code, signal) => { setTimeout(() => finish(code, signal), ended ? 0 : 250).unref(); });
    child.on('close', finish);
  });
}

/** Runs `work` for each item, a few at a time. */
export async function inParallel(items, limit, work) {
  const waiting = items.map((item, index) => [item, index]);
  const results = new Array(items.length);
  const worker = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) results[next[1]] = await work(next[0]);
  };
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, worker));
  return results;
}

/**
 * Runs one process for all files. If the process fails, each file is an error. If no file reached its canary, a run of only the canary
 * shows that the files caused the failure, not the runner.
 */
export async function tellAll(argv, extra, { root, files, canary, marker }, ledger, running) {
  for (const file of files) running.add(file);
  const call = (some) => runChild({ argv, directory: root, request: { root, files: some, canary, marker, ...extra } });
  const take = ({ lines, problem, words }, some) => {
    let seen = false;
    if (problem !== '') {
      for (const file of some) {
        ledger.test({ id: file, name: file, file, line: 0, status: 'error', message: `${problem}${words === '' ? '' : ` (${words})`}` });
      }
      return false;
    }
    for (const each of lines) {
      if (each.type === 'note') ledger.note(String(each.text));
      if (each.type !== 'result') continue;
      seen ||= each.canary;
      if (each.canary) ledger.canary(each.name, each.status, each.file, each.message);
      else ledger.test(each);
    }
    return seen;
  };
  const whole = take(await call(files), files);
  running.clear();
  if (!whole) take(await call([]), []);
}
