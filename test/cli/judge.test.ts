import { describe, expect, it } from 'vitest';
import { renderReportJson } from '../../src/report/json.ts';
import { parseReport } from '../../src/report/schema.ts';
import { runCommand } from '../support/command.ts';
import {
  createComparedReport,
  createInconclusiveReport,
  createRedReport,
  createReport,
} from '../support/report-factory.ts';
import { createCaseResults, createSuiteResults } from '../support/results-factory.ts';
import { createWorkspace } from '../support/workspace.ts';

const half = createReport({ suites: [createSuiteResults({ cases: [createCaseResults({ passed: 1, failed: 1 })] })] });
const files = {
  'half.json': renderReportJson(half),
  'whole/report.json': renderReportJson(createReport()),
  'compared.json': renderReportJson(createComparedReport()),
  'red.json': renderReportJson(createRedReport()),
  'broken.json': renderReportJson(createInconclusiveReport()),
  'bad.json': '{}',
};

async function judge(...args: string[]) {
  await using workspace = await createWorkspace(files);
  const result = await runCommand(['judge', ...args], { cwd: workspace.path });
  const written = await workspace.read('out/report.json').catch(() => null);
  return { ...result, report: written === null ? null : parseReport(JSON.parse(written)) };
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
    ['compared.json --maximum-regressions 1', 0],
    ['half.json --min-pass-rate 0% --baseline whole', 1],
    ['half.json --min-pass-rate 0% --baseline whole --maximum-regressions 1', 0],
    ['half.json --min-pass-rate 0% --baseline half.json', 0],
  ])('exits for %s with %i', async (words, exitCode) => {
    expect((await judge(...words.split(' '))).exitCode).toBe(exitCode);
  });

  it('prints the report and writes it where it is told to', async () => {
    const result = await judge('half.json', '--min-pass-rate', '50%', '--report-dir', 'out');
    expect(result.stdout).toContain('the minimum is 50% (from min-pass-rate)');
    expect(result.report).toMatchObject({ verdict: { outcome: 'passed' }, startedAt: half.startedAt });
    expect((await judge('half.json')).report).toBeNull();
  });

  it.each([
    ['bad.json', /^bad\.json: Cannot be judged: This is no report of version 1/],
    ['nowhere.json', /^nowhere\.json: Cannot be judged: there is no such report/],
    ['half.json --baseline bad.json', /^baseline: .*\(bad-baseline\)/],
    ['half.json --min-pass-rate 0.5', /^min-pass-rate: .*\(bad-min-pass-rate\)/],
  ])('exits 2 for %s and says why', async (words, message) => {
    const result = await judge(...words.split(' '));
    expect(result).toMatchObject({ exitCode: 2, stdout: '' });
    expect(result.stderr).toMatch(message);
  });
});
