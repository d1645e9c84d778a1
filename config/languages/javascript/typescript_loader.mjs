// SPDX-License-Identifier: Apache-2.0
// Hooks of node's module loader that run TypeScript (typescript_sources.mjs). They find imports as TypeScript does (`./a` and `./a.js`
// may mean `./a.ts`). typescript_require.mjs does it for `require`.
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

import { TypescriptSources } from './typescript_sources.mjs';

let sources = null;

export async function initialize(data) {
  sources = new TypescriptSources(data);
}

export async function resolve(specifier, context, next) {
  const parent = context.parentURL?.startsWith('file:') ? fileURLToPath(context.parentURL) : '';
  if (parent === '') return next(specifier, context);
  const found = sources.resolve(specifier.startsWith('file:') ? fileURLToPath(specifier) : specifier, parent);
  if (found !== null) return next(pathToFileURL(found).href, context);
  try {
    return await next(specifier, context);
  } catch (error) {
    const behind = sources.behind(error);
    if (behind === null) throw error;
    return next(pathToFileURL(behind).href, context);
  }
}

export async function load(url, context, next) {
  const file = url.startsWith('file:') ? fileURLToPath(url) : '';
  if (file === '' || !sources.isSource(file)) {
    if (file === '' || !sources.isMarked(file)) return next(url, context);
    const loaded = await next(url, context);
    if (loaded.format !== 'module') return loaded;      // typescript_require.mjs marks files that `require` loads.
    return { ...loaded, source: sources.withMarks(file, Buffer.from(loaded.source).toString('utf8')) };
  }
  const text = sources.strip(file, false);
  // The globals of CommonJS, for sources that were compiled to it.
  const old = /\b(require|__dirname|__filename)\b/.test(text) && !file.endsWith('.mts')
    ? 'import{createRequire as agentforgeRequire}from"node:module";const require=agentforgeRequire(import.meta.url),' +
      `__filename=${JSON.stringify(file)},__dirname=${JSON.stringify(path.dirname(file))};`
    : '';
  return { format: 'module', shortCircuit: true, source: old + text };
}
