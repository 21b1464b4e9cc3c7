import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** True if this machine can make the certificates of these servers. */
export const hasOpenssl = spawnSync('openssl', ['version']).status === 0;

export interface TestHttpsServer extends AsyncDisposable {
  port: number;
  /** The certificate of the server, which is also its authority. */
  certificate: string;
  /** The requests so far: `GET /api/v1/me`. */
  requests: string[];
}

/** Starts a loopback server with a self-signed certificate for one host name. Every answer is the same. */
export async function startHttpsServer(hostname: string, answer: unknown): Promise<TestHttpsServer> {
  const { key, certificate } = await makeCertificate(hostname);
  const requests: string[] = [];
  const server = createServer({ key, cert: certificate }, (request, response) => {
    requests.push(`${request.method} ${request.url}`);
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
  });
  server.on('tlsClientError', (_, socket) => socket.destroy());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    certificate,
    requests,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Makes a self-signed certificate for one host name. */
export async function makeCertificate(hostname: string): Promise<{ key: string; certificate: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'self-signed-'));
  try {
    const keyOptions = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', 'key.pem'];
    const names = ['-subj', `/CN=${hostname}`, '-addext', `subjectAltName=DNS:${hostname}`];
    const openssl = spawnSync('openssl', ['req', ...keyOptions, '-x509', '-days', '1', ...names, '-out', 'cert.pem'], {
      cwd: folder,
    });
    if (openssl.status !== 0) throw new Error(`openssl failed: ${openssl.stderr.toString()}`);
    const [key, certificate] = await Promise.all(
      ['key.pem', 'cert.pem'].map(async (name) => readFile(join(folder, name), 'utf8')),
    );
    return { key: key!, certificate: certificate! };
  } finally {
    await rm(folder, { recursive: true });
  }
}
