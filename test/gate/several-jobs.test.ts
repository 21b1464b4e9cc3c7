import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CancelledError } from '../../src/base/errors.ts';
import { createHurriedClock } from '../support/clocks/bent-clock.ts';
import type { ContractService } from '../support/service/contract-service.ts';
import { jobOnBranch, runHostedGate } from '../support/gate/hosted-gate.ts';
import { plainServerCommand } from '../support/servers/bundled-servers.ts';
import { startServeProcess } from '../support/service/serve-process.ts';
import { findRemains } from '../support/service/service-remains.ts';
import { openServiceTap } from '../support/service/service-tap.ts';

const server = { 'server-command': plainServerCommand, isolation: 'run' };
const quick = '- title: quick\n  steps:\n    - toolCall: echo\n      arguments: { value: hello }\n';
const slow = '- title: slow\n  steps:\n    - toolCall: hang\n      arguments: {}\n';

let service: ContractService;

beforeAll(async () => {
  service = await startServeProcess();
});

afterAll(() => service[Symbol.asyncDispose]());

describe('two jobs with the same server name', () => {
  const shared = { ...server, 'server-name': 'shared', 'suite-scope': 'run' };

  it('let the later job take over, and the earlier job does not close its tunnel', async () => {
    await using tap = await openServiceTap(service);
    const earlierRuns = Promise.withResolvers<void>();
    const earlier = runHostedGate(
      service,
      { ...shared, tests: slow },
      { onProgress: ({ kind }) => void (kind === 'run-started' && earlierRuns.resolve()) },
    );
    await Promise.race([earlierRuns.promise, earlier]);
    const held = tap.hold(/^POST .*\/eval-runs$/, 'asked');
    const later = runHostedGate(
      tap.service,
      { ...shared, tests: quick },
      { environment: { ...jobOnBranch, GITHUB_RUN_ID: '42' } },
    );
    const { exitCode, report, leftovers } = await earlier;
    expect({ exitCode, leftovers, outcome: report.verdict.outcome }).toEqual({
      exitCode: 3,
      leftovers: null,
      outcome: 'inconclusive',
    });
    expect(report.verdict.reasons[0]).toMatchObject({
      code: 'tunnel-lost',
      message: expect.stringContaining('another job was granted one under the same server name'),
    });
    await held.reached;
    held.release();
    expect(await later).toMatchObject({ exitCode: 0, leftovers: null });
    expect(await findRemains(service, tap)).toMatchObject({ grants: [], runs: [] });
  });

  it('let the later job take over while the earlier one opens its tunnel', async () => {
    await using tap = await openServiceTap(service);
    const held = tap.hold(/^POST \/api\/mcp\//, 'asked');
    const earlier = runHostedGate(tap.service, { ...shared, tests: quick });
    await Promise.race([held.reached, earlier]);
    const theirs = (await service.project.post('/tunnels', { name: 'shared' })).body.url;
    const { exitCode, report, leftovers } = await earlier;
    held.release();
    expect({ exitCode, leftovers, code: report.verdict.reasons[0]?.code }).toEqual({
      exitCode: 3,
      leftovers: null,
      code: 'tunnel-lost',
    });
    // The tunnel is not revoked; without a host, the relay answers 503.
    expect((await fetch(theirs, { method: 'POST' })).status).toBe(503);
  });
});

describe('eight jobs of a matrix at once', () => {
  it('all pass, each with its own server, although the service allows only two runs at once', async () => {
    const names: string[] = [];
    let waits = 0;
    const clock = createHurriedClock({ fromMs: 15_000, toMs: 30_000, instead: 300 });
    // Two runs use up the limit until a third job waits.
    const room = new AbortController();
    const started = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const others = started.map(({ resolve }, index) =>
      runHostedGate(
        service,
        { ...server, 'comment-id': String(100 + index), 'suite-scope': 'run', tests: slow },
        { signal: room.signal, onProgress: ({ kind }) => void (kind === 'run-started' && resolve()) },
      ),
    );
    await Promise.race([Promise.all(started.map(({ promise }) => promise)), Promise.all(others)]);
    const jobs = await Promise.all(
      Array.from({ length: 8 }, (_, index) =>
        runHostedGate(
          service,
          { ...server, 'comment-id': String(index), tests: quick },
          {
            clock,
            onProgress: (progress) => {
              if (progress.kind === 'tunnel-opening') names.push(progress.serverName);
              if (progress.kind !== 'run-queued') return;
              waits += 1;
              room.abort(new CancelledError('A job waits.'));
            },
          },
        ),
      ),
    );
    await Promise.all(others);
    expect(jobs.map(({ exitCode }) => exitCode)).toEqual(Array.from({ length: 8 }, () => 0));
    expect(new Set(names).size).toBe(8);
    expect(waits).toBeGreaterThan(0);
    const servers: Array<{ name: string }> = (await service.project.get('/servers')).body.items;
    expect(servers.map(({ name }) => name).filter((name) => name !== 'shared')).toEqual([]);
  });
});
