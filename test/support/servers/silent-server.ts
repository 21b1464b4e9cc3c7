import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';

export interface SilentServer extends AsyncDisposable {
  port: number;
}

/** Accepts connections and never sends anything. Disposing it waits until the clients have closed them. */
export async function startSilentServer(onConnection: () => void = () => {}): Promise<SilentServer> {
  const server = createServer((socket) => {
    socket.on('error', () => {}).resume();
    onConnection();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    [Symbol.asyncDispose]: async () => {
      server.close();
      await once(server, 'close');
    },
  };
}
