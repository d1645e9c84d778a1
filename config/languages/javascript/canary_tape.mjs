// SPDX-License-Identifier: Apache-2.0
// Tests that must fail, run last in every test file's process with Tape or tap.
export default [
  ['ok', (t) => { t.ok(false); t.end(); }],
  ['equal', (t) => { t.equal(1, 2); t.end(); }],
  ['notEqual', (t) => { (t.not ?? t.notEqual).call(t, 1, 1); t.end(); }],
  ['same', (t) => { (t.same ?? t.deepEqual).call(t, { value: 1 }, { value: 2 }); t.end(); }],
  ['throws', (t) => { t.throws(() => {}); t.end(); }],
  ['match', (t) => { t.match('a', /b/); t.end(); }],
];
