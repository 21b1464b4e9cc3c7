import { describe, expect, it } from 'vitest';
import { systemClock, startDeadline } from '../../src/base/time.ts';
import { ConfigurationError } from '../../src/base/errors.ts';
import { silentLogger } from '../../src/base/logger.ts';
import { Secret } from '../../src/base/redaction.ts';
import { openCollector, parseCollectorUrl } from '../../src/otlp/collector.ts';
import { type Answer, findClosedPort, hangUp, json, raw, startHttpServer } from '../support/network/http-server.ts';

const noProxy = { httpProxy: null, httpsProxy: null, noProxy: null };
const headers = new Map([['X-Api-Key', new Secret('collector-key-0123456789')]]);

const named = { variable: 'OTEL_EXPORTER_OTLP_ENDPOINT', isWhole: false };

function open(origin: string, signal = new AbortController().signal) {
  return openCollector({
    url: parseCollectorUrl({ ...named, endpoint: origin, headers }),
    headers,
    proxy: noProxy,
    clock: systemClock,
    logger: silentLogger,
    deadline: startDeadline(systemClock, 20_000, 'Sending the traces'),
    signal,
    random: () => 0,
  });
}

async function exportTo(answers: Answer | readonly Answer[]) {
  await using server = await startHttpServer(answers);
  await using collector = open(server.origin);
  const outcome = await collector.exportTraces('{"resourceSpans":[]}').catch((error: unknown) => error);
  return { outcome, requests: server.requests };
}

describe('openCollector', () => {
  it('posts JSON with the headers to /v1/traces', async () => {
    const { outcome, requests } = await exportTo(json(200, {}));
    expect(outcome).toEqual({ rejectedSpans: 0, reason: '' });
    expect(requests).toMatchObject([{ method: 'POST', url: '/v1/traces', body: '{"resourceSpans":[]}' }]);
    expect(requests[0]?.headers).toMatchObject({
      'content-type': 'application/json',
      'x-api-key': 'collector-key-0123456789',
    });
  });

  it.each([
    ['an empty answer', raw(200, '')],
    ['an answer that is not JSON', raw(202, 'ok', { 'content-type': 'text/plain' })],
    ['an empty partial success', json(200, { partialSuccess: {} })],
  ])('takes %s for all of it', async (_, answer) => {
    expect((await exportTo(answer)).outcome).toEqual({ rejectedSpans: 0, reason: '' });
  });

  it('reports the spans that the collector rejected', async () => {
    const partialSuccess = { rejectedSpans: '3', errorMessage: 'too old' };
    expect((await exportTo(json(200, { partialSuccess }))).outcome).toEqual({ rejectedSpans: 3, reason: 'too old' });
  });

  it('retries if the collector is busy, unreachable for a moment or hangs up', async () => {
    const busy = json(503, { message: 'busy' }, { 'retry-after': '0.01' });
    const { outcome, requests } = await exportTo([busy, hangUp, json(429, {}), json(200, {})]);
    expect(outcome).toEqual({ rejectedSpans: 0, reason: '' });
    expect(requests).toHaveLength(4);
  });

  it('does not retry a rejected request, and quotes no header', async () => {
    const refuse: Answer = async (response, request) =>
      await json(401, { code: 'UNAUTHENTICATED', message: `bad ${String(request.headers['x-api-key'])}` })(
        response,
        request,
      );
    const { outcome, requests } = await exportTo(refuse);
    expect(requests).toHaveLength(1);
    expect(String(outcome)).toMatch(/answered 401 UNAUTHENTICATED to POST \/v1\/traces: bad \*\*\*$/);
  });

  it('follows no redirect', async () => {
    const { outcome, requests } = await exportTo(raw(307, '', { location: 'http://127.0.0.1:1/v1/traces' }));
    expect(requests).toHaveLength(1);
    expect(String(outcome)).toContain('redirects are not followed');
  });

  it('gives up on an unreachable collector', async () => {
    await using collector = open(`http://127.0.0.1:${await findClosedPort()}`);
    await expect(collector.exportTraces('{}')).rejects.toThrow(/No answer from 127\.0\.0\.1:\d+ .*ECONNREFUSED/);
  });

  it('ends with the job', async () => {
    const stop = new AbortController();
    await using server = await startHttpServer(() => stop.abort(new Error('stopped')));
    await using collector = open(server.origin, stop.signal);
    await expect(collector.exportTraces('{}')).rejects.toThrow('stopped');
  });
});

describe('parseCollectorUrl', () => {
  const none = new Map<string, Secret>();

  it.each([
    ['https://host:4318', 'https://host:4318/v1/traces'],
    ['https://host/otlp/', 'https://host/otlp/v1/traces'],
    ['https://host/otlp/v1/traces', 'https://host/otlp/v1/traces'],
    ['http://otel-collector:4318', 'http://otel-collector:4318/v1/traces'],
  ])('reads %s', (text, url) => {
    expect(parseCollectorUrl({ ...named, endpoint: text, headers: none }).href).toBe(url);
  });

  it('adds nothing to a whole URL', () => {
    const { href } = parseCollectorUrl({ ...named, isWhole: true, endpoint: 'https://host/in', headers: none });
    expect(href).toBe('https://host/in');
  });

  it.each([
    ['localhost:4318', none, 'is not an http or https URL'],
    ['collector', none, 'is not an http or https URL'],
    ['https://user:secret-word@host', none, 'has a user, password, query or fragment'],
    ['http://otel-collector:4318', headers, 'is plain http'],
    ['https://host', new Map([['x-key', new Secret('two\u0000parts')]]), 'no header can have'],
  ])('refuses %s', (text, given, message) => {
    const parse = () => parseCollectorUrl({ ...named, endpoint: text, headers: given });
    expect(parse).toThrow(ConfigurationError);
    expect(parse).toThrow(message);
    expect(parse).not.toThrow('secret-word');
  });
});
