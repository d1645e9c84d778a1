// SPDX-License-Identifier: Apache-2.0
// Tests that must fail, run last in every test file's process. The gates do not trust a run that reports one of them as anything
// but a failed assertion: something in the project has changed what the runner or its assertions do.
import assert, { equal as namedEqual } from 'node:assert';
import strict from 'node:assert/strict';

const pairs = [
  ['named equal', () => namedEqual(1, 2)],
  ['assert', () => assert(false)],
  ['ok', () => assert.ok(false)],
  ['equal', () => assert.equal(1, 2)],
  ['strictEqual', () => assert.strictEqual(1, 2)],
  ['notStrictEqual', () => assert.notStrictEqual(1, 1)],
  ['deepEqual', () => assert.deepEqual({ value: 1 }, { value: 2 })],
  ['deepStrictEqual', () => assert.deepStrictEqual({ value: 1 }, { value: 2 })],
  ['match', () => assert.match('a', /b/)],
  ['throws', () => assert.throws(() => {})],
  ['rejects', () => assert.rejects(Promise.resolve())],
  ['strict.equal', () => strict.equal(1, 2)],
  ['strict.deepEqual', () => strict.deepEqual({ value: 1 }, { value: 2 })],
];
export default pairs;
