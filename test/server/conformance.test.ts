import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';

import { findFreePort } from '../support/free-port.ts';
import { openTestServer } from '../support/running-server.ts';

const fixture = `${process.execPath} test/support/conformance-server.ts`;

/** Runs every server scenario of the official suite and reads its one line per scenario, such as `✓ ping: 1 passed, 0 failed`. */
async function runConformance(url: string): Promise<string[]> {
  const main = 'node_modules/@modelcontextprotocol/conformance/dist/index.js';
  const suite = spawn(process.execPath, [main, 'server', '--suite', 'all', '--url', url], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const output = await text(suite.stdout);
  return output.slice(output.indexOf('=== SUMMARY ===')).match(/^(?:[✓✗] |Total: ).*$/gm) ?? [];
}

describe('the official conformance suite', () => {
  it(
    'passes through the bridge exactly where it passes directly, which is everywhere',
    { timeout: 180_000 },
    async () => {
      const port = await findFreePort();
      const url = `http://127.0.0.1:${port}/mcp`;
      await using direct = await openTestServer({ command: fixture, url, env: { PORT: String(port) } });
      await using bridged = await openTestServer({ command: fixture, spares: 1 });
      const directResults = await runConformance(direct.url);
      const bridgedResults = await runConformance(bridged.url);
      expect(bridgedResults).toEqual(directResults);
      expect(bridgedResults.at(-1)).toBe('Total: 44 passed, 0 failed');
    },
  );
});
