// SPDX-License-Identifier: Apache-2.0
// The results of one file's tests, in the kernel's words: passed, failed_assertion, failed_skeleton, error, skipped.
import { pathToFileURL } from 'node:url';
import { inspect } from 'node:util';

const order = ['passed', 'skipped', 'failed_skeleton', 'failed_assertion', 'error'];
const messageLimit = 2000;

/** Returns `AssertionError: text` on one line. Never throws. */
export function describe(error) {
  try {
    if (error === null || (typeof error !== 'object' && typeof error !== 'function')) return shorten(String(error));
    const text = String(error.message ?? error);
    const name = typeof error.name === 'string' && error.name !== '' ? error.name : 'Error';
    return shorten((text.startsWith(`${name}: `) ? text : `${name}: ${text}`) + values(error, text));
  } catch {
    return 'an error whose text cannot be shown';
  }
}

/** Returns the compared values of an assertion whose message lacks them, such as one with a custom message. */
function values(error, text) {
  if (!('expected' in error && 'actual' in error) || (error.expected === undefined && error.actual === undefined)) return '';
  const [expected, actual] = [error.expected, error.actual].map((value) => inspect(value, { depth: 4, breakLength: Infinity, customInspect: false }));
  return text.includes(expected) && text.includes(actual) ? '' : `\nexpected: ${expected}\nactual: ${actual}`;
}

export function shorten(text) {
  // eslint-disable-next-line no-control-regex
  const line = text.replace(/\u001b\[[0-9;]*m/g, '').replace(/\s*\n\s*/g, ' ').trim();
  return line.length <= messageLimit ? line : `${line.slice(0, messageLimit - 1)}…`;
}

/** Returns the first line of `file` (absolute) in the error's stack; 0 if there is none. */
export function lineIn(error, file) {
  try {
    if (file === '') return 0;
    const stack = String(error?.stack ?? '');
    for (const place of [`${pathToFileURL(file).href}`, file]) {
      for (let at = stack.indexOf(place); at >= 0; at = stack.indexOf(place, at + 1)) {
        const found = /^(?:\?[^:]*)?:(\d+)/.exec(stack.slice(at + place.length));
        if (found !== null) return Number(found[1]);
      }
    }
  } catch {
    // An unreadable stack has no line.
  }
  return 0;
}

/** Returns the status for a thrown value. Errors of assertion libraries are named AssertionError, or have `matcherResult` (expect). */
export function classify(error, marker) {
  try {
    if (error === null || typeof error !== 'object') return 'error';
    if (typeof error.message === 'string' && marker !== '' && error.message.startsWith(marker)) return 'failed_skeleton';
    if (error.code === 'ERR_ASSERTION' || error.matcherResult !== undefined) return 'failed_assertion';
    for (let prototype = error; prototype !== null && prototype !== undefined; prototype = Object.getPrototypeOf(prototype)) {
      if (prototype.name === 'AssertionError' || prototype.constructor?.name === 'AssertionError') return 'failed_assertion';
    }
  } catch {
    // A value that throws when read is not an assertion.
  }
  return 'error';
}

export class Outcomes {
  #file;
  #marker;
  #known = new Map();
  #cancelled = new Set();

  constructor(file, marker) {
    this.#file = file;
    this.#marker = marker;
  }

  classify(error) {
    return classify(error, this.#marker);
  }

  /** A hook that reaches unwritten code fails its tests just as they themselves would. Any other error of a hook proves nothing. */
  classifyInHook(error) {
    return this.classify(error) === 'failed_skeleton' ? 'failed_skeleton' : 'error';
  }

  /** `names`: from the outermost suite to the test. A repeated name gets a number, like a parameter. `cancelled`: the test did not run to its end. */
  add(names, status, message, line, cancelled = false) {
    let id = [this.#file, ...names].join('::');
    for (let copy = 2; this.#known.has(id); ++copy) id = `${[this.#file, ...names].join('::')}[${copy}]`;
    this.#known.set(id, { id, name: names[names.length - 1], line: line || 0, status, message: message ?? '' });
    if (cancelled) this.#cancelled.add(id);
  }

  /** A test that failed because of tests inside it. It gets the worst of their statuses, with their reasons. */
  addParent(names, message, line) {
    const inside = this.#inside(names);
    const worst = inside.reduce((most, { status }) => (order.indexOf(status) > order.indexOf(most) ? status : most), 'skipped');
    const reasons = new Set(inside.filter(({ status }) => status === worst).map((each) => each.message));
    this.add(names, worst === 'skipped' ? 'error' : worst, worst === 'skipped' ? message : [...reasons].join('\n').slice(0, messageLimit), line);
  }

  /** A suite's hook failed. The tests that did not run because of it fail for its reason; all tests of the suite do if it reached unwritten code. Returns false if there are none. */
  failInside(names, status, message) {
    const hit = this.#inside(names).filter((each) => this.#cancelled.has(each.id) || (status === 'failed_skeleton' && each.status === 'passed'));
    for (const each of hit) Object.assign(each, { status, message });
    return hit.length > 0;
  }

  #inside(names) {
    const prefix = `${[this.#file, ...names].join('::')}::`;
    return [...this.#known.values()].filter(({ id }) => id.startsWith(prefix));
  }

  /** The file itself did not load. */
  broken(message, line) {
    this.#known.set(this.#file, { id: this.#file, name: this.#file, line, status: 'error', message });
  }

  all() {
    return [...this.#known.values()];
  }
}
