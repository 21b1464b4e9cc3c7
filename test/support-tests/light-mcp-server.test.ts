import { request } from 'undici';
import { describe, expect, it } from 'vitest';
import { startFixtureMcpServer, text } from '../support/servers/fixture-mcp-server.ts';
import { startLightMcpServer } from '../support/servers/light-mcp-server.ts';

const tools = {
  echo: { call: ({ args }: { args: Record<string, unknown> }) => text(JSON.stringify(args)) },
  fail: { call: () => ({ ...text('It broke.'), isError: true }) },
  hang: {
    call: ({ signal }: { signal: AbortSignal }) =>
      new Promise<ReturnType<typeof text>>((resolve) => {
        signal.addEventListener('abort', () => resolve(text('cancelled')));
      }),
  },
};

const initialize = {
  id: 0,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
};

interface Answered {
  status: number;
  type: unknown;
  message: unknown;
}

/** Says the same to a server as every client does, and lists its answers. */
async function converse(url: string): Promise<Answered[]> {
  let session: Record<string, string> = {};
  const open = async (method: 'POST' | 'GET' | 'DELETE', message: object | null) => {
    const headers = { accept: 'application/json, text/event-stream', 'content-type': 'application/json', ...session };
    const body = message === null ? null : JSON.stringify({ jsonrpc: '2.0', ...message });
    const answer = await request(url, { method, headers, body });
    const id = answer.headers['mcp-session-id'];
    if (id !== undefined) session = { 'mcp-session-id': String(id), 'mcp-protocol-version': '2025-11-25' };
    return answer;
  };
  const send = async (method: 'POST' | 'DELETE', message: object | null): Promise<Answered> => {
    const { statusCode: status, headers, body } = await open(method, message);
    const [, data] = /^data: (.*)$/m.exec(await body.text()) ?? [];
    return { status, type: headers['content-type'], message: data === undefined ? null : JSON.parse(data) };
  };
  const call = (id: number, name: string) =>
    send('POST', { id, method: 'tools/call', params: { name, arguments: { word: 'hello' } } });

  const answers = [
    await send('POST', initialize),
    await send('POST', { method: 'notifications/initialized' }),
    await send('POST', { id: 1, method: 'tools/list' }),
    await call(2, 'echo'),
    await call(3, 'fail'),
    await call(4, 'absent'),
    await send('POST', { id: 5, method: 'absent/method' }),
  ];
  const stream = await open('GET', null);
  const hanging = call(6, 'hang');
  answers.push({ status: stream.statusCode, type: stream.headers['content-type'], message: null });
  answers.push(await send('DELETE', null), await send('DELETE', null));
  await Promise.allSettled([hanging, stream.body.text()]);
  return answers;
}

describe('startLightMcpServer', () => {
  it('answers as the fixture on the SDK does', async () => {
    await using light = await startLightMcpServer(tools);
    await using fixture = await startFixtureMcpServer(tools);
    const answers = await converse(light.url);
    expect(answers).toEqual(await converse(fixture.url));
    expect(answers.map(({ status }) => status)).toEqual([200, 202, 200, 200, 200, 200, 200, 200, 200, 404]);
  });
});
