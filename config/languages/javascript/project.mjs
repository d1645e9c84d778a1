// SPDX-License-Identifier: Apache-2.0
// Reads from a project's files how to run it. Loads nothing of the project.
import { existsSync } from 'node:fs';
import path from 'node:path';

export function usesTypescript(root, files) {
  return files.some((file) => /\.[cm]?tsx?$/.test(file)) || existsSync(path.join(root, 'tsconfig.json'));
}

/** Returns the main file of a package, found as node finds it: in `node_modules` here and above. Null if there is none. */
export function findPackage(root, name) {
  for (let folder = root; ; folder = path.dirname(folder)) {
    const found = path.join(folder, 'node_modules', name);
    if (existsSync(path.join(found, 'package.json'))) return found;
    if (folder === path.dirname(folder)) return null;
  }
}

/** Returns a test framework's package: the project's own, else the machine's (Debian's packages). Throws if there is none. */
export function frameworkFolder(root, name, title) {
  const machine = path.join('/usr/share/nodejs', name);
  const found = findPackage(root, name) ?? (existsSync(path.join(machine, 'package.json')) ? machine : null);
  if (found === null) throw new Error(`the project uses ${title}, which is not installed in its node_modules`);
  return found;
}

/** Returns the path of `typescript.js`, the project's own first. Empty if node itself strips types; null if neither is available. */
export function findTypescript(root) {
  const folders = [findPackage(root, 'typescript'), '/usr/share/nodejs/typescript', '/usr/lib/nodejs/typescript',
                   path.join(path.dirname(process.execPath), '..', 'lib', 'node_modules', 'typescript')];
  for (const folder of folders) {
    if (folder !== null && existsSync(path.join(folder, 'lib', 'typescript.js'))) return path.join(folder, 'lib', 'typescript.js');
  }
  return process.features.typescript ? '' : null;
}
