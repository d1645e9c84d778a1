// SPDX-License-Identifier: Apache-2.0
// Tests that must fail, registered at the end of every test file that AVA runs (run_ava.mjs).
'use strict';
module.exports = (exported, mark) => {
  const test = exported.default ?? exported;
  test(`${mark}is`, (t) => { t.is(1, 2); });
  test(`${mark}not`, (t) => { t.not(1, 1); });
  test(`${mark}deepEqual`, (t) => { t.deepEqual({ value: 1 }, { value: 2 }); });
  test(`${mark}true`, (t) => { t.true(false); });
  test(`${mark}truthy`, (t) => { t.truthy(0); });
  test(`${mark}throws`, (t) => { t.throws(() => {}); });
  test(`${mark}throwsAsync`, async (t) => { await t.throwsAsync(async () => {}); });
  test(`${mark}regex`, (t) => { t.regex('a', /b/); });
};
