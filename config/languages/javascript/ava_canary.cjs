// SPDX-License-Identifier: Apache-2.0
// Loaded in each AVA worker before project code: appends the canary to the text of the test files (run_ava.mjs).
'use strict';
const Module = require('node:module');
const { pathToFileURL } = require('node:url');

const told = JSON.parse(process.env.AGENTFORGE_AVA ?? 'null');
delete process.env.AGENTFORGE_AVA;
if (told !== null) {
  const files = new Set(told.files);
  const { _compile: compile } = Module.prototype;
  Module.prototype._compile = function compiling(content, file, ...rest) {
    const canary = `\n;require(${JSON.stringify(told.canary)})(require('ava'), ${JSON.stringify(told.mark)});\n`;
    return compile.call(this, files.has(file) ? content + canary : content, file, ...rest);
  };
  Module.register('./ava_loader.mjs', { parentURL: pathToFileURL(__filename), data: told });
}
