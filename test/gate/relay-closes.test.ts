import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Clock } from '../../src/base/time.ts';
import { createJumpingClock } from '../support/clocks/bent-clock.ts';
import type { ContractService } from '../support/service/contract-service.ts';
import { type HostedGateResult, jobOnBranch, runHostedGate, clientPace } from '../support/gate/hosted-gate.ts';
import { plainServerCommand } from '../support/servers/bundled-servers.ts';
import { type FixtureMcpServer, startFixtureMcpServer, text } from '../support/servers/fixture-mcp-server.ts';
import { startServeProcess } from '../support/service/serve-process.ts';
import { findRemains } from '../support/service/service-remains.ts';
import { openServiceTap, type ServiceTap } from '../support/service/service-tap.ts';

// Whole jobs against a service in another process. Its relay disconnects them in every way that it has.

const started = { 'server-command': plainServerCommand, 'server-cwd': process.cwd() };

/** One case that passes and one that fails, so that an accidental green or red is never the right verdict. */
const mixed = `- title: right
  steps:
    - toolCall: echo
      arguments: { value: hello }
- title: wrong
  steps:
    - toolCall: echo
      arguments: { value: goodbye }
    - assert: { toolResultContains: hello }
`;
const endless = '- title: endless\n  steps:\n    - toolCall: hang\n      arguments: {}\n';

const runIsAskedFor = /^POST .*\/eval-runs$/;
const runIsPolled = /^GET .*\/eval-runs\/[^/]+$/;
const grantIsAskedFor = /^POST .*\/tunnels$/;

let service: ContractService;
let server: FixtureMcpServer;

beforeAll(async () => {
  service = await startServeProcess();
  server = await startFixtureMcpServer({
    echo: { call: ({ args }) => text(String(args['value'])) },
    hang: { call: () => new Promise<never>(() => {}) },
  });
});

afterEach(() => taps.pop()?.[Symbol.asyncDispose]());

afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});

/** The run also ends when its call is interrupted, and the gate must not see that first. */
const whileItRuns = { moment: runIsPolled, goesOn: 'after the job' } as const;
const taps: ServiceTap[] = [];
let jobs = 0;

/** Runs a job and disturbs its tunnel when the given request arrives. The request continues at once by default. */
async function disturbJob(
  { tests, moment, goesOn = 'then' }: { tests: string; moment: RegExp; goesOn?: 'then' | 'after the job' },
  disturb: (tap: ServiceTap) => Promise<void>,
  { inputs = { 'server-url': server.url }, ...options }: { clock?: Clock; inputs?: Record<string, string> } = {},
) {
  const tap = await openServiceTap(service);
  taps.push(tap);
  const held = tap.hold(moment, 'asked');
  jobs += 1;
  const environment = { ...jobOnBranch, GITHUB_RUN_ID: String(jobs), GITHUB_REF_NAME: `change-${jobs}` };
  const job = runHostedGate(tap.service, { ...inputs, tests }, { environment, ...options });
  await Promise.race([held.reached, job]);
  await disturb(tap);
  if (goesOn === 'then') held.release();
  const result = await job;
  held.release();
  return { end: describeEnd(result), log: result.log, tap };
}

function describeEnd({ exitCode, report, leftovers }: HostedGateResult) {
  return {
    exitCode,
    leftovers,
    outcomes: Object.fromEntries(report.cases.map(({ title, outcome }) => [title, outcome])),
    reasons: report.verdict.reasons.map(({ code, message }) => `${code}: ${message}`),
  };
}

const nothing = { grants: [], runs: [], servers: [] };

/** Checks if a host is connected to the latest granted tunnel. */
async function isServed(tap: ServiceTap): Promise<boolean> {
  const { status } = await fetch(tap.grants.at(-1)?.url ?? '', { method: 'POST' });
  return status !== 503 && status !== 401;
}

describe('a hosted job goes on to its true verdict', () => {
  it.each([
    ['1012, as the relay is restarted', 1012, 1],
    ['nothing, as the connection breaks', undefined, 1],
    ['4000, for which it gets another grant', 4000, 2],
  ])('when the relay hangs up with %s', async (_, closeCode, grants) => {
    const { tap, end } = await disturbJob({ tests: mixed, moment: runIsAskedFor }, async (network) => {
      network.hangUp(closeCode);
      await expect.poll(() => [network.dials, network.grants.length]).toEqual([2, grants]);
      await expect.poll(() => isServed(network)).toBe(true);
    });
    expect(end).toMatchObject({ exitCode: 1, leftovers: null, outcomes: { right: 'passed', wrong: 'failed' } });
    expect(tap.runIds).toHaveLength(1);
    expect(await findRemains(service, tap)).toEqual(nothing);
  });
});

describe('a hosted job whose tunnel breaks off right after its last call', () => {
  const breakOffAtTheEnd = async (network: ServiceTap) => {
    const readStatus = async () => (await service.project.get(`/eval-runs/${network.runIds[0]}`)).body.status;
    await expect.poll(readStatus).toBe('completed');
    network.hangUp();
    await expect.poll(() => network.dials).toBe(2);
  };

  it('holds no failure against the server', async () => {
    const { tap, end } = await disturbJob({ tests: mixed, moment: runIsPolled }, breakOffAtTheEnd);
    expect(end).toMatchObject({ exitCode: 3, leftovers: null, outcomes: { right: 'passed', wrong: 'failed' } });
    expect(end.reasons).toEqual([
      expect.stringMatching(/^tunnel-lost: The tunnel broke off 1 time during the run/),
      expect.stringMatching(/^below-minimum: /),
    ]);
    expect(await findRemains(service, tap)).toEqual(nothing);
  });

  it('takes what passed for passed', async () => {
    const [right = ''] = mixed.split('- title: wrong');
    const { tap, end } = await disturbJob({ tests: right, moment: runIsPolled }, breakOffAtTheEnd);
    expect(end).toMatchObject({ exitCode: 0, leftovers: null, outcomes: { right: 'passed' } });
    expect(await findRemains(service, tap)).toEqual(nothing);
  });
});

describe('a hosted job is inconclusive, and names the tunnel', () => {
  it('when the relay wants another token and the service grants none', async () => {
    const { tap, end } = await disturbJob({ tests: endless, ...whileItRuns }, async (network) => {
      network.refuse(grantIsAskedFor);
      network.hangUp(4000);
    });
    expect(end).toMatchObject({
      exitCode: 3,
      leftovers: null,
      outcomes: { endless: 'inconclusive' },
      reasons: expect.arrayContaining([
        expect.stringMatching(/^tunnel-lost: The relay does not take the token .* there is no other: .* Not any more/),
      ]),
    });
    expect(tap.requests.filter((request) => grantIsAskedFor.test(request))).toHaveLength(2);
    expect(await findRemains(service, tap)).toEqual(nothing);
  });

  it('when the relay cannot be reached for a minute', async () => {
    const clock = createJumpingClock(clientPace);
    const { tap, end } = await disturbJob(
      { tests: endless, ...whileItRuns },
      async (network) => {
        network.relayMood = 'refuses';
        network.hangUp();
        // The first dial follows at once, so that a wait follows only after the second failure.
        await expect.poll(() => network.dials).toBeGreaterThan(2);
        clock.jump(60_000);
      },
      { clock },
    );
    expect(end).toMatchObject({
      exitCode: 3,
      leftovers: null,
      outcomes: { endless: 'inconclusive' },
      reasons: expect.arrayContaining([
        expect.stringMatching(/^tunnel-lost: The relay could not be reached for 1 min/),
      ]),
    });
    expect(tap.runIds).toHaveLength(1);
    expect(await findRemains(service, tap)).toEqual(nothing);
  });

  it('when its public URL leads nowhere for a minute, although the relay is connected', async () => {
    // The checks are 20 s apart.
    const clock = createJumpingClock({ fromMs: 15_001, toMs: 25_000, instead: 20 });
    const { tap, end } = await disturbJob(
      { tests: endless, ...whileItRuns },
      async (network) => {
        network.isPublic = false;
      },
      { clock },
    );
    expect(end).toMatchObject({ exitCode: 3, leftovers: null, outcomes: { endless: 'inconclusive' } });
    expect(end.reasons[0]).toMatch(
      /^tunnel-lost: The server could not be reached through the tunnel's public URL for 1 min.* it answered HTTP 503/,
    );
    expect(tap.dials).toBe(1);
    expect(await findRemains(service, tap)).toEqual(nothing);
  });

  it.each([
    ['4001, for another host has the tunnel', 4001, 'Another host took over this tunnel'],
    ['4002, for another job was granted it', 4002, 'another job was granted one under the same server name'],
  ])('when the relay hangs up with %s, and neither takes it back nor closes it', async (_, closeCode, why) => {
    const { tap, end } = await disturbJob({ tests: endless, ...whileItRuns }, async (network) => {
      network.hangUp(closeCode);
    });
    expect(end).toMatchObject({ exitCode: 3, leftovers: null, outcomes: { endless: 'inconclusive' } });
    expect(end.reasons[0]).toMatch(/^tunnel-lost: /);
    expect(end.reasons[0]).toContain(why);
    expect(tap.dials).toBe(1);
    expect(tap.requests.filter((request) => grantIsAskedFor.test(request))).toHaveLength(1);
    expect(tap.requests.filter((request) => /\/close$|^DELETE/.test(request))).toEqual([]);
  });
});

describe('a hosted job whose calls get no answer', () => {
  it('says that the tunnel broke off, even where it was back at once', async () => {
    const { tap, end } = await disturbJob({ tests: endless, moment: runIsPolled }, async (network) => {
      const breakOff = async () => {
        network.hangUp();
        return (await service.project.get(`/eval-runs/${network.runIds[0]}`)).body.status;
      };
      // A call that arrives before the host waits for it, so that at some time one is in progress.
      await expect.poll(breakOff, { interval: 300 }).toBe('completed');
    });
    expect(end).toMatchObject({ exitCode: 3, leftovers: null, outcomes: { endless: 'inconclusive' } });
    expect(end.reasons).toEqual([
      expect.stringMatching(
        /^tunnel-lost: The tunnel broke off \d+ times? during the run, and the calls under way with it/,
      ),
      'no-iterations: No iteration was scored, so nothing was shown.',
      expect.stringMatching(/^results-unknown: 1 iteration ended without a result\./),
    ]);
    expect(tap.runIds).toHaveLength(1);
    expect(await findRemains(service, tap)).toEqual(nothing);
  });

  it('fails the case under which the server dies, and runs the others on', async () => {
    const tests = `${mixed}- title: deadly\n  steps:\n    - toolCall: crash\n      arguments: { code: 9 }\n`;
    const { tap, end } = await disturbJob({ tests, moment: runIsAskedFor }, async () => {}, { inputs: started });
    expect(end).toMatchObject({ exitCode: 1, leftovers: null, outcomes: { deadly: 'failed' } });
    expect(end.reasons).toEqual(['below-minimum: 1 of 3 iterations passed (33.3%), the minimum is 100% (the default)']);
    expect(tap.runIds).toHaveLength(1);
    expect(await findRemains(service, tap)).toEqual(nothing);
  });
});
