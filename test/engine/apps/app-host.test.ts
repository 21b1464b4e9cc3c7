import { describe, expect, it } from 'vitest';
import { createAppHost, type HostAnswer } from '../../../src/engine/apps/app-host.ts';

function create() {
  const heard: unknown[] = [];
  const host = createAppHost({
    tool: { name: 'weather', inputSchema: { type: 'object' } },
    policy: { connectDomains: ['https://api.example.com'] },
    viewport: { width: 800, height: 600 },
    callTool: async (name, args): Promise<HostAnswer> => {
      heard.push({ name, args });
      return name === 'gone' ? { error: { code: -32601, message: 'gone' } } : { result: { content: [] } };
    },
    readResource: async (uri): Promise<HostAnswer> => ({ result: { contents: [{ uri }] } }),
    onInitialized: () => heard.push('initialized'),
  });
  const ask = async (method: string, params?: unknown) => await host.receive({ jsonrpc: '2.0', id: 7, method, params });
  return { host, heard, ask };
}

describe('createAppHost', () => {
  it('describes itself, the tool and the policy in the handshake', async () => {
    const { host, heard, ask } = create();
    expect(host.hasBegun).toBe(false);
    expect(await ask('ui/initialize', { protocolVersion: '2026-01-26' })).toMatchObject({
      jsonrpc: '2.0',
      id: 7,
      result: {
        protocolVersion: '2026-01-26',
        hostInfo: { name: 'mcp-eval-ci' },
        hostCapabilities: { serverTools: {}, sandbox: { csp: { connectDomains: ['https://api.example.com'] } } },
        hostContext: {
          toolInfo: { tool: { name: 'weather' } },
          displayMode: 'inline',
          containerDimensions: { width: 800 },
        },
      },
    });
    expect([host.hasBegun, heard]).toEqual([true, []]);
    expect(await host.receive({ jsonrpc: '2.0', method: 'ui/notifications/initialized' })).toBeNull();
    expect(heard).toEqual(['initialized']);
  });

  it('passes calls and reads on, and their errors back', async () => {
    const { heard, ask } = create();
    expect(await ask('tools/call', { name: 'refresh' })).toEqual({ jsonrpc: '2.0', id: 7, result: { content: [] } });
    expect(await ask('tools/call', { name: 'gone', arguments: { a: 1 } })).toMatchObject({ error: { code: -32601 } });
    expect(heard).toEqual([
      { name: 'refresh', args: {} },
      { name: 'gone', args: { a: 1 } },
    ]);
    expect(await ask('resources/read', { uri: 'ui://a' })).toMatchObject({ result: { contents: [{ uri: 'ui://a' }] } });
  });

  it.each([
    ['tools/call', { name: 3 }, -32602],
    ['tools/call', { name: 'a', arguments: [] }, -32602],
    ['resources/read', {}, -32602],
    ['ui/open-link', { url: 'https://example.com' }, -32000],
    ['sampling/createMessage', {}, -32601],
    ['constructor', {}, -32601],
  ])('refuses %s with %j', async (method, params, code) => {
    const { heard, ask } = create();
    expect(await ask(method, params)).toMatchObject({ id: 7, error: { code } });
    expect(heard).toEqual([]);
  });

  it.each([
    null,
    'text',
    [],
    {},
    { jsonrpc: '1.0', id: 1, method: 'ping' },
    { jsonrpc: '2.0', id: {}, method: 'ping' },
  ])('ignores %j, which is no message', async (message) => {
    expect(await create().host.receive(message)).toBeNull();
  });

  it('knows which of its requests the app has answered', async () => {
    const { host } = create();
    expect(host.hasAnswered('teardown')).toBe(false);
    await host.receive({ jsonrpc: '2.0', id: 'teardown', result: {} });
    expect(host.hasAnswered('teardown')).toBe(true);
  });
});
