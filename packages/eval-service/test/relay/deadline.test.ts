import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { request } from 'undici';
import { afterEach, describe, expect, it } from 'vitest';
import { startHttpServer, type Answer } from '../../../../test/support/network/http-server.ts';
import { ManualClock } from '../../../../test/support/clocks/manual-clock.ts';
import { openTunnelPath } from '../../../../test/support/network/tunnel-path.ts';

const stack: AsyncDisposable[] = [];
afterEach(async () => {
  for (const resource of stack.splice(0).toReversed()) await resource[Symbol.asyncDispose]();
});

/** A whole path of which only the service's time stands still. */
async function openPath(answer: Answer) {
  const clock = new ManualClock();
  const server = await startHttpServer(answer);
  const path = await openTunnelPath(server.origin, { embedded: { clock } });
  stack.push(server, path);
  return { ...path, clock };
}

describe('a request without an answer', () => {
  it('is answered 504 after a minute, and given up by the host', async () => {
    const closed = Promise.withResolvers<void>();
    const { publicUrl, clock, host } = await openPath((response) => void response.on('close', closed.resolve));
    const waiting = request(publicUrl);
    await expect.poll(() => host?.inFlight).toBe(1);
    await clock.advance(59_000);
    expect(host?.inFlight).toBe(1);
    await clock.advance(2000);
    const { statusCode, body } = await waiting;
    expect([statusCode, await body.json()]).toEqual([
      504,
      { code: 'TIMEOUT', message: 'The server behind the tunnel took too long.' },
    ]);
    await closed.promise;
    expect(host?.inFlight).toBe(0);
  });

  it('has its minute from the last byte of its body', async () => {
    let received = 0;
    const target = createServer((incoming, response) => {
      incoming.on('data', (chunk: Buffer) => {
        received += chunk.length;
      });
      incoming.on('end', () => response.end('whole'));
    }).listen(0, '127.0.0.1');
    await once(target, 'listening');
    const clock = new ManualClock();
    const path = await openTunnelPath(`http://127.0.0.1:${(target.address() as AddressInfo).port}`, {
      embedded: { clock },
    });
    stack.push(path);
    const { host: name, port, pathname, search } = new URL(path.publicUrl);
    const socket = connect(Number(port), '127.0.0.1');
    socket.write(
      `POST ${pathname}${search} HTTP/1.1\r\nHost: ${name}\r\nContent-Length: 4\r\nConnection: close\r\n\r\n`,
    );
    for (const count of [1, 2, 3]) {
      socket.write('x');
      await expect.poll(() => received).toBe(count);
      await clock.advance(50_000);
    }
    socket.write('x');
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 200 [^]*whole$/);
    target.close();
  });
});

describe('a request with the head of an answer', () => {
  it('may take as long as it likes', async () => {
    const next = Promise.withResolvers<() => void>();
    const { publicUrl, clock } = await openPath((response) => {
      response.writeHead(200).flushHeaders();
      next.resolve(() => void response.end('late'));
    });
    const { body } = await request(publicUrl);
    await clock.advance(600_000);
    (await next.promise)();
    expect(await body.text()).toBe('late');
  });
});
