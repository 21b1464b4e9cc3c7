import { describe, expect, it } from 'vitest';
import { renderSummary } from '../../src/report/summary.ts';
import { runHostedGate } from '../support/gate/hosted-gate.ts';
import { openContractService } from '../support/service/contract-service.ts';
import { openServiceTap } from '../support/service/service-tap.ts';
import { type FixtureTool, startFixtureMcpServer, text } from '../support/servers/fixture-mcp-server.ts';

const tools: Record<string, FixtureTool> = {
  search: {
    inputSchema: { type: 'object', properties: { mode: { enum: ['fast', 'slow'] } } },
    call: ({ args }) => (args['mode'] === 'slow' ? { ...text('too slow'), isError: true } : text('found')),
  },
  drop: { call: () => text('dropped') },
};

const finds = `
- title: Finds
  steps:
    - toolCall: search
      arguments: { mode: fast }
`;

const failsSlowly = `
- title: Fails slowly
  steps:
    - toolCall: search
      arguments: { mode: slow }
    - assert: { toolResultIsError: true }
`;

/** Runs a gate with a service that it treats as hosted, and that refuses requests that match. */
async function runCovered(
  policy: string,
  { tests = `${finds}${failsSlowly}`, refused }: { tests?: string; refused?: RegExp } = {},
) {
  await using service = await openContractService();
  await using tap = await openServiceTap(service);
  if (refused !== undefined) tap.refuse(refused);
  await using server = await startFixtureMcpServer(tools);
  const inputs = { 'server-url': server.url, policy: 'policy.yaml', tests };
  const { report } = await runHostedGate(tap.service, inputs, { files: { 'policy.yaml': policy } });
  const covered = report.coverage?.items.filter(({ isCovered }) => isCovered);
  return { report, covered: covered?.map(({ kind, path }) => `${kind} ${path.join('.')}`) };
}

describe('coverage of a hosted gate', () => {
  it.each([
    ['tools: 50%', 'passed', 'minimum-met'],
    ['tools: 51%', 'failed', 'below-minimum-coverage'],
    ['errors: 50%', 'passed', 'minimum-met'],
  ])('judges %s as %s by what iterations did and what their traces show', async (minimum, outcome, reason) => {
    const { report, covered } = await runCovered(`minimumCoverage: { ${minimum} }\n`);
    expect([report.verdict.outcome, report.verdict.reasons[0]?.code]).toEqual([outcome, reason]);
    expect(covered).toEqual([
      'tools search',
      'errors search',
      'parameters search.mode',
      'values search.mode."fast"',
      'values search.mode."slow"',
    ]);
    expect(renderSummary(report)).toContain('| tools | 1 of 2 | 50% |');
  });

  it('leaves a minimum open that only traces can meet, where the service gives none', async () => {
    const policy = 'minimumCoverage: { errors: 50% }\n';
    const { report, covered } = await runCovered(policy, { tests: finds, refused: /\/trace$/ });
    expect(covered).toEqual(['tools search', 'parameters search.mode', 'values search.mode."fast"']);
    expect(report.coverage?.unreadTraces).toBe(1);
    expect([report.verdict.outcome, report.verdict.reasons.map(({ code }) => code)]).toEqual([
      'inconclusive',
      ['coverage-unread'],
    ]);
    expect(renderSummary(report)).toContain('The traces of 1 case were not read');
  });
});
