// SPDX-License-Identifier: Apache-2.0
// What a project's files say about how it is run. Nothing of the project is loaded.
import { existsSync } from 'node:fs';
import path from 'node:path';

export function usesTypescript(root, files) {
  return files.some((file) => /\.[cm]?tsx?$/.test(file)) || existsSync(path.join(root, 'tsconfig.json'));
}

/** The main file of a package, looked for as node does: in `node_modules` here and above. Null: there is none. */
export function findPackage(root, name) {
  for (let folder = root; ; folder = path.dirname(folder)) {
    const found = path.join(folder, 'node_modules', name);
    if (existsSync(path.join(found, 'package.json'))) return found;
    if (folder === path.dirname(folder)) return null;
  }
}

/** A test framework's package: the project's own, else the machine's (Debian's packages). Throws where there is none. */
export function frameworkFolder(root, name, title) {
  const machine = path.join('/usr/share/nodejs', name);
  const found = findPackage(root, name) ?? (existsSync(path.join(machine, 'package.json')) ? machine : null);
  if (found === null) throw new Error(`the project uses ${title}, which is not installed in its node_modules`);
  return found;
}

/** Path of `typescript.js`; empty: node itself strips types; null: there is nothing. The project's own comes first. */
export function findTypescript(root) {
  const folders = [findPackage(root, 'typescript'), '/usr/share/nodejs/typescript', '/usr/lib/nodejs/typescript',
                   path.join(path.dirname(process.execPath), '..', 'lib', 'node_modules', 'typescript')];
  for (const folder of folders) {
    if (folder !== null && existsSync(path.join(folder, 'lib', 'typescript.js'))) return path.join(folder, 'lib', 'typescript.js');
  }
  return process.features.typescript ? '' : null;
}
