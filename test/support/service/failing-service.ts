import { once } from 'node:events';
import { createServer } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import type { ContractAddress } from './answers.ts';
import { createTestApp } from './test-app.ts';

/** Serves the API over a store that always fails. `errors` is the log of the service. */
export async function openFailingService(): Promise<ContractAddress & AsyncDisposable & { errors: string[] }> {
  const { app, store, errors } = createTestApp();
  const server = createServer(getRequestListener(app.fetch, { overrideGlobalObjects: false }));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  store.close();
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    baseUrl: `http://127.0.0.1:${port}/api/v1`,
    apiKey: 'sk_test',
    projectId: 'prj_none',
    errors,
    [Symbol.asyncDispose]: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
      await app[Symbol.asyncDispose]();
    },
  };
}
