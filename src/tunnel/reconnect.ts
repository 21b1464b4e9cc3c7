import { readProxyStatus } from '../http/proxy.ts';
import { isCertificateError } from '../http/transport-errors.ts';
import type { ConnectionEnd } from './connection.ts';

/** The step after a connection to the relay has ended. */
export type ReconnectStep =
  | { kind: 'retry'; delayMs: number }
  /** Ask for a new grant, then connect at once. */
  | { kind: 'remint' }
  /** `isConfiguration`: the user has to correct something. */
  | { kind: 'stop'; message: string; hint?: string; isConfiguration?: true };

export interface ReconnectPolicy {
  plan(end: ConnectionEnd, nowMs: number): ReconnectStep;
}

/** A connection that lasted this long resets the counts of earlier failures. */
const stableMs = 60_000;
const firstBackoffMs = 1000;
const longestBackoffMs = 30_000;
const restartSpreadMs = 500;

/**
 * Decides by the close codes of the relay protocol: 4000 the token is not valid, 4001 another host took over, 4002 the grant was closed
 * or rotated, 1012 (RFC 6455 registry) the relay restarts. `random` draws in [0, 1).
 */
export function createReconnectPolicy(random: () => number): ReconnectPolicy {
  // The limit matters for a relay that greets and hangs up: without it, the host would reconnect forever without a pause.
  const takeInstant = limitRate(20);
  const takeRemint = limitRate(3);
  let failures = 0;
  let restarts = 0;
  let refusals = 0;

  const backOff = (attempt: number): ReconnectStep => {
    const delayMs = Math.min(longestBackoffMs, firstBackoffMs * 2 ** (attempt - 1));
    return { kind: 'retry', delayMs: delayMs * (0.5 + random() / 2) };
  };
  const remint = (nowMs: number): ReconnectStep =>
    takeRemint(nowMs)
      ? { kind: 'remint' }
      : { kind: 'stop', message: 'The relay refused the token of each of 3 new grants within a minute.' };
  const refuse = (closeCode: number): ReconnectStep => {
    refusals += 1;
    if (refusals === 1) return backOff(1);
    return { kind: 'stop', message: `The relay refused the connection twice, with ${describeRefusal(closeCode)}.` };
  };

  return {
    plan: ({ closeCode, httpStatus, mismatch, helloAtMs, cause }, nowMs) => {
      if (isCertificateError(cause)) return { kind: 'stop', ...untrusted };
      if (mismatch !== null) return { kind: 'stop', ...describeMismatch(mismatch) };
      const proxyStatus = readProxyStatus(cause);
      if (proxyStatus !== undefined && isLasting(proxyStatus)) return { kind: 'stop', ...describeProxy(proxyStatus) };
      if (helloAtMs !== null) {
        failures = 0;
        const wasStable = nowMs - helloAtMs >= stableMs;
        if (wasStable) refusals = 0;
        if (wasStable || closeCode !== 1012) restarts = 0;
      }
      if (closeCode === 4001) return { kind: 'stop', ...replaced };
      if (closeCode === 4002) return { kind: 'stop', ...revoked };
      if (closeCode === 4000 || httpStatus === 401 || httpStatus === 403) return remint(nowMs);
      if (closeCode === 1012) {
        restarts += 1;
        // Every host of the relay gets this code at the same moment, so the attempts are spread.
        return restarts > 2 ? backOff(restarts - 2) : { kind: 'retry', delayMs: random() * restartSpreadMs };
      }
      if (closeCode === 1008 || closeCode > 4000) return refuse(closeCode);
      if (httpStatus !== null && isLasting(httpStatus)) return refuse(httpStatus);
      failures += 1;
      if (failures === 1 && takeInstant(nowMs)) return { kind: 'retry', delayMs: 0 };
      return backOff(Math.max(1, failures - 1));
    },
  };
}

const replaced = {
  message: 'Another host took over this tunnel.',
  hint: 'Another job uses the same server name; give each its own.',
};
const revoked = {
  message: 'The tunnel was closed, or another job was granted one under the same server name.',
  hint: 'Give each job that runs at the same time its own server name.',
};

const untrusted = {
  isConfiguration: true,
  message: "The relay's certificate cannot be trusted.",
  hint: 'Where a proxy signs its own, give its authority in NODE_EXTRA_CA_CERTS.',
} as const;

/** Another attempt would get the same answer. */
function describeMismatch({ asked, answered }: NonNullable<ConnectionEnd['mismatch']>) {
  const spoken = answered === null ? 'answered with no subprotocol' : `answered with ${JSON.stringify(answered)}`;
  return {
    isConfiguration: true as const,
    message: `The relay was offered the subprotocol ${asked} and ${spoken}.`,
    hint: 'Name the service that the relay belongs to: `service` of the action, `--service` of the command.',
  };
}

function describeProxy(status: number): Omit<Extract<ReconnectStep, { kind: 'stop' }>, 'kind'> {
  return status === 407
    ? {
        isConfiguration: true,
        message: 'The proxy on the way to the relay wants other credentials (status 407).',
        hint: 'Give them in the URL of the proxy, like http://user:password@host:port.',
      }
    : {
        message: `The proxy on the way to the relay refused to connect to it (status ${status}).`,
        hint: 'Have the proxy let CONNECT through to the relay, or name the relay in NO_PROXY.',
      };
}

function describeRefusal(code: number): string {
  return code < 1000 ? `status ${code}` : `close code ${code}`;
}

/** Checks if another attempt would get the same status. */
function isLasting(status: number): boolean {
  return status >= 300 && status < 500 && status !== 408 && status !== 429;
}

/** Allows `count` within any minute. */
function limitRate(count: number): (nowMs: number) => boolean {
  let taken: number[] = [];
  return (nowMs) => {
    taken = taken.filter((atMs) => nowMs - atMs < stableMs);
    if (taken.length >= count) return false;
    taken.push(nowMs);
    return true;
  };
}
