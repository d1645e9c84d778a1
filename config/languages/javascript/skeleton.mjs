// SPDX-License-Identifier: Apache-2.0
// Declares interfaces: functions, methods and classes that throw the skeleton's marker, types of TypeScript, and nothing else.
//
// Input and output are those of config/languages/python/skeleton.py. `contents` may hold package.json, which says what a `.js` file
// is. An existing function keeps its body when its signature changes and is left alone when it does not. Nothing of the project is run.
import { readFileSync } from 'node:fs';

import { loadTypescript, missing, parse, syntaxError, write } from './source_tree.mjs';

class Problem extends Error {}

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

function isValue(node) {
  if (ts.isPrefixUnaryExpression(node)) return isValue(node.operand);
  if (ts.isArrayLiteralExpression(node)) return node.elements.every(isValue);
  if (ts.isObjectLiteralExpression(node)) return node.properties.every((each) => ts.isPropertyAssignment(each) && isValue(each.initializer));
  if (ts.isPropertyAccessExpression(node)) return isValue(node.expression);
  return ts.isLiteralExpression(node) || ts.isIdentifier(node) ||
    [ts.SyntaxKind.TrueKeyword, ts.SyntaxKind.FalseKeyword, ts.SyntaxKind.NullKeyword].includes(node.kind);
}

/** A constant or a function in one, `const f = (a) =>`: what is written for it; null: it is none. */
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
  const frozen = given?.initializer !== undefined && ts.isCallExpression(given.initializer) && /^(Object\.freeze|Symbol)$/.test(given.initializer.expression.getText(source));
  if (!only || (!arrow && given.initializer !== undefined && !frozen && !isValue(given.initializer))) {
    throw new Problem(`the signature \`${signature}\` has a value that is more than a constant`);
  }
  return (indent) => (arrow ? [`${indent}${text.slice(0, -1)}`, thrown(name, indent + '  '), `${indent}};`] : [`${indent}${text};`]);
}

/** The declaration that a signature is; `inClass`: of a method. Its text is `header`. */
function declared(signature, name, file, inClass) {
  const said = signature.trim().replace(/;$/, '').replace(/\{\s*\}$/, '').trim();
  const isType = /^(export\s+)?(declare\s+)?(interface|type)\b/.test(said);
  const text = isType ? signature.trim() : inClass ? `class Owner { ${said} {} }` : `${said} {}`;
  const source = parse(ts, file, text);
  const wrong = syntaxError(ts, source);
  if (wrong !== null) throw new Problem(`the signature \`${signature}\` does not parse: ${wrong.message}`);
  let [node] = source.statements;
  if (source.statements.length !== 1) throw new Problem(`the signature \`${signature}\` is not one declaration`);
  if (inClass) {
    if (node.members.length !== 1) throw new Problem(`the signature \`${signature}\` is not one method`);
    [node] = node.members;
  }
  const kinds = inClass ? [ts.isMethodDeclaration, ts.isConstructorDeclaration, ts.isGetAccessor, ts.isSetAccessor]
    : [ts.isFunctionDeclaration, ts.isClassDeclaration, ts.isInterfaceDeclaration, ts.isTypeAliasDeclaration];
  if (!kinds.some((is) => is(node))) {
    throw new Problem(`the signature \`${signature}\` is not ${inClass ? 'that of a method' : 'that of a function, class, interface or type'}`);
  }
  if ((node.body?.statements.length ?? 0) > 0 || (ts.isClassDeclaration(node) && node.members.length > 0)) {
    throw new Problem(`the signature \`${signature}\` has a body; give only the declaration`);
  }
  const own = ts.isConstructorDeclaration(node) ? 'constructor' : node.name?.text;
  if (own !== name) throw new Problem(`the signature \`${signature}\` declares \`${own}\`, but the interface is called \`${name}\``);
  if ((node.decorators ?? []).length > 0 || (node.modifiers ?? []).some((each) => ts.isDecorator(each))) {
    throw new Problem(`the signature \`${signature}\` has a decorator, which a skeleton may not have`);
  }
  for (const parameter of node.parameters ?? []) {
    if (parameter.initializer !== undefined && !isValue(parameter.initializer)) {
      throw new Problem(`the signature \`${signature}\` has a default that is more than a value`);
    }
  }
  for (const clause of node.heritageClauses ?? []) {
    for (const type of clause.types) {
      if (!isValue(type.expression)) throw new Problem(`the signature \`${signature}\` extends something that is more than a name`);
    }
  }
  if (!isTyped(file)) {
    const typed = (each) => isType || each.type !== undefined && !ts.isTypeAliasDeclaration(each) || (each.typeParameters ?? []).length > 0 ||
      each.questionToken !== undefined || (each.parameters ?? []).some(typed);
    if (typed(node)) throw new Problem(`the signature \`${signature}\` has types, and \`${file}\` is JavaScript; write it without them`);
  }
  return { node, source, header: isType ? said : node.getText(source).replace(/\{\s*\}$/, '').trimEnd(), isType };
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

/** Lines of a new declaration, without `export`. */
function body({ node, header, isType }, qualified, indent, step) {
  if (isType) return header.replace(/^export\s+/, '').split('\n').map((line, at) => (at === 0 ? indent : '') + line);
  const start = header.replace(/^export\s+(default\s+)?/, '');
  if (ts.isClassDeclaration(node)) {
    return [`${indent}${start} {`, `${indent}${step}constructor() {`,
      ...(node.heritageClauses?.some(({ token }) => token === ts.SyntaxKind.ExtendsKeyword) ? [`${indent}${step}${step}super();`] : []),
      thrown(qualified, indent + step + step), `${indent}${step}}`, `${indent}}`];
  }
  return [`${indent}${start} {`, thrown(qualified, indent + step), `${indent}}`];
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

/** The file's text with one interface declared. */
function declare(text, { name, file, signature }) {
  const parts = name.split('.');
  if (!parts.every((part) => /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u.test(part)) || parts.length > 2) {
    throw new Problem(`\`${name}\` is not the name of a function, class, method or type`);
  }
  const source = parse(ts, file, text);
  const wrong = syntaxError(ts, source);
  if (wrong !== null) throw new Problem(`\`${file}\` does not parse: line ${wrong.line}: ${wrong.message}`);
  const constant = parts.length === 1 ? value(signature, name, file) : null;
  const wanted = constant === null ? declared(signature, parts[parts.length - 1], file, parts.length === 2) : { isType: false };
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
    if (constant !== null) return known === undefined ? top(constant(''), true, false) : text;
    if (known === undefined) return top(body(wanted, name, '', step), true, /^export\s+default\b/.test(wanted.header));
    if (known.kind !== wanted.node.kind) {
      if (ts.isVariableDeclaration(known) && ts.isFunctionDeclaration(wanted.node)) return text;     // `const f = () => …`: it is there.
      throw new Problem(`\`${name}\` exists in \`${file}\` and is not what the signature declares`);
    }
    if (!ts.isFunctionDeclaration(known)) return text;
    return changed(text, source, known, keepDefaults(known, source, wanted).replace(/^export\s+(default\s+)?/, ''));
  }
  const owner = find(source.statements, parts[0]);
  if (owner === undefined) {
    return top([`class ${parts[0]} {`, ...body(wanted, name, step, step), '}'], true, false);
  }
  if (!ts.isClassDeclaration(owner)) throw new Problem(`\`${parts[0]}\` in \`${file}\` is not a class`);
  const known = owner.members.find((each) => each.kind === wanted.node.kind &&
    (ts.isConstructorDeclaration(each) ? parts[1] === 'constructor' : each.name?.getText() === parts[1]));
  if (known !== undefined) return changed(text, source, known, keepDefaults(known, source, wanted));
  const [first] = owner.members;
  const indent = first === undefined ? step : /[ \t]*$/.exec(text.slice(0, first.getStart(source)))[0];
  const end = owner.getEnd() - 1;
  const before = text.slice(0, end).trimEnd();
  return `${before}\n${first === undefined ? '' : '\n'}${body(wanted, name, indent, step).join('\n')}\n${text.slice(end)}`;
}

/** The wanted header, where parameters that had a default keep it: another one is behaviour, which RED's tests must see missing. */
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

/** A known function with another header; modifiers in front of it and the body stay byte for byte. */
function changed(text, source, known, header) {
  if (known.body === undefined) throw new Problem(`\`${known.name?.getText()}\` has several declarations; change it by hand`);
  const exported = (known.modifiers ?? []).filter(({ kind }) => kind === ts.SyntaxKind.ExportKeyword || kind === ts.SyntaxKind.DefaultKeyword);
  const start = exported.length > 0 ? exported[exported.length - 1].getEnd() : known.getStart(source);
  const old = text.slice(start, known.body.getStart(source));
  if (plain(old) === plain(header)) return text;
  if (has(known, ts.SyntaxKind.AsyncKeyword) !== /\basync\b/.test(header.split('(')[0])) {
    throw new Problem(`\`${known.name?.getText()}\` exists and is ${has(known, ts.SyntaxKind.AsyncKeyword) ? '' : 'not '}async`);
  }
  return `${text.slice(0, start)}${exported.length > 0 ? ' ' : ''}${header} ${text.slice(known.body.getStart(source))}`;
}

const problems = [];
const results = new Map();
if (ts === null) problems.push(missing);
for (const each of ts === null ? [] : request.interfaces) {
  try {
    checkPath(each.file);
    const original = results.get(each.file) ?? contents[each.file] ?? '';
    const mark = original.startsWith('\ufeff');
    const crlf = original.includes('\r\n');
    let text = mark ? original.slice(1) : original;
    if (crlf) text = text.replaceAll('\r\n', '\n');
    const after = declare(text, each);
    if (after !== text) results.set(each.file, (mark ? '\ufeff' : '') + (crlf ? after.replaceAll('\n', '\r\n') : after));
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    problems.push(error.message);
  }
}
write([...(problems.length > 0 ? problems.map((problem) => ({ problem }))
  : [...results].map(([path, content]) => ({ path, content }))), { end: true }]);
