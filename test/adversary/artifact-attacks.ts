import { join } from 'node:path';
import { listContradictions } from '../../src/gate/plan/check-report.ts';
import { readReport } from '../../src/gate/plan/read-report.ts';
import { renderReportJson } from '../../src/report/report-json.ts';
import { createWorkspace } from '../support/workspace.ts';
import { createRedReport } from '../support/factories/report-factory.ts';
import type { Attack, AttackResult } from './attack.ts';

export interface ArtifactAttack extends Attack {
  attacker: 'artifact';
  /** Changes the text of a failed report. */
  forge: (text: string) => string;
}

type Fields = Record<string, unknown>;

/** Creates a change of the report as JSON. */
const edit = (change: (report: Fields) => Fields) => (text: string) => {
  const report: Fields = JSON.parse(text);
  return JSON.stringify(change(report));
};
const passed = { outcome: 'passed', reasons: [] };
const cases = (change: (each: Fields) => Fields) =>
  edit((report) => ({ ...report, cases: Array.isArray(report['cases']) ? report['cases'].map(change) : [] }));
const withVerdict = (text: string) => edit((report) => ({ ...report, verdict: passed }))(text);

const forgeries: Record<string, (text: string) => string> = {
  'changes nothing': (text) => text,
  'passes its verdict': withVerdict,
  'takes the reasons out': edit((report) => ({ ...report, verdict: { ...Object(report['verdict']), reasons: [] } })),
  'passes every case': cases((each) => ({ ...each, outcome: 'passed' })),
  'passes verdict and cases': (text) => withVerdict(cases((each) => ({ ...each, outcome: 'passed', failed: 0 }))(text)),
  'takes the failures out': cases((each) => ({ ...each, failures: [] })),
  'takes all cases out': edit((report) => ({ ...report, verdict: passed, cases: [] })),
  'takes the suites out': edit((report) => ({ ...report, verdict: passed, suites: [], cases: [] })),
  'counts no failures': edit((report) => ({
    ...report,
    verdict: passed,
    totals: { ...Object(report['totals']), failed: 0 },
  })),
  'counts more passes': edit((report) => ({ ...report, totals: { ...Object(report['totals']), passed: 1e9 } })),
  'has a verdict twice': (text) => text.replace(/\}\s*$/, `,"verdict":${JSON.stringify(passed)}}`),
  'has a verdict in its prototype': (text) =>
    text.replace(/^\{/, `{"__proto__":{"verdict":${JSON.stringify(passed)}},`),
  'has no verdict': edit((report) => ({ ...report, verdict: undefined })),
  'is of another version': edit((report) => ({ ...report, schemaVersion: 0, verdict: passed })),
  'is cut off': (text) => text.slice(0, -20),
  'is empty': () => '',
  'is null': () => 'null',
  'is a list': (text) => `[${text}]`,
  'is nested deeply': () => `${'['.repeat(50_000)}${']'.repeat(50_000)}`,
  'begins with a byte order mark': (text) => `\uFEFF${text}`,
  'is a page that says it passed': () => '<html>passed</html>',
};

export const artifactAttacks: readonly ArtifactAttack[] = Object.entries(forgeries).map(([name, forge]) => ({
  name,
  class: 'artifacts',
  attacker: 'artifact',
  deserves: 'failed',
  forge,
}));

/** Reads a forged report like `publish` and `merge`. */
export async function runArtifactAttack(attack: ArtifactAttack): Promise<AttackResult> {
  const found = await judge(attack.forge(renderReportJson(createRedReport())));
  return { attack, found, problems: found === 'passed' ? ['is read as passed'] : [] };
}

async function judge(text: string): Promise<string> {
  await using workspace = await createWorkspace({ 'report.json': text });
  const read = await readReport(join(workspace.path, 'report.json'));
  if (read.kind !== 'report') return 'refused';
  const contradictions = listContradictions(read.report);
  return contradictions.length > 0 ? 'refused' : read.report.verdict.outcome;
}
