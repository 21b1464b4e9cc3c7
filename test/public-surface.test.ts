import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseModule } from './support/module-graph.ts';

const root = path.resolve(import.meta.dirname, '..');

/**
 * Everything that may be imported from each entry of the package, types included. Adding a name is a decision: it is kept until the next
 * major version, except in `parts`. Taking one away is a breaking change.
 */
const exportedNames: Readonly<Record<string, readonly string[]>> = {
  'index.ts': [
    'CancelledError',
    'CaptureOptions',
    'CaptureSession',
    'CapturedEvals',
    'CaseReport',
    'CompareBehaviourOptions',
    'CompareSurfacesOptions',
    'ConfigurationError',
    'ConfigurationIssue',
    'DeadlineError',
    'FinishedIteration',
    'GateError',
    'GatePolicy',
    'GateProgress',
    'GivenOptions',
    'InProcessServer',
    'IterationFailure',
    'Logger',
    'MeasuredBehaviour',
    'MeasuredDifference',
    'NetworkError',
    'OwnModel',
    'PolicyInput',
    'ProgressListener',
    'ProtocolError',
    'Report',
    'ReportedResults',
    'Reporter',
    'RequirementReport',
    'RunGateOptions',
    'RunReport',
    'ServerFactory',
    'ServerReport',
    'ServerStartError',
    'ServiceError',
    'SuiteInput',
    'SuiteReport',
    'SurfaceChange',
    'SurfaceComparison',
    'SurfaceFile',
    'SurfaceReport',
    'Totals',
    'Verdict',
    'VerdictOutcome',
    'VerdictReason',
    'capture',
    'compareBehaviour',
    'compareSurfaces',
    'defineModel',
    'defineReporter',
    'describeProgress',
    'formatConfigurationIssue',
    'runGate',
  ],
  'entries/checks.ts': [
    'CheckEvidence',
    'Judgement',
    'OwnCheck',
    'OwnCheckContext',
    'OwnCheckDefinition',
    'Reply',
    'ToolDefinition',
    'ToolResult',
    'defineCheck',
    'fail',
    'leaveUnmeasured',
    'pass',
  ],
  'entries/explore.ts': [
    'Exploration',
    'ExploreProgress',
    'ExploreServerOptions',
    'ExploredSession',
    'Feature',
    'Finding',
    'FindingSeverity',
    'ToolCoverage',
    'Trait',
    'Unexplored',
    'explore',
  ],
  'entries/report.ts': [
    'CaseReport',
    'Evidence',
    'IterationFailure',
    'IterationMark',
    'IterationTrace',
    'RenderReportOptions',
    'Report',
    'RequirementReport',
    'ServerReport',
    'SuiteReport',
    'Totals',
    'Verdict',
    'VerdictOutcome',
    'VerdictReason',
    'parseReport',
    'renderReport',
  ],
  'entries/node-test.ts': ['EvalTestOptions', 'Evals', 'describeEvals'],
  'entries/vitest.ts': [
    'EvalTestOptions',
    'Evals',
    'TestedServer',
    'TestedServerOptions',
    'createServerTest',
    'describeEvals',
  ],
  'entries/parts.ts': [
    'Annotation',
    'Clock',
    'EvalServiceClient',
    'EvalServiceClientOptions',
    'GateContext',
    'GateOptions',
    'GatePlan',
    'GateResult',
    'JobFiles',
    'Logger',
    'OptionDescription',
    'PlanContext',
    'Redactor',
    'ReportSinks',
    'Secret',
    'Suite',
    'SuiteCase',
    'createRedactor',
    'createServiceClient',
    'gate',
    'listOptions',
    'loadSuites',
    'parseGateOptions',
    'planAnnotations',
    'planGate',
    'readSuite',
    'silentLogger',
    'systemClock',
  ],
};

/** Module specifiers and commands of the package. */
const entryPoints = {
  exports: [
    '.',
    './checks',
    './explore',
    './report',
    './node-test',
    './vitest',
    './parts',
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
  it.each(Object.entries(exportedNames))('exports exactly these names from %s', (entry, names) => {
    const source = readFileSync(path.join(root, 'src', entry), 'utf8');
    expect(parseModule({ path: entry, text: source }).exportedNames.toSorted()).toEqual(names.toSorted());
  });

  it('has a file for each entry, and lists the names of each', () => {
    const entries = readdirSync(path.join(root, 'src/entries')).map((name) => `entries/${name}`);
    expect(Object.keys(exportedNames).toSorted()).toEqual(['index.ts', ...entries].toSorted());
    const manifest = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as {
      exports: Record<string, unknown>;
    };
    for (const entry of entries) {
      const file = `./lib/${entry.replace(/\.ts$/, '')}`;
      expect(manifest.exports[entry.replace(/^entries(.*)\.ts$/, '.$1')]).toEqual({
        types: `${file}.d.ts`,
        default: `${file}.js`,
      });
    }
  });

  it('has exactly these entry points', () => {
    const manifest = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as Record<string, object>;
    expect(Object.keys(manifest['exports'] ?? {})).toEqual(entryPoints.exports);
    expect(Object.keys(manifest['bin'] ?? {})).toEqual(entryPoints.bin);
  });

  it('has types that need only packages that are installed with it, and the test runner that an entry is for', () => {
    const { dependencies, peerDependencies } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as {
      dependencies: object;
      peerDependencies: object;
    };
    const found = Object.keys(exportedNames).flatMap((entry) => listTypePackages(entry.replace(/ts$/, 'd.ts')));
    expect(found).toEqual(expect.arrayContaining(['zod', '@ai-sdk/provider']));
    expect(found.filter((name) => !(name in dependencies) && !(name in peerDependencies))).toEqual([]);
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
