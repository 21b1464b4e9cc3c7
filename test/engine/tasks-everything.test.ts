import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/time.ts';
import type { CaseOutcome } from '../../src/engine/outcome.ts';
import { runCase } from '../../src/engine/run-case.ts';
import type { Step } from '../../src/model/step.ts';
import { assertStep, callStep, createCase } from '../support/factories/case-factory.ts';
import { startEverythingServer, type EverythingServer } from '../support/servers/everything-server.ts';

async function run(url: string, steps: Step[]): Promise<CaseOutcome> {
  const target = { url, serverName: 'everything', protocol: 'legacy' as const };
  return await runCase(createCase(steps), target, { clock: systemClock, timeoutMs: 60_000 });
}

describe('a tool of server-everything that runs as a task', () => {
  let server: EverythingServer;

  beforeAll(async () => {
    server = await startEverythingServer();
  });
  afterAll(async () => {
    await server[Symbol.asyncDispose]();
  });

  it('gives the result that the task ends with', async () => {
    const steps = [
      callStep('simulate-research-query', { topic: 'tea' }),
      assertStep({ type: 'toolResultContains', needle: '# Research Report: tea' }),
    ];
    expect(await run(server.url, steps)).toMatchObject({ result: 'passed', error: null });
  });
});
