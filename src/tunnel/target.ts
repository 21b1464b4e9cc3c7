import { Pool } from 'undici';
import { ConfigurationError } from '../base/errors.ts';
import { createPathMap } from './scope.ts';
import type { PathMap } from './scope.ts';

/** The one HTTP server that a tunnel leads to. */
export interface TunnelTarget extends AsyncDisposable {
  readonly origin: string;
  readonly pool: Pool;
  readonly mapPath: PathMap;
}

const connectTimeoutMs = 10_000;

/**
 * Prepares requests to one URL. Origin and path are settled here; nothing that comes through the tunnel changes them.
 *
 * @throws {ConfigurationError} unless it is an http or https URL without user and password
 */
export function openTarget(url: string, serverId: string): TunnelTarget {
  const target = URL.parse(url);
  if (target === null || !/^https?:$/.test(target.protocol) || target.username !== '' || target.password !== '') {
    const message = 'the server behind the tunnel needs an http or https URL without user and password';
    throw new ConfigurationError([{ code: 'invalid-url', input: 'server-url', message }]);
  }
  const pool = new Pool(target.origin, {
    // How long an answer may take is for those to say who ask: a tool call may take minutes, a stream lasts for hours.
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: { timeout: connectTimeoutMs, rejectUnauthorized: true },
  });
  return {
    origin: target.origin,
    pool,
    mapPath: createPathMap(serverId, target),
    [Symbol.asyncDispose]: () => pool.destroy(),
  };
}
