import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { silentLogger } from '../../src/base/logger.ts';
import { createRedactor } from '../../src/base/redaction.ts';
import { systemClock } from '../../src/base/time.ts';
import { previewGate } from '../../src/gate/preview.ts';
import { renderReportJson } from '../../src/report/report-json.ts';
import { renderSummary } from '../../src/report/summary.ts';
import { runEmbeddedGate, writeSayingCases } from '../support/gate/embedded-gate.ts';
import { createStoppedReport } from '../support/factories/report-factory.ts';
import type { GateInputs } from '../support/gate/gate-inputs.ts';
import { type Behaviour, startFlakyServer, writeCallingCases } from '../support/servers/flaky-server.ts';
import { createWorkspace } from '../support/workspace.ts';

const evals = writeSayingCases('Says', ['a', 'b'], { head: 'policy: { minimumPassRate: 0% }\n' });
const baseline = { baseline: 'mcp-eval-report/report.json' };

describe('a gate with a baseline', () => {
  it('warns the first time, passes without a change, and fails on a regression the minimum would allow', async () => {
    await using workspace = await createWorkspace({ 'x.evals.yaml': evals });
    const first = await runEmbeddedGate(workspace, baseline, { says: 'a b' });
    expect(first).toMatchObject({ exitCode: 0, report: { comparison: null } });
    expect(first.warnings).toEqual([
      'The baseline mcp-eval-report/report.json does not exist, so nothing is compared; a first run has none.',
    ]);

    const second = await runEmbeddedGate(workspace, baseline, { says: 'a b' });
    expect(second).toMatchObject({ exitCode: 0, warnings: [], report: { comparison: { counts: { unchanged: 2 } } } });

    const third = await runEmbeddedGate(workspace, baseline, { says: 'b' });
    expect(third).toMatchObject({
      exitCode: 1,
      report: {
        verdict: { outcome: 'failed', reasons: [{ code: 'regressed', caseId: 'a' }] },
        comparison: { cases: [{ id: 'a', change: 'regressed' }], counts: { unchanged: 1 } },
      },
    });
  });

  it('fails a suite that always passed before and lost a fifth of its iterations, and not one that lost one', async () => {
    const names = Array.from({ length: 6 }, (_, index) => `tool-${index}`);
    const policy = { maximumRegressions: 6, maximumRateDrop: '5%' };
    const file = writeCallingCases(names, { runs: 10 });
    await using workspace = await createWorkspace({ 'x.evals.yaml': file });
    const run = async (behave: (index: number) => readonly Behaviour[]) => {
      await using server = await startFlakyServer(
        Object.fromEntries(names.map((name, index) => [name, behave(index)])),
      );
      const inputs = { 'server-command': '', 'server-url': server.url, 'report-dir': 'now', 'min-pass-rate': '0%' };
      return await runEmbeddedGate(workspace, { ...inputs, policy, baseline: 'then/report.json' });
    };
    await run(() => ['passes']);
    await rename(join(workspace.path, 'now'), join(workspace.path, 'then'));
    const failing = (count: number): Behaviour[] => [
      ...Array.from({ length: 10 - count }, () => 'passes' as const),
      'fails',
    ];
    const fallen = await run((index) => (index === 0 ? ['passes'] : failing(2)));
    expect(fallen).toMatchObject({ exitCode: 1, report: { comparison: { rates: [{ current: { passed: 50 } }] } } });
    expect(renderSummary(fallen.report)).toMatch(
      / the limit of 5% finds a fall of \d+ points nine times in ten, if all/,
    );
    expect(fallen.report.verdict.reasons[0]?.message).toMatch(
      /100% passed .* and 83\.3% now, which chance explains with p/,
    );
    const once = await run((index) => (index === 0 ? failing(1) : ['passes']));
    expect(once).toMatchObject({ exitCode: 0, report: { comparison: { rates: [{ current: { passed: 59 } }] } } });
  });

  it('says before it runs how small a fall it finds, or that four iterations show none', async () => {
    const names = ['a', 'b', 'c', 'd'];
    const plan = async (runs: number) => {
      await using workspace = await createWorkspace({ 'x.evals.yaml': writeSayingCases('Says', names) });
      if (runs > 1)
        await writeFile(join(workspace.path, 'x.evals.yaml'), `${writeSayingCases('Says', names)}runs: ${runs}\n`);
      const inputs = { baseline: 'mcp-eval-report', policy: { maximumRateDrop: '5%' } };
      await runEmbeddedGate(workspace, {}, { says: names.join(' ') });
      const { plan: planned } = await runEmbeddedGate(workspace, inputs, { says: names.join(' ') });
      const context = { clock: systemClock, logger: silentLogger, redactor: createRedactor() };
      return await previewGate(planned, { ...context, signal: new AbortController().signal });
    };
    const over = 'Says, over 4 cases of the baseline mcp-eval-report: the limit of 5% finds';
    expect(await plan(1)).toContain(`${over} no fall nine times in ten; more cases or iterations would.`);
    expect(await plan(5)).toContainEqual(
      expect.stringMatching(/^Says, over 4 .* 5% finds a fall of \d+ points nine times in ten, /),
    );
  });

  it('takes one broken case for no fall over tasks, and a fall in every case for one', async () => {
    const names = Array.from({ length: 6 }, (_, index) => `tool-${index}`);
    await using workspace = await createWorkspace({ 'x.evals.yaml': writeCallingCases(names, { runs: 10 }) });
    const run = async (behave: (index: number) => readonly Behaviour[], confidenceOver: 'tasks' | 'cases') => {
      await using server = await startFlakyServer(
        Object.fromEntries(names.map((name, index) => [name, behave(index)])),
      );
      const inputs = { 'server-command': '', 'server-url': server.url, 'report-dir': 'now', 'min-pass-rate': '0%' };
      const policy = { maximumRegressions: 6, maximumRateDrop: '5%', confidenceOver };
      return await runEmbeddedGate(workspace, { ...inputs, policy, baseline: 'then/report.json' });
    };
    await run(() => ['passes'], 'tasks');
    await rename(join(workspace.path, 'now'), join(workspace.path, 'then'));
    const oneBroken = (index: number): Behaviour[] => [index === 0 ? 'fails' : 'passes'];
    expect(await run(oneBroken, 'cases')).toMatchObject({ exitCode: 1 });
    expect(await run(oneBroken, 'tasks')).toMatchObject({
      exitCode: 0,
      report: { comparison: { rates: [{ current: { passed: 50 }, tasks: { cases: 6, pValue: 0.5 } }] } },
    });
    const allFell = await run(() => [...Array.from({ length: 8 }, () => 'passes' as const), 'fails'], 'tasks');
    expect(allFell).toMatchObject({ exitCode: 1, report: { comparison: { rates: [{ tasks: { pValue: 1 / 64 } }] } } });
    expect(allFell.report.verdict.reasons[0]?.message).toMatch(
      / 80% now, which chance explains over tasks with p = 0\.016;/,
    );
  });

  describe('with a case that passed before and fails once', () => {
    const names = ['a', 'b', 'c'];
    const run = async (scripts: Record<string, readonly Behaviour[]>, { head = '', policy = {}, inputs = {} } = {}) => {
      const file = `policy: { minimumPassRate: 0% }\n${head}`;
      await using workspace = await createWorkspace({ 'x.evals.yaml': writeCallingCases(names, { head: file }) });
      const gate = async (scripted: Record<string, readonly Behaviour[]>, given: GateInputs) => {
        await using server = await startFlakyServer(scripted);
        const result = await runEmbeddedGate(workspace, { 'server-command': '', 'server-url': server.url, ...given });
        return { ...result, calls: server.countCalls() };
      };
      const passes = Object.fromEntries(names.map((name) => [name, ['passes'] as const]));
      await gate(passes, {});
      return await gate({ ...passes, ...scripts }, { ...baseline, policy, ...inputs });
    };

    it('runs it further, and passes where it passes then', async () => {
      const result = await run({ a: ['fails', 'fails', 'fails', 'passes'] });
      expect(result).toMatchObject({
        exitCode: 0,
        warnings: [],
        calls: { a: 4, b: 1, c: 1 },
        report: { comparison: { cases: [{ id: 'a', change: 'unsteady', confirming: { passed: 1, total: 3 } }] } },
      });
      // The rate counts only the planned iterations.
      expect(result.report.suites).toMatchObject([{ totals: { passed: 2, iterations: 3 } }]);
    });

    it('fails where it fails seven times further, and says so', async () => {
      const result = await run({ a: ['fails'] });
      expect(result).toMatchObject({
        exitCode: 1,
        calls: { a: 8, b: 1, c: 1 },
        report: { comparison: { cases: [{ id: 'a', change: 'regressed', confirming: { passed: 0, total: 7 } }] } },
      });
      expect(result.report.verdict.reasons).toMatchObject([
        {
          code: 'regressed',
          message: expect.stringMatching(/0 of 1 now and 0 of 7 in further iterations; 1 regressed, at most 0 may\.$/),
        },
      ]);
    });

    it('runs none further where the policy allows the regression', async () => {
      const { exitCode, calls } = await run({ a: ['fails'] }, { policy: { maximumRegressions: 1 } });
      expect({ exitCode, calls }).toEqual({ exitCode: 0, calls: { a: 1, b: 1, c: 1 } });
    });

    it('confirms as many as there are iterations for, and says that the others are not confirmed', async () => {
      const result = await run({ a: ['fails'], b: ['fails'], c: ['fails'] });
      // A policy that allows no regressions takes seven further iterations.
      expect(result).toMatchObject({ exitCode: 1, calls: { a: 8, b: 1, c: 1 } });
      const messages = result.report.verdict.reasons.map(({ message }) => message);
      expect(
        messages.filter((message) =>
          message.endsWith('7 further iterations would confirm it and did not run, so the results so far decide.'),
        ),
      ).toHaveLength(2);
    });
  });

  it('repeats a deterministic case once', async () => {
    const file = `${writeCallingCases(['a'], { head: 'policy: { minimumPassRate: 0% }\n', runs: null })}    deterministic: true\n`;
    await using workspace = await createWorkspace({ 'x.evals.yaml': file });
    const run = async (script: readonly Behaviour[], inputs: GateInputs) => {
      await using server = await startFlakyServer({ a: script });
      const { exitCode } = await runEmbeddedGate(workspace, {
        'server-command': '',
        'server-url': server.url,
        ...inputs,
      });
      return { exitCode, calls: server.countCalls()['a'] };
    };
    const fresh = { 'report-dir': 'then' };
    await run(['passes'], fresh);
    expect(await run(['fails'], { baseline: 'then' })).toEqual({ exitCode: 1, calls: 2 });
    expect(await run(['fails', 'passes'], { baseline: 'then' })).toEqual({ exitCode: 0, calls: 2 });
  });

  it('passes with as many regressions as are allowed, in the directory of a report', async () => {
    await using workspace = await createWorkspace({ 'x.evals.yaml': evals });
    await runEmbeddedGate(workspace, {}, { says: 'a b' });
    const inputs = { baseline: 'mcp-eval-report', policy: { maximumRegressions: 1 } };
    expect(await runEmbeddedGate(workspace, inputs, { says: 'b' })).toMatchObject({
      exitCode: 0,
      report: { comparison: { counts: { regressed: 1 } } },
    });
  });

  it('skips the comparison with a report that was stopped early, since its rates are biased', async () => {
    const old = renderReportJson(createStoppedReport());
    await using workspace = await createWorkspace({ 'x.evals.yaml': evals, 'old.json': old });
    const { report, warnings } = await runEmbeddedGate(workspace, { baseline: 'old.json' }, { says: 'a b' });
    expect(report.comparison).toBeNull();
    expect(warnings).toEqual([
      'The gate of the baseline old.json was stopped early, so nothing is compared; its rates are biased.',
    ]);
  });

  it('is also the report of the version before, which has neither results nor policy', async () => {
    await using workspace = await createWorkspace({ 'x.evals.yaml': evals });
    await runEmbeddedGate(workspace, {}, { says: 'a b' });
    const {
      policy: _policy,
      results: _results,
      ...report
    } = JSON.parse(await workspace.read('mcp-eval-report/report.json'));
    const writeOld = (change: object) =>
      writeFile(join(workspace.path, 'old.json'), JSON.stringify({ ...report, schemaVersion: '2', ...change }));
    await writeOld({});
    expect(await runEmbeddedGate(workspace, { baseline: 'old.json' }, { says: 'b' })).toMatchObject({
      exitCode: 1,
      report: { comparison: { cases: [{ id: 'a', change: 'regressed' }] } },
    });
    await writeOld({ cases: [{ ...report.cases[0], total: 5 }] });
    await expect(runEmbeddedGate(workspace, { baseline: 'old.json' }, { says: 'b' })).rejects.toThrow(
      'The report has schemaVersion 2, and this version of mcp-eval-ci reads 3.',
    );
  });

  it('does not compare a case whose definition changed, nor miss one that was not selected', async () => {
    await using workspace = await createWorkspace({ 'x.evals.yaml': evals });
    await runEmbeddedGate(workspace, {}, { says: 'a b' });
    await writeFile(join(workspace.path, 'x.evals.yaml'), evals.replace('"a"', '"c"'));
    const { report, exitCode } = await runEmbeddedGate(workspace, { ...baseline, cases: 'a' }, { says: 'b' });
    expect(exitCode).toBe(0);
    expect(report.comparison).toMatchObject({ cases: [{ id: 'a', change: 'changed' }], notRun: 1 });
  });

  it.each([
    ['no JSON', '{', /^baseline: "old.json" cannot be read as a report: .*\(bad-baseline\)$/],
    ['no report', '{}', /^baseline: "old.json" cannot be read as a report: .*schemaVersion.*\(bad-baseline\)$/],
  ])('is a configuration error when it is %s', async (_, text, message) => {
    await using workspace = await createWorkspace({ 'x.evals.yaml': evals, 'old.json': text });
    await expect(runEmbeddedGate(workspace, { baseline: 'old.json' })).rejects.toThrow(message);
  });
});
