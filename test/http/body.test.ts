import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { parseJson } from '../../src/http/body.ts';
import { getTrace } from '../../src/service/iterations.ts';
import { json, raw, startHttpServer } from '../support/network/http-server.ts';
import type { Answer } from '../support/network/http-server.ts';
import { catchError, getMe, openTestClient } from '../support/service/service-client.ts';

const iteration = { projectId: 'p', runId: 'r', iterationId: 'i' };

/** Writes for as long as the client reads. */
const endless: Answer = (response) => {
  response.writeHead(200, { 'content-type': 'application/json' });
  const chunk = Buffer.alloc(65_536, ' ');
  new Readable({
    read() {
      this.push(chunk);
    },
  })
    .on('error', () => {})
    .pipe(response);
};

describe('reading an answer', () => {
  it('decompresses gzip', async () => {
    await using server = await startHttpServer(
      raw(200, gzipSync(JSON.stringify({ id: 'u_1' })), { 'content-encoding': 'gzip' }),
    );
    await using client = openTestClient(server);
    expect(await getMe(client)).toEqual({ id: 'u_1' });
    expect(server.requests[0]?.headers['accept-encoding']).toBe('gzip');
  });

  it('reads a body as large as the limit', async () => {
    const body = JSON.stringify({ id: 'u_1', name: 'é'.repeat(100) });
    await using server = await startHttpServer(raw(200, body));
    await using client = openTestClient(server, { limits: { maxBytes: Buffer.byteLength(body) } });
    expect(await getMe(client)).toEqual({ id: 'u_1', name: 'é'.repeat(100) });
  });

  it.each<[string, Answer]>([
    ['a body without end', endless],
    [
      'a small body that unpacks into a large one',
      raw(200, gzipSync(Buffer.alloc(64 * 2 ** 20)), { 'content-encoding': 'gzip' }),
    ],
  ])('stops at the limit in %s', async (_, answer) => {
    await using server = await startHttpServer(answer);
    await using client = openTestClient(server);
    await expect(getMe(client)).rejects.toMatchObject({
      code: 'PROTOCOL',
      message: 'The answer is larger than 16777216 bytes. (GET /api/v1/me)',
    });
  });

  it('ends an attempt whose body drips on past its time', async () => {
    await using server = await startHttpServer((response) => {
      response.writeHead(200).write('{');
      const drip = setInterval(() => response.write(' '), 20);
      response.on('close', () => clearInterval(drip));
    });
    await using client = openTestClient(server, { limits: { attemptTimeoutMs: 100 } });
    const error = await catchError(getMe(client));
    expect(error).toMatchObject({
      code: 'NETWORK',
      message: `No complete answer from 127.0.0.1:${server.port} to GET /api/v1/me within 100 ms.`,
      // Not what the server has seen: on a busy machine the time may be over before a request is there.
      hint: expect.stringMatching(/^It was tried 10 times in /),
    });
  });

  it('refuses a compression that it did not ask for', async () => {
    await using server = await startHttpServer(raw(200, 'x', { 'content-encoding': 'br' }));
    await using client = openTestClient(server);
    await expect(getMe(client)).rejects.toThrow('The answer is compressed with "br", which was not asked for.');
  });

  it('refuses JSON that nests too deep, and reads what is just shallow enough', async () => {
    const nested = (depth: number) => raw(200, `{"deep":${'['.repeat(depth - 1)}${']'.repeat(depth - 1)}}`);
    await using server = await startHttpServer([nested(200), nested(201)]);
    await using client = openTestClient(server);
    await expect(getTrace(client, iteration)).resolves.toHaveProperty('deep');
    await expect(getTrace(client, iteration)).rejects.toThrow("The answer's JSON nests over 200 levels.");
  });

  it('names the place of the first mismatch, which it has seen three times', async () => {
    await using server = await startHttpServer(json(200, { id: 7 }));
    await using client = openTestClient(server);
    await expect(getMe(client)).rejects.toMatchObject({ code: 'PROTOCOL', path: 'id' });
    expect(server.requests.length).toBe(3);
  });
});

describe('parseJson', () => {
  it('does not count brackets inside strings', () => {
    const text = `[\\"${'['.repeat(500)}`;
    expect(parseJson(JSON.stringify([text]))).toEqual([text]);
  });

  it('never quotes what it could not decode', () => {
    expect(() => parseJson('sk_secret')).toThrow(/^The answer is not JSON\.$/);
    expect(() => parseJson('')).toThrow(/^The answer is empty\.$/);
  });

  it('survives a string of many megabytes', () => {
    expect(parseJson(`"${'a'.repeat(8 * 2 ** 20)}"`)).toHaveLength(8 * 2 ** 20);
  });

  it('refuses two hundred thousand levels without exhausting the stack', () => {
    expect(() => parseJson('['.repeat(200_000) + ']'.repeat(200_000))).toThrow(/nests over 200 levels/);
  });

  it('cannot be made to change a prototype', () => {
    parseJson('{"__proto__":{"isPolluted":true}}');
    expect('isPolluted' in {}).toBe(false);
  });
});
