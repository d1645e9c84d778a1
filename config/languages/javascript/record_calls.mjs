// SPDX-License-Identifier: Apache-2.0
// usage: node --import record_calls.mjs TEST_FILE     with AGENTFORGE_CALLS: {"root", "tests": paths, "out": the file to write}
// Records the calls of a test file to the project's functions if the arguments are literals, each as [module, function, arguments, result]. The last two are
// JSON, or have the form of `told` in varied_calls.mjs; the result is null if it is not a literal. Leaves out calls between the project's own functions.
import fs from 'node:fs';
import module from 'node:module';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { isMainThread } from 'node:worker_threads';

const here = path.dirname(fileURLToPath(import.meta.url));
const mark = '?agentforge-calls';
let given = null;

/** True if this file is one of the project's sources. */
function isSource(file) {
  return file.startsWith(given.root + path.sep) && !file.includes(`${path.sep}node_modules${path.sep}`) && !given.tests.includes(file);
}

// Hooks of the loader, in a separate thread: a test file that imports from the project gets a module that wraps the functions.

export async function initialize(data) {
  given = data;
}

export async function resolve(specifier, context, next) {
  const found = await next(specifier, context);
  const parent = context.parentURL?.startsWith('file:') ? fileURLToPath(context.parentURL) : '';
  if (!given.tests.includes(parent) || found.format !== 'module' || !found.url.startsWith('file:') || found.url.includes('?') || !isSource(fileURLToPath(found.url))) return found;
  return { ...found, url: found.url + mark };
}

export async function load(url, context, next) {
  if (!url.endsWith(mark)) return next(url, context);
  const real = url.slice(0, -mark.length);
  const text = fs.readFileSync(new URL(real), 'utf8');
  const names = new Set();
  for (const [, name] of text.matchAll(/^\s*export\s+(?:async\s+)?function\b\s*\*?\s*([\w$]+)/gm)) names.add(name);
  for (const [, name] of text.matchAll(/^\s*export\s+(?:const|let|var)\s+([\w$]+)\s*=/gm)) names.add(name);
  for (const [, list] of text.matchAll(/^\s*export\s*\{([^}]*)\}/gm)) {
    for (const each of list.split(',')) names.add(each.trim().split(/\s+as\s+/).at(-1));
  }
  names.delete('');
  const standard = /^\s*export\s+default\b/m.test(text) || names.delete('default');
  const wrapped = [...names].filter((name) => /^[\w$]+$/.test(name));
  const from = JSON.stringify(real);
  const wrap = `globalThis[Symbol.for('agentforge calls')]`;
  const source = [`import * as real from ${from};`, `export * from ${from};`,
                  ...wrapped.map((name) => `export const ${name} = ${wrap}(${from}, '${name}', real.${name});`),
                  standard ? `export default ${wrap}(${from}, 'default', real.default);` : ''].join('\n');
  return { format: 'module', source, shortCircuit: true };
}

async function begin() {
  const { told, literal, mostCalls } = await import(pathToFileURL(path.join(here, 'varied_calls.mjs')).href);
  given = JSON.parse(process.env.AGENTFORGE_CALLS);
  delete process.env.AGENTFORGE_CALLS;
  const calls = [];
  let depth = 0;
  const wrap = (url, name, value) => {
    if (typeof value !== 'function' || /^class\b/.test(Function.prototype.toString.call(value))) return value;
    return new Proxy(value, {
      apply(target, self, words) {
        const before = depth === 0 && calls.length < mostCalls ? literal(words) : null;
        let result = null;
        depth += 1;
        try {
          const returned = Reflect.apply(target, self, words);
          result = told(returned);
          return returned;
        } catch (error) {
          result = `throws ${error?.constructor?.name}`;
          throw error;
        } finally {
          depth -= 1;
          if (before !== null) calls.push([url, name, before, result]);
        }
      },
    });
  };
  globalThis[Symbol.for('agentforge calls')] = wrap;
  const compile = module._extensions['.js'];
  module._extensions['.js'] = (loaded, file) => {
    compile(loaded, file);
    if (!isSource(file)) return;
    const url = pathToFileURL(file).href;
    if (typeof loaded.exports === 'function') {
      loaded.exports = wrap(url, 'default', loaded.exports);
    } else if (loaded.exports !== null && Object.getPrototypeOf(loaded.exports) === Object.prototype) {
      for (const [name, each] of Object.entries(Object.getOwnPropertyDescriptors(loaded.exports))) {
        if (each.writable) loaded.exports[name] = wrap(url, name, each.value);
      }
    }
  };
  const write = fs.writeFileSync.bind(fs);
  process.on('exit', () => write(given.out, JSON.stringify(calls)));
  module.register(import.meta.url, { data: given });
}

if (isMainThread) await begin();
