// SPDX-License-Identifier: Apache-2.0
// Declares interfaces: functions, methods and classes that throw the skeleton's marker, and TypeScript types. Writes nothing else.
//
// Input and output are those of config/languages/python/skeleton.py. `contents` may contain package.json, which decides the type of a
// `.js` file. If the signature of an existing function changes, the function keeps its body, and a parameter that goes becomes a variable with its default; otherwise it stays unchanged. A signature may
// begin with the imports that it needs. This imports a base or a default that is node's own, or is declared in another file. A class may
// have its fields and the headers of its methods. Runs nothing of the project.
import { readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import path from 'node:path';

import { loadTypescript, missing, parse, syntaxError, write } from './source_tree.mjs';

/** The reason why an interface cannot be declared. `unknown`: the missing name, which another interface may declare. */
class Problem extends Error {
  constructor(text, unknown = '') {
    super(text);
    this.unknown = unknown;
  }
}

const request = JSON.parse(readFileSync(0, 'utf8'));
const ts = loadTypescript();
const { contents, marker } = request;

function checkPath(file) {
  const parts = file.split('/');
  if (file === '' || file.startsWith('/') || /[\\\0]/.test(file) || parts.some((part) => ['', '.', '..'].includes(part))) {
    throw new Problem(`the file \`${file}\` is not a path inside the project`);
  }
  if (['.git', '.agentforge', 'node_modules'].includes(parts[0].toLowerCase())) throw new Problem(`the file \`${file}\` is in a protected folder`);
  if (!/\.[cm]?[jt]sx?$/.test(file) || file.endsWith('.d.ts')) throw new Problem(`the file \`${file}\` is not a JavaScript or TypeScript file`);
}

const isTyped = (file) => /\.[cm]?tsx?$/.test(file);
const modifiersOf = (node) => [...(node.modifiers ?? [])].map(({ kind }) => kind);
const has = (node, kind) => modifiersOf(node).includes(kind);

const kindsOf = (...names) => names.map((name) => ts.SyntaxKind[name]);

/** True for an expression without work: names, literals, arithmetic, a new collection of these. */
function isValue(node) {
  if (ts.isPrefixUnaryExpression(node)) return isValue(node.operand);
  if (ts.isArrayLiteralExpression(node)) return node.elements.every(isValue);
  if (ts.isSpreadElement(node) || ts.isParenthesizedExpression(node) || ts.isAsExpression(node) || ts.isSatisfiesExpression?.(node)) return isValue(node.expression);
  if (ts.isObjectLiteralExpression(node)) {
    return node.properties.every((each) => ts.isShorthandPropertyAssignment(each) || (ts.isPropertyAssignment(each) && isValue(each.initializer)) ||
      (ts.isSpreadAssignment(each) && isValue(each.expression)));
  }
  if (ts.isPropertyAccessExpression(node)) return isValue(node.expression);
  if (ts.isBinaryExpression(node)) {
    const { PlusToken, MinusToken, AsteriskToken, AsteriskAsteriskToken, SlashToken } = ts.SyntaxKind;
    return [PlusToken, MinusToken, AsteriskToken, AsteriskAsteriskToken, SlashToken].includes(node.operatorToken.kind) && isValue(node.left) && isValue(node.right);
  }
  if (ts.isNewExpression(node)) return /^(?:Map|Set|WeakMap|WeakSet|Date|RegExp|URL)$/.test(node.expression.getText()) && (node.arguments ?? []).every(isValue);
  return ts.isLiteralExpression(node) || ts.isIdentifier(node) || kindsOf('TrueKeyword', 'FalseKeyword', 'NullKeyword', 'ThisKeyword').includes(node.kind);
}

/** True for a default: a value, a call of something global (`process.argv.slice(2)`), or a function of one such expression (`now = () => Date.now()`). */
function isDefault(node) {
  if (ts.isArrowFunction(node)) return ts.isBlock(node.body) ? node.body.statements.length === 0 : isDefault(node.body);
  if (!ts.isCallExpression(node)) return isValue(node);
  const { expression: called } = node;
  return ts.isPropertyAccessExpression(called) && isValue(called) && rootsOf(called).every((root) => root in globalThis) && node.arguments.every(isValue);
}

// Base classes in node's modules.
const ownOfNode = new Map(Object.entries({
  'node:events': ['EventEmitter', 'EventEmitterAsyncResource'],
  'node:stream': ['Readable', 'Writable', 'Duplex', 'Transform', 'PassThrough'],
  'node:async_hooks': ['AsyncLocalStorage', 'AsyncResource'],
  'node:string_decoder': ['StringDecoder'],
  'node:assert': ['AssertionError'],
}).flatMap(([module, names]) => names.map((name) => [name, module])));

/** Returns the names that the file binds at its top level. */
function boundNames(source) {
  const names = new Set();
  const bind = (name) => {
    if (ts.isIdentifier(name)) names.add(name.text);
    else for (const each of name.elements) if (each.name !== undefined) bind(each.name);
  };
  for (const node of source.statements) {
    if (ts.isImportDeclaration(node)) for (const { local } of importsOf(node)) names.add(local);
    else if (ts.isVariableStatement(node)) for (const each of node.declarationList.declarations) bind(each.name);
    else if (node.name !== undefined && ts.isIdentifier(node.name)) names.add(node.name.text);
  }
  return names;
}

/** Returns {module, local, imported, type} of each name in an import or `const … = require(…)`; null for other statements. `imported`: '' the default, '*' all. */
function importsOf(node) {
  if (ts.isImportDeclaration(node)) {
    const module = node.moduleSpecifier.text;
    const { importClause: clause } = node;
    if (clause === undefined) return [];
    const found = clause.name === undefined ? [] : [{ module, local: clause.name.text, imported: '', type: clause.isTypeOnly }];
    const named = clause.namedBindings;
    if (named !== undefined && ts.isNamespaceImport(named)) found.push({ module, local: named.name.text, imported: '*', type: clause.isTypeOnly });
    for (const each of named?.elements ?? []) {
      found.push({ module, local: each.name.text, imported: (each.propertyName ?? each.name).text, type: clause.isTypeOnly || each.isTypeOnly === true });
    }
    return found;
  }
  const declarations = ts.isVariableStatement(node) ? node.declarationList.declarations : [];
  const call = declarations.length === 1 ? declarations[0].initializer : undefined;
  if (call === undefined || !ts.isCallExpression(call) || call.expression.getText() !== 'require' || !ts.isStringLiteral(call.arguments[0] ?? node)) return null;
  const module = call.arguments[0].text;
  const { name } = declarations[0];
  if (ts.isIdentifier(name)) return [{ module, local: name.text, imported: '', type: false }];
  return name.elements.map((each) => ({ module, local: each.name.getText(), imported: (each.propertyName ?? each.name).getText(), type: false }));
}

/** Returns the imports at the beginning of a signature, and the rest. */
function splitImports(signature, file) {
  const source = parse(ts, file, signature.trim());
  const imports = [];
  let end = 0;
  for (const node of source.statements) {
    const found = importsOf(node);
    if (found === null) break;
    if (found.length === 0) throw new Problem(`the signature \`${signature}\` begins with an import of no names`);
    imports.push(...found);
    end = node.getEnd();
  }
  return { imports, rest: signature.trim().slice(end).trim() };
}

/** Returns the file's text with those of these imports whose names are unbound, after its existing imports. */
function addImports(text, file, imports) {
  const source = parse(ts, file, text);
  const bound = boundNames(source);
  const common = isCommon(file, text);
  const lines = [];
  for (const { module, local, imported, type } of imports) {
    if (bound.has(local)) continue;
    bound.add(local);
    const name = imported === local ? local : common ? `${imported}: ${local}` : `${imported} as ${local}`;
    const what = imported === '' ? local : imported === '*' ? (common ? local : `* as ${local}`) : `{ ${name} }`;
    const quoted = `'${module}'`;
    lines.push(common ? `const ${what} = require(${quoted});` : `import ${type && isTyped(file) ? 'type ' : ''}${what} from ${quoted};`);
  }
  if (lines.length === 0) return text;
  const isImport = (node) => importsOf(node) !== null;
  const last = [...source.statements].filter((node, at, all) => all.slice(0, at + 1).every((each) => isImport(each) || isDirective(each))).pop();
  if (last !== undefined) {
    const at = last.getEnd();
    return `${text.slice(0, at)}\n${isImport(last) ? '' : '\n'}${lines.join('\n')}${text.slice(at)}`;
  }
  const head = /^(?:#!.*\n)?(?:(?:\/\/.*\n)+\n|\/\*[^]*?\*\/\s*\n\n)?/.exec(text)[0];
  return `${head}${lines.join('\n')}\n${text.slice(head.length) === '' ? '' : '\n'}${text.slice(head.length)}`;
}

const isDirective = (node) => ts.isExpressionStatement(node) && ts.isStringLiteral(node.expression);

/** Returns the names at the beginning of an expression's parts: `a` for `a.b`. */
function rootsOf(node) {
  if (ts.isIdentifier(node)) return [node.text];
  if (ts.isPropertyAccessExpression(node)) return rootsOf(node.expression);
  if (ts.isPropertyAssignment(node)) return rootsOf(node.initializer);
  if (ts.isShorthandPropertyAssignment(node)) return [node.name.text];
  if (ts.isArrowFunction(node)) {
    const own = node.parameters.map(({ name }) => name.getText());
    return rootsOf(node.body).filter((each) => !own.includes(each));
  }
  if (ts.isAsExpression(node)) return rootsOf(node.expression);
  const found = [];
  node.forEachChild((each) => { found.push(...rootsOf(each)); });
  return found;
}

// Bases that a browser-like test environment defines.
const ofBrowsers = /^(?:(?:HTML|SVG)\w*Element|Element|Node|Document|DocumentFragment|ShadowRoot|\w*Event|XMLHttpRequest)$/;

/** Returns the imports for a name that the file does not bind; null if there are none. */
function importFor(name, file, common) {
  if (name in globalThis || name === 'require' || name === 'arguments' || ofBrowsers.test(name)) return [];
  if (ownOfNode.has(name)) return [{ module: ownOfNode.get(name), local: name, imported: name, type: false }];
  const other = request.interfaces.find((each) => each.name === name && each.file !== file && /\.[cm]?[jt]sx?$/.test(each.file));
  if (other !== undefined) {
    const from = path.posix.relative(path.posix.dirname(file), other.file);
    const module = (from.startsWith('.') ? from : `./${from}`).replace(/\.([cm]?)tsx?$/, '.$1js');
    const imported = /^\s*export\s+default\b/m.test(other.signature) ? '' : name;
    return [{ module: common ? module.replace(/\.js$/, '') : module, local: name, imported, type: false }];
  }
  if (builtinModules.includes(name)) return [{ module: `node:${name}`, local: name, imported: '', type: false }];
  return null;
}

/** Returns the text for a constant, or for a function in a constant (`const f = (a) =>`); null for other signatures. */
function value(signature, name, file) {
  const said = signature.trim().replace(/;$/, '').trim();
  const match = /^(?:export\s+)?(const|let|var)\s+([\p{ID_Start}$_][\p{ID_Continue}$]*)/u.exec(said);
  if (match === null) return null;
  if (match[2] !== name) throw new Problem(`the signature \`${signature}\` declares \`${match[2]}\`, but the interface is called \`${name}\``);
  const arrow = /=>\s*(?:\{\s*\})?$/.test(said);
  const plain = said.replace(/^export\s+/, '');
  const text = arrow ? plain.replace(/=>\s*(?:\{\s*\})?$/, '=> {}') : plain.includes('=') ? plain : `${plain.replace(/^const/, 'let')}`;
  const source = parse(ts, file, text);
  const wrong = syntaxError(ts, source);
  if (wrong !== null) throw new Problem(`the signature \`${signature}\` does not parse: ${wrong.message}`);
  const given = source.statements[0].declarationList?.declarations[0];
  const type = given?.type;
  if (type !== undefined && !isTyped(file)) throw new Problem(`the signature \`${signature}\` has types, and \`${file}\` is JavaScript; write it without them`);
  const only = source.statements.length === 1 && source.statements[0].declarationList?.declarations.length === 1;
  const frozen = given?.initializer !== undefined && ts.isCallExpression(given.initializer) && /^(Object\.freeze|Symbol(\.for)?)$/.test(given.initializer.expression.getText(source));
  if (!only || (!arrow && given.initializer !== undefined && !frozen && !isValue(given.initializer))) {
    throw new Problem(`the signature \`${signature}\` has a value that is more than a constant`);
  }
  const roots = arrow || given?.initializer === undefined ? [] : rootsOf(given.initializer);
  const lines = (indent) => (arrow ? [`${indent}${text.slice(0, -1)}`, thrown(name, indent + '  '), `${indent}};`] : [`${indent}${text};`]);
  return { lines, roots };
}

/** True if a function's body is a placeholder: empty, or one `throw`. */
const isOpen = (body) => body === undefined || body.statements.length === 0 || (body.statements.length === 1 && ts.isThrowStatement(body.statements[0]));

const withoutBody = (node, source) => (node.body === undefined ? node.getText(source) : source.text.slice(node.getStart(source), node.body.getStart(source))).trim().replace(/;$/, '').trim();

/** Returns {node, source, members} for a class with members, {overloads} for the overloads of a function, null for other signatures. */
function compound(signature, name, file) {
  const text = signature.trim().replace(/^(export\s+)?declare\s+/, '$1');
  const source = parse(ts, file, text);
  if (syntaxError(ts, source) !== null || source.statements.length === 0) return null;
  const [node] = source.statements;
  const functions = source.statements.filter((each) => ts.isFunctionDeclaration(each) && each.name?.text === name && isOpen(each.body));
  if (functions.length > 1 && functions.length === source.statements.length && isTyped(file)) {
    return { overloads: functions.map((each) => withoutBody(each, source).replace(/^export\s+/, '')) };
  }
  if (source.statements.length !== 1 || !ts.isClassDeclaration(node)) return null;
  const members = node.members.filter((each) => !ts.isSemicolonClassElement(each));
  if (members.length === 0) return null;
  for (const each of members) {
    if (!isOpen(each.body)) throw new Problem(`the signature \`${signature}\` has a body; give only the declaration`);
    const kinds = [ts.isMethodDeclaration, ts.isConstructorDeclaration, ts.isGetAccessor, ts.isSetAccessor, ts.isPropertyDeclaration];
    if (!kinds.some((is) => is(each))) throw new Problem(`the signature \`${signature}\` has more than fields and methods`);
  }
  const open = source.text.indexOf('{', Math.max(node.name?.getEnd() ?? 0, ...(node.typeParameters ?? []).map((each) => each.getEnd()), ...(node.heritageClauses ?? []).map((each) => each.getEnd())));
  return { header: source.text.slice(node.getStart(source), open).trim(),
           members: members.map((each) => ({ name: ts.isConstructorDeclaration(each) ? 'constructor' : each.name.getText(source), signature: withoutBody(each, source) })) };
}

/** Returns the declaration of a signature, with its text as `header`. `inClass`: it is a method or field. */
function declared(signature, name, file, inClass) {
  const said = signature.trim().replace(/^(export\s+)?declare\s+/, '$1').replace(/;$/, '').replace(/\{\s*\}$/, '').trim();
  const isType = /^(export\s+)?(interface|type|enum|const\s+enum)\b/.test(said);
  const isField = inClass && !/\(/.test(said.split(/[:=]/)[0]);
  const text = isType ? (/\benum\b/.test(said) && !said.includes('{') ? `${said} {}` : signature.trim().replace(/^(export\s+)?declare\s+/, '$1'))
    : inClass ? `class Owner { ${said}${isField ? ';' : ' {}'} }` : `${said} {}`;
  const source = parse(ts, file, text);
  const wrong = syntaxError(ts, source);
  if (wrong !== null) throw new Problem(`the signature \`${signature}\` does not parse: ${wrong.message}`);
  let [node] = source.statements;
  if (source.statements.length !== 1) {
    const hint = inClass || !/^[\w$#[\]. ]+[(<]/.test(said) ? '' : `; a method is called Class.${name}, a function begins with \`function\``;
    throw new Problem(`the signature \`${signature}\` is not one declaration${hint}`);
  }
  if (inClass) {
    if (node.members.length !== 1) throw new Problem(`the signature \`${signature}\` is not one method`);
    [node] = node.members;
  }
  const kinds = inClass ? [ts.isMethodDeclaration, ts.isConstructorDeclaration, ts.isGetAccessor, ts.isSetAccessor, ts.isPropertyDeclaration]
    : [ts.isFunctionDeclaration, ts.isClassDeclaration, ts.isInterfaceDeclaration, ts.isTypeAliasDeclaration, ts.isEnumDeclaration];
  if (!kinds.some((is) => is(node))) {
    throw new Problem(`the signature \`${signature}\` is not ${inClass ? 'that of a method or field' : 'that of a function, class, interface, enum or type'}`);
  }
  if ((node.body?.statements.length ?? 0) > 0 || (ts.isClassDeclaration(node) && node.members.length > 0)) {
    throw new Problem(`the signature \`${signature}\` has a body; give only the declaration`);
  }
  const own = ts.isConstructorDeclaration(node) ? 'constructor' : node.name?.text ?? node.name?.getText(source);
  if (own !== name) throw new Problem(`the signature \`${signature}\` declares \`${own}\`, but the interface is called \`${name}\``);
  if ((node.decorators ?? []).length > 0 || (node.modifiers ?? []).some((each) => ts.isDecorator(each))) {
    throw new Problem(`the signature \`${signature}\` has a decorator, which a skeleton may not have`);
  }
  const roots = [];
  for (const { initializer } of node.parameters ?? []) {
    if (initializer !== undefined && !isDefault(initializer)) throw new Problem(`the signature \`${signature}\` has a default that is more than a value`);
    if (initializer !== undefined) roots.push(...rootsOf(initializer));
  }
  if (ts.isPropertyDeclaration(node) && node.initializer !== undefined) {
    if (!isDefault(node.initializer)) throw new Problem(`the signature \`${signature}\` has a value that is more than a constant`);
    roots.push(...rootsOf(node.initializer));
  }
  const bases = [];
  for (const clause of node.heritageClauses ?? []) {
    for (const type of clause.types) {
      if (!isValue(type.expression)) throw new Problem(`the signature \`${signature}\` extends something that is more than a name`);
      if (ts.isClassDeclaration(node) && clause.token === ts.SyntaxKind.ExtendsKeyword) bases.push(...rootsOf(type.expression));
    }
  }
  if (!isTyped(file)) {
    const typed = (each) => isType || each.type !== undefined && !ts.isTypeAliasDeclaration(each) || (each.typeParameters ?? []).length > 0 ||
      each.questionToken !== undefined || (each.parameters ?? []).some(typed);
    if (typed(node)) throw new Problem(`the signature \`${signature}\` has types, and \`${file}\` is JavaScript; write it without them`);
  }
  const header = isType ? text.replace(/;$/, '') : ts.isPropertyDeclaration(node) ? node.getText(source) : node.getText(source).replace(/\{\s*\}$/, '').trimEnd();
  return { node, source, header, isType, roots, bases };
}

function isCommon(file, text) {
  if (/\.[cm]?tsx?$|\.mjs$|\.jsx$/.test(file)) return false;
  if (file.endsWith('.cjs')) return true;
  if (/^\s*(import|export)\b/m.test(text)) return false;
  if (/\bmodule\.exports\b|\bexports\.|\brequire\(/.test(text)) return true;
  try {
    return JSON.parse(contents['package.json']).type !== 'module';
  } catch {
    return true;
  }
}

const thrown = (name, indent) => `${indent}throw new Error(${JSON.stringify(`${marker} ${name}`)});`;

/** Returns the header. `undefined` replaces a default that nothing declares. */
function withKnownDefaults({ node, source, header, unknown }) {
  let result = header;
  for (const { initializer } of [...(node.parameters ?? [])].reverse()) {
    if (initializer === undefined || !rootsOf(initializer).some((root) => unknown.has(root))) continue;
    const start = node.getStart(source);
    result = `${result.slice(0, initializer.getStart(source) - start)}undefined${result.slice(initializer.getEnd() - start)}`;
  }
  return result;
}

/** Returns the lines of a new declaration, without `export`. */
function body(wanted, qualified, indent, step) {
  const { node, isType } = wanted;
  const header = withKnownDefaults(wanted);
  if (isType) return header.replace(/^export\s+/, '').split('\n').map((line, at) => (at === 0 ? indent : '') + line);
  const start = header.replace(/^export\s+(default\s+)?/, '');
  if (has(node, ts.SyntaxKind.AbstractKeyword) && !ts.isClassDeclaration(node)) return [`${indent}${start};`];
  if (ts.isPropertyDeclaration(node)) return [`${indent}${field(node, start)}`];
  if (ts.isClassDeclaration(node)) {
    return [`${indent}${start} {`, `${indent}${step}constructor() {`,
      ...(node.heritageClauses?.some(({ token }) => token === ts.SyntaxKind.ExtendsKeyword) ? [`${indent}${step}${step}super();`] : []),
      thrown(qualified, indent + step + step), `${indent}${step}}`, `${indent}}`];
  }
  return [`${indent}${start} {`, thrown(qualified, indent + step), `${indent}}`];
}

/** Returns a field as a skeleton declares it, without a constructor that sets it. */
function field(node, text) {
  const open = node.initializer === undefined && node.type !== undefined && node.questionToken === undefined && node.exclamationToken === undefined;
  const set = open && !modifiersOf(node).some((kind) => kindsOf('StaticKeyword', 'DeclareKeyword').includes(kind));
  const plain = text.replace(/;$/, '');
  return `${set ? plain.replace(/:/, '!:') : plain};`;
}

function stepOf(text) {
  return /^( {2,8}|\t)\S/m.exec(text)?.[1] ?? '  ';
}

function find(statements, name) {
  for (const node of statements) {
    if ((ts.isFunctionDeclaration(node) || ts.isClassDeclaration(node) || ts.isInterfaceDeclaration(node) ||
         ts.isTypeAliasDeclaration(node) || ts.isEnumDeclaration(node)) && node.name?.text === name) return node;
    if (ts.isVariableStatement(node)) {
      const found = node.declarationList.declarations.find((each) => each.name.getText() === name);
      if (found !== undefined) return found;
    }
  }
  return undefined;
}

const plain = (text) => text.replace(/^export\s+(default\s+)?/, '').replace(/\s+/g, '').replace(/,\)/g, ')').replace(/;$/, '');

/** Returns the parts of `Class.member`. A member may be `#private` or `[Symbol.iterator]`. */
function partsOf(name) {
  const word = String.raw`[\p{ID_Start}$_][\p{ID_Continue}$]*`;
  const match = new RegExp(String.raw`^(?:(${word})(?:\.prototype\.|\.|(?=[#[])))?(#?${word}|\[[\w$.]+\])$`, 'u').exec(name.trim());
  if (match === null) throw new Problem(`\`${name}\` is not the name of a function, class, method or type`);
  return match[1] === undefined ? [match[2]] : [match[1], match[2]];
}

/** Returns the file's text with one declared interface and the imports of its signature. */
function declare(text, { name, file, signature }) {
  checkSyntax(text, file);
  const { imports, rest } = splitImports(signature, file);
  const ready = addImports(text, file, imports);
  const changed = declareAll(ready, { name, file, signature: rest });
  return changed === ready ? text : changed;
}

function checkSyntax(text, file) {
  const wrong = syntaxError(ts, parse(ts, file, text));
  if (wrong !== null) throw new Problem(`\`${file}\` does not parse: line ${wrong.line}: ${wrong.message}`);
}

/** Declares one interface, with its members. */
function declareAll(text, { name, file, signature }) {
  const parts = partsOf(name);
  const many = parts.length === 1 ? compound(signature, name, file) : null;
  if (many === null) return declareOne(text, { name, file, signature });
  if (many.overloads !== undefined) {
    if (find(parse(ts, file, text).statements, name) !== undefined) return text;
    const lines = [...many.overloads.map((each) => `export ${each};`), `export function ${name}(...args: any[]): any {`, thrown(name, stepOf(text)), '}'];
    return `${text.trimEnd()}${text.trim() === '' ? '' : '\n\n'}${lines.join('\n')}\n`;
  }
  let after = declareOne(text, { name, file, signature: many.header });
  for (const each of many.members) after = declareOne(after, { name: `${name}.${each.name}`, file, signature: each.signature });
  return after;
}

/** Returns the only class of a file, for a method without a class name. */
function onlyClass(source) {
  const classes = source.statements.filter((each) => ts.isClassDeclaration(each));
  return classes.length === 1 ? classes[0].name?.text : undefined;
}

function declareOne(text, { name, file, signature }) {
  let parts = partsOf(name);
  let source = parse(ts, file, text);
  const isFunction = /^(export\s|default\s|async\s+function|function|(abstract\s+)?class\b|interface\b|type\b|(const\s+)?enum\b|const\b|let\b|var\b|declare\b)/.test(signature.trim());
  const owning = parts.length === 1 && !isFunction && /[(<]/.test(signature) ? onlyClass(source) : undefined;
  if (owning !== undefined) parts = [owning, parts[0]];
  if (parts.length === 1 && !/^[\p{ID_Start}$_]/u.test(parts[0])) throw new Problem(`\`${name}\` is a member without its class; call it Class.${name}`);
  const constant = parts.length === 1 ? value(signature, name, file) : null;
  const wanted = constant === null ? declared(signature, parts[parts.length - 1], file, parts.length === 2) : { isType: false, roots: constant.roots, bases: [] };
  const ready = knowing(text, source, file, name, wanted);
  const changed = place(ready, parse(ts, file, ready), { name: parts.join('.'), file }, parts, constant, wanted);
  return changed === ready ? text : changed;
}

/** Returns the text with the imports that a declaration's base and defaults need. `unknown`: the names in them that nothing declares. */
function knowing(text, source, file, name, wanted) {
  const { node, roots, bases } = wanted;
  const bound = boundNames(source);
  const own = new Set((node?.parameters ?? []).map((each) => each.name.getText()));
  const imports = [];
  const unknown = new Set();
  for (const root of [...bases, ...roots]) {
    if (bound.has(root) || own.has(root)) continue;
    const found = importFor(root, file, isCommon(file, text));
    if (found === null && bases.includes(root)) throw new Problem(`the base \`${root}\` of \`${name}\` is not known in \`${file}\`; begin the signature with its import`, root);
    if (found === null && !request.interfaces.some((each) => each.name === root)) unknown.add(root);
    imports.push(...(found ?? []));
  }
  wanted.unknown = unknown;
  return addImports(text, file, imports);
}

/** Returns the text with the declaration in its place. */
function place(text, source, { name, file }, parts, constant, wanted) {
  const step = stepOf(text);
  const common = isCommon(file, text);
  const top = (lines, exported, asDefault) => {
    const first = !common && exported ? `export ${asDefault ? 'default ' : ''}` : '';
    const after = common && exported && !wanted.isType ? ['', `module.exports.${parts[0]} = ${parts[0]};`] : [];
    const before = text.trimEnd() === '' ? text.trimEnd() : `${text.trimEnd()}\n\n`;
    return `${before}${first}${[...lines, ...after].join('\n')}\n`;
  };
  if (parts.length === 1) {
    const known = find(source.statements, name);
    if (constant !== null) return known === undefined ? top(constant.lines(''), true, false) : text;
    if (known === undefined) return top(body(wanted, name, '', step), true, /^export\s+default\b/.test(wanted.header));
    if (known.kind !== wanted.node.kind) {
      if (ts.isVariableDeclaration(known) && ts.isFunctionDeclaration(wanted.node)) return text;     // `const f = () => …` already declares the function.
      throw new Problem(`\`${name}\` exists in \`${file}\` and is not what the signature declares`);
    }
    if (!ts.isFunctionDeclaration(known)) return text;
    return changed(text, source, known, keepDefaults(known, source, wanted).replace(/^export\s+(default\s+)?/, ''), lostNames(known, source, wanted));
  }
  const owner = find(source.statements, parts[0]);
  if (owner === undefined) {
    return top([`class ${parts[0]} {`, ...body(wanted, name, step, step), '}'], true, false);
  }
  if (!ts.isClassDeclaration(owner)) throw new Problem(`\`${parts[0]}\` in \`${file}\` is not a class`);
  const isStatic = has(wanted.node, ts.SyntaxKind.StaticKeyword);
  const known = owner.members.find((each) => each.kind === wanted.node.kind && has(each, ts.SyntaxKind.StaticKeyword) === isStatic &&
    (ts.isConstructorDeclaration(each) ? parts[1] === 'constructor' : each.name?.getText() === parts[1]));
  if (known !== undefined) {
    if (ts.isPropertyDeclaration(known) || has(known, ts.SyntaxKind.AbstractKeyword)) return text;
    return changed(text, source, known, keepDefaults(known, source, wanted), lostNames(known, source, wanted));
  }
  const [first] = owner.members;
  const indent = first === undefined ? step : /[ \t]*$/.exec(text.slice(0, first.getStart(source)))[0];
  if (ts.isPropertyDeclaration(wanted.node) && first !== undefined) return withField(text, source, owner, body(wanted, name, indent, step)[0]);
  const end = owner.getEnd() - 1;
  const before = text.slice(0, end).trimEnd();
  return `${before}\n${first === undefined ? '' : '\n'}${body(wanted, name, indent, step).join('\n')}\n${text.slice(end)}`;
}

/** Returns a class's text with one more field, after its first fields. */
function withField(text, source, owner, line) {
  const fields = owner.members.filter((each, at, all) => all.slice(0, at + 1).every(ts.isPropertyDeclaration));
  if (fields.length > 0) {
    const at = fields[fields.length - 1].getEnd();
    return `${text.slice(0, at)}\n${line}${text.slice(at)}`;
  }
  const at = text.indexOf('{', Math.max(owner.name?.getEnd() ?? owner.getStart(source), ...(owner.typeParameters ?? []).map((each) => each.getEnd()), ...(owner.heritageClauses ?? []).map((each) => each.getEnd()))) + 1;
  return `${text.slice(0, at)}\n${line}\n${text.slice(at)}`;
}

/** Returns the wanted header with the existing defaults of parameters. A new default is behaviour, and RED's tests must see that it is missing. */
function keepDefaults(known, knownSource, { node, source, header }) {
  const old = new Map((known.parameters ?? []).filter(({ initializer }) => initializer !== undefined).map((each) => [each.name.getText(knownSource), each.initializer.getText(knownSource)]));
  let result = header;
  for (const { name, initializer } of [...(node.parameters ?? [])].reverse()) {
    const kept = initializer === undefined ? undefined : old.get(name.getText(source));
    if (kept === undefined) continue;
    const start = node.getStart(source);
    result = result.slice(0, initializer.getStart(source) - start) + kept + result.slice(initializer.getEnd() - start);
  }
  return result;
}

/** Returns [name, default] of each name that parameters bind, also within objects and lists that they take apart. */
function namesOfParameters(parameters, source) {
  return [...(parameters ?? [])].filter(({ name }) => name !== undefined).flatMap(({ name, initializer }) =>
    (ts.isIdentifier(name) ? [[name.text, initializer?.getText(source)]] : namesOfParameters(name.elements, source)));
}

/** Returns a variable for each name that goes with its parameter and that the body still uses: its default. */
function lostNames(known, source, wanted) {
  const used = new Set();
  const look = (node) => {
    if (ts.isIdentifier(node)) used.add(node.text);
    ts.forEachChild(node, look);
  };
  if (known.body !== undefined) look(known.body);
  const kept = new Set(namesOfParameters(wanted.node.parameters, wanted.source).map(([name]) => name));
  const type = /\.[cm]?tsx?$/.test(source.fileName) ? ': any' : '';
  return namesOfParameters(known.parameters, source).filter(([name]) => used.has(name) && !kept.has(name))
    .map(([name, value]) => `let ${name}${type} = ${value ?? 'undefined'};`);
}

/** Returns a known function with another header, and these statements first. The modifiers before it and the rest of the body keep their bytes. */
function changed(text, source, known, header, first = []) {
  if (known.body === undefined) throw new Problem(`\`${known.name?.getText()}\` has several declarations; change it by hand`);
  const exported = (known.modifiers ?? []).filter(({ kind }) => kind === ts.SyntaxKind.ExportKeyword || kind === ts.SyntaxKind.DefaultKeyword);
  const start = exported.length > 0 ? exported[exported.length - 1].getEnd() : known.getStart(source);
  const old = text.slice(start, known.body.getStart(source));
  if (plain(old) === plain(header)) return text;
  if (has(known, ts.SyntaxKind.AsyncKeyword) !== /\basync\b/.test(header.split('(')[0])) {
    throw new Problem(`\`${known.name?.getText()}\` exists and is ${has(known, ts.SyntaxKind.AsyncKeyword) ? '' : 'not '}async`);
  }
  const body = known.body.getStart(source);
  const indent = first.length === 0 ? '' : /^\s*?\n([ \t]*)/.exec(text.slice(body + 1))?.[1];
  const lines = first.map((each) => (indent === undefined ? ` ${each}` : `\n${indent}${each}`)).join('');
  return `${text.slice(0, start)}${exported.length > 0 ? ' ' : ''}${header} {${lines}${text.slice(body + 1)}`;
}

const problems = [];
const results = new Map();
if (ts === null) problems.push(missing);

function declareIn(each) {
  checkPath(each.file);
  const original = results.get(each.file) ?? contents[each.file] ?? '';
  const mark = original.startsWith('\ufeff');
  const crlf = original.includes('\r\n');
  let text = mark ? original.slice(1) : original;
  if (crlf) text = text.replaceAll('\r\n', '\n');
  const after = declare(text, each);
  if (after !== text) results.set(each.file, (mark ? '\ufeff' : '') + (crlf ? after.replaceAll('\n', '\r\n') : after));
}

for (let waiting = ts === null ? [] : request.interfaces; waiting.length > 0;) {
  const later = [];
  let last = null;
  for (const each of waiting) {
    try {
      declareIn(each);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      last = error;
      // A class may come before its base.
      if (waiting.some((other) => other !== each && other.file === each.file && other.name === error.unknown)) later.push(each);
      else problems.push(error.message);
    }
  }
  if (later.length === waiting.length) {
    problems.push(last.message);
    break;
  }
  waiting = later;
}
write([...(problems.length > 0 ? problems.map((problem) => ({ problem }))
  : [...results].map(([path, content]) => ({ path, content }))), { end: true }]);
