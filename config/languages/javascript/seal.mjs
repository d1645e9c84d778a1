// SPDX-License-Identifier: Apache-2.0
// What decides how an assertion ends, as it was before project code could change it. A patch that lies only about the tests of one
// file would leave the canary alone.
import assert from 'node:assert';

const { getOwnPropertyDescriptor, getOwnPropertyNames } = Object;
const owners = [['assert', assert], ['assert.strict', assert.strict], ['AssertionError.prototype', assert.AssertionError.prototype]];
const kept = owners.flatMap(([label, owner]) =>
  getOwnPropertyNames(owner).map((name) => [label, owner, name, getOwnPropertyDescriptor(owner, name).value]));

/** The first function that is no longer what it was; empty: all are. */
export function replaced() {
  for (let index = 0; index < kept.length; index += 1) {
    const [label, owner, name, value] = kept[index];
    if (typeof value === 'function' && getOwnPropertyDescriptor(owner, name)?.value !== value) return `${label}.${name}`;
  }
  return '';
}
