import { timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Server } from 'node:net';
import { describeError } from '../base/errors.ts';
import { tryParseJson } from '../base/json.ts';
import { type LoopbackService, serveConnections } from '../http/loopback-service.ts';
import type { ProviderRequest, ProviderResponse } from './driver.ts';

/** A host that sends more is out of order. */
const maxBodyBytes = 64 * 1024 * 1024;

/**
 * Serves a host as its provider on a socket that only the host reaches, where the machine can do that. It takes the token of the run and no
 * other, and the key of the provider stays behind `answer`.
 */
export function openProviderProxy(
  listener: Server,
  { token, answer }: { token: string; answer: (request: ProviderRequest) => Promise<ProviderResponse> },
): LoopbackService {
  const http = createServer({ keepAlive: true, requestTimeout: 0 }, (request, response) => {
    serve(request, { token, answer }).then(
      (answered) => send(response, answered),
      (error: unknown) => send(response, { status: 400, contentType: 'text/plain', body: describeError(error) }),
    );
  });
  return serveConnections(listener, http);
}

async function serve(
  request: IncomingMessage,
  { token, answer }: { token: string; answer: (request: ProviderRequest) => Promise<ProviderResponse> },
): Promise<ProviderResponse> {
  const { method = 'GET', url: path = '/' } = request;
  const text = await readText(request);
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(request.headers)) {
    if (value !== undefined) headers[name] = Array.isArray(value) ? value.join(', ') : value;
  }
  if (!listTokens(path, headers).some((given) => isSame(given, token))) {
    return { status: 401, contentType: 'text/plain', body: 'The token of the run is missing.' };
  }
  return await answer({ method, path, headers, body: tryParseJson(text) ?? null });
}

/** Lists what a host sends as its key, wherever its provider expects it. */
function listTokens(path: string, headers: Readonly<Record<string, string>>): string[] {
  const bearer = /^Bearer (.*)$/i.exec(headers['authorization'] ?? '')?.[1];
  const ofPath = new URLSearchParams(path.split('?')[1] ?? '').get('key');
  return [headers['x-api-key'], headers['api-key'], headers['x-goog-api-key'], bearer, ofPath].filter(
    (given) => typeof given === 'string',
  );
}

function isSame(given: string, token: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(token)];
  return one.length === other.length && timingSafeEqual(one, other);
}

async function readText(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    const bytes = Buffer.from(chunk);
    size += bytes.length;
    if (size > maxBodyBytes) throw new Error('The request of the host is too large.');
    chunks.push(bytes);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function send(response: ServerResponse, { status, contentType, body }: ProviderResponse): void {
  if (response.destroyed) return;
  response.writeHead(status, { 'content-type': contentType, 'content-length': Buffer.byteLength(body) });
  response.end(body);
}
