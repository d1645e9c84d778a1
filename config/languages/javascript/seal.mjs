// SPDX-License-Identifier: Apache-2.0
// The code that decides an assertion's result and how node's runner reports it, as it was before project code could change it. A patch that lies only about some
// tests would not affect the canary.
import assert from 'node:assert';
import { Duplex, PassThrough, Readable, Transform } from 'node:stream';

const { getOwnPropertyDescriptor, getOwnPropertyNames } = Object;
const owners = [['assert', assert], ['assert.strict', assert.strict], ['AssertionError.prototype', assert.AssertionError.prototype],
  ['Readable.prototype', Readable.prototype], ['Transform.prototype', Transform.prototype], ['Duplex.prototype', Duplex.prototype],
  ['PassThrough.prototype', PassThrough.prototype], ['Map.prototype', Map.prototype]];
const kept = [];
for (const [label, owner] of owners) seal(label, owner);

/** Remembers the functions of another object, such as a framework, before project code is loaded. */
export function seal(label, owner) {
  for (const name of getOwnPropertyNames(owner)) kept.push([label, owner, name, getOwnPropertyDescriptor(owner, name).value]);
}

/** Returns the first changed function; empty if none has changed. */
export function replaced() {
  for (let index = 0; index < kept.length; index += 1) {
    const [label, owner, name, value] = kept[index];
    if (typeof value === 'function' && getOwnPropertyDescriptor(owner, name)?.value !== value) return `${label}.${name}`;
  }
  return '';
}
