import { describe, expect, it } from 'vitest';
import { rejudgeReport } from '../../src/gate/judge/rejudge.ts';
import { listContradictions } from '../../src/gate/plan/check-report.ts';
import { parseReportText } from '../../src/gate/plan/read-report.ts';
import { emptyPolicyLayer, noGateRules } from '../../src/model/policy.ts';
import type { Report } from '../../src/model/report.ts';
import { planAnnotations } from '../../src/report/annotations.ts';
import { renderComment } from '../../src/report/comment.ts';
import { renderCtrf } from '../../src/report/ctrf.ts';
import { renderHtml } from '../../src/report/html/page.ts';
import { renderReportJson } from '../../src/report/report-json.ts';
import { renderJunit } from '../../src/report/junit.ts';
import { renderSummary } from '../../src/report/summary.ts';
import { renderTerminal } from '../../src/report/terminal.ts';
import { runEmbeddedGate, writeSayingCases } from '../support/gate/embedded-gate.ts';
import type { GateInputs } from '../support/gate/gate-inputs.ts';
import { createPullRequest, type FileChange, runGitIn } from '../support/github/pull-request.ts';

type Files = Readonly<Record<string, FileChange>>;

const evals = writeSayingCases('Says', ['red', 'blue']);
const required = evals.replace('- id: red', '- id: red\n    required: true');

async function runChange(base: Files, head: Files, inputs: GateInputs = {}, says = 'red blue') {
  const { workspace, environment } = await createPullRequest(base, head);
  await using _workspace = workspace;
  const result = await runEmbeddedGate(workspace, { 'policy-ref': 'base', ...inputs }, { says, environment });
  return { ...result, history: await workspace.read('history.jsonl').catch(() => '') };
}

const codes = ({ verdict }: Report) => verdict.reasons.map(({ code }) => code);

/** Creates the report of a gate that is judged without git, such as one on main. */
async function reportOf(says: string): Promise<string> {
  const { workspace } = await createPullRequest({ 'a.evals.yaml': evals }, {});
  await using _workspace = workspace;
  return renderReportJson((await runEmbeddedGate(workspace, {}, { says })).report);
}

describe('a gate whose change lowers what its base requires', () => {
  const base = { 'a.evals.yaml': required };
  const head = { 'a.evals.yaml': evals.replace('- id: red', '- id: pink') };

  it('fails although every iteration passes, and every report says why', async () => {
    const { report, exitCode } = await runChange(base, head);
    expect([report.verdict.outcome, exitCode, report.totals.failed, codes(report)]).toEqual([
      'failed',
      1,
      0,
      ['required-case-removed'],
    ]);
    expect(parseReportText(renderReportJson(report))).toMatchObject({ kind: 'report' });
    const why = /Says red\W{1,8}, which main requires/;
    const texts = {
      annotations: JSON.stringify(planAnnotations(report)),
      comment: renderComment(report),
      ctrf: renderCtrf(report),
      html: renderHtml(report),
      junit: renderJunit(report),
      summary: renderSummary(report),
      terminal: renderTerminal(report, { color: false }),
    };
    for (const [name, text] of Object.entries(texts)) {
      expect([name, why.test(text.replace(/&quot;|&#34;/g, '"'))]).toEqual([name, true]);
    }
  });

  it('lists the lowered requirement as its first reason', async () => {
    const { report } = await runChange(base, head, {}, 'red');
    expect(codes(report)).toEqual(['required-case-removed', 'below-minimum']);
  });

  it('fails although nothing ran and `onNothingRun` lets that pass', async () => {
    const { report, exitCode } = await runChange(base, head, {
      'server-command': 'no-such-server',
      policy: { onNothingRun: 'warn' },
    });
    expect([report.verdict.outcome, exitCode, codes(report)]).toEqual([
      'failed',
      1,
      ['required-case-removed', 'server-lost'],
    ]);
    expect(listContradictions(report)).toEqual([]);
  });

  it('passes where the base allows it', async () => {
    const policy = { 'p.yaml': 'protect: []\n' };
    const { report, exitCode } = await runChange({ ...base, ...policy }, head, { policy: 'p.yaml' });
    expect([report.verdict.outcome, exitCode]).toEqual(['passed', 0]);
  });

  it('still fails when its report is judged by another policy', async () => {
    const { report } = await runChange(base, head);
    const requirements = { minimumPassRate: 0, baseline: null };
    const lenient = {
      file: 'p.yaml',
      gate: noGateRules,
      common: emptyPolicyLayer,
      quarantine: [],
      suites: [],
      protect: [],
    };
    expect(codes(rejudgeReport(report, { ...requirements, policy: lenient }).report)).toEqual([
      'required-case-removed',
    ]);
    const forged = { ...report, verdict: { ...report.verdict, reasons: [] } };
    expect(listContradictions(forged)).not.toEqual([]);
  });

  it('gives the reason to the suite that it is about', async () => {
    const two = { 'b.evals.yaml': writeSayingCases('More', ['red']) };
    const { report } = await runChange(
      { ...base, ...two },
      { ...head, 'c.evals.yaml': writeSayingCases('New', ['red']) },
    );
    expect(report.suites.map(({ id, verdict }) => [id, verdict.outcome])).toEqual([
      ['says', 'failed'],
      ['more', 'passed'],
      ['new', 'passed'],
    ]);
  });
});

describe('a gate whose change edits a recording', () => {
  it('passes as without the edit, and every report asks for a review', async () => {
    const path = 'recordings/says/red.openai-m.jsonl';
    const { report, exitCode } = await runChange({ 'a.evals.yaml': evals, [path]: '{}\n' }, { [path]: '{"a":1}\n' });
    expect([report.verdict.outcome, exitCode, codes(report)]).toEqual(['passed', 0, ['minimum-met']]);
    expect(report.notes).toHaveLength(1);
    for (const text of [
      ...report.notes,
      renderTerminal(report, { color: false }),
      renderSummary(report),
      renderComment(report),
    ]) {
      expect(text).toMatch(
        /changes recordings of the suite .+ in `?recordings\/says`?: changed red\.openai-m\.jsonl\. Review/,
      );
    }
  });
});

describe('a gate with the baseline and the history of its base', () => {
  it('compares with the baseline of the base, whatever the change makes of it', async () => {
    const [good, bad] = [await reportOf('red blue'), await reportOf('red')];
    const base = {
      'a.evals.yaml': evals.replace('cases:', 'policy: { minimumPassRate: 50% }\ncases:'),
      'old/report.json': good,
    };
    const inputs = { baseline: 'old' };
    const edited = await runChange(base, { 'old/report.json': bad }, inputs, 'red');
    expect([edited.exitCode, codes(edited.report)]).toEqual([1, ['baseline-lowered', 'regressed']]);
    expect(edited.report.verdict.reasons[0]?.message).toBe(
      'This pull request changes old/report.json: it has 0 of 1 instead of 1 of 1 for the case "Says blue". Restore the file of main, or let the policy file of main allow it, with a `protect` that leaves out `baselines`.',
    );
    const deleted = await runChange(base, { 'old/report.json': null }, inputs, 'red');
    expect(codes(deleted.report)).toEqual(['baseline-lowered', 'regressed']);
    const same = await runChange(base, {}, inputs);
    expect([same.exitCode, same.report.comparison?.counts.unchanged]).toEqual([0, 2]);
    const better = await runChange({ ...base, 'old/report.json': bad }, { 'old/report.json': good }, inputs);
    expect([better.exitCode, better.report.comparison?.counts.fixed]).toEqual([0, 1]);
  });

  it('takes a baseline that git does not track as it is: it comes from an artifact', async () => {
    const bad = await reportOf('red');
    const { workspace, environment } = await createPullRequest({ 'a.evals.yaml': evals }, { 'old/report.json': bad });
    await using _workspace = workspace;
    const inputs = { 'policy-ref': 'base', baseline: 'old' };
    const { report, exitCode } = await runEmbeddedGate(workspace, inputs, { says: 'red blue', environment });
    expect([exitCode, report.comparison?.counts.fixed]).toEqual([0, 1]);
  });

  it('reads the history of the base, and adds to the one that is checked out', async () => {
    const { workspace } = await createPullRequest({ 'a.evals.yaml': evals }, {});
    await using _workspace = workspace;
    const history = { 'history-path': 'history.jsonl' };
    await runEmbeddedGate(workspace, history, { says: 'red blue' });
    await runEmbeddedGate(workspace, history, { says: 'red blue' });
    const kept = await workspace.read('history.jsonl');
    const forged = kept.replaceAll('"passed":1', '"passed":0');
    const base = { 'a.evals.yaml': evals, 'history.jsonl': kept };
    const inputs = { ...history, policy: { probation: 2 } };
    const edited = await runChange(base, { 'history.jsonl': forged }, inputs, 'red');
    expect([edited.exitCode, codes(edited.report)]).toEqual([1, ['baseline-lowered', 'below-minimum']]);
    expect(edited.history.startsWith(forged)).toBe(true);
    const same = await runChange(base, {}, inputs);
    expect([same.exitCode, same.report.cases.every(({ probation }) => probation === null)]).toEqual([0, true]);
  });

  it('does not let a change bring a history of its own', async () => {
    const { workspace, environment } = await createPullRequest({ 'a.evals.yaml': evals }, {});
    await using _workspace = workspace;
    await runEmbeddedGate(workspace, { 'history-path': 'history.jsonl' }, { says: 'red blue' });
    runGitIn(workspace, 'add', 'history.jsonl');
    const inputs = { 'policy-ref': 'base', 'history-path': 'history.jsonl', policy: { probation: 1 } };
    const { report, plan } = await runEmbeddedGate(workspace, inputs, { says: 'red', environment });
    expect(report.verdict.reasons.map(({ code }) => code)).toEqual(['only-probation']);
    expect(plan.notes).toContain('history.jsonl is new in this pull request, and does not count before it is in main.');
  });
});
