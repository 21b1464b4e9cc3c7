import { timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

/** Why a request is turned away before anything of it is read. */
export interface Refusal {
  status: 400 | 403 | 404 | 405;
  message: string;
}

/**
 * Judges who may speak to the bridge: the exact secret path, a Host that names this very listener, and no Origin but its own
 * (MCP 2025-11-25, Transports, Security Warning). Null when the request may pass. `Host` is what a page that rebinds DNS
 * cannot forge, `Origin` what a browser always adds, and the path what other users of the machine cannot guess.
 */
export function judgeRequest(
  request: Pick<IncomingMessage, 'headersDistinct' | 'httpVersion' | 'url' | 'method'>,
  listener: { port: number; path: string },
): Refusal | null {
  const { host: hosts = [], origin: origins = [], upgrade } = request.headersDistinct;
  const own = [`127.0.0.1:${listener.port}`, `localhost:${listener.port}`];
  const [host] = hosts;
  if (hosts.length !== 1 || host === undefined || !own.includes(host.toLowerCase())) {
    return { status: 403, message: 'The Host header does not name this server.' };
  }
  if (!origins.every((origin) => own.some((name) => origin.toLowerCase() === `http://${name}`))) {
    return { status: 403, message: 'Requests from this Origin are not served.' };
  }
  if (!isSamePath(request.url ?? '', listener.path)) return { status: 404, message: 'Not found.' };
  // A request line that a line break cuts short reads as HTTP/0.9.
  if (upgrade !== undefined || request.httpVersion !== '1.1') {
    return { status: 400, message: 'This server speaks HTTP/1.1 only.' };
  }
  if (!['POST', 'GET', 'DELETE'].includes(request.method ?? '')) return { status: 405, message: 'Method not allowed.' };
  return null;
}

function isSamePath(url: string, path: string): boolean {
  const given = Buffer.from(url);
  const expected = Buffer.from(path);
  return given.length === expected.length && timingSafeEqual(given, expected);
}
