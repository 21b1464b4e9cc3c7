import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/base/time.ts';
import { runEmbeddedGate } from '../../support/gate/embedded-gate.ts';
import { type FixtureTool, startFixtureMcpServer, text } from '../../support/servers/fixture-mcp-server.ts';
import { writeCallingCases } from '../../support/servers/flaky-server.ts';
import { createWorkspace } from '../../support/workspace.ts';

const beforeMidnight = Date.UTC(2026, 0, 31, 23, 59, 59);
const afterMidnight = Date.UTC(2026, 1, 1, 0, 0, 1);

/** Creates a clock on which the test ends the day. It shortens sleeps and lists them in `sleepsMs`. */
function createMidnightClock() {
  let nowMs = beforeMidnight;
  const sleepsMs: number[] = [];
  const listeners = new Set<() => void>();
  return {
    ...systemClock,
    now: () => nowMs,
    sleep: async (delayMs: number, options?: { signal?: AbortSignal | undefined }) => {
      sleepsMs.push(delayMs);
      for (const listener of listeners) listener();
      await systemClock.sleep(delayMs === lookPauseMs ? 20 : delayMs, options);
    },
    passMidnight: () => {
      nowMs = afterMidnight;
    },
    /** Resolves after this many further pauses between checks of the run. */
    waitForLooks: async (count: number) => {
      const wanted = countLooks(sleepsMs) + count;
      const { promise, resolve } = Promise.withResolvers<void>();
      const listener = () => countLooks(sleepsMs) >= wanted && resolve();
      listeners.add(listener);
      await promise;
      listeners.delete(listener);
    },
  };
}

/** The shortest pause of a gate that stops early. */
const lookPauseMs = 200;

function countLooks(sleepsMs: readonly number[]): number {
  return sleepsMs.filter((delayMs) => delayMs >= lookPauseMs && delayMs < 10_000).length;
}

const expiring = (expires: string) =>
  `policy:\n  quarantine:\n    - { case: bad, owner: a, reason: Flaky., expires: ${expires} }\n`;

const fails = () => ({ ...text('Not this time.'), isError: true });

async function runOverMidnight(
  tools: Record<string, FixtureTool>,
  {
    clock,
    expires = '2026-01-31',
    policy,
  }: { clock: ReturnType<typeof createMidnightClock>; expires?: string; policy: object },
) {
  await using server = await startFixtureMcpServer(tools);
  const evals = writeCallingCases(Object.keys(tools), { head: expiring(expires) });
  await using workspace = await createWorkspace({ 'a.evals.yaml': evals });
  const inputs = { 'server-command': '', 'server-url': server.url, policy };
  const result = await runEmbeddedGate(workspace, inputs, { clock });
  return { ...result, events: server.events };
}

describe('a gate that runs over midnight in UTC', () => {
  it('runs a case in quarantine on its last day not again, and one whose quarantine is over', async () => {
    const run = async (expires: string) => {
      const clock = createMidnightClock();
      const tools = {
        good: { call: () => text('ok') },
        bad: {
          call: () => {
            clock.passMidnight();
            return fails();
          },
        },
      };
      return await runOverMidnight(tools, { clock, expires, policy: { retryFailed: 1 } });
    };
    const held = await run('2026-01-31');
    expect(held.report.verdict.outcome).toBe('passed');
    expect(held.events.filter((event) => event === 'call bad')).toHaveLength(1);
    const over = await run('2026-01-30');
    expect(over.report.verdict.outcome).toBe('failed');
    expect(over.events.filter((event) => event === 'call bad')).toHaveLength(2);
  });

  it('does not stop a run early for a failure whose quarantine holds on the day of the start', async () => {
    const clock = createMidnightClock();
    const isBadOver = Promise.withResolvers<void>();
    const tools = {
      good: { call: () => text('ok') },
      bad: {
        call: () => {
          clock.passMidnight();
          isBadOver.resolve();
          return fails();
        },
      },
      slow: {
        call: async ({ signal }: { signal: AbortSignal }) => {
          const cancelled = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
          await Promise.race([isBadOver.promise.then(() => clock.waitForLooks(10)), cancelled]);
          return text('ok');
        },
      },
    };
    const { report, exitCode } = await runOverMidnight(tools, { clock, policy: { stopEarly: true } });
    expect([report.verdict.outcome, exitCode]).toEqual(['passed', 0]);
    expect(report.suites[0]).toMatchObject({ stoppedEarly: null, run: { status: 'completed' } });
    expect(report.startedAt).toBe(new Date(beforeMidnight).toISOString());
  });
});
