import { once } from 'node:events';
import { connect, type AddressInfo } from 'node:net';
import { createServer } from 'node:tls';
import { makeCertificate } from './https-server.ts';

/** A TLS proxy for a server without TLS. */
export interface TlsFront extends AsyncDisposable {
  port: number;
  /** The certificate of the front, which is also its authority. */
  certificate: string;
  /** The number of connections so far, including those whose client rejected the certificate. */
  readonly dialled: number;
}

/** Starts a loopback server that terminates TLS with a self-signed certificate and forwards to another port. */
export async function startTlsFront(hostname: string, targetPort: number): Promise<TlsFront> {
  const { key, certificate } = await makeCertificate(hostname);
  let dialled = 0;
  const server = createServer({ key, cert: certificate }, (near) => {
    const far = connect(targetPort, '127.0.0.1');
    for (const socket of [near, far]) socket.on('error', () => {});
    near.on('close', () => far.destroy());
    far.on('close', () => near.destroy());
    near.pipe(far).pipe(near);
  });
  server.on('tlsClientError', (_error, socket) => socket.destroy());
  server.on('connection', () => {
    dialled += 1;
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    certificate,
    get dialled() {
      return dialled;
    },
    [Symbol.asyncDispose]: async () => {
      server.close();
      await once(server, 'close');
    },
  };
}
