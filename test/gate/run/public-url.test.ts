import { afterEach, describe, expect, it } from 'vitest';
import type { Clock } from '../../../src/base/time.ts';
import { TunnelError } from '../../../src/base/errors.ts';
import { silentLogger } from '../../../src/base/logger.ts';
import { Secret } from '../../../src/base/redaction.ts';
import { type PublicUrlWatch, watchPublicUrl } from '../../../src/gate/run/public-url.ts';
import type { ProxySettings } from '../../../src/http/proxy.ts';
import { createJumpingClock } from '../../support/clocks/bent-clock.ts';
import { type Answer, findClosedPort, hangUp, json, raw, startHttpServer } from '../../support/network/http-server.ts';
import { startForwardProxy } from '../../support/network/forward-proxy.ts';
import { shakesHands } from '../../support/servers/mcp-handshake.ts';
import { catchError } from '../../support/service/service-client.ts';

const open: AsyncDisposable[] = [];

afterEach(async () => {
  for (const thing of open.splice(0).toReversed()) await thing[Symbol.asyncDispose]();
});

function keep<T extends AsyncDisposable>(thing: T): T {
  open.push(thing);
  return thing;
}

const noTunnel = json(503, { code: 'SERVER_UNREACHABLE', message: 'No host is connected to this tunnel.' });
const page = raw(200, '<!doctype html><title>Sign in</title>', { 'content-type': 'text/html' });
const silence: Answer = () => {};

function watch(
  origin: string,
  clock: Clock,
  options: { isOneAtATime?: boolean; hostLost?: Promise<TunnelError>; proxy?: ProxySettings } = {},
) {
  const url = new Secret(`${origin}/api/mcp/adapter-http/srv_1?k=k_canary`);
  return keep(
    watchPublicUrl(() => url, {
      clock,
      logger: silentLogger,
      proxy: undefined,
      isOneAtATime: false,
      hostLost: new Promise(() => {}),
      signal: new AbortController().signal,
      ...options,
    }),
  );
}

/** Shortens waits between attempts but counts their time as passed. The attempts take real time. */
const hurriedRetries = { fromMs: 100, toMs: 1000, instead: 5 };
/** Shortens the time limit of an attempt. */
const hurriedAttempts = { fromMs: 1000, toMs: 15_001, instead: 100 };
/** Shortens the waits between later checks. */
const hurriedLooks = { fromMs: 15_001, toMs: 25_000, instead: 5 };

describe('the public URL of a tunnel', () => {
  it('is ready with the first handshake that succeeds', async () => {
    const server = keep(await startHttpServer([noTunnel, noTunnel, shakesHands]));
    await watch(server.origin, createJumpingClock(hurriedRetries)).ready;
    expect(server.requests.length).toBeGreaterThan(2);
  });

  it('is asked through the proxy of the job', async () => {
    const server = keep(await startHttpServer(shakesHands));
    const proxy = keep(await startForwardProxy());
    const settings = { httpProxy: `http://${proxy.place}`, httpsProxy: null, noProxy: null };
    await watch(server.origin, createJumpingClock(hurriedRetries), { proxy: settings }).ready;
    expect(proxy.asked.join('\n')).toContain(server.origin.replace('http://', ''));
    const closed = { ...settings, httpProxy: `http://127.0.0.1:${await findClosedPort()}` };
    const { ready } = watch(server.origin, createJumpingClock(hurriedRetries), { proxy: closed });
    expect((await catchError(ready)).message).toContain('ECONNREFUSED');
  });

  it.each([
    ['says that no host is there', noTunnel, 'it answered HTTP 503: No host is connected to this tunnel.'],
    ['shows a page where there is nothing', raw(404, '<h1>Gone'), 'it answered HTTP 404.'],
    ['shows a page to sign in', page, 'Unexpected content type: text/html.'],
    ['breaks off', hangUp, 'fetch failed: other side closed.'],
  ])('is not ready while it %s', async (_, answer, why) => {
    const server = keep(await startHttpServer(answer));
    const error = await catchError(watch(server.origin, createJumpingClock(hurriedRetries)).ready);
    expect(error).toBeInstanceOf(TunnelError);
    expect(error.message).toBe(`The server could not be reached through the tunnel's public URL for 30 s: ${why}`);
  });

  it('is not ready while there is no answer', async () => {
    const server = keep(await startHttpServer(silence));
    const error = await catchError(watch(server.origin, createJumpingClock(hurriedAttempts)).ready);
    expect(error.message).toBe(
      "The server could not be reached through the tunnel's public URL for 30 s: it did not answer within 10 s.",
    );
  });

  it("ends with the host's error when the host ends", async () => {
    const server = keep(await startHttpServer(noTunnel));
    const hostLost = Promise.resolve(new TunnelError('Another host took over this tunnel.'));
    const { ready } = watch(server.origin, createJumpingClock(hurriedRetries), { hostLost });
    expect((await catchError(ready)).message).toBe('Another host took over this tunnel.');
  });
});

/** Watches a server. `choose` decides the answer to the nth handshake, counted from 0. `outlast` waits until there were this many. */
async function watchServer(choose: (count: number) => Answer, options: { isOneAtATime?: boolean } = {}) {
  let handshakes = 0;
  let answer = silence;
  const server = keep(
    await startHttpServer((response, request) => {
      if (request.body.includes('"initialize"')) answer = choose(handshakes++);
      return answer(response, request);
    }),
  );
  const watched = watch(server.origin, createJumpingClock(hurriedLooks), options);
  await watched.ready;
  return {
    watched,
    outlast: (count: number) => expect.poll(() => handshakes).toBeGreaterThan(count),
    countHandshakes: () => handshakes,
  };
}

async function isLost({ lost }: PublicUrlWatch): Promise<boolean> {
  return await Promise.race([
    lost.then(() => true),
    new Promise<false>((resolve) => setImmediate(() => resolve(false))),
  ]);
}

describe('the public URL of a tunnel in use', () => {
  it('is lost when no handshake has succeeded for a minute', async () => {
    const { watched, countHandshakes } = await watchServer((count) => (count < 4 ? shakesHands : noTunnel));
    // The attempts take real time, which may add a second.
    expect((await watched.lost).message).toMatch(
      /^The server could not be reached through the tunnel's public URL for 1 min(?: \d+ s)?: it answered HTTP 503: No host is connected to this tunnel\.$/,
    );
    // With a check every 20 s, the third failed one is over a minute after the last successful one.
    expect(countHandshakes()).toBe(4 + 3);
  });

  it('is not lost by outages that are shorter, however many', async () => {
    const { watched, outlast } = await watchServer((count) => (count % 3 === 0 ? shakesHands : noTunnel));
    await outlast(12);
    expect(await isLost(watched)).toBe(false);
  });

  it('is not checked again if each handshake would wait for those of the run', async () => {
    const { watched, countHandshakes } = await watchServer(() => shakesHands, { isOneAtATime: true });
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(countHandshakes()).toBe(1);
    expect(await isLost(watched)).toBe(false);
  });
});
