import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type ContractService,
  openContractService,
  saveServer,
  saveSuite,
} from '../support/service/contract-service.ts';
import { startEchoServer } from '../support/servers/echo-server.ts';
import type { FixtureMcpServer } from '../support/servers/fixture-mcp-server.ts';
import { runHostedGate } from '../support/gate/hosted-gate.ts';
import { startHostileService } from '../support/service/hostile-service.ts';

// A real service behind a proxy that changes its answers. Contradicting answers must never become a verdict.

let service: ContractService;
let server: FixtureMcpServer;

beforeAll(async () => {
  service = await openContractService();
  server = await startEchoServer();
  const saved = await saveServer(service, { name: 'demo' });
  const steps = [{ id: 's1', kind: 'toolCall', serverName: 'demo', toolName: 'echo', arguments: {} }];
  const isFine = { id: 's2', kind: 'assert', assertion: { type: 'noToolErrors' } };
  await saveSuite(service, saved, [{ title: 'Echoes', steps: [...steps, isFine] }], { name: 'Kept' });
});

afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await service[Symbol.asyncDispose]();
});

type Answer = Record<string, unknown> & { items?: Array<Record<string, unknown>> };

interface Contradiction {
  inputs?: Record<string, string>;
  /** The requests whose answers are changed. */
  what: RegExp;
  /** Returns the changed answer. `times` counts equal requests, from 1. */
  change: (answer: Answer, times: number) => unknown;
  exitCode: 0 | 1 | 3;
  reason: RegExp;
}

const listing = /^GET .*\/eval-runs\/[^/]+\/iterations(\?|$)/;
const running = /^GET .*\/eval-runs\/[^/]+$/;
const inline = { tests: '- title: one\n  steps: [{ toolCall: echo }]\n- title: two\n  steps: [{ toolCall: fail }]\n' };
const half = { 'min-pass-rate': '50%' };
const stored = { suite: 'Kept', tests: '' };

const pass = (item: Record<string, unknown>) => ({ ...item, status: 'completed', result: 'passed' });
const withSummary = (answer: Answer, summary: Record<string, number>) => ({ ...answer, summary });

async function runAgainst({ inputs, what, change }: Contradiction) {
  const asked = new Map<string, number>();
  await using hostile = await startHostileService(service, {
    tamper: () => (request, answer) => {
      if (!what.test(request.what)) return undefined;
      const times = (asked.get(request.what) ?? 0) + 1;
      asked.set(request.what, times);
      return { body: JSON.stringify(change(JSON.parse(answer) as Answer, times)) };
    },
  });
  const tested = { 'server-url': server.url, tunnel: 'never', ...inline, ...inputs };
  return await runHostedGate({ ...service, baseUrl: hostile.baseUrl }, tested);
}

const contradictions: Array<[string, Contradiction]> = [
  [
    'answers with another run',
    {
      inputs: half,
      what: running,
      change: (answer) => ({ ...answer, id: 'run_of_another_job' }),
      exitCode: 3,
      reason: /answered with run "run_of_another_job" instead of run/,
    },
  ],
  [
    'gives one iteration two results',
    {
      inputs: half,
      what: listing,
      change: ({ items = [], ...answer }) => ({
        ...answer,
        items: [...items.map(pass), ...items.filter(({ result }) => result === 'failed')],
      }),
      exitCode: 3,
      reason: /gave different results for the same iteration \(1 iteration\)/,
    },
  ],
  [
    'turns failures into passes when it is asked again',
    {
      what: /\/eval-runs\/[^/]+(\/iterations.*)?$/,
      change: (answer, times) => {
        const { items } = answer;
        if (items === undefined) return withSummary(answer, { total: 2, passed: 2, failed: 0 });
        return times > 1 ? { ...answer, items: items.map(pass) } : answer;
      },
      exitCode: 3,
      reason: /gave different results for the same iteration \(1 iteration\)/,
    },
  ],
  [
    'makes room in a budget with negative tokens',
    {
      inputs: half,
      what: listing,
      change: ({ items = [], ...answer }) => ({ ...answer, items: items.map((item) => ({ ...item, tokensUsed: -1 })) }),
      exitCode: 3,
      reason: /items\.0\.tokensUsed: Too small/,
    },
  ],
  ...[0.9, 1, -5, 101].map((minimumAccuracy): [string, Contradiction] => [
    `stores ${minimumAccuracy} as a percentage`,
    {
      inputs: stored,
      what: /^GET .*\/eval-suites\/[^/]+$/,
      change: (answer) => ({ ...answer, settings: { minimumAccuracy } }),
      exitCode: 3,
      reason: /must be a percentage from 0 to 100/,
    },
  ]),
];

describe('a gate whose service contradicts itself', () => {
  it.each(contradictions)('is inconclusive if the service %s', async (_, contradiction) => {
    const { report, exitCode } = await runAgainst(contradiction);
    expect([exitCode, report.verdict.outcome]).toEqual([contradiction.exitCode, 'inconclusive']);
    expect(report.verdict.reasons.map(({ message }) => message).join('\n')).toMatch(contradiction.reason);
  });

  it.each([
    ['half of the iterations are enough', { ...inline, ...half }, 0],
    ['all must pass', inline, 1],
    ['the suite is stored', stored, 0],
    ['the suite is stored and the gate has its own minimum', { ...stored, 'min-pass-rate': '100%' }, 0],
  ])('has its verdict where the answers are unchanged and %s', async (_, inputs, exitCode) => {
    const unchanged = { inputs, what: /^GET /, change: (answer: Answer) => answer };
    expect((await runAgainst({ ...unchanged, exitCode: 0, reason: /./ })).exitCode).toBe(exitCode);
  });

  it('needs no stored percentage where the gate has its own minimum', async () => {
    const { exitCode } = await runAgainst({
      inputs: { ...stored, 'min-pass-rate': '100%' },
      what: /^GET .*\/eval-suites\/[^/]+$/,
      change: (answer) => ({ ...answer, settings: { minimumAccuracy: 0.9 } }),
      exitCode: 0,
      reason: /./,
    });
    expect(exitCode).toBe(0);
  });
});
