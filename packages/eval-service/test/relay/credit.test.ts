import { once } from 'node:events';
import { Readable } from 'node:stream';
import { request } from 'undici';
import { afterEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { parseBodyFrame, parseTextFrame, renderTextFrame, type TextFrame } from '../../../../src/tunnel/frames.ts';
import { startHttpServer } from '../../../../test/support/network/http-server.ts';
import { startScriptedRelay } from '../../../../test/support/network/scripted-relay.ts';
import { openTestHost } from '../../../../test/support/network/tunnel-host.ts';
import { openTunnelPath } from '../../../../test/support/network/tunnel-path.ts';

const stack: AsyncDisposable[] = [];
afterEach(async () => {
  for (const resource of stack.splice(0).toReversed()) await resource[Symbol.asyncDispose]();
});

function keep<T extends AsyncDisposable>(resource: T): T {
  stack.push(resource);
  return resource;
}

const MiB = 1024 * 1024;

/** Opens a tunnel whose host counts request bodies and sends `frames` after the hello; it knows of no credit otherwise. */
async function openForeignHost(frames: readonly TextFrame[] = [], answerTimeoutMs = 60_000) {
  const path = keep(await openTunnelPath(null, { embedded: { relayLimits: { answerTimeoutMs } } }));
  const { relayWsUrl, connectToken } = path.grant;
  const headers = { authorization: `Bearer ${connectToken.reveal()}` };
  const socket = new WebSocket(relayWsUrl, 'mcpjam-tunnel.v1', { headers });
  keep({ [Symbol.asyncDispose]: async () => socket.terminate() });
  const send = (frame: TextFrame) => socket.send(renderTextFrame(frame));
  let received = 0;
  socket.on('message', (data: Buffer, isBinary: boolean) => {
    if (isBinary) {
      const frame = parseBodyFrame(data);
      if (frame.t === 'body') received += frame.payload.length;
      return;
    }
    const frame = parseTextFrame(data.toString());
    if (frame.t === 'hello') for (const each of frames) send(each);
    if (frame.t !== 'req_end') return;
    send({ t: 'res', id: frame.id, status: 200, headers: [] });
    send({ t: 'res_end', id: frame.id });
  });
  await once(socket, 'message');
  return { ...path, socket, received: () => received };
}

/** Uploads so many bytes, and reports how many the client has read from the source so far. */
function upload(url: string, bytes: number) {
  let taken = 0;
  const chunk = Buffer.alloc(64 * 1024);
  const source = new Readable({
    read() {
      if (taken >= bytes) this.push(null);
      else {
        taken += chunk.length;
        this.push(chunk);
      }
    },
  });
  const status = request(url, { method: 'POST', body: source }).then(async ({ statusCode, body }) => {
    await body.dump();
    return statusCode;
  });
  return { status, taken: () => taken };
}

describe('an upload to a host that knows no credit', () => {
  it('goes beyond the window of the relay', async () => {
    // Soon enough for a stalled upload to fail here and not by the time-out of the test.
    const host = await openForeignHost([], 10_000);
    expect(await upload(host.publicUrl, 8 * MiB).status).toBe(200);
    expect(host.received()).toBe(8 * MiB);
  });

  it('is held back while the host does not read, and goes on when it does', async () => {
    const host = await openForeignHost();
    host.socket.pause();
    const sending = upload(host.publicUrl, 48 * MiB);
    let before = -1;
    await expect
      .poll(
        () => {
          const isStill = sending.taken() === before && before > 0;
          before = sending.taken();
          return isStill;
        },
        { interval: 100 },
      )
      .toBe(true);
    // What the relay keeps, and what the sockets of the system do.
    expect(before).toBeLessThan(32 * MiB);
    host.socket.resume();
    expect(await sending.status).toBe(200);
    expect(host.received()).toBe(48 * MiB);
  });
});

describe('an upload to a host that has announced credit', () => {
  it('stops at the window until the host grants more', async () => {
    const host = await openForeignHost([{ t: 'window', id: 0, n: 512 * 1024 }]);
    const sending = upload(host.publicUrl, 2 * MiB);
    await expect.poll(() => host.received()).toBe(512 * 1024);
    host.socket.send(renderTextFrame({ t: 'window', id: 1, n: 2 * MiB }));
    expect(await sending.status).toBe(200);
    expect(host.received()).toBe(2 * MiB);
  });

  it('arrives whole through this project’s own host', async () => {
    const server = keep(await startHttpServer((response) => void response.end('ok')));
    const path = keep(await openTunnelPath(`${server.origin}/mcp`));
    expect(await upload(path.publicUrl, 8 * MiB).status).toBe(200);
    expect(server.requests[0]?.body.length).toBe(8 * MiB);
  });
});

describe('the host of this project', () => {
  it('announces that it grants credit where the relay does', async () => {
    const relay = keep(await startScriptedRelay([{ window: 65_536 }]));
    keep(await openTestHost(relay, 'http://127.0.0.1:9/'));
    const peer = await relay.peer(1);
    expect(await peer.waitFor('window', 0)).toEqual({ t: 'window', id: 0, n: 65_536 });
  });

  it('announces no credit to a relay that does not support it', async () => {
    const relay = keep(await startScriptedRelay([{}]));
    keep(await openTestHost(relay, 'http://127.0.0.1:9/'));
    const peer = await relay.peer(1);
    peer.request(1, '/nowhere');
    await peer.waitFor('res_end', 1);
    expect(peer.frames.filter(({ t }) => t === 'window')).toEqual([]);
  });
});
