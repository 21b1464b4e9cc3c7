import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ContractService, openContractService } from '../../../test/support/service/contract-service.ts';

describe('requests that never reach the app', () => {
  let service: ContractService;
  beforeAll(async () => {
    service = await openContractService();
  });
  afterAll(async () => {
    await service[Symbol.asyncDispose]();
  });

  /** Sends bytes as they are, and gives the status and the body of the response. */
  async function exchange(bytes: string): Promise<{ status: number; body: unknown }> {
    const socket = connect(Number(new URL(service.baseUrl).port), '127.0.0.1');
    socket.write(bytes);
    const [head = '', body = ''] = (await text(socket)).split('\r\n\r\n');
    return { status: Number(head.split(' ')[1]), body: JSON.parse(body) };
  }

  const line = (path: string) => `GET ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\n`;

  it.each([
    ['headers that are too large', 431, 'VALIDATION_ERROR', `${line('/api/v1/me')}x: ${'a'.repeat(20_000)}\r\n\r\n`],
    ['what is no HTTP', 400, 'VALIDATION_ERROR', 'GET\r\n\r\n'],
    ['an expectation', 417, 'VALIDATION_ERROR', `${line('/api/v1/me')}expect: miracle\r\nconnection: close\r\n\r\n`],
    ['an upgrade of the API', 404, 'NOT_FOUND', `${line('/api/v1/me')}connection: upgrade\r\nupgrade: x\r\n\r\n`],
    ['an upgrade without a token', 401, 'UNAUTHORIZED', `${line('/agent')}connection: upgrade\r\nupgrade: x\r\n\r\n`],
  ])('are refused in the form of the API: %s', async (_what, status, code, bytes) => {
    expect(await exchange(bytes)).toEqual({ status, body: { code, message: expect.stringMatching(/\.$/) } });
  });

  it('name the subprotocols of both sides', async () => {
    const upgrade = `connection: upgrade\r\nupgrade: websocket\r\nauthorization: Bearer x\r\n`;
    const { status, body } = await exchange(`${line('/agent')}${upgrade}sec-websocket-protocol: other.v1\r\n\r\n`);
    expect(status).toBe(400);
    expect(body).toMatchObject({
      message: 'The host offered "other.v1"; the relay speaks svc-tunnel.v1 and mcpjam-tunnel.v1.',
    });
  });
});
