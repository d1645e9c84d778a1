// SPDX-License-Identifier: Apache-2.0
// Tests that must fail, registered in every test file that Jest runs (run_jest_file.cjs).
const mark = process.env.AGENTFORGE_CANARY_MARK;
const test = globalThis.test;
test(`${mark}toBe`, () => { expect(1).toBe(2); });
test(`${mark}toEqual`, () => { expect({ value: 1 }).toEqual({ value: 2 }); });
test(`${mark}toStrictEqual`, () => { expect([1]).toStrictEqual([2]); });
test(`${mark}toMatch`, () => { expect('a').toMatch(/b/); });
test(`${mark}toThrow`, () => { expect(() => {}).toThrow(); });
test(`${mark}rejects`, async () => { await expect(Promise.resolve(1)).rejects.toThrow(); });
test(`${mark}assert`, () => { require('node:assert')(false); });
test(`${mark}equal`, () => { require('node:assert').equal(1, 2); });
