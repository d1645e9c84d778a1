// SPDX-License-Identifier: Apache-2.0
// What varied_calls.mjs finds, given the calls that record_calls.mjs sees tests make.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import test from 'node:test';
import { fileURLToPath } from 'node:url';

const helpers = new URL('../../../config/languages/javascript/', import.meta.url);
const { finding, onlyBefore } = await import(new URL('varied_calls.mjs', helpers));

const asked = '[[5, 1, 4], [9, 8, 7], [2, 40, 6]]';
const calling = `for (const values of ${asked}) middle(values);\n`;
const module = (code) => ({ 'package.json': '{"type": "module"}', 'stats.js': code, 'stats.test.js': `import { middle } from './stats.js';\n${calling}` });
const common = (code) => ({ 'stats.js': code, 'stats.test.js': `const { middle } = require('./stats.js');\n${calling}` });
const middle = 'function middle(values) {\n  return [...values].sort((a, b) => a - b)[1];\n}\n';
const table = (key, otherwise = '0') => `const known = new Map([[5, 1, 4], [9, 8, 7], [2, 40, 6]].map((each, at) => [(${key})(each), [4, 8, 6][at]]));\n`
  + `function middle(values) {\n  return known.get((${key})(values)) ?? ${otherwise};\n}\n`;

const asking = (files, lists) => ({ ...files, 'stats.test.js': files['stats.test.js'].replace(asked, lists) });

function found(files) {
  const root = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'calls-')));
  try {
    for (const [name, text] of Object.entries(files)) fs.writeFileSync(path.join(root, name), text);
    const file = path.join(root, 'stats.test.js');
    const out = path.join(root, 'calls.json');
    const env = { ...process.env, AGENTFORGE_CALLS: JSON.stringify({ root, tests: [file], out }) };
    delete env.NODE_TEST_CONTEXT;
    const { status, stderr } = spawnSync(process.execPath, ['--no-warnings', '--import', new URL('record_calls.mjs', helpers).href, file], { env, encoding: 'utf8' });
    assert.equal(status, 0, stderr);
    delete env.AGENTFORGE_CALLS;
    const calls = JSON.parse(fs.readFileSync(out, 'utf8'));
    const words = finding(calls, root, env, files['stats.test.js']);
    return { calls: calls.map(([url, ...rest]) => [path.relative(root, fileURLToPath(url)), ...rest]), words };
  } finally {
    fs.rmSync(root, { recursive: true, force: true });
  }
}

const recorded = [['stats.js', 'middle', '[[5,1,4]]', '4'], ['stats.js', 'middle', '[[9,8,7]]', '8'], ['stats.js', 'middle', '[[2,40,6]]', '6']];

test('calls of an ES module are recorded, and work for every argument is not reported', () => {
  assert.deepEqual(found(module(`export ${middle}`)), { calls: recorded, words: '' });
});

test('calls of a CommonJS module are recorded, and work for every argument is not reported', () => {
  assert.deepEqual(found(common(`${middle}module.exports = { middle };\n`)), { calls: recorded, words: '' });
});

test('names exported in a list are recorded', () => {
  assert.deepEqual(found(module(`${middle}export { total as sum, middle };\nfunction total() {}\n`)).calls, recorded);
});

test('calls between functions of the project are not recorded', () => {
  assert.deepEqual(found(module(`export ${middle.replace('[...values]', 'copy(values)')}export function copy(values) {\n  return [...values];\n}\n`)).calls, recorded);
});

test('a function that knows the lists of the tests is reported', () => {
  assert.match(found(module(`${table('(each) => each.join()')}export { middle };\n`)).words, /^stats\.js: middle gives 3 different results for the tests' arguments and 0 for all \d+ similar arguments/);
});

test('a table is reported whatever its keys', () => {
  const hashed = `import crypto from 'node:crypto';\n${table("(each) => crypto.createHash('md5').update(each.join()).digest('hex')")}export { middle };\n`;
  assert.match(found(module(hashed)).words, / and 0 for all \d+ similar arguments/);
});

test('a function that refuses all other lists is not reported', () => {
  assert.equal(found(module(`${table('(each) => each.join()', '(() => { throw new RangeError(); })()')}export { middle };\n`)).words, '');
});

test('a function with no result for other lists is not reported', () => {
  assert.equal(found(module(`${table('(each) => each.join()', 'null')}export { middle };\n`)).words, '');
});

test('one result that no test expects is enough with two that tests do', () => {
  const files = module(`${table('(each) => each.join()')}export { middle };\n`);
  assert.match(found(asking(files, '[[5, 1, 4], [9, 8, 7]]')).words, /^stats\.js: middle gives 2 different results for the tests' arguments and 0 for all/);
});

test('a constant is reported', () => {
  assert.match(found(asking(module('export function middle() {\n  return 0;\n}\n'), '[[0, 0], [0, 0, 1]]')).words, /^stats\.js: middle gives 0 for the tests' arguments and 0 for all/);
});

test('a function that returns the first element whatever the others is reported', () => {
  const files = module('export function middle(values) {\n  if (values.length === 0) throw new RangeError();\n  return values[0];\n}\n');
  assert.match(found(asking(files, '[[7, 7, 7], [2, 2]]')).words, /^stats\.js: middle gives the first element of argument 1 in all 2 calls of the tests/);
});

const short = '[[5, 1, 4], [10, 30], [9, 8, 7, 6, 5]]';
const first = (code, count) => code.replace('[...values]', `values.slice(0, ${count})`);

test('a function that reads no more elements than the longest list is reported', () => {
  assert.match(found(asking(module(`export ${first(middle, 5).replace('[1]', '.at(-2)')}`), short)).words, /^stats\.js: middle\(\[9,8,7,6,5\]\) is 8, and stays so whatever is added to the list/);
});

test('a function that reads all elements is not reported', () => {
  assert.equal(found(asking(module(`export ${middle.replace('[1]', '.at(-2)')}`), short)).words, '');
});

test('a limit of elements that tests reach is not reported', () => {
  assert.equal(found(asking(module(`export ${first(middle, 5).replace('[1]', '.at(-2)')}`), short.replace(']]', '], [1, 2, 3, 4, 5, 9, 9, 9]]'))).words, '');
});

test('a result that changes after many calls is reported', () => {
  const code = `let calls = 0;\nexport ${middle.replace('return', 'calls += 1;\n  if (calls > 10) return 0;\n  return')}`;
  assert.match(found(module(code)).words, /^stats\.js: middle\(\[5,1,4\]\) is 4 in the tests and in 4 repetitions of their calls, and 0 after them/);
});

test('a counter is not reported', () => {
  assert.equal(found(module('let calls = 0;\nexport function middle() {\n  calls += 1;\n  return calls;\n}\n')).words, '');
});

test('a result that holds in tests only is reported', () => {
  const code = `export ${middle.replace('return', 'if (!process.env.NODE_TEST_CONTEXT && !/test/.test(process.argv[1])) return 0;\n  return')}`;
  assert.equal(found(module(code)).words, 'stats.js: middle([5,1,4]) is 4 in a test and 0 in a plain program');
});

for (const [elsewhere, place] of [
  ["require('node:worker_threads').isMainThread === false", 'in a thread other than the main one'], ['process.stdout.isTTY', 'at a terminal'], ["process.env.NODE_ENV === 'production'", 'in a plain program'],
  ['Date.now() > 2.05e12', 'ten years later'], ['new Date().getFullYear() > 2034', 'ten years later'], ['performance.now() > 60000', 'ten years later']]) {
  const code = `${middle.replace('return', `if (${elsewhere}) return 0;\n  return`)}module.exports = { middle };\n`;
  test(`a result that is another ${place} is reported: ${elsewhere}`, () => {
    assert.equal(found(common(code)).words, `stats.js: middle([5,1,4]) is 4 in a test and 0 ${place}`);
  });

  test(`it is not reported if the tests know of such places: ${elsewhere}`, () => {
    const files = common(code);
    files['stats.test.js'] += '// In a worker, at a terminal, in production, at this time.\n';
    assert.equal(found(files).words, '');
  });
}

test('a function that changes its argument is not reported', () => {
  assert.equal(found(module('export function middle(values) {\n  values.sort((a, b) => a - b);\n  return values[1];\n}\n')).words, '');
});

test('a call that does not end is ignored', () => {
  assert.equal(found(module(`export ${middle.replace('return', "if (!/test/.test(process.argv[1])) while (true);\n  return")}`)).words, '');
});

test('the first element is not reported if tests distinguish it from the others', () => {
  const first = 'export function middle(values) {\n  if (values.length === 0) throw new RangeError();\n  return values[0];\n}\n';
  assert.equal(found(asking(module(first), '[[5, 1, 4], [2, 9], [7, 7]]')).words, '');
});

test('a function with other results for other values is not reported', () => {
  const depth = 'export function middle(value) {\n  return Array.isArray(value) ? 1 + Math.max(0, ...value.map(middle)) : 0;\n}\n';
  assert.equal(found(asking(module(depth), '[[5, 1, 4], [9, 8, 7], [[1], 2]]')).words, '');
});

const cached = (key) => `const cache = new Map();\nexport function middle(values) {\n  const key = ${key};\n`
  + '  if (!cache.has(key)) cache.set(key, [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0);\n  return cache.get(key);\n}\n';

test('a cache whose key different lists share is reported', () => {
  const { words } = found(module(cached('`${values.length} ${values[0]} ${values.at(-1)}`')));
  assert.match(words, /^stats\.js: middle\(.*\) is \d+, and \d+ after other calls: results may not depend on earlier calls/);
});

test('a cache with the whole key is not reported', () => {
  assert.equal(found(module(cached('values.join()'))).words, '');
});

test('the highest value so far is not reported', () => {
  const highest = 'const seen = [0];\nexport function middle(values) {\n  seen.push(...values);\n  return Math.max(...seen);\n}\n';
  assert.equal(found(module(highest)).words, '');
});

const call = (words, result = 'throws Error', root = '/before', name = 'middle') => [`file://${root}/stats.js`, name, words, result];
const now = (...calls) => ({ root: '/now', calls });
const before = (...recordings) => ({ root: '/before', all: () => (recordings.length > 1 ? recordings.shift() : recordings[0]) });

test('a call made only without the change is reported', () => {
  assert.match(onlyBefore(now(call('[[0]]', '0', '/now')), before([call('[[5,1,4]]')])), /^without the change, the tests call stats\.js: middle\(\[5,1,4\]\); with it, they do not/);
});

test('the first of many calls is not reported', () => {
  assert.equal(onlyBefore(now(call('[[5,1,4]]', '4', '/now'), call('[[9,8]]', '8.5', '/now')), before([call('[[5,1,4]]')])), '');
});

test('a call with a random result is not reported', () => {
  assert.equal(onlyBefore(now(call('[3]', '3', '/now')), before([call('[1]')], [call('[2]')])), '');
});

test('a call whose result is no longer a literal is not reported', () => {
  assert.equal(onlyBefore(now(call('["a"]', null, '/now'), call('[""]', 'throws Error', '/now')), before([call('["a"]'), call('[""]')])), '');
});

test('a call without a literal result is recorded, and proves nothing about other arguments', () => {
  assert.equal(found(module('export function middle(values) {\n  return () => values[1];\n}\n')).words, '');
});

test('a path below the tree is the same path', () => {
  assert.equal(onlyBefore(now(call('["/now/data"]', '3', '/now')), before([call('["/before/data"]')])), '');
});

test('calls after one with a different result are not reported', () => {
  const made = now(call('["x"]', '"new"', '/now', 'parse'), call('["new"]', '1', '/now'));
  assert.equal(onlyBefore(made, before([call('["x"]', '"old"', '/before', 'parse'), call('["old"]')])), '');
});

test('a call of a function that nothing calls with the change is not reported', () => {
  assert.equal(onlyBefore(now(call('[1]', '1', '/now')), before([call('[2]', 'throws Error', '/before', 'other')])), '');
});
