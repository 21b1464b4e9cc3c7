import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** A network between two parties that a test can cut. */
export interface TcpProxy extends AsyncDisposable {
  port: number;
  /** The number of connections so far. */
  readonly carried: number;
  /** Resets all open connections. */
  cut(): void;
  /** Stops forwarding on the open connections without informing either side. */
  silence(): void;
}

export async function startTcpProxy(targetPort: number): Promise<TcpProxy> {
  const open = new Set<Socket>();
  let carried = 0;
  const server = createServer((near) => {
    carried += 1;
    const far = connect(targetPort, '127.0.0.1');
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      open.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => {
        open.delete(socket);
        other.destroy();
      });
      socket.pipe(other);
    }
  });
  const cut = () => {
    for (const socket of open) socket.resetAndDestroy();
  };
  const silence = () => {
    for (const socket of open) socket.unpipe().pause();
  };
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    get carried() {
      return carried;
    },
    cut,
    silence,
    [Symbol.asyncDispose]: async () => {
      cut();
      server.close();
      await once(server, 'close');
    },
  };
}
