import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { Server } from '@modelcontextprotocol/server';
import { systemClock } from '../../src/base/time.ts';
import { NotificationLog } from '../../src/engine/notification-log.ts';
import { runCase } from '../../src/engine/run-case.ts';
import type { Step } from '../../src/cases/step.ts';
import { createHurriedClock } from '../support/clocks/bent-clock.ts';
import { VirtualClock } from '../support/clocks/virtual-clock.ts';
import { assertStep, callStep, createCase } from '../support/factories/case-factory.ts';
import { startFixtureMcpServer, text, type FixtureServerOptions } from '../support/servers/fixture-mcp-server.ts';
import { startTaskServer } from '../support/servers/task-server.ts';

const capabilities = { tools: { listChanged: true }, logging: {} };

async function run(
  url: string,
  protocol: 'legacy' | 'modern',
  steps: Step[],
  { timeoutMs = 20_000, clock = systemClock } = {},
) {
  return await runCase(createCase(steps), { url, serverName: 'noisy', protocol }, { clock, timeoutMs });
}

/** A check waits on it a minute instead of a second for what arrives late. */
const patientClock = createHurriedClock({ fromMs: 999, toMs: 1001, instead: 60_000 });

/** A server whose tools report with what the SDK gives a handler, in the given era. */
async function startNoisyServer(
  era: 'legacy' | 'modern',
  onCall: (server: Server, name: string) => Promise<void> = async () => {},
) {
  const levels: unknown[] = [];
  const prepare: FixtureServerOptions['prepare'] = (server) => {
    server.setRequestHandler('tools/list', () => ({
      tools: ['count', 'log'].map((name) => ({ name, inputSchema: { type: 'object' as const } })),
    }));
    if (era === 'legacy') {
      server.setRequestHandler('logging/setLevel', ({ params: { level } }) => {
        levels.push(level);
        return {};
      });
    }
    server.setRequestHandler('tools/call', async ({ params: { name } }, { mcpReq }) => {
      const { progressToken = 'none' } = mcpReq._meta ?? {};
      if (name === 'count') {
        for (const progress of [1, 2, 3]) {
          const message = `Cup ${progress}`;
          await mcpReq.notify({
            method: 'notifications/progress',
            params: { progressToken, progress, total: 3, message },
          });
        }
      }
      if (name === 'log') {
        const [, asked = null] =
          Object.entries(mcpReq.envelope ?? {}).find(([key]) => key === 'io.modelcontextprotocol/logLevel') ?? [];
        const data = { cups: 3, asked };
        await mcpReq.notify({ method: 'notifications/message', params: { level: 'warning', logger: 'pantry', data } });
      }
      await onCall(server, name);
      return text('done');
    });
  };
  const server = await startFixtureMcpServer({}, { era, capabilities, prepare });
  return { ...server, levels };
}

describe.each(['legacy', 'modern'] as const)('what a server reports in the %s era', (era) => {
  it('is progress of its call, in the trace and for assertions', async () => {
    await using server = await startNoisyServer(era);
    const steps = [
      callStep('count'),
      assertStep({ type: 'progressReported', minCount: 3, toolName: 'count', message: 'cup' }),
    ];
    const outcome = await run(server.url, era, steps);
    expect(outcome).toMatchObject({ result: 'passed', error: null });
    expect(outcome.trace.metadata?.notifications).toMatchObject(
      [1, 2, 3].map((progress) => ({ kind: 'progress', toolCallId: 'call_1', toolName: 'count', progress, total: 3 })),
    );
    const wrong = await run(server.url, era, [
      callStep('count'),
      assertStep({ type: 'not', assertion: { type: 'progressReported', minCount: 3 } }),
    ]);
    expect(wrong.result).toBe('failed');
  });

  it('is a log message, of the levels that the case asks for', async () => {
    await using server = await startNoisyServer(era);
    const outcome = await run(server.url, era, [
      callStep('log'),
      assertStep({ type: 'logged', contains: 'cups', level: 'notice', logger: 'pantry' }),
    ]);
    expect(outcome).toMatchObject({ result: 'passed', error: null });
    if (era === 'legacy') expect(server.levels).toEqual(['info']);
    else expect(outcome.trace.metadata?.notifications).toMatchObject([{ kind: 'log', data: { asked: 'info' } }]);
    const debug = await run(server.url, era, [callStep('log'), assertStep({ type: 'logged', level: 'debug' })]);
    expect(debug.result).toBe('passed');
    if (era === 'legacy') expect(server.levels).toEqual(['info', 'debug']);
  });
});

describe('a change of the tools', () => {
  it('is seen by assertions, even if it arrives after the answer to the call', async () => {
    await using server = await startNoisyServer('legacy', async (server) => {
      void sleep(100).then(() => server.notification({ method: 'notifications/tools/list_changed' }));
    });
    const outcome = await run(server.url, 'legacy', [
      callStep('log'),
      assertStep({ type: 'listChanged', of: 'tools' }),
    ]);
    expect(outcome).toMatchObject({ result: 'passed', error: null });
  });

  it('fails the opposite assertion, even if it arrives after the answer to the call', async () => {
    const steps = [callStep('log'), assertStep({ type: 'not', assertion: { type: 'listChanged', of: 'tools' } })];
    await using late = await startNoisyServer('legacy', async (server) => {
      void sleep(100).then(() => server.notification({ method: 'notifications/tools/list_changed' }));
    });
    expect(await run(late.url, 'legacy', steps, { clock: patientClock })).toMatchObject({
      result: 'failed',
      error: 'not: listChanged: the server reported a change of its tools once.',
    });
    await using silent = await startNoisyServer('legacy');
    expect(await run(silent.url, 'legacy', steps)).toMatchObject({ result: 'passed', error: null });
  });

  it('is asked for in the era in which servers report it to no other client', async () => {
    let server: Awaited<ReturnType<typeof startNoisyServer>> | null = null;
    await using opened = await startNoisyServer('modern', async () => server?.notifyToolsChanged());
    server = opened;
    const assertion = { type: 'listChanged', of: 'tools' } as const;
    const outcome = await run(opened.url, 'modern', [callStep('log'), assertStep(assertion)]);
    expect(outcome).toMatchObject({ result: 'passed', error: null });
    const wrong = await run(opened.url, 'modern', [
      callStep('log'),
      assertStep(assertion),
      assertStep({ type: 'not', assertion }),
    ]);
    expect(wrong).toMatchObject({
      result: 'failed',
      error: 'not: listChanged: the server reported a change of its tools once.',
    });
  });

  it('has the gate list the tools again, for this session alone', async () => {
    let schema: Record<string, unknown> = {};
    const changed = Promise.withResolvers<void>();
    await using server = await startFixtureMcpServer(
      {},
      {
        era: 'legacy',
        capabilities,
        prepare: (server) => {
          server.setRequestHandler('tools/list', () => ({
            tools: [{ name: 'brew', inputSchema: { type: 'object' as const, ...schema } }],
          }));
          server.setRequestHandler('tools/call', async () => {
            schema = { required: ['cups'] };
            await server.notification({ method: 'notifications/tools/list_changed' });
            changed.resolve();
            return text('done');
          });
        },
      },
    );
    const check = { type: 'argumentsMatchToolSchema', toolName: 'brew' } as const;
    const outcome = await run(server.url, 'legacy', [
      callStep('brew'),
      assertStep({ type: 'listChanged', of: 'tools' }),
      { ...callStep('brew'), id: 'again' },
      assertStep({ type: 'not', assertion: check }),
    ]);
    await changed.promise;
    expect(outcome).toMatchObject({ result: 'passed', error: null });
  });
});

describe('the progress of a task', () => {
  it('belongs to the call that created it, and may arrive before its first poll', async () => {
    await using server = await startTaskServer(
      {
        brew: {
          states: [{ status: 'working' }, { status: 'completed' }],
          onStart: async ({ meta, server }) => {
            const progressToken = Number(meta['progressToken']);
            await server.notification({ method: 'notifications/progress', params: { progressToken, progress: 1 } });
          },
        },
      },
      { era: 'legacy' },
    );
    const steps = [callStep('brew'), assertStep({ type: 'progressReported', toolName: 'brew' })];
    expect(await run(server.url, 'legacy', steps)).toMatchObject({ result: 'passed', error: null });
  });
});

describe('the log of notifications', () => {
  it('keeps the first thousand, and counts the others', () => {
    const log = new NotificationLog(new VirtualClock());
    for (let count = 0; count < 1003; count += 1) log.add({ kind: 'listChanged', of: 'tools' });
    expect([log.entries.length, log.dropped]).toEqual([1000, 3]);
  });

  it('keeps 256 KiB at most, and nothing that follows', () => {
    const log = new NotificationLog(new VirtualClock());
    const data = 'a'.repeat(100 * 1024);
    for (let count = 0; count < 3; count += 1) log.add({ kind: 'log', level: 'info', logger: null, data });
    log.add({ kind: 'listChanged', of: 'tools' });
    expect([log.entries.length, log.dropped]).toEqual([2, 2]);
  });
});
