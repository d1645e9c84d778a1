// SPDX-License-Identifier: Apache-2.0
// Runs TypeScript in node: finds the source of an import, and its text without types. The `typescript` package strips types file by file,
// without checking them (the gate `types` does). A project that is usually built before its tests is not built: a path in the compiler's
// output folder means the source that is compiled to it.
import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

import { withMarks } from './marks.mjs';
import { parse } from './source_tree.mjs';

// The project's options that change the code's behaviour without types.
const kept = ['jsx', 'jsxFactory', 'jsxFragmentFactory', 'jsxImportSource', 'experimentalDecorators', 'emitDecoratorMetadata',
              'useDefineForClassFields', 'preserveConstEnums', 'importsNotUsedAsValues', 'preserveValueImports', 'esModuleInterop'];
const isFile = (file) => existsSync(file) && statSync(file).isFile();
const isTypescript = (file) => /\.[cm]?tsx?$/.test(file) && !/\.d\.[cm]?ts$/.test(file);

export class TypescriptSources {
  #root;
  #ts;
  #marked;
  #options = {};
  #compiled = [];        // [output folder of a compiler, possible folders of its sources]
  #stripping;
  #parsed = new Map();

  /** `marked`: paths below `root` of sources that report which of their lines run. */
  constructor({ root, typescript, marked = [] }) {
    this.#root = root;
    this.#ts = createRequire(import.meta.url)(typescript);
    this.#marked = new Set(marked);
    this.#options = this.#configuration('tsconfig.json') ?? {};
    const others = readdirSync(root).filter((name) => /^tsconfig\..+\.json$/.test(name)).sort();
    for (const options of [this.#options, ...others.map((name) => this.#configuration(name, true) ?? {})]) this.#readOutput(options);
    const { ScriptTarget, JsxEmit } = this.#ts;
    this.#stripping = { target: ScriptTarget.ES2022, inlineSourceMap: true };
    for (const name of kept) {
      if (this.#options[name] !== undefined) this.#stripping[name] = this.#options[name];
    }
    if (this.#stripping.jsx === JsxEmit.Preserve) this.#stripping.jsx = JsxEmit.ReactJSX;
  }

  #configuration(name, lenient = false) {
    const ts = this.#ts;
    const file = path.join(this.#root, name);
    if (!existsSync(file)) return null;
    const { config, error } = ts.readConfigFile(file, ts.sys.readFile);
    if (error !== undefined && lenient) return null;
    if (error !== undefined) throw new Error(`${name} cannot be read: ${ts.flattenDiagnosticMessageText(error.messageText, ' ')}`);
    const { options, raw } = ts.parseJsonConfigFileContent(config, { ...ts.sys, readDirectory: () => [] }, this.#root, undefined, name);
    return { ...options, included: Array.isArray(raw?.include) ? raw.include : [] };
  }

  /** Without a `rootDir`, the compiler uses the common folder of all sources. */
  #readOutput({ outDir, rootDir, included = [] }) {
    if (outDir === undefined || path.resolve(this.#root, outDir) === this.#root) return;
    const folders = included.map((glob) => String(glob).split('*')[0]).filter((folder) => folder !== '' && !/\.\w+$/.test(folder));
    const bases = rootDir === undefined ? [...folders, '.'] : [rootDir];
    this.#compiled.push([path.resolve(this.#root, outDir), bases.map((base) => path.resolve(this.#root, base))]);
  }

  /** Returns the source that is compiled to `file`, or null. */
  #uncompiled(file) {
    for (const [output, bases] of this.#compiled) {
      if (file !== output && !file.startsWith(output + path.sep)) continue;
      for (const base of bases) {
        const found = this.#written(path.join(base, path.relative(output, file)));
        if (found !== null && isTypescript(found) && !found.startsWith(output + path.sep)) return found;
      }
    }
    return null;
  }

  /** Returns the file that `file` means, unchanged or as TypeScript completes it; null if there is none. */
  #written(file) {
    if (isFile(file)) return file;
    const named = /^(.*)\.([cm]?)jsx?$/.exec(file);
    const candidates = named === null ? [] : [`${named[1]}.${named[2]}ts`, `${named[1]}.tsx`];
    for (const end of ['.ts', '.tsx', '.mts', '.cts', '.js', '.mjs', '.cjs', '/index.ts', '/index.tsx', '/index.js']) candidates.push(file + end);
    return candidates.find(isFile) ?? null;
  }

  /** Returns the main file in a folder's package.json. */
  #mainOf(folder) {
    const description = path.join(folder, 'package.json');
    if (!isFile(description)) return null;
    const { main } = JSON.parse(readFileSync(description, 'utf8'));
    return typeof main === 'string' ? this.find(path.join(folder, main)) : null;
  }

  /** Returns the source that a path means, or null. */
  find(file) {
    return this.#uncompiled(file) ?? this.#mainOf(file) ?? this.#written(file);
  }

  /** Returns the files that `paths` in tsconfig.json names for an import. */
  #mapped(specifier) {
    const options = this.#options;
    const base = options.baseUrl ?? options.pathsBasePath ?? this.#root;
    for (const [pattern, targets] of Object.entries(options.paths ?? {})) {
      const [before, after] = pattern.split('*');
      const exact = after === undefined;
      if (exact ? specifier !== pattern : !(specifier.startsWith(before) && specifier.endsWith(after))) continue;
      const middle = exact ? '' : specifier.slice(before.length, specifier.length - after.length);
      for (const target of targets) {
        const found = this.find(path.resolve(base, target.replace('*', middle)));
        if (found !== null) return found;
      }
    }
    return options.baseUrl === undefined ? null : this.find(path.resolve(base, specifier));
  }

  /** Returns the file of the project that `specifier` means in the file `parent`; null if node must resolve it. */
  resolve(specifier, parent) {
    if (parent.includes('/node_modules/')) return null;
    if (/^\.\.?(\/|$)/.test(specifier)) return this.find(path.resolve(path.dirname(parent), specifier));
    if (path.isAbsolute(specifier)) return this.find(specifier);
    return specifier.includes(':') ? null : this.#mapped(specifier);
  }

  /** Returns the source of a compiled file that node did not find, when the project imports itself by its package's name. */
  behind(error) {
    const [, missing] = /Cannot find (?:module|package) '([^']+)'/.exec(String(error?.message)) ?? [];
    return missing !== undefined && path.isAbsolute(missing) ? this.#uncompiled(missing) : null;
  }

  isSource(file) {
    return isTypescript(file) && !file.includes('/node_modules/');
  }

  #place(file) {
    return path.relative(this.#root, file).split(path.sep).join('/');
  }

  isMarked(file) {
    return this.#marked.has(this.#place(file));
  }

  withMarks(file, text) {
    const place = this.#place(file);
    return this.#marked.has(place) ? withMarks(this.#ts, parse(this.#ts, place, text), place).text : text;
  }

  #parse(file) {
    if (!this.#parsed.has(file)) this.#parsed.set(file, parse(this.#ts, file, readFileSync(file, 'utf8')));
    return this.#parsed.get(file);
  }

  /** True if `name` is only a type in `file`, which imports or declares it. */
  #isType(file, name, seen = new Set()) {
    const ts = this.#ts;
    if (file === null || !isTypescript(file) || seen.has(file)) return false;
    seen.add(file);
    let type = false;
    for (const node of this.#parse(file).statements) {
      if ((ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node)) && node.name.text === name) type = true;
      else if (node.name?.text === name) return false;
      else if (ts.isVariableStatement(node) && node.declarationList.declarations.some((each) => each.name.getText() === name)) return false;
      else if (this.#passesOn(node, name, file, seen)) type = true;
    }
    return type;
  }

  #passesOn(node, name, file, seen) {
    const ts = this.#ts;
    if (!ts.isExportDeclaration(node) && !ts.isImportDeclaration(node) || node.moduleSpecifier === undefined) return false;
    const from = () => this.resolve(node.moduleSpecifier.text, file);
    const names = ts.isExportDeclaration(node) ? node.exportClause : node.importClause?.namedBindings;
    if (ts.isExportDeclaration(node) && names === undefined) return this.#isType(from(), name, seen);
    const element = (names?.elements ?? []).find((each) => each.name.text === name);
    return element !== undefined && (node.isTypeOnly || element.isTypeOnly || this.#isType(from(), (element.propertyName ?? element.name).text, seen));
  }

  /** Leaves out types among named exports, as the compiler does when it sees all files. File by file, they would be missing values. */
  #withoutTypes(file) {
    const ts = this.#ts;
    return (context) => (source) => ts.visitEachChild(source, (node) => {
      if (!ts.isExportDeclaration(node) || node.exportClause?.elements === undefined) return node;
      const from = node.moduleSpecifier === undefined ? file : this.resolve(node.moduleSpecifier.text, file);
      const elements = node.exportClause.elements.filter((each) => !this.#isType(from, (each.propertyName ?? each.name).text));
      if (elements.length === node.exportClause.elements.length) return node;
      const clause = context.factory.updateNamedExports(node.exportClause, elements);
      const { decorators, modifiers, isTypeOnly, moduleSpecifier, assertClause, attributes } = node;
      return decorators === undefined && context.factory.updateExportDeclaration.length === 6
        ? context.factory.updateExportDeclaration(node, modifiers, isTypeOnly, clause, moduleSpecifier, assertClause ?? attributes)
        : context.factory.updateExportDeclaration(node, modifiers, isTypeOnly, clause, moduleSpecifier, attributes ?? assertClause);
    }, context);
  }

  /** Replaces syntax that TypeScript drops in ES modules: `import a = require('b')` and `export = c` become imports and the default export. */
  #withoutRequire() {
    const ts = this.#ts;
    return (context) => {
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
      return (source) => ts.visitEachChild(source, visit, context);
    };
  }

  /** Returns a source as JavaScript with its marks: an ES module, or CommonJS for `require`. */
  strip(file, common) {
    const ts = this.#ts;
    const { outputText, diagnostics } = ts.transpileModule(this.withMarks(file, readFileSync(file, 'utf8')), {
      fileName: file,
      reportDiagnostics: true,
      compilerOptions: { ...this.#stripping, module: common ? ts.ModuleKind.CommonJS : ts.ModuleKind.ESNext },
      transformers: { before: [this.#withoutTypes(file), ...(common ? [] : [this.#withoutRequire()])] },
    });
    const wrong = (diagnostics ?? []).find(({ category }) => category === ts.DiagnosticCategory.Error);
    if (wrong === undefined) return outputText;
    const line = wrong.file?.getLineAndCharacterOfPosition(wrong.start ?? 0).line ?? 0;
    throw new SyntaxError(`${path.relative(this.#root, file)}:${line + 1}: ${ts.flattenDiagnosticMessageText(wrong.messageText, ' ')}`);
  }
}
