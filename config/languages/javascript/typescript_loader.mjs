// SPDX-License-Identifier: Apache-2.0
// Hooks of node's module loader that make TypeScript run: types are stripped by the `typescript` package, file by file, without
// checking (the gate `types` checks), and imports are found as TypeScript finds them (`./a` and `./a.js` may mean `./a.ts`).
import { existsSync, readFileSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

import { withMarks } from './marks.mjs';
import { parse } from './source_tree.mjs';

let root = '';
let marked = new Set();
let ts = null;
let options = {};
let stripping = {};
// Of the project's options those that change what the code does when types are gone.
const kept = ['jsx', 'jsxFactory', 'jsxFragmentFactory', 'jsxImportSource', 'experimentalDecorators', 'emitDecoratorMetadata',
              'useDefineForClassFields', 'preserveConstEnums', 'importsNotUsedAsValues', 'preserveValueImports'];

export async function initialize(data) {
  ({ root } = data);
  marked = new Set(data.marked ?? []);
  ts = createRequire(import.meta.url)(data.typescript);
  const configuration = path.join(root, 'tsconfig.json');
  if (existsSync(configuration)) {
    const { config, error } = ts.readConfigFile(configuration, ts.sys.readFile);
    if (error !== undefined) throw new Error(`tsconfig.json cannot be read: ${ts.flattenDiagnosticMessageText(error.messageText, ' ')}`);
    options = ts.parseJsonConfigFileContent(config, { ...ts.sys, readDirectory: () => [] }, root).options;
  }
  stripping = { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022, inlineSourceMap: true };
  for (const name of kept) {
    if (options[name] !== undefined) stripping[name] = options[name];
  }
  if (stripping.jsx === ts.JsxEmit.Preserve) stripping.jsx = ts.JsxEmit.ReactJSX;
}

const isFile = (file) => existsSync(file) && statSync(file).isFile();

/** The source that a path stands for, or null. */
function sourceOf(file) {
  if (isFile(file)) return file;
  const written = /^(.*)\.([cm]?)jsx?$/.exec(file);
  const candidates = written === null ? [] : [`${written[1]}.${written[2]}ts`, `${written[1]}.tsx`];
  for (const end of ['.ts', '.tsx', '.mts', '.cts', '.js', '.mjs', '.cjs', '/index.ts', '/index.tsx', '/index.js']) candidates.push(file + end);
  return candidates.find(isFile) ?? null;
}

/** Files that `paths` of tsconfig.json names for an import. */
function mapped(specifier) {
  const base = options.baseUrl ?? options.pathsBasePath ?? root;
  for (const [pattern, targets] of Object.entries(options.paths ?? {})) {
    const [before, after] = pattern.split('*');
    const exact = after === undefined;
    if (exact ? specifier !== pattern : !(specifier.startsWith(before) && specifier.endsWith(after))) continue;
    const middle = exact ? '' : specifier.slice(before.length, specifier.length - after.length);
    for (const target of targets) {
      const found = sourceOf(path.resolve(base, target.replace('*', middle)));
      if (found !== null) return found;
    }
  }
  return options.baseUrl === undefined ? null : sourceOf(path.resolve(base, specifier));
}

export async function resolve(specifier, context, next) {
  const parent = context.parentURL?.startsWith('file:') ? fileURLToPath(context.parentURL) : '';
  if (parent !== '' && !parent.includes('/node_modules/')) {
    let found = null;
    if (/^\.\.?(\/|$)/.test(specifier)) found = sourceOf(path.resolve(path.dirname(parent), specifier));
    else if (specifier.startsWith('file:')) found = sourceOf(fileURLToPath(specifier));
    else if (!specifier.includes(':')) found = mapped(specifier);
    if (found !== null) return next(pathToFileURL(found).href, context);
  }
  return next(specifier, context);
}

/** What TypeScript drops where it writes ES modules: `import a = require('b')` and `export = c` become imports and the default. */
function withoutRequire(context) {
  const { factory } = context;
  const imported = (node) => {
    const name = node.name.text;
    const all = factory.createUniqueName(`${name}_module`);
    const clause = factory.createImportClause(false, undefined, factory.createNamespaceImport(all));
    const either = factory.createLogicalOr(factory.createPropertyAccessExpression(all, 'default'), all);
    const variable = factory.createVariableDeclaration(name, undefined, undefined, either);
    return [factory.createImportDeclaration(undefined, undefined, clause, node.moduleReference.expression),
            factory.createVariableStatement(undefined, factory.createVariableDeclarationList([variable], ts.NodeFlags.Const))];
  };
  const visit = (node) => {
    if (ts.isExportAssignment(node) && node.isExportEquals) return factory.createExportDefault(node.expression);
    const required = ts.isImportEqualsDeclaration(node) && !node.isTypeOnly && ts.isExternalModuleReference(node.moduleReference);
    return required ? imported(node) : node;
  };
  return (file) => ts.visitEachChild(file, visit, context);
}

export async function load(url, context, next) {
  const source = /\.([cm]?)tsx?$/.exec(url);
  if (url.startsWith('file:') && source === null) {
    const place = path.relative(root, fileURLToPath(url)).split(path.sep).join('/');
    if (!marked.has(place)) return next(url, context);
    const loaded = await next(url, context);
    if (loaded.format !== 'module') return loaded;      // What is required is marked when it is compiled (marked_require.mjs).
    return { ...loaded, source: withMarks(ts, parse(ts, place, Buffer.from(loaded.source).toString('utf8')), place).text };
  }
  if (!url.startsWith('file:') || source === null || url.includes('/node_modules/')) return next(url, context);
  const file = fileURLToPath(url);
  const place = path.relative(root, file).split(path.sep).join('/');
  const written = readFileSync(file, 'utf8');
  const text = marked.has(place) ? withMarks(ts, parse(ts, place, written), place).text : written;
  const { outputText, diagnostics } = ts.transpileModule(text, {
    fileName: file,
    reportDiagnostics: true,
    compilerOptions: stripping,
    transformers: { before: [withoutRequire] },
  });
  const wrong = (diagnostics ?? []).find(({ category }) => category === ts.DiagnosticCategory.Error);
  if (wrong !== undefined) {
    const line = wrong.file?.getLineAndCharacterOfPosition(wrong.start ?? 0).line ?? 0;
    throw new SyntaxError(`${path.relative(root, file)}:${line + 1}: ${ts.flattenDiagnosticMessageText(wrong.messageText, ' ')}`);
  }
  // What CommonJS gives a file, for sources that were compiled to it.
  const old = /\b(require|__dirname|__filename)\b/.test(outputText) && source[1] !== 'm'
    ? 'import{createRequire as agentforgeRequire}from"node:module";const require=agentforgeRequire(import.meta.url),' +
      `__filename=${JSON.stringify(file)},__dirname=${JSON.stringify(path.dirname(file))};`
    : '';
  return { format: 'module', shortCircuit: true, source: old + outputText };
}
