import { describe, expect, it } from 'vitest';
import { rejudgeReport } from '../../src/gate/judge/rejudge.ts';
import { emptyPolicyLayer, noGateRules } from '../../src/model/policy.ts';
import { reportSchema } from '../../src/model/report.ts';
import { planAnnotations } from '../../src/report/annotations.ts';
import { renderComment } from '../../src/report/comment.ts';
import { renderHtml } from '../../src/report/html/page.ts';
import { renderSummary } from '../../src/report/summary.ts';
import { renderTerminal } from '../../src/report/terminal.ts';
import { runEmbeddedGate } from '../support/gate/embedded-gate.ts';
import { type FixtureTool, startFixtureMcpServer, text } from '../support/servers/fixture-mcp-server.ts';
import { createWorkspace } from '../support/workspace.ts';

const add: FixtureTool = { description: 'Adds.', call: () => text('added') };
const search: FixtureTool = { ...add, description: 'Searches.' };
const open: FixtureTool = { ...search, inputSchema: { type: 'object', properties: { filter: true } } };
const evals = 'suite: notes\ncases:\n  - title: Adds\n    steps:\n      - toolCall: add\n';
const id = 'gemini-cli.schemas.refused.dropped.add';
const sentence =
  'This change makes `add`, `search` invisible in Gemini CLI 0.61.0, which drops all tools of the server, because a property has the schema `true` (in search)';

/** Runs a gate with a server of its own for the base, unless there is none. */
async function runHosts(policy: string, before: FixtureTool | null, after: FixtureTool) {
  await using changed = await startFixtureMcpServer({ add, search: after });
  await using base = before === null ? null : await startFixtureMcpServer({ add, search: before });
  await using workspace = await createWorkspace({ 'notes.evals.yaml': evals, 'policy.yaml': policy });
  const { report, exitCode, warnings } = await runEmbeddedGate(workspace, {
    'server-command': '',
    'server-url': changed.url,
    isolation: '',
    policy: 'policy.yaml',
    ...(base !== null && { base: `url=${base.url}` }),
  });
  expect(reportSchema.parse(structuredClone(report))).toEqual(report);
  return { report, exitCode, warnings };
}

describe('a gate with rules about hosts', () => {
  it('fails if the change adds a schema for which a host drops the tools, and says so in every report', async () => {
    const { report, exitCode } = await runHosts('hosts:\n  gemini-cli: fail\n', search, open);
    expect([exitCode, report.verdict.reasons.map(({ code }) => code)]).toEqual([1, ['hosts-worse']]);
    expect(report.verdict.reasons[0]?.message).toBe(`${sentence} (hosts.gemini-cli: fail, from policy.yaml:2).`);
    expect(report.hosts?.findings.filter(({ disposition }) => disposition !== 'off')).toMatchObject([
      { id, change: 'worse', disposition: 'fail', message: sentence },
    ]);
    const page = renderHtml(report, { evidence: null });
    for (const shown of [
      renderTerminal(report, { color: false }),
      renderSummary(report),
      renderComment(report),
      page,
    ]) {
      expect(shown).toContain('Hosts: 1 worse');
      expect(shown.replaceAll(/<[^>]*>/g, '').replaceAll(/\s+/g, ' ')).toContain(
        'invisible in Gemini CLI 0.61.0, which drops all tools',
      );
      expect(shown).not.toContain('opencode');
    }
    expect(planAnnotations(report)).toContainEqual(
      expect.objectContaining({ level: 'error', title: 'gemini-cli: dropped' }),
    );
    // Without another policy, the stored report has the same verdict.
    const again = rejudgeReport(report, { minimumPassRate: null, baseline: null, policy: null });
    expect([again.report.verdict, again.report.hosts]).toEqual([report.verdict, report.hosts]);
    // Another policy judges it anew, also of a host that the first did not name.
    const rule = { value: 'fail' as const, source: 'other.yaml:1' };
    const gate = {
      ...noGateRules,
      hosts: { ...noGateRules.hosts, 'gemini-cli': { ...rule, value: 'off' as const }, opencode: rule },
    };
    const policy = { file: 'other.yaml', gate, common: emptyPolicyLayer, quarantine: [], suites: [], protect: null };
    const other = rejudgeReport(report, { minimumPassRate: null, baseline: null, policy });
    expect(other.report.verdict.reasons[0]?.message).toContain('(hosts.opencode: fail, from other.yaml:1)');
  });

  it('warns of what the policy wants reviewed, and passes', async () => {
    const { report, exitCode, warnings } = await runHosts('hosts: { gemini-cli: review }', search, open);
    expect([exitCode, report.verdict.outcome]).toEqual([0, 'passed']);
    expect(report.hosts?.findings.find((finding) => finding.id === id)?.disposition).toBe('review');
    expect(warnings).toContain(`${sentence} (hosts.gemini-cli: review, from policy.yaml:1).`);
    expect(planAnnotations(report)).toMatchObject([{ level: 'warning', title: 'gemini-cli: dropped' }]);
  });

  it('passes if the base has the same schema, and counts what the base has', async () => {
    const { report, exitCode } = await runHosts('hosts: { gemini-cli: fail }', open, open);
    expect(exitCode).toBe(0);
    expect(renderSummary(report)).toContain('Hosts: nothing worse');
    expect(renderSummary(report)).toContain('1 finding that the base has, too');
    expect(planAnnotations(report)).toEqual([]);
  });

  it('shows findings as notes without a base', async () => {
    const { report, exitCode, warnings } = await runHosts('hosts: { gemini-cli: fail }', null, open);
    expect([exitCode, warnings]).toEqual([0, []]);
    expect(report.hosts).toMatchObject({ against: null });
    expect(renderSummary(report)).toContain('Gemini CLI 0.61.0 never shows');
  });

  it('reads nothing for a policy that turns all hosts off', async () => {
    const { report } = await runHosts('hosts: { gemini-cli: off }', search, open);
    expect([report.hosts, report.policy.hosts]).toEqual([undefined, undefined]);
  });
});
