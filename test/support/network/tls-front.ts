import { once } from 'node:events';
import { connect, type AddressInfo } from 'node:net';
import { createServer } from 'node:tls';
import { makeCertificate } from './https-server.ts';

/** What speaks TLS for a server that does not. */
export interface TlsFront extends AsyncDisposable {
  port: number;
  /** Its own, which is also its authority. */
  certificate: string;
  /** Connections that came so far, those included whose client turned the certificate down. */
  readonly dialled: number;
}

/** Starts a loopback server that takes TLS off and leads to another port, with a certificate that it signed itself. */
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
