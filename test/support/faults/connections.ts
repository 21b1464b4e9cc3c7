import { channel } from 'node:diagnostics_channel';
import dns, { type LookupAddress, type LookupOptions } from 'node:dns';
import type { SecureContextOptions } from 'node:tls';
import type { Clock } from '../../../src/base/time.ts';
import { findRoute, type Route } from './routes.ts';

/** A fault that prevents a connection, so that nothing is ever sent. */
export type ConnectFault = 'ENOTFOUND' | 'EAI_AGAIN' | 'ECONNREFUSED' | { certificate: SecureContextOptions };

/** Breaks connections while they are being established: by name, by port, by certificate. */
export interface ConnectionBreaker extends Disposable {
  /** Breaks the connections of `count` requests of a route, starting at attempt `from`. */
  strike(strike: { route: Route; from: number; count: number; fault: ConnectFault }): void;
  /** Breaks the next connections to the front, whatever their purpose. */
  strikeNext(count: number, fault: ConnectFault): void;
  /** The times of all attempts to request a route, including those that never arrived. */
  attempts(route: Route): readonly number[];
}

type Callback = (error: Error | null, address?: string | LookupAddress[], family?: number) => void;

const frontHost = 'localhost';
/** The service listens only on `openAddress`. */
const openAddress = { address: '127.0.0.1', family: 4 };
const closedAddress = { address: '::1', family: 6 };

/** Listens to the events of the HTTP client and to the name resolution of the process, until it is disposed. */
export function breakConnections(
  front: { setCertificate: (certificate: SecureContextOptions | null) => void },
  clock: Clock,
): ConnectionBreaker {
  const strikes: Array<{ route: Route; from: number; count: number; fault: ConnectFault }> = [];
  const attempts = new Map<Route, number[]>();
  let due: { count: number; fault: ConnectFault } | null = null;

  const arm = (next: typeof due) => {
    due = next;
    front.setCertificate(typeof next?.fault === 'object' ? next.fault.certificate : null);
  };
  const announced = (message: unknown) => {
    const { method, path } = (message as { request: { method: string; path: string } }).request;
    const route = findRoute(method, path.split('?')[0]?.replace('/api/v1', '') ?? '');
    if (route === null) return;
    const times = [...(attempts.get(route) ?? []), clock.monotonicMs()];
    attempts.set(route, times);
    const nth = times.length;
    const strike = strikes.find(
      (candidate) => candidate.route === route && nth >= candidate.from && nth < candidate.from + candidate.count,
    );
    if (strike !== undefined) arm({ count: 1, fault: strike.fault });
    else if (strikes.length > 0) arm(null);
  };
  const requests = channel('undici:request:create');
  requests.subscribe(announced);

  const { lookup } = dns;
  const resolve = (hostname: string, options: LookupOptions, callback: Callback) => {
    if (hostname !== frontHost) return lookup(hostname, options, callback as never);
    const fault = due !== null && due.count > 0 ? due.fault : null;
    if (due !== null) due.count -= 1;
    if (fault === 'ENOTFOUND' || fault === 'EAI_AGAIN') {
      const error = Object.assign(new Error(`getaddrinfo ${fault} ${hostname}`), {
        code: fault,
        syscall: 'getaddrinfo',
        hostname,
      });
      return queueMicrotask(() => callback(error));
    }
    const found = fault === 'ECONNREFUSED' ? closedAddress : openAddress;
    queueMicrotask(() => (options.all ? callback(null, [found]) : callback(null, found.address, found.family)));
  };
  dns.lookup = resolve as typeof lookup;

  return {
    strike: (strike) => void strikes.push(strike),
    strikeNext: (count, fault) => arm({ count, fault }),
    attempts: (route) => attempts.get(route) ?? [],
    [Symbol.dispose]: () => {
      requests.unsubscribe(announced);
      dns.lookup = lookup;
    },
  };
}
