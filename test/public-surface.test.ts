import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseModule } from './support/module-graph.ts';

const root = path.resolve(import.meta.dirname, '..');

/**
 * Everything that may be imported from the package, types included. Adding a name is a decision: it is kept until the
 * next major version. Taking one away is a breaking change.
 */
const exportedNames: string[] = [
  'Annotation',
  'CancelledError',
  'CaseReport',
  'Clock',
  'ConfigurationError',
  'ConfigurationIssue',
  'DeadlineError',
  'RequirementReport',
  'EvalServiceClient',
  'EvalServiceClientOptions',
  'Evidence',
  'FinishedIteration',
  'GateContext',
  'GateError',
  'GateOptions',
  'GatePlan',
  'GatePolicy',
  'GateProgress',
  'GateResult',
  'GivenOptions',
  'IterationFailure',
  'IterationMark',
  'IterationTrace',
  'JobFiles',
  'Logger',
  'NetworkError',
  'OptionDescription',
  'PageOptions',
  'PlanContext',
  'PolicyInput',
  'ProgressListener',
  'ProtocolError',
  'Redactor',
  'Report',
  'ReportSinks',
  'ReportedResults',
  'RunGateOptions',
  'RunReport',
  'Secret',
  'ServerReport',
  'ServerStartError',
  'ServiceError',
  'Suite',
  'SuiteCase',
  'SuiteReport',
  'Totals',
  'Verdict',
  'VerdictOutcome',
  'VerdictReason',
  'createRedactor',
  'createServiceClient',
  'describeProgress',
  'formatConfigurationIssue',
  'gate',
  'listOptions',
  'loadSuites',
  'parseGateOptions',
  'parseReport',
  'planAnnotations',
  'planGate',
  'readSuite',
  'renderBadge',
  'renderCtrf',
  'renderHtml',
  'renderJunit',
  'renderReportJson',
  'renderSummary',
  'renderTerminal',
  'runGate',
  'silentLogger',
  'systemClock',
];

/** Module specifiers and commands of the package. */
const entryPoints = {
  exports: [
    '.',
    './schemas/evals.schema.json',
    './schemas/labels.schema.json',
    './schemas/policy.schema.json',
    './schemas/report.schema.json',
    './schemas/surface.schema.json',
    './package.json',
  ],
  bin: ['mcp-eval-ci'],
};

describe('the public surface', () => {
  it('exports exactly these names', () => {
    const source = readFileSync(path.join(root, 'src/index.ts'), 'utf8');
    expect(parseModule({ path: 'index.ts', text: source }).exportedNames.toSorted()).toEqual(exportedNames.toSorted());
  });

  it('has exactly these entry points', () => {
    const manifest = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as Record<string, object>;
    expect(Object.keys(manifest['exports'] ?? {})).toEqual(entryPoints.exports);
    expect(Object.keys(manifest['bin'] ?? {})).toEqual(entryPoints.bin);
  });

  it('has types that need only packages that are installed with it', () => {
    const { dependencies } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as {
      dependencies: object;
    };
    const found = listTypePackages('index.d.ts');
    expect(found).toEqual(expect.arrayContaining(['zod', '@ai-sdk/provider']));
    expect(found.filter((name) => !(name in dependencies))).toEqual([]);
  });
});

/** Lists the packages that a file of types in `lib/` imports, and those of all files that it reaches. */
function listTypePackages(entry: string): string[] {
  const files = [entry];
  const packages = new Set<string>();
  for (const file of files) {
    const text = readFileSync(path.join(root, 'lib', file), 'utf8');
    for (const each of parseModule({ path: file, text }).imports) {
      if (each.startsWith('.')) {
        const target = path.join(path.dirname(file), each).replace(/\.[jt]s$/, '.d.ts');
        if (!files.includes(target)) files.push(target);
      } else if (!each.startsWith('node:')) {
        packages.add(/^(?:@[^/]+\/)?[^/]+/.exec(each)?.[0] ?? each);
      }
    }
  }
  return [...packages];
}

describe('the names that a module exports', () => {
  it('are its values, types and new names, and nothing that is imported', () => {
    const source = `import { hidden } from './a.ts';
export { open, type Options } from './a.ts';
export type { Report as GateReport } from './b.ts';
`;
    expect(parseModule({ path: 'index.ts', text: source }).exportedNames).toEqual(['open', 'Options', 'GateReport']);
  });
});
