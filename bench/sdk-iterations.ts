// Child of the benchmarks: makes the same calls through the bare SDK, with the same sessions (a new session each, ended with DELETE) and the
// same concurrency. Its cost is the lower bound against which the gate is measured.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import pMap from 'p-map';
import { readOwnPeakBytes } from '../test/support/process/peak-memory.ts';
import { concurrency } from './concurrency.ts';

const [url = '', iterations = ''] = process.argv.slice(2);
const startedMs = performance.now();
let passed = 0;
await pMap(
  Array.from({ length: Number(iterations) }, (_, index) => index),
  async (index) => {
    const client = new Client({ name: 'yardstick', version: '1.0.0' });
    const transport = new StreamableHTTPClientTransport(new URL(url));
    await client.connect(transport);
    const result = await client.callTool({ name: 'echo', arguments: { message: `hello ${index}` } });
    if (JSON.stringify(result).includes(`Echo: hello ${index}`)) passed += 1;
    await transport.terminateSession();
    await client.close();
  },
  { concurrency },
);
console.log(
  JSON.stringify({
    durationMs: performance.now() - startedMs,
    peakBytes: readOwnPeakBytes(),
    passed,
  }),
);
process.exit(0);
