import type { Clock } from '../../../src/base/time.ts';
import type { Fault, Reply } from './service-front.ts';

/** Faults of a network below HTTP that damage the bytes of an answer. The service has executed the request. */

export const resetBefore: Fault = ({ socket }) => void socket.resetAndDestroy();

export const resetAfter: Fault = async ({ forward, socket }) => {
  await forward();
  socket.resetAndDestroy();
};

/** Sends the head and half of the body, then resets the connection. */
export const resetInBody: Fault = async ({ forward, socket }) => {
  const bytes = renderReply(await forward());
  socket.write(bytes.subarray(0, bytes.length - 10), () => socket.resetAndDestroy());
};

/** Closes the connection regularly in the middle of the body. */
export const endInBody: Fault = async ({ forward, socket }) => {
  const bytes = renderReply(await forward());
  socket.end(bytes.subarray(0, bytes.length - 10));
};

/** Accepts the request and never answers. */
export const silence: Fault = async ({ forward }) => void (await forward());

/** Another process accepts the request, and the service never receives it. */
export const halfOpen: Fault = () => {};

/** Sends one byte per second, which takes minutes. */
export function drip(clock: Clock): Fault {
  return async (exchange) => {
    for (const byte of renderReply(await exchange.forward())) {
      if (exchange.socket.destroyed) return;
      exchange.socket.write(Buffer.of(byte));
      await clock.sleep(1000);
    }
  };
}

/** Sends an endless body, one kilobyte per second. */
export function pourForever(clock: Clock): Fault {
  return async ({ socket, forward }) => {
    await forward();
    socket.write('HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n');
    while (!socket.destroyed) {
      socket.write(' '.repeat(1024));
      await clock.sleep(1000);
    }
  };
}

/** Sends the answer late and in pieces of a few bytes: slow, but valid. */
export function slice(clock: Clock): Fault {
  return async ({ forward, socket }) => {
    const bytes = renderReply(await forward());
    await clock.sleep(4000);
    for (let start = 0; start < bytes.length; start += 97) {
      socket.write(bytes.subarray(start, start + 97));
      await clock.sleep(10);
    }
  };
}

function renderReply({ status, headers, body }: Reply): Buffer {
  const lines = Object.entries({ ...headers, 'content-length': body.length, connection: 'close' });
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  return Buffer.concat([Buffer.from(`HTTP/1.1 ${status} Status\r\n${head}\r\n`), body]);
}
