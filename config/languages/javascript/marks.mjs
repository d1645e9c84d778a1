// SPDX-License-Identifier: Apache-2.0
// Makes a source report which of its lines run: inserts `agentforgeRan(file, line);` before every statement. Line numbers do not change.

/** Returns {text, lines}: the source with marks, and the executable lines. `file`: its name in the marks. */
export function withMarks(ts, source, file) {
  const marks = [];
  const lines = new Set();
  const add = (node, before, after) => {
    const start = node.getStart(source);
    const line = source.getLineAndCharacterOfPosition(start).line + 1;
    lines.add(line);
    marks.push([start, before.replace('$', `agentforgeRan(${JSON.stringify(file)},${line})`)]);
    if (after !== '') marks.push([node.getEnd(), after]);
  };
  const declares = (node) => ts.isFunctionDeclaration(node) || ts.isImportDeclaration(node) || ts.isExportDeclaration(node) ||
    ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node) || ts.isModuleDeclaration(node) || ts.isEmptyStatement(node) ||
    ts.isImportEqualsDeclaration(node) || ts.isExportAssignment(node) || ts.isBlock(node) ||
    (node.modifiers ?? []).some(({ kind }) => kind === ts.SyntaxKind.DeclareKeyword);
  const directive = (node) => ts.isExpressionStatement(node) && ts.isStringLiteral(node.expression);
  const visit = (node) => {
    const { parent } = node;
    const inList = parent !== undefined && (ts.isBlock(parent) || ts.isSourceFile(parent) || ts.isCaseClause(parent) || ts.isDefaultClause(parent));
    if (inList && ts.isStatement(node) && !declares(node) && !directive(node)) add(node, '$;', '');
    else if (ts.isStatement(node) && parent !== undefined && !ts.isBlock(node) && !ts.isIfStatement(node) &&
             (ts.isIfStatement(parent) || ts.isIterationStatement(parent, false)) && !ts.isVariableDeclarationList(node)) add(node, '{$;', '}');
    else if (ts.isArrowFunction(parent ?? node) && parent?.body === node && !ts.isBlock(node)) add(node, '($,', ')');
    ts.forEachChild(node, visit);
  };
  visit(source);
  // From the end, so that positions stay valid. At one position, the end of an inner part comes before the beginning of the next.
  let text = source.text;
  marks.map((mark, index) => [...mark, index]).sort((a, b) => b[0] - a[0] || b[2] - a[2])
    .forEach(([at, mark]) => { text = text.slice(0, at) + mark + text.slice(at); });
  return { text, lines };
}
