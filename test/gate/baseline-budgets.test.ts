import { describe, expect, it } from 'vitest';
import { runEmbeddedGate } from '../support/gate/embedded-gate.ts';
import { openScriptedProvider } from '../support/models/scripted-provider.ts';
import { startSumsServer } from '../support/servers/sums-server.ts';
import { createWorkspace } from '../support/workspace.ts';

const evals = `suite: Sums
model: anthropic/claude-test
policy:
  minimumPassRate: 0%
cases:
  - id: adds
    title: Adds
    steps:
      - prompt: What is 2 + 3?
      - assert: { responseContains: "5" }
`;

/** Runs a gate with a model that gives this answer for 100,000 tokens, at a cost of 0.10. */
async function runGate(text: string, inputs: Parameters<typeof runEmbeddedGate>[1], files: Record<string, string>) {
  await using workspace = await createWorkspace({ 'a.evals.yaml': evals, ...files });
  await using provider = await openScriptedProvider({
    format: 'anthropic',
    answers: () => ({ text, usage: { input: 100_000, output: 0 } }),
  });
  await using server = await startSumsServer();
  const environment = { ANTHROPIC_API_KEY: 'sk-canary-anthropic', ANTHROPIC_BASE_URL: provider.baseUrl };
  const result = await runEmbeddedGate(workspace, { 'server-url': server.url, ...inputs }, { environment });
  return {
    ...result,
    calls: provider.requests.length,
    reportText: await workspace.read('mcp-eval-report/report.json'),
  };
}

describe('a prompt case that passed before and fails', () => {
  const prices = { 'anthropic/claude-test': { input: 1, output: 1 } };

  it.each([
    ['modelCalls', { budgets: { modelCalls: 3 } }, 3],
    ['tokens', { budgets: { tokens: 450_000 } }, 4],
    ['cost', { budgets: { cost: 0.25 }, prices }, 2],
  ])('runs further only while the budget %s suffices, and is a regression then', async (name, policy, calls) => {
    const { reportText } = await runGate('It is 5.', {}, {});
    const found = await runGate('It is 6.', { baseline: 'then.json', policy }, { 'then.json': reportText });
    expect({ calls: found.calls, exitCode: found.exitCode }).toEqual({ calls, exitCode: 1 });
    expect(found.warnings).toEqual([
      `Sums: it is not confirmed of every case that it regressed, and the results so far decide. The budget ${name} does not suffice for it.`,
    ]);
    expect(found.report.verdict.reasons.map(({ code }) => code)).toEqual(['regressed']);
  });

  it('runs seven times further within the budgets, and what that used is part of the report', async () => {
    const { reportText } = await runGate('It is 5.', {}, {});
    const found = await runGate('It is 6.', { baseline: 'then.json', policy: { prices } }, { 'then.json': reportText });
    expect(found).toMatchObject({
      calls: 8,
      exitCode: 1,
      warnings: [],
      report: { cases: [{ usage: { modelCalls: 8 } }] },
    });
  });
});
