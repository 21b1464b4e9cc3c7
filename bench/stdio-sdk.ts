// Child of the benchmarks: makes the same calls through the bare SDK, each with a process of its own on stdio.
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import pMap from 'p-map';

const [program = '', iterations = ''] = process.argv.slice(2);
let passed = 0;
await pMap(
  Array.from({ length: Number(iterations) }),
  async () => {
    const client = new Client({ name: 'yardstick', version: '1.0.0' });
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [program, 'stdio'],
      stderr: 'ignore',
    });
    await client.connect(transport);
    const result = await client.callTool({ name: 'echo', arguments: { message: 'hello' } });
    if (JSON.stringify(result).includes('Echo: hello')) passed += 1;
    await client.close();
  },
  { concurrency: 2 },
);
console.log(JSON.stringify({ passed }));
process.exit(0);
