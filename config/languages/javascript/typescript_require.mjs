// SPDX-License-Identifier: Apache-2.0
// Makes `require` find and run TypeScript, as the hooks of the module loader do for imports (typescript_loader.mjs), and mark the compiled files.
import { Module, register } from 'node:module';

import { TypescriptSources } from './typescript_sources.mjs';

/** Makes `import` and `require` accept TypeScript. `data`: {root, typescript (path of typescript.js), marked}. */
export function readTypescript(data) {
  register('./typescript_loader.mjs', { parentURL: import.meta.url, data });
  process.setSourceMapsEnabled(true);
  const sources = new TypescriptSources(data);
  const { _resolveFilename: find } = Module;
  Module._resolveFilename = function resolving(specifier, parent, ...rest) {
    const found = typeof parent?.filename === 'string' ? sources.resolve(specifier, parent.filename) : null;
    if (found !== null) return find.call(this, found, parent, ...rest);
    try {
      return find.call(this, specifier, parent, ...rest);
    } catch (error) {
      const behind = sources.behind(error);
      if (behind === null) throw error;
      return behind;
    }
  };
  const compile = Module.prototype._compile;
  const run = (module, file) => compile.call(module, sources.strip(file, true), file);
  for (const ending of ['.ts', '.tsx', '.cts', '.mts']) Module._extensions[ending] = run;
  Module.prototype._compile = function marking(content, file, ...rest) {
    return compile.call(this, sources.withMarks(file, content), file, ...rest);
  };
}
