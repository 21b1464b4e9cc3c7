import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { startScriptedRelay, type RelayPeer, type Welcome } from '../support/network/scripted-relay.ts';
import { openTestHost, scope } from '../support/network/tunnel-host.ts';

const stack: AsyncDisposable[] = [];
afterEach(async () => {
  for (const resource of stack.splice(0).toReversed()) await resource[Symbol.asyncDispose]();
});

const size = 8 * 1024 * 1024;
const window = 128 * 1024;
const limits = { maxReqBody: 64 * 1024 * 1024, chunk: 65_536, maxInflight: 8 };

async function connect(answer: (request: IncomingMessage, response: ServerResponse) => void, welcome: Welcome) {
  const server = createServer(answer).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const relay = await startScriptedRelay([welcome]);
  stack.push({
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
    },
  });
  stack.push(relay);
  const target = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  stack.push(await openTestHost(relay, target, { drainTimeoutMs: 0 }));
  return relay.peer(1);
}

/** Passes when the number stays what it is for a tenth of a second. */
async function settle(read: () => number): Promise<number> {
  let now = read();
  for (let unchanged = 0; unchanged < 10 || now === 0;) {
    await new Promise((resolve) => setTimeout(resolve, 10));
    const before = now;
    now = read();
    unchanged = now === before ? unchanged + 1 : 0;
  }
  return now;
}

const grant = (peer: RelayPeer, id: number, n: number) => peer.send({ t: 'window', id, n });

describe('a response with credit', () => {
  it('stops at the window while others go on, and arrives whole once credit is granted', async () => {
    const data = randomBytes(size);
    const peer = await connect((request, response) => response.end(request.url === '/big' ? data : 'small'), {
      limits,
      window,
    });
    peer.request(1, `${scope}/big`);
    expect(await settle(() => peer.read(1).length)).toBe(window);
    for (const id of [2, 3]) {
      peer.request(id, `${scope}/small`);
      await peer.waitFor('res_end', id);
      expect(peer.read(id).toString()).toBe('small');
    }
    grant(peer, 1, 1000);
    await expect.poll(() => peer.read(1).length).toBe(window + 1000);
    grant(peer, 1, size);
    await peer.waitFor('res_end', 1);
    expect(peer.read(1).equals(data)).toBe(true);
  });
});

describe('a request body with credit', () => {
  it('is granted credit as the target reads it, and none while it does not', async () => {
    const { promise, resolve } = Promise.withResolvers<IncomingMessage>();
    const peer = await connect(
      (request, response) => {
        resolve(request.pause());
        request.on('end', () => response.end('read'));
      },
      { limits, window },
    );
    peer.request(1, scope, { hasBody: true });
    // The head of a request leaves with the first piece of its body.
    peer.sendBody(1, Buffer.alloc(16_384));
    const request = await promise;
    const readGranted = () =>
      peer.frames.reduce((sum, frame) => sum + (frame.t === 'window' && frame.id === 1 ? frame.n : 0), 0);

    let sent = 16_384;
    const sendCredited = () => {
      for (; sent < size && sent < window + readGranted(); sent += 16_384) {
        peer.sendBody(1, Buffer.alloc(16_384, 1));
      }
      return sent;
    };
    // The buffers of both sockets take some of it; the rest stays with the sender.
    expect(await settle(sendCredited)).toBeLessThan(size);

    request.resume();
    await expect.poll(sendCredited, { interval: 5 }).toBe(size);
    peer.send({ t: 'req_end', id: 1 });
    await peer.waitFor('res_end', 1);
  });

  it('that goes beyond it stops the host from reading, so that memory stays bounded', async () => {
    const { promise, resolve } = Promise.withResolvers<IncomingMessage>();
    const peer = await connect(
      (request, response) => {
        resolve(request.pause());
        request.on('end', () => response.end('read'));
      },
      { limits: { ...limits, maxReqBody: 2 * size * 8 }, window },
    );
    peer.request(1, scope, { hasBody: true });
    const total = 8 * size;
    for (let sent = 0; sent < total; sent += 65_536) peer.sendBody(1, Buffer.alloc(65_536));
    peer.send({ t: 'req_end', id: 1 });
    // What the host does not read stays with the one who sent it.
    expect(await settle(() => peer.socket.bufferedAmount)).toBeGreaterThan(total / 2);
    (await promise).resume();
    await peer.waitFor('res_end', 1);
    expect(peer.read(1).toString()).toBe('read');
  });
});

describe('without credit', () => {
  it('a response waits while the relay does not read', async () => {
    let written = 0;
    const total = 8 * size;
    const peer = await connect(
      (_request, response) => {
        const chunk = Buffer.alloc(65_536);
        const more = (): void => {
          while (written < total) {
            written += chunk.length;
            if (!response.write(chunk)) return void response.once('drain', more);
          }
          response.end();
        };
        more();
      },
      { limits },
    );
    peer.request(1, scope);
    peer.socket.pause();
    expect(await settle(() => written)).toBeLessThan(total / 2);
    peer.socket.resume();
    await peer.waitFor('res_end', 1);
    expect(peer.read(1).length).toBe(total);
  });
});
