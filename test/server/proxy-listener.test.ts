import { once } from 'node:events';
import { expect, it } from 'vitest';
import { createNamespaceListeners } from '../../src/server/proxy-listener.ts';

it.skipIf(process.platform === 'win32')('opens many sockets by one process without a leak of listeners', async () => {
  const warnings: Error[] = [];
  const keep = (warning: Error) => void warnings.push(warning);
  process.on('warning', keep);
  try {
    await using listeners = createNamespaceListeners(['/usr/bin/env'], []);
    for (let count = 0; count < 12; count += 1) {
      const server = await listeners.listen();
      const closed = once(server, 'close');
      server.close();
      await closed;
    }
    expect(warnings).toEqual([]);
  } finally {
    process.off('warning', keep);
  }
});
