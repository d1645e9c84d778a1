// SPDX-License-Identifier: Apache-2.0
// Appends the canary to the text of test files that are ES modules; ava_canary.cjs does it for those that `require` loads.
import path from 'node:path';
import { pathToFileURL } from 'node:url';

let urls = new Set();
let canary = '';

export async function initialize({ files, mark, canary: place, ava }) {
  urls = new Set(files.map((file) => pathToFileURL(file).href));
  const framework = pathToFileURL(path.join(ava, 'entrypoints', 'main.mjs')).href;
  canary = `\nimport agentforgeAva from ${JSON.stringify(framework)};\nimport agentforgeCanary from ${JSON.stringify(pathToFileURL(place).href)};\n` +
           `agentforgeCanary(agentforgeAva, ${JSON.stringify(mark)});\n`;
}

export async function load(url, context, next) {
  const loaded = await next(url, context);
  if (!urls.has(url.split('?')[0]) || loaded.format !== 'module') return loaded;
  return { ...loaded, source: Buffer.from(loaded.source).toString('utf8') + canary };
}
