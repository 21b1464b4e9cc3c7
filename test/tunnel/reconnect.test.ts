import { describe, expect, it } from 'vitest';
import type { ConnectionEnd } from '../../src/tunnel/connection.ts';
import { createReconnectPolicy } from '../../src/tunnel/reconnect.ts';

const failed: ConnectionEnd = { closeCode: 1006, httpStatus: null, mismatch: null, helloAtMs: null, cause: undefined };

/** Plans one step per end; `atMs` apart, each connection greeted at once unless the end says otherwise. */
function planAll(ends: ReadonlyArray<Partial<ConnectionEnd>>, { random = 1, everyMs = 10 } = {}) {
  const policy = createReconnectPolicy(() => random);
  return ends.map((end, index) => {
    const step = policy.plan({ ...failed, ...end }, index * everyMs);
    return step.kind === 'retry' ? step.delayMs : step.kind;
  });
}

const greeted = (closeCode: number, count: number) =>
  Array.from({ length: count }, () => ({ closeCode, helloAtMs: 0 }));

describe('the reconnect policy', () => {
  it('dials at once, then backs off from 1 s to 30 s', () => {
    const steps = planAll(Array.from({ length: 8 }, () => failed));
    expect(steps).toEqual([0, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]);
  });

  it('spreads the waits over their upper half', () => {
    expect(planAll([failed, failed, failed], { random: 0 })).toEqual([0, 500, 1000]);
  });

  it('starts anew after a hello', () => {
    expect(planAll([failed, failed, { helloAtMs: 0 }, failed])).toEqual([0, 1000, 0, 1000]);
  });

  it('pauses between dials when the relay greets and hangs up again and again', () => {
    const steps = planAll(greeted(1011, 22));
    expect(steps.slice(0, 20)).toEqual(Array.from({ length: 20 }, () => 0));
    expect(steps.slice(20)).toEqual([1000, 1000]);
  });

  it.each([1000, 1001, 1006, 1009, 1011, 3000])('takes close code %i for passing', (closeCode) => {
    expect(planAll([{ closeCode, helloAtMs: 0 }])).toEqual([0]);
  });

  it('follows a restart within 500 ms and backs off from the third in a row', () => {
    expect(planAll(greeted(1012, 5))).toEqual([500, 500, 1000, 2000, 4000]);
    expect(planAll(greeted(1012, 2), { random: 0 })).toEqual([0, 0]);
    const interrupted = [...greeted(1012, 2), ...greeted(1001, 1), ...greeted(1012, 1)];
    expect(planAll(interrupted)).toEqual([500, 500, 0, 500]);
  });

  it('asks for another grant on 4000, three times a minute', () => {
    expect(planAll(greeted(4000, 4))).toEqual(['remint', 'remint', 'remint', 'stop']);
    expect(planAll(greeted(4000, 4), { everyMs: 30_000 })).toEqual(['remint', 'remint', 'remint', 'remint']);
    expect(planAll([{ httpStatus: 401 }, { httpStatus: 403 }])).toEqual(['remint', 'remint']);
  });

  it.each([4001, 4002])('never dials again after %i', (closeCode) => {
    expect(planAll(greeted(closeCode, 1))).toEqual(['stop']);
  });

  it.each([1008, 4003, 4999])('dials once more after %i', (closeCode) => {
    expect(planAll(greeted(closeCode, 2))).toEqual([1000, 'stop']);
    // A connection that lasted for a minute wipes out the one before.
    expect(planAll(greeted(closeCode, 2), { everyMs: 60_000 })).toEqual([1000, 1000]);
  });

  it.each([302, 400, 404, 426])('dials once more when the handshake is refused with %i', (httpStatus) => {
    expect(planAll([{ httpStatus }, { httpStatus }])).toEqual([1000, 'stop']);
  });

  it.each([408, 429, 500, 503])('takes a handshake refused with %i for passing', (httpStatus) => {
    expect(planAll([{ httpStatus }, { httpStatus }])).toEqual([0, 1000]);
  });

  it('stops at a certificate that cannot be trusted, and not at other errors', () => {
    const cause = (code: string) => Object.assign(new Error('x'), { code });
    expect(planAll([{ cause: cause('DEPTH_ZERO_SELF_SIGNED_CERT') }])).toEqual(['stop']);
    expect(planAll([{ cause: cause('ECONNREFUSED') }])).toEqual([0]);
  });

  it.each([
    [407, 'stop'],
    [403, 'stop'],
    [502, 0],
    [429, 0],
  ])('takes a proxy that answers a CONNECT with %i for %j', (statusCode, step) => {
    const cause = Object.assign(new Error('x'), { code: 'ERR_PROXY_TUNNEL', statusCode });
    expect(planAll([{ cause }])).toEqual([step]);
  });
});
