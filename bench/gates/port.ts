// Finds a port for a gateway from stdio to HTTP.
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';

export async function findPort(): Promise<number> {
  await using server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}
