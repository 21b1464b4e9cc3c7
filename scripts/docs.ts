// Writes everything that is generated from the sources: action.yml, the tables in README.md, docs/evals.md, docs/inputs.md, docs/policy.md and
// packages/eval-service/docs/api.md, the JSON Schemas, the program and style of the report's page, the program of the schema worker, and the
// program that finds elements of widgets. With --check, it writes nothing and fails if something is stale.
import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { Document, Scalar, visit } from 'yaml';
import { outputTable } from '../src/action/outputs.ts';
import { isFlagOf, isInputOf, reportInputs, type Surface } from '../src/gate/options/surfaces.ts';
import { listOptions, type OptionDescription } from '../src/gate/options/list.ts';
import { buildReportJsonSchema } from '../src/model/report.ts';
import { gateRules, ruleSections, suiteRules } from '../src/model/rules/registry.ts';
import { buildSurfaceJsonSchema } from '../src/model/surface.ts';
import { buildLabelsJsonSchema } from '../src/suite/read-labels.ts';
import { buildEvalsJsonSchema, buildPolicyJsonSchema } from '../src/suite/suite-schema.ts';
import { listApiRows } from './api-page.ts';
import { fillCheckTables } from './check-tables.ts';
import { bundleSchemaWorker } from './schema-worker.ts';
import { renderRuleList } from './rule-list.ts';
import { renderStatisticsTables } from './statistics-tables.ts';

const root = new URL('../', import.meta.url);
const options = listOptions();

/** The inputs that most workflows use, for the README. */
const usualInputs = [
  'server-command',
  'server-url',
  'server-env',
  'evals',
  'min-pass-rate',
  'policy',
  'baseline',
  'report-to',
  'service',
  'api-key',
];

const generated = new Map<string, string>([
  ['action.yml', renderActionMetadata('run')],
  ['merge/action.yml', renderActionMetadata('merge')],
  ['publish/action.yml', renderActionMetadata('publish')],
  ['schemas/evals.schema.json', `${JSON.stringify(buildEvalsJsonSchema(), null, 2)}\n`],
  ['schemas/labels.schema.json', `${JSON.stringify(buildLabelsJsonSchema(), null, 2)}\n`],
  ['schemas/policy.schema.json', `${JSON.stringify(buildPolicyJsonSchema(), null, 2)}\n`],
  ['schemas/report.schema.json', `${JSON.stringify(buildReportJsonSchema(), null, 2)}\n`],
  ['schemas/surface.schema.json', `${JSON.stringify(buildSurfaceJsonSchema(), null, 2)}\n`],
  ['src/report/html/page-assets.ts', await renderPageAssets()],
  ['src/engine/schema-worker-source.ts', await renderSchemaWorker()],
  ['src/browser/probe-source.ts', await renderWidgetProbe()],
  ['README.md', renderReadme(await readFile(new URL('README.md', root), 'utf8'))],
  [
    'packages/eval-service/docs/api.md',
    renderApiPage(await readFile(new URL('packages/eval-service/docs/api.md', root), 'utf8')),
  ],
  ['docs/evals.md', fillCheckTables(await readFile(new URL('docs/evals.md', root), 'utf8'))],
  ['docs/policy.md', await renderPolicyPage(await readFile(new URL('docs/policy.md', root), 'utf8'))],
  ['docs/inputs.md', renderInputPage(await readFile(new URL('docs/inputs.md', root), 'utf8'))],
]);

const stale: string[] = [];
for (const [path, text] of generated) {
  const current = await readFile(new URL(path, root), 'utf8').catch(() => '');
  if (current === text) continue;
  stale.push(path);
  if (!process.argv.includes('--check')) await writeFile(new URL(path, root), text);
}

if (!process.argv.includes('--check')) {
  console.log(stale.length === 0 ? 'Everything generated is fresh.' : `Written: ${stale.join(', ')}.`);
} else if (stale.length > 0) {
  console.error(`Stale: ${stale.join(', ')}. Run \`npm run docs\` and commit the result.`);
  process.exitCode = 1;
}

/** Renders the action of each folder with an action.yml. All actions start the same code under different names. */
function renderActionMetadata(action: Surface): string {
  const about = {
    run: {
      name: 'MCP eval gate',
      description:
        'Runs evals against the MCP server of a pull request and fails the job when the pass rate drops below a threshold.',
      runs: { using: 'node24', main: 'dist/index.js', post: 'dist/post.js' },
    },
    merge: {
      name: 'MCP eval gate: merge',
      description: 'Joins the reports of shards of an eval gate into one verdict and one report.',
      runs: { using: 'node24', main: '../dist/merge.js' },
    },
    publish: {
      name: 'MCP eval gate: publish',
      description: 'Comments on a pull request with the verdict in a report that another workflow wrote.',
      runs: { using: 'node24', main: '../dist/publish.js' },
    },
  }[action];
  const metadata = {
    name: about.name,
    description: about.description,
    author: 'The mcp-eval-ci authors',
    ...(action === 'run' ? { branding: { icon: 'check-circle', color: 'green' } } : {}),
    inputs: Object.fromEntries(
      listInputs(action).map(({ name, description, default: fallback, runnerDefault = fallback, isRequired }) => [
        name,
        { description, required: isRequired, ...(runnerDefault === '' ? {} : { default: runnerDefault }) },
      ]),
    ),
    ...(action === 'publish'
      ? {}
      : { outputs: Object.fromEntries(outputTable.map(({ name, description }) => [name, { description }])) }),
    runs: about.runs,
  };
  const document = new Document(metadata);
  document.commentBefore = ' Generated by `npm run docs` from src/gate/options/ and src/action/outputs.ts.';
  visit(document, {
    Scalar: (_, node) => {
      // Long prose folds into a readable block; the rest stays on its line.
      if (typeof node.value === 'string' && node.value.length > 80) node.type = Scalar.BLOCK_FOLDED;
      // Without quotes, YAML 1.1 reads this text as a boolean.
      if (node.value === 'off') node.type = Scalar.QUOTE_DOUBLE;
    },
  });
  return document.toString({ lineWidth: 110 });
}

/** Lists the inputs of an action; the reports that it reads come first. */
function listInputs(action: Surface): Array<OptionDescription & { isRequired: boolean }> {
  const reports = action === 'run' ? [] : options.filter(({ name }) => name === action);
  const input = action === 'run' ? '' : reportInputs[action];
  return [
    ...reports.map((option) => ({ ...option, name: input, isRequired: true })),
    ...options.filter(({ name }) => isInputOf(action, name)).map((option) => ({ ...option, isRequired: false })),
  ];
}

/** Renders the page's program and style as a module that sources, lib/ and dist/ can import. */
async function renderPageAssets(): Promise<string> {
  const read = await bundlePage(['page/main.ts', 'page/style.css']);
  return [
    '// Generated by `npm run docs` from page/.',
    '',
    `export const pageScript = ${read('.js')};`,
    '',
    `export const pageStyle = ${read('.css')};`,
    '',
  ].join('\n');
}

/** Renders the program for rendered widgets as text, which a browser gets. */
async function renderWidgetProbe(): Promise<string> {
  const read = await bundlePage(['page/widget-probe.ts']);
  return [
    '// Generated by `npm run docs` from page/widget-probe.ts.',
    '',
    `export const probeSource: string = ${read('.js')};`,
    '',
  ].join('\n');
}

/** Bundles code for a browser. The returned function gives the bundle with an extension as a literal. */
async function bundlePage(entryPoints: string[]): Promise<(extension: string) => string> {
  const { outputFiles } = await build({
    entryPoints,
    absWorkingDir: fileURLToPath(root),
    outdir: 'page',
    bundle: true,
    minify: true,
    write: false,
    // The oldest browsers that support the style.
    target: ['chrome123', 'firefox120', 'safari17.5'],
    charset: 'utf8',
    legalComments: 'none',
  });
  return (extension) => JSON.stringify(outputFiles.find(({ path }) => path.endsWith(extension))?.text.trim() ?? '');
}

/** Renders the program of the schema worker as text, so that the server under test cannot overwrite it. */
async function renderSchemaWorker(): Promise<string> {
  const { text } = await bundleSchemaWorker(fileURLToPath(root));
  return [
    '// Generated by `npm run docs` from schema-worker.ts.',
    '',
    `export const schemaWorkerSource: string = ${JSON.stringify(text)};`,
    '',
  ].join('\n');
}

function renderReadme(text: string): string {
  const inputs = listInputs('run');
  const usual = usualInputs.map((name) => {
    const found = inputs.find((input) => input.name === name);
    if (found === undefined) throw new Error(`There is no input ${name}.`);
    return found;
  });
  return replaceBetween(text, 'inputs', renderInputs(usual));
}

function renderApiPage(text: string): string {
  const head = ['Operation', 'Request', 'Client', 'Served', 'Needs'];
  return replaceBetween(text, 'operations', renderTable(head, listApiRows()));
}

async function renderPolicyPage(text: string): Promise<string> {
  const rules = renderRuleList([...suiteRules, ...gateRules], ruleSections);
  const tables = new Map([['rules', rules], ...(await renderStatisticsTables())]);
  return [...tables].reduce((page, [name, table]) => replaceBetween(page, name, table), text);
}

function renderInputPage(text: string): string {
  const outputs = outputTable.map(({ name, description }) => [`\`${name}\``, description]);
  const tables = {
    inputs: renderInputs(listInputs('run')),
    merge: renderInputs(listInputs('merge')),
    publish: renderInputs(listInputs('publish')),
    outputs: renderTable(['Output', 'What it holds'], outputs),
    flags: renderInputs(
      options.filter(({ name }) => isFlagOf('run', name) && !isInputOf('run', name)),
      '--',
    ),
  };
  return Object.entries(tables).reduce((page, [name, table]) => replaceBetween(page, name, table), text);
}

function renderInputs(inputs: readonly OptionDescription[], prefix = ''): string {
  return renderTable(
    [prefix === '' ? 'Input' : 'Flag', 'What it does', 'Default'],
    inputs.map(({ name, description, default: fallback }) => [
      `\`${prefix}${name}\``,
      description,
      fallback === '' ? '' : `\`${fallback}\``,
    ]),
  );
}

function renderTable(head: string[], rows: string[][]): string {
  const line = (cells: string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

function replaceBetween(text: string, name: string, content: string): string {
  const [start, end] = [`<!-- ${name}:start -->`, `<!-- ${name}:end -->`];
  const [before, rest] = text.split(start);
  const after = rest?.split(end)[1];
  if (before === undefined || after === undefined) throw new Error(`A page has no ${start} … ${end} block.`);
  return `${before}${start}\n\n${content}\n\n${end}${after}`;
}
