import { describe, expect, it } from 'vitest';
import { renderReportJson } from '../../src/report/report-json.ts';
import { parseReport } from '../../src/report/report-json.ts';
import { runCommand } from '../support/process/command.ts';
import { runProgramInTest } from '../support/process/program.ts';
import { createPolicy, ofPolicy } from '../support/factories/policy-factory.ts';
import {
  createComparedReport,
  createInconclusiveReport,
  createRedReport,
  createReport,
} from '../support/factories/report-factory.ts';
import { createCaseResults, createSuiteResults } from '../support/factories/results-factory.ts';
import { createWorkspace, type Workspace } from '../support/workspace.ts';

const spent = { tokensUsed: 1000, durationsMs: [1000, 2000] };
const half = createReport({
  suites: [createSuiteResults({ cases: [createCaseResults({ passed: 1, failed: 1, ...spent })] })],
});
const shown = createReport({
  policy: createPolicy({ reportOnly: ofPolicy(true) }),
  suites: [createSuiteResults({ cases: [createCaseResults({ passed: 0, failed: 2 })] })],
  stopsJob: false,
  notes: ['Math server failed and is only reported (reportOnly, from policy.yaml:3), so that the job goes on.'],
});
const files = {
  'half.json': renderReportJson(half),
  'whole/report.json': renderReportJson(createReport()),
  'compared.json': renderReportJson(createComparedReport()),
  'red.json': renderReportJson(createRedReport()),
  'broken.json': renderReportJson(createInconclusiveReport()),
  'shown.json': renderReportJson(shown),
  'bad.json': '{}',
  'old.json': JSON.stringify({ ...half, schemaVersion: '2' }),
  'strict.policy.yaml': 'minimumPassRate: 20%\nsuites:\n  math:\n    required: [Adds two numbers]\n',
  'mild.policy.yaml': 'suites:\n  Math server:\n    minimumPassRate: 50%\n  Other: {}\nbudgets: { tokens: 1000 }\n',
  'tight.policy.yaml': 'minimumPassRate: 50%\nbudgets: { tokens: 999 }\n',
  'slow.policy.yaml': 'minimumPassRate: 50%\nbudgets: { p95IterationTime: 2s }\n',
  'aside.policy.yaml':
    'quarantine:\n  - { suite: math, case: adds, owner: us, reason: flaky, expires: "2999-01-01" }\n',
  'odd.policy.yaml': 'minimum: 1\n',
  'lenient.policy.yaml': 'onNothingRun: warn\n',
  'patient.policy.yaml': 'onInconclusive: warn\n',
  'showing.policy.yaml': 'reportOnly: true\n',
  'one-regression.policy.yaml': 'maximumRegressions: 1\n',
  'no-regression.policy.yaml': 'maximumRegressions: 0\n',
  'twins.json': renderReportJson(
    createReport({
      suites: [
        createSuiteResults({
          cases: [createCaseResults({ id: 'a', title: 'adds' }), createCaseResults({ id: 'adds', title: 'Sums' })],
        }),
      ],
    }),
  ),
  'twins.policy.yaml': 'suites:\n  math: { required: [adds] }\n',
};

const judge = (...args: string[]) => start(runProgramInTest, args);

async function start(run: typeof runCommand, args: readonly string[]) {
  await using workspace = await createWorkspace(files);
  const result = await run(['judge', ...args], { cwd: workspace.path });
  return { ...result, report: await readReport(workspace) };
}

async function readReport(workspace: Workspace) {
  const written = await workspace.read('out/report.json').catch(() => null);
  return written === null ? null : parseReport(JSON.parse(written));
}

describe('mcp-eval-ci judge', () => {
  it.each([
    ['half.json', 1],
    ['half.json --min-pass-rate 50%', 0],
    ['half.json --min-pass-rate 51%', 1],
    ['whole', 0],
    ['red.json', 1],
    ['red.json --min-pass-rate 0%', 1],
    ['broken.json --min-pass-rate 0%', 3],
    ['compared.json', 1],
    ['compared.json --policy one-regression.policy.yaml', 0],
    ['compared.json --policy no-regression.policy.yaml', 1],
    ['half.json --policy mild.policy.yaml', 0],
    ['half.json --policy tight.policy.yaml', 1],
    ['half.json --policy slow.policy.yaml', 0],
    ['half.json --policy mild.policy.yaml --min-pass-rate 51%', 1],
    ['half.json --policy strict.policy.yaml', 1],
    ['half.json --policy aside.policy.yaml', 3],
    ['whole --policy strict.policy.yaml', 0],
    ['broken.json --policy mild.policy.yaml', 3],
    ['half.json --policy odd.policy.yaml', 2],
    ['broken.json --policy patient.policy.yaml', 3],
    ['broken.json --policy lenient.policy.yaml', 0],
    ['red.json --policy showing.policy.yaml', 0],
    ['twins.json --policy twins.policy.yaml', 2],
    ['half.json --min-pass-rate 0% --baseline whole', 1],
    ['half.json --min-pass-rate 0% --baseline whole --policy one-regression.policy.yaml', 0],
    ['half.json --min-pass-rate 0% --baseline half.json', 0],
  ])('exits for %s with %i', async (words, exitCode) => {
    expect((await judge(...words.split(' '))).exitCode).toBe(exitCode);
  });

  it.each([
    ['whole', 0, /^$/],
    ['half.json', 1, /^$/],
    ['half.json --policy odd.policy.yaml', 2, /^odd\.policy\.yaml:1:1: .*\n1 problem; nothing was run\.\n$/],
    ['broken.json', 3, /^$/],
  ])('ends its process for %s with %i', async (words, exitCode, message) => {
    const result = await start(runCommand, words.split(' '));
    expect(result).toMatchObject({ exitCode, stderr: expect.stringMatching(message) });
    if (exitCode === 2) expect(result.stdout).toBe('');
  });

  it('lets the job go on by the policy of the gate, unless another one replaces it', async () => {
    expect((await judge('shown.json')).exitCode).toBe(0);
    expect((await judge('shown.json', '--policy', 'mild.policy.yaml', '--min-pass-rate', '90%')).exitCode).toBe(1);
  });

  it('does not repeat the notes of the verdict before', async () => {
    const result = await judge('shown.json', '--report-dir', 'out');
    expect(result.report?.notes).toEqual([
      'Math server failed and is only reported (reportOnly, from policy.yaml:3), so that the job goes on.',
    ]);
  });

  it('says what of a policy is not meant for this report', async () => {
    const { stderr, stdout } = await judge('half.json', '--policy', 'mild.policy.yaml');
    expect(stderr).toContain('mild.policy.yaml has a policy for the suite "Other", which is not part of this gate.');
    expect(stdout).toContain('the minimum is 50% (from mild.policy.yaml:3)');
  });

  it('prints the report and writes it to the given directory', async () => {
    const result = await judge('half.json', '--min-pass-rate', '50%', '--report-dir', 'out');
    expect(result.stdout).toContain('the minimum is 50% (from min-pass-rate)');
    expect(result.report).toMatchObject({ verdict: { outcome: 'passed' }, startedAt: half.startedAt });
    expect((await judge('half.json')).report).toBeNull();
  });

  it.each([
    ['bad.json', /^bad\.json: Cannot be judged: This is no report of version 3/],
    [
      'old.json',
      /^old\.json: Cannot be judged: The report has schemaVersion 2, and this version of mcp-eval-ci reads 3\. Run the gate again with this version, or use the version that wrote the report \(bad-report\)/,
    ],
    ['nowhere.json', /^nowhere\.json: Cannot be judged: there is no such report/],
    ['half.json --baseline bad.json', /^baseline: .*\(bad-baseline\)/],
    ['half.json --min-pass-rate 0.5', /^min-pass-rate: .*\(bad-min-pass-rate\)/],
  ])('exits 2 for %s and says why', async (words, message) => {
    const result = await judge(...words.split(' '));
    expect(result).toMatchObject({ exitCode: 2, stdout: '' });
    expect(result.stderr).toMatch(message);
  });
});
