import { readFileSync } from 'node:fs';
import path from 'node:path';
// TypeScript 7 has no interface for programs yet. This package brings that of version 5, without a second `tsc` command.
import { ts } from '@ts-morph/common';

const root = path.resolve(import.meta.dirname, '..');

/** The entries of the package, the stable ones with all details. */
const entries = [
  { name: 'mcp-eval-ci', file: 'src/index.ts' },
  { name: 'mcp-eval-ci/checks', file: 'src/entries/checks.ts' },
  { name: 'mcp-eval-ci/explore', file: 'src/entries/explore.ts' },
  { name: 'mcp-eval-ci/report', file: 'src/entries/report.ts' },
  { name: 'mcp-eval-ci/node-test', file: 'src/entries/node-test.ts' },
  { name: 'mcp-eval-ci/vitest', file: 'src/entries/vitest.ts' },
  { name: 'mcp-eval-ci/parts', file: 'src/entries/parts.ts', isUnstable: true },
];

/** The JSON Schemas that describe what a zod schema of a file describes. */
const schemas: ReadonlyArray<[RegExp, string]> = [
  [/^src\/suite\/suite-schema/, 'evals'],
  [/policy/, 'policy'],
  [/^src\/model\/surface\.ts/, 'surface'],
  [/^src\/model\//, 'report'],
];

type Declaration =
  | ts.FunctionDeclaration
  | ts.ClassDeclaration
  | ts.InterfaceDeclaration
  | ts.TypeAliasDeclaration
  | ts.VariableStatement;

interface Exported {
  name: string;
  file: string;
  declaration: Declaration;
  text: string;
}

/** Renders docs/library-reference.md: every name of the entries, from the docstrings of the sources. */
export function renderLibraryReference(): string {
  const parts = entries.map(({ name, file, isUnstable }) => {
    const exported = listExports(file).toSorted((a, b) => rank(a) - rank(b) || a.name.localeCompare(b.name, 'en'));
    const body =
      isUnstable === true
        ? ['A minor version may change these names.', '', ...exported.map(renderBrief)]
        : exported.flatMap((each) => ['', ...renderFull(each)]);
    return [`## ${name}`, '', ...body].join('\n');
  });
  return `# Reference of the library\n\n<!-- \`npm run docs\` writes this page from the docstrings. -->\n\nEvery name of the entries. [Library](library.md) shows them by task, and says what follows semantic versioning.\n\n${parts.join('\n\n').replaceAll(/\n{3,}/g, '\n\n')}\n`;
}

/** Functions come first, then errors and other values, then types. */
function rank({ declaration }: Exported): number {
  if (ts.isFunctionDeclaration(declaration)) return 0;
  return ts.isClassDeclaration(declaration) || ts.isVariableStatement(declaration) ? 1 : 2;
}

/** Lists what a file exports from other files, with the declarations. */
function listExports(entry: string): Exported[] {
  return parse(entry).statements.flatMap((statement): Exported[] => {
    if (!ts.isExportDeclaration(statement) || statement.exportClause === undefined) return [];
    if (!ts.isNamedExports(statement.exportClause) || statement.moduleSpecifier === undefined) return [];
    if (!ts.isStringLiteral(statement.moduleSpecifier)) return [];
    const file = path.posix.join(path.posix.dirname(entry), statement.moduleSpecifier.text);
    return statement.exportClause.elements.map((element) =>
      findDeclaration(file, (element.propertyName ?? element.name).text, element.name.text),
    );
  });
}

const parsed = new Map<string, ts.SourceFile>();

function parse(file: string): ts.SourceFile {
  const known = parsed.get(file);
  if (known !== undefined) return known;
  const source = ts.createSourceFile(file, readFileSync(path.join(root, file), 'utf8'), ts.ScriptTarget.ES2024, true);
  parsed.set(file, source);
  return source;
}

/** @throws if the file has no such declaration, or it has no docstring that says what it promises */
function findDeclaration(file: string, own: string, name: string): Exported {
  const source = parse(file);
  for (const statement of source.statements) {
    const isNamed =
      ts.isFunctionDeclaration(statement) ||
      ts.isClassDeclaration(statement) ||
      ts.isInterfaceDeclaration(statement) ||
      ts.isTypeAliasDeclaration(statement);
    if (isNamed && statement.name?.text === own) return describe(file, name, statement, source);
    if (!ts.isVariableStatement(statement)) continue;
    if (statement.declarationList.declarations.some(({ name: found }) => found.getText(source) === own))
      return describe(file, name, statement, source);
  }
  throw new Error(`${file} declares no ${own}.`);
}

function describe(file: string, name: string, declaration: Declaration, source: ts.SourceFile): Exported {
  const text = printShape(declaration, source).replace(/^export (?:declare )?/, '');
  const exported = { name, file, declaration, text };
  if (readDocstring(exported).promise === '') throw new Error(`${file}: ${name} has no docstring.`);
  return exported;
}

/** Prints a declaration without the bodies of its functions. */
function printShape(declaration: Declaration, source: ts.SourceFile): string {
  const text = source.text.slice(declaration.getStart(source), declaration.end);
  if (ts.isFunctionDeclaration(declaration)) return cutBody(text, declaration, source);
  if (ts.isVariableStatement(declaration)) {
    return declaration.declarationList.declarations
      .map(
        (each) =>
          `const ${each.name.getText(source)}${each.type === undefined ? '' : `: ${each.type.getText(source)}`};`,
      )
      .join('\n');
  }
  if (!ts.isClassDeclaration(declaration)) return text;
  const head = text.slice(0, text.indexOf('{') + 1);
  // Programs catch errors, and make none.
  const members = declaration.members
    .filter((member) => !ts.isConstructorDeclaration(member))
    .map((member) => source.text.slice(member.getFullStart(), member.end).replace(/^\n+/, ''));
  return [head, ...members, '}'].join('\n');
}

function cutBody(text: string, { body }: ts.FunctionDeclaration, source: ts.SourceFile): string {
  if (body === undefined) return text;
  return `${text
    .slice(0, text.length - (body.end - body.getStart(source)))
    .trimEnd()
    .replace(/^export async/, 'export')};`;
}

interface Docstring {
  promise: string;
  throws: string[];
  examples: string[];
}

function readDocstring({ declaration }: Exported): Docstring {
  const doc = ts.getJSDocCommentsAndTags(declaration).find(ts.isJSDoc);
  const tags: readonly ts.JSDocTag[] = doc?.tags ?? [];
  const read = (tag: ts.JSDocTag) => (ts.getTextOfJSDocComment(tag.comment) ?? '').trim();
  return {
    promise: unwrap(ts.getTextOfJSDocComment(doc?.comment) ?? ''),
    throws: tags
      .filter(ts.isJSDocThrowsTag)
      .map((tag) =>
        unwrap(`${tag.typeExpression?.type.getText() ?? ''} ${read(tag)}`.trim().replace(/^(\w+)/, '`$1`')),
      ),
    examples: tags.filter(({ tagName }) => tagName.text === 'example').map(read),
  };
}

/** Joins the lines of a paragraph, and keeps lists. */
function unwrap(text: string): string {
  return text
    .split(/\n{2,}/)
    .map((paragraph) => paragraph.replaceAll(/\n(?!- )/g, ' '))
    .join('\n\n');
}

function renderBrief(exported: Exported): string {
  const { promise } = readDocstring(exported);
  const [first = ''] = /^(?:`[^`]*`|[^`])*?\.(?=\s|$)/.exec(promise) ?? [];
  return `- \`${exported.name}\`${first === '' ? '' : `: ${first}`}`;
}

function renderFull(exported: Exported): string[] {
  const { promise, throws, examples } = readDocstring(exported);
  const schema = /\bz\.(?:infer|input|output)</.test(exported.text)
    ? schemas.find(([pattern]) => pattern.test(exported.file))?.[1]
    : undefined;
  const shape =
    schema === undefined
      ? ['```ts', exported.text, '```']
      : [`Its shape is in [${schema}.schema.json](../schemas/${schema}.schema.json).`];
  return [
    `### ${exported.name}`,
    '',
    promise,
    '',
    ...shape,
    ...(throws.length === 0 ? [] : ['', 'Throws:', '', ...throws.map((each) => `- ${each}`)]),
    ...examples.flatMap((example) => ['', '```ts example', example, '```']),
  ];
}
