import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/time.ts';
import { runCase } from '../../src/engine/run-case.ts';
import { callStep, createCase } from '../support/factories/case-factory.ts';
import {
  startFixtureMcpServer,
  text,
  type FixtureMcpServer,
  type FixtureServerOptions,
} from '../support/servers/fixture-mcp-server.ts';

const twoCalls = [callStep('quick'), { ...callStep('quick'), id: 'again' }];

/** Runs the steps on a server that forgets all sessions while it answers the n-th call; 0 is `tools/list`. */
async function runForgetting(steps: ReturnType<typeof callStep>[], forgetAt: number[]) {
  let calls = 0;
  let server: FixtureMcpServer | null = null;
  const forgetAfter = (call: number) => {
    if (forgetAt.includes(call)) server?.forgetSessions();
  };
  const quick = {
    call: () => {
      calls += 1;
      forgetAfter(calls);
      return text('done');
    },
  };
  const list: FixtureServerOptions['list'] = (tools) => {
    forgetAfter(0);
    return { tools };
  };
  await using opened = await startFixtureMcpServer({ quick }, { era: 'legacy', list });
  server = opened;
  const target = { url: opened.url, serverName: 'fixture', protocol: 'legacy' as const };
  const outcome = await runCase(createCase(steps), target, { clock: systemClock, timeoutMs: 30_000 });
  return { outcome, sessions: opened.events.filter((event) => event === 'open').length };
}

describe('a server that forgets the session of an iteration', () => {
  it('gets a new session while no call has an answer', async () => {
    const { outcome, sessions } = await runForgetting(twoCalls, [0]);
    expect([outcome.status, outcome.result, sessions]).toEqual(['completed', 'passed', 2]);
  });

  it('gets no new session after an answer, because its state is part of the case', async () => {
    const { outcome, sessions } = await runForgetting(twoCalls, [1]);
    expect([outcome.status, outcome.result, sessions]).toEqual(['failed', null, 1]);
    expect(outcome.error).toBe('The server gave no answer to quick: it answered HTTP 404 (no such session or path).');
  });
});
