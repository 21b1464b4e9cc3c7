import { mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { serveMcp } from '../../src/host-drivers/mcp-socket.ts';
import { createPlaceMask, maskFiles } from '../../src/host-drivers/place-mask.ts';
import { openProviderProxy } from '../../src/host-drivers/provider-proxy.ts';
import { listenOnLoopback } from '../../src/server/proxy-listener.ts';

it('answers a host with the token of the run, wherever its provider expects a key, and no other caller', async () => {
  const seen: unknown[] = [];
  await using proxy = openProviderProxy(await listenOnLoopback(), {
    token: 'the-token',
    answer: async (request) => {
      seen.push(request.body);
      return { status: 200, contentType: 'application/json', body: '{}' };
    },
  });
  const post = async (headers: Record<string, string>, path = '/v1/messages') => {
    const response = await fetch(`${proxy.url}${path}`, { method: 'POST', headers, body: '{"a":1}' });
    return response.status;
  };
  expect(await post({})).toBe(401);
  expect(await post({ 'x-api-key': 'the-tokem' })).toBe(401);
  expect(await post({ authorization: 'Bearer the-token-and-more' })).toBe(401);
  expect(seen).toEqual([]);
  expect(await post({ 'x-api-key': 'the-token' })).toBe(200);
  expect(await post({ authorization: 'Bearer the-token' })).toBe(200);
  expect(await post({ 'x-goog-api-key': 'the-token' })).toBe(200);
  expect(await post({}, '/v1beta/models?key=the-token')).toBe(200);
  expect(seen).toEqual([{ a: 1 }, { a: 1 }, { a: 1 }, { a: 1 }]);
});

it.skipIf(process.platform === 'win32')('answers requests on a socket in lines that arrive in parts', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'mcp-socket-'));
  const path = join(directory, 's.sock');
  const asked: string[] = [];
  {
    await using _served = await serveMcp(path, async (method, params) => {
      asked.push(method);
      return { result: { method, params } };
    });
    const socket = connect(path);
    const answer = new Promise<string>((resolve) => {
      socket.once('data', (chunk) => resolve(String(chunk)));
    });
    socket.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\nno JSON\n{"jsonrpc":"2.0","id":1,');
    socket.write('"method":"ping","params":{"a":1}}\n');
    expect(JSON.parse(await answer)).toEqual({ jsonrpc: '2.0', id: 1, result: { method: 'ping', params: { a: 1 } } });
    expect(asked).toEqual(['ping']);
    socket.destroy();
  }
  await rm(directory, { recursive: true });
});

it('hides the paths of a run in every text, the inner ones first, and shows those of another', () => {
  const at = (root: string) =>
    createPlaceMask([
      [`${root}/home`, '{HOME}'],
      [root, '{HOST}'],
    ]);
  const value = { content: [{ text: 'See /tmp/one/home/a.txt and /tmp/one/stub.' }], size: 2, none: null };
  const hidden = at('/tmp/one').hide(value);
  expect(hidden.content[0]?.text).toBe('See {HOME}/a.txt and {HOST}/stub.');
  expect(at('/tmp/two').show(hidden).content[0]?.text).toBe('See /tmp/two/home/a.txt and /tmp/two/stub.');
  // A long result is in a file whose name differs, and the server's own paths stay.
  const files = (name: string) =>
    maskFiles(JSON.stringify(at('/tmp/one').hide([`/tmp/one/home/.x/${name}.txt (/srv/${name})`])));
  expect(files('session-1').replaceAll('/srv/session-1', '')).toBe(
    files('session-22').replaceAll('/srv/session-22', ''),
  );
  expect(files('session-1')).toBe('["{HOME}/{FILE} (/srv/session-1)"]');
});
