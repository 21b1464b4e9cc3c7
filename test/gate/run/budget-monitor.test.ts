import { describe, expect, it } from 'vitest';
import { BudgetError } from '../../../src/base/errors.ts';
import { silentLogger } from '../../../src/base/logger.ts';
import { addSpending, monitorBudgets, startWallTimeBudget } from '../../../src/gate/run/budget-monitor.ts';
import { readHostedRun } from '../../../src/gate/run/hosted-run.ts';
import { startRunLifetime } from '../../../src/gate/run/run-lifetime.ts';
import { emptyPolicyLayer } from '../../../src/model/policy.ts';
import { noModelUsage } from '../../../src/model/usage.ts';
import type { ReasonCode } from '../../../src/model/verdict.ts';
import { type Answer, json, startHttpServer } from '../../support/network/http-server.ts';
import { ManualClock } from '../../support/clocks/manual-clock.ts';
import { ofPolicy } from '../../support/factories/policy-factory.ts';
import { createCaseResults, createSuiteResults } from '../../support/factories/results-factory.ts';
import { openTestClient } from '../../support/service/service-client.ts';

const { budgets: none } = emptyPolicyLayer;
const page = (...items: Array<Record<string, unknown>>) =>
  json(200, { items: items.map((item, index) => ({ id: `it_${index}`, status: 'running', ...item })) });
const passed = (tokensUsed: number) => ({ status: 'completed', result: 'passed', tokensUsed });
const broken = { status: 'failed', result: null };

/** Watches a run with one answer per check, until it is cancelled or the last answer was seen twice. */
async function watchRun(answers: Answer[], budgets: Partial<typeof none>) {
  const seen = Promise.withResolvers<null>();
  await using server = await startHttpServer([
    ...answers,
    async (response, request) => {
      seen.resolve(null);
      await answers.at(-1)?.(response, request);
    },
  ]);
  await using client = openTestClient(server);
  const reasons: Array<Promise<Error>> = [];
  const context = {
    clock: client.clock,
    logger: silentLogger,
    run: readHostedRun({ client, projectId: 'p_1' }, 'r_1'),
    pollIntervalMs: 200,
    lifetime: { cancelOn: (reason: Promise<Error>) => void reasons.push(reason) },
  };
  const spending = monitorBudgets({ ...none, ...budgets }, context);
  const reason = await Promise.race([seen.promise, ...reasons]);
  spending[Symbol.dispose]();
  return { message: reason?.message ?? null, looks: server.requests.length, sleepsMs: client.clock.sleepsMs };
}

describe('monitorBudgets', () => {
  it('cancels the run when the iterations have used more tokens than the budget has', async () => {
    const looks = [page({}), page(passed(60), {}), page(passed(60), passed(60))];
    const { message, sleepsMs } = await watchRun(looks, { tokens: ofPolicy(100) });
    expect(message).toBe(
      'The run was cancelled when its iterations had used 120 tokens, the budget tokens is 100 (from policy.yaml:3).',
    );
    expect(sleepsMs).toEqual([200, 300, 450]);
  });

  it('counts the tokens of judges as well', async () => {
    const usage = { ...noModelUsage, modelCalls: 1, inputTokens: 50, outputTokens: 5 };
    const judged = { ...passed(60), judges: [{ model: 'openai/m', isGating: true, usage }] };
    const { message } = await watchRun([page(judged)], { tokens: ofPolicy(114) });
    expect(message).toMatch(/^The run was cancelled when its iterations had used 115 tokens, /);
    expect((await watchRun([page(judged)], { tokens: ofPolicy(115) })).message).toBeNull();
  });

  it('cancels it when more iterations ended without a result than may', async () => {
    const looks = [page(broken, passed(1), {}), page(broken, broken, {})];
    const { message } = await watchRun(looks, { infrastructureErrors: ofPolicy(1) });
    expect(message).toBe(
      'The run was cancelled when 2 iterations had ended without a result, the budget infrastructureErrors is 1 (from policy.yaml:3).',
    );
  });

  it('lets a run go on that keeps to its budgets, and one that cannot be checked', async () => {
    const answers = [
      json(403, { code: 'FORBIDDEN', message: 'no' }),
      page(passed(60), broken),
      page(passed(100), broken),
    ];
    const budgets = { tokens: ofPolicy(100), infrastructureErrors: ofPolicy(1) };
    expect(await watchRun(answers, budgets)).toMatchObject({ message: null, looks: 4 });
  });

  it('sends no request without a budget', async () => {
    await using server = await startHttpServer(page());
    await using client = openTestClient(server);
    const context = {
      clock: client.clock,
      logger: silentLogger,
      run: readHostedRun({ client, projectId: 'p_1' }, 'r_1'),
      pollIntervalMs: 200,
      lifetime: { cancelOn: () => expect.unreachable() },
    };
    monitorBudgets(none, context);
    expect(client.clock.sleepsMs).toEqual([]);
    expect(server.requests).toEqual([]);
  });
});

describe('addSpending', () => {
  const usage = { ...noModelUsage, inputTokens: 1000, outputTokens: 30 };
  const cases = [
    createCaseResults({ tokensUsed: 200, judges: [{ model: 'openai/m', usage }] }),
    createCaseResults({ tokensUsed: 4 }),
  ];
  const interrupt = (code: ReasonCode) =>
    addSpending(createSuiteResults({ cases, iterationsRead: 2, interruption: { code, message: 'It ended.' } }));

  it('says what was spent when a budget ended the run, judges included', () => {
    expect(interrupt('budget-exceeded').interruption?.message).toBe(
      'It ended. Spent by then: 2 iterations, 1234 tokens.',
    );
  });

  it('says nothing of a run that something else ended', () => {
    expect(interrupt('tunnel-lost').interruption?.message).toBe('It ended.');
  });
});

const begin = () => {
  const clock = new ManualClock();
  const lifetime = startRunLifetime(clock, { timeoutMs: 60_000, signal: new AbortController().signal });
  return { clock, lifetime };
};

describe('startWallTimeBudget', () => {
  it('cancels the run when it is used up', async () => {
    const { clock, lifetime } = begin();
    using _lifetime = lifetime;
    using _budget = startWallTimeBudget(ofPolicy(5000), { clock, lifetime });
    await clock.advance(4999);
    expect(lifetime.cancelRun.aborted).toBe(false);
    await clock.advance(1);
    expect(lifetime.cancelRun.reason).toBeInstanceOf(BudgetError);
    expect(String(lifetime.cancelRun.reason)).toContain(
      'The run was cancelled after 5 s, its budget wallTime (from policy.yaml:3).',
    );
  });

  it('cancels nothing once the run is over, or without a budget', async () => {
    const { clock, lifetime } = begin();
    using _lifetime = lifetime;
    startWallTimeBudget(ofPolicy(5000), { clock, lifetime })[Symbol.dispose]();
    startWallTimeBudget(null, { clock, lifetime });
    await clock.advance(10_000);
    expect(lifetime.cancelRun.aborted).toBe(false);
  });
});
