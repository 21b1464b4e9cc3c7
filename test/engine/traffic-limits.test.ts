import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { systemClock } from '../../src/base/time.ts';
import type { Target } from '../../src/mcp/session.ts';
import { runCase } from '../../src/engine/run-case.ts';
import type { Step } from '../../src/cases/step.ts';
import { assertStep, callStep, createCase } from '../support/factories/case-factory.ts';
import { listChildVariables } from '../support/process/child-environment.ts';
import { floodingServerPath } from '../support/servers/bundled-servers.ts';
import { excessiveTools, moderateTools } from '../support/servers/endless-traffic.ts';
import { answerContent, startRawMcpServer } from '../support/servers/raw-mcp-server.ts';
import { openTestServer } from '../support/servers/running-server.ts';

const measuredSchema = z.object({
  outcomes: z.array(
    z.record(z.string(), z.object({ status: z.string(), result: z.string().nullable(), error: z.string().nullable() })),
  ),
  peakMiB: z.number(),
});

/** Runs one case for each tool of a group at the same time, one group after the other, in a process of their own. */
async function measure(url: string, groups: ReadonlyArray<readonly string[]>) {
  const script = resolve(import.meta.dirname, '../support/servers/measure-cases.ts');
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [script, url, ...groups.map((group) => group.join())],
    {
      env: listChildVariables(),
    },
  );
  return measuredSchema.parse(JSON.parse(stdout));
}

async function run(url: string, steps: Step[]) {
  const target: Target = { url, serverName: 'raw', protocol: 'legacy' };
  return await runCase(createCase(steps), target, { clock: systemClock, timeoutMs: 30_000 });
}

const passed = { status: 'completed', result: 'passed', error: null };

describe('a server that sends without end', () => {
  it('fails the cases in which it floods, within 512 MiB of memory, and the other cases pass', async () => {
    await using server = await startRawMcpServer({ ...excessiveTools, ...moderateTools });
    const names = Object.keys(excessiveTools);
    // As many at a time as the gate runs. The group that takes the most memory has a process of its own.
    const [first, second, third] = [0, 3, 6].map((index) => [...names.slice(index, index + 3), 'healthy']);
    for (const groups of [[first ?? [], third ?? []], [second ?? []]]) {
      const { outcomes, peakMiB } = await measure(server.url, groups);
      const expected = groups.map((group) =>
        Object.fromEntries(
          group.map((name) => {
            const error = expect.stringMatching(excessiveTools[name]?.error ?? /^$/);
            return [name, name === 'healthy' ? passed : { status: 'completed', result: 'failed', error }];
          }),
        ),
      );
      expect(outcomes).toEqual(expected);
      expect({ groups, isWithinMemory: peakMiB < 512 }).toEqual({ groups, isWithinMemory: true });
    }
    expect(names).toHaveLength(9);
  });

  it('passes a case whose result is large and within the limits', async () => {
    await using server = await startRawMcpServer(moderateTools);
    expect((await run(server.url, [callStep('large')])).error).toBe(null);
  });

  it('also fails a case that expects an error, and one that ends after the flood', async () => {
    await using server = await startRawMcpServer({ ...excessiveTools, ...moderateTools });
    const isError = assertStep({ type: 'toolResultIsError', isError: true });
    for (const steps of [
      [callStep('large-batch'), isError],
      [callStep('large-batch'), callStep('healthy')],
    ]) {
      const outcome = await run(server.url, steps);
      expect(outcome).toMatchObject({ result: 'failed', steps: [{ status: 'fail' }, { status: 'skipped' }] });
    }
  });

  it('counts all responses of an iteration together, and those of another one anew', async () => {
    await using server = await startRawMcpServer({
      half: { call: answerContent(`{"text":"${'x'.repeat(33 * 1024 * 1024)}"}`) },
    });
    expect((await run(server.url, [callStep('half'), callStep('half')])).error).toMatch(
      /^The server sent more than 64 MiB/,
    );
    expect((await run(server.url, [callStep('half')])).result).toBe('passed');
  });

  it('fails the case also where it begins with the handshake', async () => {
    await using server = await startRawMcpServer(moderateTools, { initialize: excessiveTools['deep-result']!.call });
    expect(await run(server.url, [callStep('healthy')])).toMatchObject({
      status: 'completed',
      result: 'failed',
      error: 'The server sent JSON that is nested deeper than 1000 levels, the limit for one iteration.',
      steps: [{ status: 'skipped' }],
    });
  });

  it('fails the case also where a list of tools does not end', async () => {
    await using server = await startRawMcpServer({
      healthy: {
        ...moderateTools['healthy']!,
        outputSchema: `{"type":"object","a":${'['.repeat(2000)}${']'.repeat(2000)}}`,
      },
    });
    expect(await run(server.url, [callStep('healthy')])).toMatchObject({
      result: 'failed',
      error: 'The server sent JSON that is nested deeper than 1000 levels, the limit for one iteration.',
    });
  });
});

describe('a server that ends its stream at once and asks for it again', () => {
  it('is reconnected to at most ten times a second, and the case continues', async () => {
    let opened = 0;
    await using server = await startRawMcpServer(
      {
        slow: {
          call: async (response, id, request) => {
            await systemClock.sleep(1000);
            await answerContent('{"n":1}')(response, id, request);
          },
        },
      },
      {
        get: (response) => {
          opened += 1;
          response.writeHead(200, { 'content-type': 'text/event-stream' }).end('retry: 0\nid: 1\ndata: \n\n');
        },
      },
    );
    const startedAtMs = performance.now();
    const outcome = await run(server.url, [callStep('slow')]);
    const seconds = (performance.now() - startedAtMs) / 1000;
    expect(outcome.result).toBe('passed');
    expect(opened).toBeGreaterThan(1);
    expect(opened).toBeLessThanOrEqual(10 * seconds + 2);
  });
});

describe.runIf(process.platform === 'linux')('a server on stdio that sends without end', () => {
  // The other floods of such a server are those of test/cli/flooding-server.test.ts.
  it('fails the case in which it floods with requests, although MCP 2026-07-28 has none', async () => {
    const command = `${process.execPath} ${floodingServerPath}`;
    await using server = await openTestServer({ command, env: { ERA: 'modern' } });
    const target: Target = { url: server.url, serverName: 'flooding', protocol: 'modern' };
    const outcome = await runCase(createCase([callStep('requests')]), target, {
      clock: systemClock,
      timeoutMs: 30_000,
    });
    expect(outcome).toMatchObject({
      result: 'failed',
      error: 'The server sent more than 10000 messages, the limit for one iteration.',
    });
  });
});
