// SPDX-License-Identifier: Apache-2.0
// Measures source text by its syntax tree. Runs nothing.
//
// Input: {"files": [{"path", "content"}]}. Output, one JSON object a line, {"metric", "file", "line", "name", "value"}:
//   complexity        cyclomatic complexity of a function (nested functions count for themselves)
//   function-length   lines of a function
//   undocumented      1 for an exported function or class, or a public method of one, without a comment above it
//   print-call        1 for each console.log or similar call
//   bare-except       1 for each `catch` with an empty block
// {"file", "not_measured": reason} for each file that does not parse, or for all files without the `typescript` package;
// finally {"end": true, "checked": number of files}.
import { readFileSync } from 'node:fs';

import { loadTypescript, missing, parse, syntaxError, write } from './source_tree.mjs';

const { files } = JSON.parse(readFileSync(0, 'utf8'));
const ts = loadTypescript();
const lines = [];
if (ts === null) {
  write([...files.map(({ path }) => ({ file: path, not_measured: missing })), { end: true, checked: 0 }]);
  process.exit(0);
}

const isFunction = (node) => ts.isFunctionLike(node) && node.body !== undefined;
const branches = new Set([ts.SyntaxKind.IfStatement, ts.SyntaxKind.ConditionalExpression, ts.SyntaxKind.ForStatement,
  ts.SyntaxKind.ForInStatement, ts.SyntaxKind.ForOfStatement, ts.SyntaxKind.WhileStatement, ts.SyntaxKind.DoStatement,
  ts.SyntaxKind.CatchClause, ts.SyntaxKind.CaseClause]);
const shortcuts = new Set([ts.SyntaxKind.AmpersandAmpersandToken, ts.SyntaxKind.BarBarToken, ts.SyntaxKind.QuestionQuestionToken]);

function complexity(body) {
  let count = 1;
  const visit = (node) => {
    if (isFunction(node) || ts.isClassLike(node)) return;
    if (branches.has(node.kind)) count += 1;
    else if (ts.isBinaryExpression(node) && shortcuts.has(node.operatorToken.kind)) count += 1;
    ts.forEachChild(node, visit);
  };
  ts.forEachChild(body, visit);
  if (!ts.isBlock(body)) visit(body);
  return count;
}

function nameOf(node) {
  if (node.name !== undefined) return node.name.getText();
  if (ts.isConstructorDeclaration(node)) return 'constructor';
  const { parent } = node;
  if (parent !== undefined && (ts.isVariableDeclaration(parent) || ts.isPropertyAssignment(parent) || ts.isPropertyDeclaration(parent))) {
    return parent.name.getText();
  }
  return '';
}

const modifiers = (node) => node.modifiers ?? [];
const isExported = (node) => modifiers(node).some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword);
const isHidden = (node) => modifiers(node).some(({ kind }) => kind === ts.SyntaxKind.PrivateKeyword || kind === ts.SyntaxKind.ProtectedKeyword) ||
  nameOf(node).startsWith('#') || nameOf(node).startsWith('_');

function measure(path, content) {
  const source = parse(ts, path, content);
  const problem = syntaxError(ts, source);
  if (problem !== null) {
    lines.push({ file: path, not_measured: `line ${problem.line}: ${problem.message}`.slice(0, 500) });
    return;
  }
  const names = [];
  const lineOf = (position) => source.getLineAndCharacterOfPosition(position).line + 1;
  const found = (metric, node, name, value) => lines.push({ metric, file: path, line: lineOf(node.getStart(source)), name, value });
  const undocumented = (node, name) => {
    if ((ts.getLeadingCommentRanges(content, node.getFullStart()) ?? []).length === 0) found('undocumented', node, name, 1);
  };
  const visit = (node, exported) => {
    let pushed = false;
    let inside = false;
    if (isFunction(node)) {
      const name = [...names, nameOf(node)].filter((part) => part !== '').join('.');
      if (name !== '') {
        found('complexity', node, name, complexity(node.body));
        found('function-length', node, name, lineOf(node.getEnd()) - lineOf(node.getStart(source)) + 1);
      }
      if (ts.isFunctionDeclaration(node) && isExported(node)) undocumented(node, name);
      if (ts.isMethodDeclaration(node) && exported && !isHidden(node)) undocumented(node, name);
      names.push(nameOf(node));
      pushed = true;
    } else if (ts.isClassLike(node)) {
      if (isExported(node)) undocumented(node, nameOf(node));
      names.push(nameOf(node));
      pushed = true;
      inside = isExported(node);
    } else if (ts.isCallExpression(node) && /^console\.(log|info|debug|dir|table)$/.test(node.expression.getText(source))) {
      found('print-call', node, names.filter((part) => part !== '').join('.'), 1);
    } else if (ts.isCatchClause(node) && node.block.statements.length === 0 && !/\/[/*]/.test(node.block.getText(source))) {
      found('bare-except', node, names.filter((part) => part !== '').join('.'), 1);
    }
    ts.forEachChild(node, (child) => visit(child, inside));
    if (pushed) names.pop();
  };
  visit(source, false);
}

for (const { path, content } of files) measure(path, content);
write([...lines, { end: true, checked: files.length }]);
