// The cost of the program of a host: replay against live, and the delay of the stub that the host starts instead of the server.
import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { isRecord, tryParseJson } from '../../../src/base/json.ts';
import { serveMcp } from '../../../src/host-drivers/mcp-socket.ts';
import { stubProgram } from '../../../src/host-drivers/stub.ts';
import { findMedian } from '../../child.ts';
import { headProgram, runTwice } from './run-suites.ts';

const server = [process.execPath, fileURLToPath(new URL('../../stdio-server.mjs', import.meta.url))] as const;
const calls = 2000;

/** Prints both ratios. */
export async function printRatios(path: string, iterations: number): Promise<void> {
  const text = `suite: Ratio
id: ratio
cases:
  - id: echo
    title: Repeats a message
    runs: ${iterations}
    steps:
      - prompt: 'Call echo with {"message":"hi"}. Look for "Echo: hi".'
      - assert: { responseContains: 'I see Echo: hi.' }
`;
  const inputs = { 'server-command': server.join(' ') };
  const { live, replay } = await runTwice({
    suite: 'ratio',
    text,
    inputs,
    head: headProgram('goose'),
    format: 'compatible',
    path,
  });
  for (const [name, { passed }] of Object.entries({ live, replay })) {
    if (passed !== iterations) throw new Error(`${name}: ${passed} of ${iterations} iterations passed.`);
  }
  const ratio = (replay.durationMs / live.durationMs).toFixed(2);
  console.log(`${iterations} iterations in goose: replay to live ${ratio}, with a provider that answers at once`);
  const { direct, behind, delay } = await measureStub();
  const times = (behind / direct).toFixed(2);
  const share = ((delay * iterations) / live.durationMs) * 100;
  console.log(`${calls} calls, with the stub and without in turn: ratio of medians ${times}`);
  console.log(`the median delay of the stub is ${share.toFixed(3)} % of the time per iteration, each with one call`);
}

interface Line extends AsyncDisposable {
  call(params: object): Promise<unknown>;
}

/** Starts a program that speaks MCP, one message per line. */
function openLine([program = '', ...args]: readonly string[]): Line {
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  const waiting = new Map<unknown, (result: unknown) => void>();
  createInterface({ input: child.stdout }).on('line', (line) => {
    const message = tryParseJson(line);
    if (isRecord(message)) waiting.get(message['id'])?.(message['result']);
  });
  let id = 0;
  return {
    call: async (params) => {
      id += 1;
      const answered = new Promise((resolve) => waiting.set(id, resolve));
      child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params })}\n`);
      return await answered;
    },
    [Symbol.asyncDispose]: async () => {
      const exited = new Promise((resolve) => child.once('exit', resolve));
      child.kill();
      await exited;
    },
  };
}

/** Medians in milliseconds: of a call, of a call through the stub, and of the difference of two calls in turn. */
async function measureStub(): Promise<{ direct: number; behind: number; delay: number }> {
  const directory = await mkdtemp(join(tmpdir(), 'stub-'));
  try {
    const [socket, stub] = [join(directory, 'mcp.sock'), join(directory, 'stub.mjs')];
    await writeFile(stub, stubProgram);
    await using plain = openLine(server);
    await using _served = await serveMcp(socket, async (_method, params) => ({ result: await plain.call(params) }));
    await using stubbed = openLine([process.execPath, stub, socket]);
    const params = { name: 'echo', arguments: { message: 'hi' } };
    const measure = async (line: Line) => {
      const startedMs = performance.now();
      await line.call(params);
      return performance.now() - startedMs;
    };
    const pairs: Array<{ direct: number; behind: number }> = [];
    for (let index = 0; index < calls; index += 1) {
      // Each goes first in every second pair.
      const [first, second] = index % 2 === 0 ? [plain, stubbed] : [stubbed, plain];
      const [one, two] = [await measure(first), await measure(second)];
      pairs.push(index % 2 === 0 ? { direct: one, behind: two } : { direct: two, behind: one });
    }
    return {
      direct: findMedian(pairs.map(({ direct }) => direct)),
      behind: findMedian(pairs.map(({ behind }) => behind)),
      delay: findMedian(pairs.map(({ direct, behind }) => behind - direct)),
    };
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
