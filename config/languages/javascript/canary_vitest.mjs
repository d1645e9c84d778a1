// SPDX-License-Identifier: Apache-2.0
// Tests that must fail, registered at the end of every test file that Vitest runs (run_vitest.mjs).
export default function register({ test, expect, assert }, mark) {
  test(`${mark}toBe`, () => { expect(1).toBe(2); });
  test(`${mark}toEqual`, () => { expect({ value: 1 }).toEqual({ value: 2 }); });
  test(`${mark}toStrictEqual`, () => { expect([1]).toStrictEqual([2]); });
  test(`${mark}toMatch`, () => { expect('a').toMatch(/b/); });
  test(`${mark}toThrow`, () => { expect(() => {}).toThrow(); });
  test(`${mark}rejects`, async () => { await expect(Promise.resolve(1)).rejects.toThrow(); });
  test(`${mark}assert`, () => { assert(false); });
  test(`${mark}equal`, () => { assert.equal(1, 2); });
}
