// SPDX-License-Identifier: Apache-2.0
// Repeats the tests' calls (record_calls.mjs): in a test, in a plain program in production (NODE_ENV), in another thread of it, at a terminal, ten years
// and half a day later, many times, and with other arguments. Tests that mention NODE_ENV, threads, terminals or time may test code that depends on them, so
// their calls are not repeated there.
//
// Findings, each a measured fact:
// - A call has one result in a test and another in a plain program, in another thread, at a terminal or ten years later.
// - A function gives one and the same number for all lists near the tests' lists of numbers: it is constant, or knows the tests' lists.
// - A function always returns one part of its arguments: an entry of an object, or the first or last element of a list if each of the tests' lists has only one value.
// - A function reads as many elements as the tests' longest list has, and none after them.
// - A call gives the same result many times, and then another.
// - A call gives another result if other calls come before it, although repeating the calls changes nothing.
// - Without the change, tests make another call than with it: then the change decides what the tests call.
// Only literal results count. An error in the program, or a call that takes too long, proves nothing.
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

export const mostCalls = 200;           // For one test file.
const mostVaried = 300;
const mostOfOneCall = 30;
const mostMilliseconds = 4000;          // Processor time of one program, which then writes its results so far.
const waitsAtMost = 20_000;             // Milliseconds of one program, which then writes its results so far.
const rounds = 25;
const fewestNeighbours = 12;            // For a function that may be a table.
const fewestResults = 3;
const largestNumber = 10 ** 6;          // Numbers above this are not increased.
const productions = /NODE_ENV|production/;
const threads = /worker|thread/i;
const terminals = /isTTY|\btty\b|terminal|colou?r|ansi|\\x1b|\\u001b|columns|width/i;
const times = /\b(time|date|dates|today|now|year|years|age|clock|calendar|expires?|expired|expiry|timeout)\b|Date\b|Time\b|fakeTimers/;

/** Returns the value as JSON if JSON can represent all of it, else null. */
export function literal(value) {
  const whole = (each) => each === null || typeof each === 'string' || typeof each === 'boolean' || (typeof each === 'number' && Number.isFinite(each))
    || (Array.isArray(each) && Object.keys(each).length === each.length && each.every(whole))
    || (typeof each === 'object' && Object.getPrototypeOf(each) === Object.prototype && Object.getOwnPropertySymbols(each).length === 0 && Object.values(each).every(whole));
  try {
    const text = whole(value) ? JSON.stringify(value) : null;
    return text !== null && text.length < 10000 ? text : null;
  } catch {             // The value contains itself.
    return null;
  }
}

/** Returns a text for a result: JSON, or a name for values that JSON lacks; null if it cannot be compared. */
export function told(value) {
  return value === undefined || (typeof value === 'number' && !Number.isFinite(value)) ? String(value) : literal(value);
}

// The same text in a test and in a program's main, because the code under test can see its caller.
const repeat = (asked, written, many) => `
  const { calls, until } = { calls: JSON.parse(fs.readFileSync(${JSON.stringify(asked)}, 'utf8')), until: Date.now() + ${waitsAtMost} };
  process.on('unhandledRejection', () => {});
  const modules = new Map();
  for (const [url] of calls) if (!modules.has(url)) modules.set(url, await import(url));
  const called = new vm.Script('globalThis.__call()');
  const results = [];
  for (let round = 0; round < ${many}; round += 1) {
    results.push(calls.map(([url, name, given]) => {
      if (Date.now() > until || process.cpuUsage().user > ${1000 * mostMilliseconds}) return null;
      const loaded = modules.get(url);
      const work = name in loaded ? loaded[name] : loaded.default?.[name];
      const words = JSON.parse(given);
      globalThis.__call = () => work(...words);
      try {
        return told(called.runInThisContext({ timeout: 500 }));
      } catch (error) {
        return error?.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT' ? null : 'throws ' + error?.constructor?.name;
      }
    }));
  }
  fs.writeFileSync(${JSON.stringify(written)}, JSON.stringify(results));
`;
const imports = `import fs from 'node:fs';\nimport vm from 'node:vm';\nimport { told } from ${JSON.stringify(import.meta.url)};\n`;

const moved = (days) => `
const [RealDate, milliseconds] = [Date, ${days} * 86400000];
globalThis.Date = class extends RealDate {
  constructor(...words) {
    if (words.length > 0) super(...words);
    else super(RealDate.now() + milliseconds);
  }
  static now() { return RealDate.now() + milliseconds; }
};
const [realNow, realUptime] = [performance.now.bind(performance), process.uptime.bind(process)];
performance.now = () => realNow() + ${days} * 24000;
process.uptime = () => realUptime() + ${days} * 24;
`;
const inThread = (body) => `${imports}import { Worker, isMainThread as isMain } from 'node:worker_threads';
if (isMain) new Worker(new URL(import.meta.url)).on('exit', () => process.exit());
else {${body}process.exit();}
`;
const programs = {
  test: (body) => `${imports}import test from 'node:test';\ntest('calls', async () => {${body}});\n`,
  program: (body) => `${imports}${body}process.exit();\n`,
  thread: inThread,
  terminal: (body) => `${imports}${body}process.exit();\n`,
  later: (body) => `${imports}${moved(3653.5)}${body}process.exit();\n`,
  now: (body) => `${imports}${moved(0)}${body}process.exit();\n`,
};

/** Returns the results of the calls, a list for each round; undefined if the program does not run. */
function results(calls, environment, many, place) {
  const scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'app-'));
  try {
    const [asked, written, program] = ['calls.json', 'results.json', 'app.mjs'].map((name) => path.join(scratch, name));
    fs.writeFileSync(asked, JSON.stringify(calls));
    fs.writeFileSync(program, programs[place](repeat(asked, written, many)));
    const options = { cwd: scratch, env: environment, stdio: 'ignore', timeout: 3 * waitsAtMost, killSignal: 'SIGKILL' };
    const words = ['--no-warnings', ...(place === 'test' ? ['--test'] : []), program];
    if (place === 'terminal') {
      const quoted = [process.execPath, ...words].map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(' ');
      spawnSync('script', ['-q', '-e', '-c', quoted, '/dev/null'], { ...options, env: { TERM: 'xterm', ...environment, SHELL: '/bin/sh' } });
    } else {
      spawnSync(process.execPath, words, options);
    }
    return JSON.parse(fs.readFileSync(written, 'utf8'));
  } catch {
    return [];
  } finally {
    fs.rmSync(scratch, { recursive: true, force: true });
  }
}

/** Returns values of the same kind: some near this one, and simple special cases. */
export function neighbours(value) {
  if (typeof value === 'boolean') return [!value];
  if (typeof value === 'number') return [value + 1, value - 1, -value, 0, ...(Math.abs(value) < largestNumber ? [2 * value + 1] : [])];
  if (typeof value === 'string') return [value.slice(1), value.slice(0, -1), [...value].reverse().join(''), value + value, ''];
  if (Array.isArray(value)) {
    const near = [value.slice(1), value.slice(0, -1), [...value].reverse(), [...value, ...value], []];
    value.slice(0, 6).forEach((element, place) => near.push(...neighbours(element).slice(0, 2).map((other) => value.with?.(place, other) ?? Object.assign([...value], { [place]: other }))));
    return near;
  }
  if (value === null) return [];
  const entries = Object.entries(value).slice(0, 4);
  return [...entries.map(([leftOut]) => Object.fromEntries(Object.entries(value).filter(([key]) => key !== leftOut))),
          ...entries.flatMap(([key, each]) => neighbours(each).slice(0, 2).map((other) => ({ ...value, [key]: other })))];
}

const key = (call) => JSON.stringify(call.slice(0, 3));
const named = (call) => JSON.stringify(call.slice(0, 2));
const nameOf = (call, root) => `${path.relative(root, decodeURIComponent(new URL(call[0]).pathname))}: ${call[1]}`;
const inWords = (call, root) => `${nameOf(call, root)}(${call[2].slice(1, -1).slice(0, 200)})`;
const isValue = (result) => result !== null && !result.startsWith('throws ');
const listOfNumbers = (value) => Array.isArray(value) && value.length > 1 && value.every((each) => typeof each === 'number');

/** Returns calls with one varied argument that the tests do not make. */
function varied(calls) {
  const known = new Set(calls.map(key));
  const others = [];
  for (const [url, name, text] of calls) {
    const given = JSON.parse(text);
    const near = given.flatMap((value, place) => neighbours(value).map((other) => given.map((each, index) => (index === place ? other : each))));
    for (const each of near.slice(0, mostOfOneCall)) {
      const call = [url, name, JSON.stringify(each)];
      if (known.has(key(call)) || others.length === mostVaried) continue;
      known.add(key(call));
      others.push(call);
    }
  }
  return others;
}

/** Returns the set of values if all are numbers. */
function numbers(texts) {
  return new Set(texts.every((each) => /^-?[0-9]/.test(each)) ? texts.map(Number) : []);
}

/**
 * Returns each function that gets lists of numbers from the tests: its name, the tests' calls, and the other calls with their results. Leaves out errors
 * and results that are not literals.
 */
function byFunction(calls, others, found, root) {
  return [...new Set(calls.map(named))].map((name) => {
    const own = calls.filter((call) => named(call) === name && isValue(call[3]));
    const near = others.map((call, at) => [...call, found[at]]).filter((call) => named(call) === name && isValue(call[3]));
    return { name: nameOf(calls.find((call) => named(call) === name), root), own, near };
  }).filter(({ own, near }) => near.length >= fewestNeighbours && own.some((call) => JSON.parse(call[2]).some(listOfNumbers)));
}

/** Describes a function that returns one number for all lists of numbers, or for all except the tests' lists. A number that tests also expect may be right for most lists. */
function table(functions, root) {
  for (const { name, own, near } of functions) {
    const given = numbers(own.filter((call) => JSON.parse(call[2]).some(listOfNumbers)).map((call) => call[3]));
    const other = numbers(near.map((call) => call[3]));
    if (other.size !== 1 || given.size === 0) continue;
    const [constant] = other;
    const such = `${constant} for all ${near.length} similar arguments that were tried, such as ${inWords(near[0], root)}: it must compute its result for every argument`;
    if (given.size >= fewestResults || (given.size > 1 && !given.has(constant))) return `${name} gives ${given.size} different results for the tests' arguments and ${such}`;
    const all = numbers(own.map((call) => call[3]));
    if (all.size === 1 && all.has(constant)) return `${name} gives ${constant} for the tests' arguments and ${such}`;
  }
  return '';
}

/** Returns the parts of the arguments that a function could return without work: which, and the value. */
function parts([, , text]) {
  const found = JSON.parse(text).flatMap((value, place) => {
    if (Array.isArray(value)) return [[`the first element of argument ${place + 1}`, value[0]], [`the last element of argument ${place + 1}`, value.at(-1)]];
    return value !== null && typeof value === 'object' ? Object.entries(value).map(([entry, each]) => [`what was given as \`${entry}\``, each]) : [];
  });
  return new Map(found.filter(([, value]) => typeof value === 'number'));
}

/** True if in each list among the arguments all elements are equal. */
const hasOneValue = ([, , text]) => JSON.parse(text).filter(listOfNumbers).every((list) => new Set(list).size === 1);

/** Describes a function that always returns the same part of its arguments. */
function partOfArguments(functions) {
  for (const { name, own, near } of functions) {
    const seen = [...own, ...near];
    if (numbers(seen.map((call) => call[3])).size < fewestResults) continue;
    for (const which of parts(own[0]).keys()) {
      // If the tests distinguish an element from its neighbours, this element may be the right result.
      if (which.includes(' element ') && !own.every(hasOneValue)) continue;
      if (seen.every((call) => parts(call).get(which) === Number(call[3]))) {
        return `${name} gives ${which} in all ${own.length} calls of the tests and all ${near.length} similar arguments that were tried: it must compute its result, and a test must tell the two apart`;
      }
    }
  }
  return '';
}

/** Returns the calls with one list of numbers as the only argument, with two variants with another last element, and with variants with added elements. */
function longer(calls) {
  const found = new Map();
  for (const call of calls) {
    const [list, ...more] = JSON.parse(call[2]);
    if (more.length > 0 || !listOfNumbers(list) || numbers([call[3]]).size === 0) continue;
    const [low, high] = [Math.min(...list) - 1000, Math.max(...list) + 1000];
    const times = (...each) => list.flatMap(() => each);
    const tails = [[high], [low], [high, high], [low, low], times(high), times(low), times(low, high), times(high, low, low)];
    const lists = [...[high, low].map((end) => [...list.slice(0, -1), end]), ...tails.map((tail) => [...list, ...tail])];
    found.set(key(call), { call, length: list.length, asked: lists.map((each) => [call[0], call[1], JSON.stringify([each])]) });
  }
  return [...found.values()];
}

/** Describes a function whose results depend on elements added to the tests' shorter lists, of at least two lengths, but never on those added to the longest. */
function shortSighted(calls, root, environment) {
  const all = longer(calls);
  const asked = all.flatMap((each) => each.asked);
  const now = asked.length > 0 ? results(asked, environment, 1, 'program')[0] : undefined;
  if (now === undefined) return '';
  let at = 0;
  for (const each of all) {
    const given = now.slice(at, at += each.asked.length);
    const other = (result) => isValue(result) && result !== each.call[3];
    each.lastCounts = given.slice(0, 2).some(other);
    each.tailCounts = given.slice(2).some(other);
    each.tailIsLost = given.slice(2).every((result) => result === each.call[3]);
  }
  for (const name of new Set(all.map(({ call }) => named(call)))) {
    const own = all.filter(({ call }) => named(call) === name);
    const longest = Math.max(...own.map(({ length }) => length));
    const blind = own.filter(({ length }) => length === longest);
    const shorter = new Set(own.filter(({ length, tailCounts }) => length < longest && tailCounts).map(({ length }) => length));
    if (shorter.size < 2 || !blind.every(({ lastCounts, tailIsLost }) => lastCounts && tailIsLost)) continue;
    const [{ call, asked: [, , first] }] = blind;
    return `${inWords(call, root)} is ${call[3]}, and stays so whatever is added to the list, such as ${inWords(first, root)}; elements added to the tests' shorter lists do change results: `
      + "it must do the work for lists longer than the tests', and a test must have one";
  }
  return '';
}

/** Describes a call with the tests' result in at least the first two rounds, and another result later. */
function wearsOut(calls, all, root) {
  if (all.length !== rounds) return '';
  const seen = new Map();
  calls.forEach((call) => seen.set(key(call), (seen.get(key(call)) ?? new Set()).add(call[3])));
  const unsteady = new Set(calls.filter((call, at) => seen.get(key(call)).size > 1 || all[0][at] !== call[3] || all[1][at] !== call[3]).map(named));
  for (const [at, call] of calls.entries()) {
    if (unsteady.has(named(call))) continue;
    const number = all.findIndex((round) => round[at] !== null && round[at] !== call[3]);
    if (number >= 0) {
      return `${inWords(call, root)} is ${call[3].slice(0, 100)} in the tests and in ${number} repetitions of their calls, and ${all[number][at].slice(0, 100)} after them: `
        + 'results may not depend on how often it was called';
    }
  }
  return '';
}

/**
 * Describes a call, of one of these functions, that has another result if the same calls come in reverse order. Leaves out functions whose results change
 * when the calls are repeated, because they keep state on purpose.
 */
function dependsOnOrder(functions, others, now, environment, root) {
  const watched = new Set(functions.flatMap(({ near }) => near.map(named)));
  if (watched.size === 0) return '';
  const inReverse = (many) => results([...others].reverse(), environment, many, 'program').map((round) => round.reverse());
  const [backward] = inReverse(1);
  if (backward === undefined) return '';
  const differs = (at) => isValue(backward[at]) && isValue(now[at]) && backward[at] !== now[at] && watched.has(named(others[at]));
  if (!others.some((_, at) => differs(at))) return '';
  const forward = [...results(others, environment, 2, 'program'), ...results(others, environment, 2, 'program')];
  const reverse = inReverse(2);
  if (forward.length !== 4 || reverse.length !== 2) return '';
  const isUnsteady = (_, at) => forward.some((round) => round[at] !== now[at]) || reverse.some((round) => round[at] !== backward[at]);
  const unsteady = new Set(others.filter(isUnsteady).map(named));
  const found = others.findIndex((call, at) => differs(at) && !unsteady.has(named(call)));
  return found < 0 ? '' : `${inWords(others[found], root)} is ${now[found].slice(0, 100)}, and ${backward[found].slice(0, 100)} after other calls: results may not depend `
    + 'on earlier calls, such as through a cache whose key is only a part of the arguments';
}

/** Describes a call with the tests' result in a test and another result elsewhere. Empty if there is none, undefined if it cannot be measured. `text`: of the test files. */
function elsewhere(calls, root, environment, text) {
  const inTest = results(calls, environment, 1, 'test')[0];
  const session = productions.test(text) ? environment : { NODE_ENV: 'production', ...environment };
  const differs = (place, words) => {
    const found = results(calls, session, 1, place)[0];
    if (inTest === undefined || found === undefined) return undefined;
    const at = calls.findIndex((call, index) => call[3] === inTest[index] && found[index] !== null && !found[index].startsWith('throws ') && inTest[index] !== found[index]);
    return at < 0 ? '' : `${inWords(calls[at], root)} is ${inTest[at].slice(0, 100)} in a test and ${found[at].slice(0, 100)} ${words}`;
  };
  const plain = differs('program', 'in a plain program');
  if (plain !== '') return plain;
  const inThread = threads.test(text) ? '' : differs('thread', 'in a thread other than the main one');
  if (inThread) return inThread;
  const atTerminal = terminals.test(text) ? '' : differs('terminal', 'at a terminal');
  if (atTerminal) return atTerminal;
  const later = times.test(text) ? '' : differs('later', 'ten years later');
  return later && !differs('now', 'now') ? later : '';       // Otherwise the replaced clock makes the difference.
}

/** Returns a finding about the project's functions; empty if there is none. `calls`: the tests' calls. `text`: of the test files. */
export function finding(recorded, root, environment, text) {
  const calls = recorded.filter((call) => call[3] !== null);
  if (calls.length === 0) return '';
  const other = elsewhere(calls, root, environment, text);
  if (other !== '') return other ?? '';
  const others = varied(calls);
  const near = others.length > 0 ? results(others, environment, 1, 'program')[0] : undefined;
  const functions = near === undefined ? [] : byFunction(calls, others, near, root);
  const fitted = table(functions, root) || partOfArguments(functions) || dependsOnOrder(functions, others, near, environment, root)
    || shortSighted(calls, root, environment);
  if (fitted !== '') return fitted;
  // The same in two processes: a result that depends on time or chance changes after different numbers of calls.
  const worn = wearsOut(calls, results(calls, environment, rounds, 'program'), root);
  return worn !== '' && worn === wearsOut(calls, results(calls, environment, rounds, 'program'), root) ? worn : '';
}

/** Returns the call with its module's path relative to `root`, without any other mention of `root`. */
function anywhere(call, root) {
  const [url, name, text, result] = call;
  return [path.relative(root, decodeURIComponent(new URL(url).pathname)), name, text.replaceAll(root, '.'), result];
}

/**
 * Describes a call that tests make without the change (`before`, recorded twice) and not with it (`now`); empty if there is none. Without the change, a test
 * ends at the first call that fails. Up to there nothing depends on the change, unless a call has another result; this compares no calls after such a call.
 */
export function onlyBefore(now, before) {
  if (now.calls.length === 0 || now.calls.length >= mostCalls) return '';
  const placed = now.calls.map((call) => anywhere(call, now.root));
  const made = new Map(placed.map((call) => [key(call), call[3]]));
  const called = new Set(placed.map(named));
  const missing = () => {
    const found = new Map();
    for (const call of before.all().map((each) => anywhere(each, before.root))) {
      const fails = call[3] !== null && !isValue(call[3]);
      if (!fails && made.has(key(call)) && made.get(key(call)) !== call[3]) break;
      if (fails && called.has(named(call)) && !made.has(key(call))) found.set(key(call), call);
    }
    return found;
  };
  const first = missing();
  if (first.size === 0) return '';
  const again = missing();        // A call that depends on chance or time differs between the two recordings.
  const [found] = [...first].filter(([each]) => again.has(each));
  if (found === undefined) return '';
  const [, [file, name, text]] = found;
  return `without the change, the tests call ${file}: ${name}(${text.slice(1, -1).slice(0, 200)}); with it, they do not. What a test asks must stand in the test: `
    + 'take out of the change whatever the tests read of it to choose their arguments';
}
