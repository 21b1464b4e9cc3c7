import { getEventListeners, once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { Clock } from '../../src/base/time.ts';
import { systemClock } from '../../src/base/time.ts';
import type { CaseOutcome } from '../../src/engine/outcome.ts';
import { runCase } from '../../src/engine/run-case.ts';
import { callStep, createCase } from '../support/factories/case-factory.ts';
import { refuse, startFixtureMcpServer, text, type FixtureTool } from '../support/servers/fixture-mcp-server.ts';
import { startHttpServer } from '../support/network/http-server.ts';
import { ManualClock } from '../support/clocks/manual-clock.ts';

const eras = ['legacy', 'modern'] as const;

const hang: FixtureTool = {
  call: ({ signal }) => new Promise((resolve) => signal.addEventListener('abort', () => resolve(text('late')))),
};
const quick: FixtureTool = { call: () => text('done') };

function summarize({ status, result, error, steps }: CaseOutcome): unknown {
  return { status, result, error, steps: steps.map((step) => step.status) };
}

const threeSteps = [callStep('quick'), { ...callStep('hang'), id: 'wait' }, { ...callStep('quick'), id: 'again' }];

describe.each(eras)('runCase on a server of the %s era', (era) => {
  async function run(
    tools: Record<string, FixtureTool>,
    toolName: string,
    clock: Clock = systemClock,
  ): Promise<CaseOutcome> {
    await using server = await startFixtureMcpServer(tools, { era });
    const target = { url: server.url, serverName: 'fixture', protocol: era };
    return await runCase(createCase([callStep(toolName)]), target, { clock, timeoutMs: 30_000 });
  }

  it('scores a tool that hangs as a failure, and cancels the call', async () => {
    await using server = await startFixtureMcpServer({ quick, hang }, { era });
    const clock = new ManualClock();
    const target = { url: server.url, serverName: 'fixture', protocol: era };
    const running = runCase(createCase(threeSteps), target, { clock, timeoutMs: 60_000 });
    await server.waitFor('call hang');
    await clock.advance(60_000);
    const outcome = await running;
    expect(summarize(outcome)).toEqual({
      status: 'timed_out',
      result: 'failed',
      error: 'Timed out after 1 min in step "wait" (tool hang).',
      steps: ['ok', 'fail', 'skipped'],
    });
    expect(outcome.actualToolCalls.map((call) => call.toolName)).toEqual(['quick', 'hang']);
    await server.waitFor('cancel hang');
    if (era === 'legacy') await server.waitFor('close');
  });

  it('gives a case its own time where it has one', async () => {
    await using server = await startFixtureMcpServer({ hang }, { era });
    const clock = new ManualClock();
    const target = { url: server.url, serverName: 'fixture', protocol: era };
    const hasty = createCase([callStep('hang')], { advancedConfig: { timeoutMs: 5000 } });
    const running = runCase(hasty, target, { clock, timeoutMs: 60_000 });
    await server.waitFor('call hang');
    await clock.advance(5000);
    const outcome = await running;
    expect(outcome.error).toBe('Timed out after 5 s in step "hang" (tool hang).');
    expect(outcome.durationMs).toBe(5000);
  });

  it('leaves no pending timer or request, and no listener at its caller', async () => {
    await using server = await startFixtureMcpServer({ quick }, { era });
    const clock = new ManualClock();
    const { signal } = new AbortController();
    const target = { url: server.url, serverName: 'fixture', protocol: era };
    await runCase(createCase([callStep('quick')]), target, { clock, timeoutMs: 60_000, signal });
    expect(clock.sleeping).toBe(0);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
    if (era === 'legacy') expect(server.events.at(-1)).toBe('close');
  });

  it('ends without a result when the caller aborts, and cancels the call', async () => {
    await using server = await startFixtureMcpServer({ quick, hang }, { era });
    const caller = new AbortController();
    const target = { url: server.url, serverName: 'fixture', protocol: era };
    const options = { clock: systemClock, timeoutMs: 60_000, signal: caller.signal };
    const running = runCase(createCase(threeSteps), target, options);
    await server.waitFor('call hang');
    caller.abort();
    expect(summarize(await running)).toEqual({
      status: 'cancelled',
      result: null,
      error: 'Cancelled in step "wait" (tool hang).',
      steps: ['ok', 'skipped', 'skipped'],
    });
    await server.waitFor('cancel hang');
  });

  it('does not begin when the caller has aborted already', async () => {
    await using server = await startFixtureMcpServer({ quick }, { era });
    const target = { url: server.url, serverName: 'fixture', protocol: era };
    const options = { clock: systemClock, timeoutMs: 60_000, signal: AbortSignal.abort() };
    expect(summarize(await runCase(createCase([callStep('quick')]), target, options))).toEqual({
      status: 'cancelled',
      result: null,
      error: 'Cancelled before the first step.',
      steps: ['skipped'],
    });
    expect(server.events).toEqual([]);
  });

  it('establishes nothing when the connection breaks during a call', async () => {
    const drop: FixtureTool = {
      call: ({ dropConnections }) => {
        dropConnections();
        return text('never sent');
      },
    };
    expect(summarize(await run({ drop }, 'drop'))).toEqual({
      status: 'failed',
      result: null,
      error: expect.stringMatching(/^The server gave no answer to drop: /),
      steps: ['fail'],
    });
  });

  it('does not trust a server that claims that its process is gone', async () => {
    const exited: FixtureTool = { call: () => refuse(-32_000, 'The server exited', { reason: 'server_exited' }) };
    expect(summarize(await run({ exited }, 'exited'))).toEqual({
      status: 'completed',
      result: 'failed',
      error: 'exited failed with JSON-RPC error -32000: "The server exited".',
      steps: ['fail'],
    });
  });
});

describe('runCase on a server that cannot be used', () => {
  const quickCase = createCase([callStep('quick')]);

  it('establishes nothing when the connection is refused', async () => {
    const closed = createServer().listen(0, '127.0.0.1');
    await once(closed, 'listening');
    const { port } = closed.address() as AddressInfo;
    closed.close();
    await once(closed, 'close');
    const target = { url: `http://127.0.0.1:${port}/mcp`, serverName: 'gone', protocol: 'legacy' as const };
    expect(summarize(await runCase(quickCase, target, { clock: systemClock, timeoutMs: 30_000 }))).toEqual({
      status: 'failed',
      result: null,
      error: `The server could not be connected to: fetch failed: connect ECONNREFUSED 127.0.0.1:${port}.`,
      steps: ['skipped'],
    });
  });

  it.each([1000, 60_000])('establishes nothing from a handshake of a minute in a case of %i ms', async (timeoutMs) => {
    await using silent = await startHttpServer(() => {});
    const clock = new ManualClock();
    const target = { url: `${silent.origin}/mcp`, serverName: 'silent', protocol: 'auto' as const };
    const running = runCase(quickCase, target, { clock, timeoutMs });
    await expect.poll(() => silent.requests.length).toBeGreaterThan(0);
    await clock.advance(59_999);
    await expect(Promise.race([running, setImmediate('still waiting')])).resolves.toBe('still waiting');
    await clock.advance(1);
    expect(summarize(await running)).toEqual({
      status: 'failed',
      result: null,
      error: 'The server did not complete the handshake within 1 min.',
      steps: ['skipped'],
    });
  });
});
