import { createServer as createHttp, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createHttps } from 'node:https';
import type { AddressInfo } from 'node:net';
import { Server as TlsServer } from 'node:tls';
import { createAuthority } from '../../../src/upstream/certificate.ts';

/** An API on the loopback interface, with a certificate of its own authority. */
export interface UpstreamApi extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  /** The certificate of its authority, as PEM. */
  readonly certificate: string;
  /** The requests so far, as `GET /path`. */
  readonly requests: string[];
}

/** Serves `handle` over HTTPS at https://localhost, or over HTTP. */
export async function startUpstreamApi(
  handle: (request: IncomingMessage, response: ServerResponse, body: string) => void,
  { isTls = true } = {},
): Promise<UpstreamApi> {
  const authority = createAuthority(Date.now());
  const requests: string[] = [];
  const serve = (request: IncomingMessage, response: ServerResponse) => {
    void (async () => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk);
      requests.push(`${request.method} ${request.url}`);
      handle(request, response, Buffer.concat(chunks).toString('utf8'));
    })();
  };
  const server = isTls
    ? createHttps({ SNICallback: (name, done) => done(null, authority.findContext(name)) }, serve)
    : createHttp(serve);
  if (server instanceof TlsServer) server.on('tlsClientError', () => {});
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a TCP server has such an address
  const { port } = server.address() as AddressInfo;
  return {
    url: `${isTls ? 'https' : 'http'}://localhost:${port}`,
    port,
    certificate: authority.certificate,
    requests,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => {
        server.close(resolve);
      });
    },
  };
}
