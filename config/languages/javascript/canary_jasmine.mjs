// SPDX-License-Identifier: Apache-2.0
// Tests that must fail, run in every test file's process with Jasmine.
import assert from 'node:assert';

export default [
  ['toBe', () => { expect(1).toBe(2); }],
  ['toEqual', () => { expect({ value: 1 }).toEqual({ value: 2 }); }],
  ['toMatch', () => { expect('a').toMatch(/b/); }],
  ['toThrow', () => { expect(() => {}).toThrow(); }],
  ['not', () => { expect(1).not.toBe(1); }],
  ['toBeResolved', async () => { await expectAsync(Promise.reject(new Error('no'))).toBeResolved(); }],
  ['assert', () => { assert(false); }],
  ['equal', () => { assert.equal(1, 2); }],
];
