import { silentLogger } from '../../../src/base/logger.ts';
import { CancelledError } from '../../../src/base/errors.ts';
import { readProxySettings } from '../../../src/http/proxy.ts';
import { Secret } from '../../../src/base/redaction.ts';
import { serviceProfiles } from '../../../src/service/profile.ts';
import { clearRemoteResources } from '../../../src/gate/run/clear-remote.ts';
import { saveServer } from '../service/contract-service.ts';
import { startForwardProxy } from '../network/forward-proxy.ts';
import { findClosedPort } from '../network/http-server.ts';
import { startSilentServer } from '../servers/silent-server.ts';
import type { FaultWorld } from './fault-world.ts';
import { type Letter, trial } from './letters.ts';

/** Faults of the job itself and of its machine. */

const hourMs = 3_600_000;

/** The wall clock is set forward or back during a request. Only records use the wall clock. */
export const wallClock: Letter = trial((draw, phase) => {
  const hours = draw.pick([2, -2, 24 * 365, -24 * 365, 1]);
  const nth = draw.between(1, Math.min(3, phase.usual));
  return {
    what: `${hours} h at request ${nth}`,
    arm: ({ front, clock }) => front.onRequest(phase.route, nth, () => clock.setWall(hours * hourMs)),
    expected: { exitCode: 0, requests: [phase.usual - 1, phase.usual], tookMs: [0, 15_000] },
  };
});

/** The port is closed, the server never answers, or the server does not speak MCP. */
export const serverAbsent: Letter = trial((draw) => {
  const kind = draw.pick(['closed', 'silent', 'other'] as const);
  return {
    what: kind,
    arm: async (world) => {
      if (kind === 'closed') return world.useServer(`http://127.0.0.1:${await findClosedPort()}/mcp`);
      if (kind === 'other') return world.useServer(`${world.front.origin}/api/v1/me`);
      const silent = world.defer(await startSilentServer());
      world.useServer(`http://127.0.0.1:${silent.port}/mcp`);
    },
    expected: {
      exitCode: 3,
      requests: 0,
      runs: 0,
      says: /No MCP server answered|asks for authorization/,
      tookMs: [0, 90_000],
    },
  };
});

export const serverDies: Letter = trial((draw) => {
  const nth = draw.between(1, 3);
  return {
    what: `at poll ${nth}`,
    arm: ({ front, mcpServer }) => front.onRequest('poll', nth, () => void mcpServer[Symbol.asyncDispose]()),
    inputs: { tunnel: draw.pick(['always', 'never']) },
    expected: { exitCode: 3, runs: 1, tookMs: [0, 60_000] },
  };
});

function stopBy(draw: { pick<T>(items: readonly T[]): T }) {
  const signal = draw.pick(['SIGINT', 'SIGTERM'] as const);
  return { reason: new CancelledError(`Stopped by ${signal}.`, { signal }), exitCode: signal === 'SIGINT' ? 130 : 143 };
}

export const stoppedAtDial: Letter = trial((draw) => {
  const { reason, exitCode } = stopBy(draw);
  const waitMs = draw.between(0, 3000);
  return {
    what: `${reason.message} ${waitMs} ms after the grant`,
    arm: ({ front, stop, clock }) => {
      front.relay.strikeDials(['silence'], { forGood: true });
      front.onRequest('grant', 1, () => void clock.sleep(waitMs).then(() => stop.abort(reason)));
    },
    expected: { exitCode, runs: 0 },
  };
});

/** The service starts the run, but the job never gets the answer. */
export const stoppedAtCreate: Letter = trial((draw) => {
  const { reason, exitCode } = stopBy(draw);
  return {
    what: reason.message,
    arm: ({ front, stop, clock }) => {
      front.strike({
        route: 'run',
        from: 1,
        count: 1,
        fault: async (exchange) => {
          if (draw.between(0, 1) === 1) await clock.sleep(draw.between(0, 1500));
          await exchange.forward();
        },
      });
      front.onRequest('run', 1, () => void clock.sleep(10).then(() => stop.abort(reason)));
    },
    expected: { exitCode, mayNote: true },
  };
});

/** The time limit passes while the service starts the run. */
export const outOfTimeAtCreate: Letter = trial((draw) => ({
  what: 'out of time',
  arm: ({ front }) =>
    front.strike({ route: 'run', from: 1, count: 1, fault: async ({ forward }) => void (await forward()) }),
  inputs: { timeout: `${draw.between(20, 90)}s` },
  expected: { exitCode: 3, runs: 1, requests: 1 },
}));

/** After the job is killed, another process with only its cleanup journal cleans everything up. */
export const killed: Letter = trial((draw) => {
  const moment = draw.pick(['grant', 'run', 'poll', 'page'] as const);
  return {
    what: `at the first ${moment}`,
    arm: (world: FaultWorld) => {
      const { front, service, clock } = world;
      const clear = async () => {
        const { book } = world;
        // The process is gone: none of its later requests arrives.
        world.kill();
        if (book === null) return;
        const apiKey = new Secret(service.apiKey);
        await clearRemoteResources(book, {
          profile: serviceProfiles.svc,
          baseUrl: service.baseUrl,
          apiKey,
          proxy: readProxySettings({}),
          clock,
          logger: silentLogger,
        });
      };
      front.onRequest(moment, 1, () => world.afterwards(clock.sleep(0).then(clear)));
    },
    expected: { exitCode: 130 },
  };
});

export const proxyRefuses: Letter = trial((draw) => {
  const credentials = draw.pick(['', 'someone:wrong@']);
  return {
    what: credentials === '' ? 'wants credentials' : 'wants others',
    arm: async (world) => {
      const proxy = world.defer(await startForwardProxy({ credentials: 'someone:right' }));
      world.environment['HTTP_PROXY'] = `http://${credentials}${proxy.place}`;
    },
    expected: { exitCode: 2, requests: 0, runs: 0, says: /proxy/ },
  };
});

export const proxyLeads: Letter = trial((draw) => ({
  what: 'leads on',
  arm: async (world) => {
    const proxy = world.defer(await startForwardProxy({ credentials: 'someone:right' }));
    world.environment['HTTP_PROXY'] = `http://someone:right@${proxy.place}`;
    if (draw.isEven()) world.environment['NO_PROXY'] = 'localhost';
  },
  expected: { exitCode: 0, runs: 1 },
}));

/** An existing record gets its previous content back. */
export const nameTaken: Letter = trial(() => ({
  what: 'by a record',
  arm: async ({ service }) => void (await saveServer(service, { name: 'shared', url: 'https://before.test/mcp' })),
  inputs: { 'server-name': 'shared' },
  expected: { exitCode: 0, restores: 'https://before.test/mcp', mayLeave: true },
}));

/** Another job is granted the tunnel, and keeps it. */
export const nameTakenInRun: Letter = trial((draw) => ({
  what: 'by another job',
  arm: ({ front, service }) =>
    front.onRequest('poll', draw.between(1, 3), () => void service.project.post('/tunnels', { name: 'shared' })),
  inputs: { tunnel: 'always', 'server-name': 'shared' },
  expected: { exitCode: 3, runs: 1, mayLeave: true, untouched: ['close', 'delete-server'], says: /another job/ },
}));
