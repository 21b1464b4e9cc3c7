/**
 * An MCP server on stdio that needs a folder for itself: `node test/support/servers/folder-server.ts <folder>`. While it runs, it has a file
 * there, from its start until a moment after its stdin was closed. The tool `change` answers with an error if another process was there at
 * the same time. The read-only tool `look` answers with the number of other processes that it has seen. With `wait`, it counts only
 * processes within the same call, until it has seen that many, for at most ten seconds: a process that the gate started to list the tools is
 * no iteration. It speaks JSON-RPC without an SDK, because it is started often.
 */
import { appendFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';

type Arguments = Partial<Record<'wait' | 'delayMs' | 'value', number>>;

const [folder = ''] = process.argv.slice(2);
const own = `${process.pid}.process`;
const others = new Set<string>();

function isAlive(name: string): boolean {
  try {
    return process.kill(Number.parseInt(name, 10), 0);
  } catch {
    return false;
  }
}

function lookAround(seen: Set<string> = others, suffix = '.process'): void {
  for (const name of readdirSync(folder)) {
    if (name.endsWith(suffix) && name !== `${process.pid}${suffix}` && isAlive(name)) seen.add(name);
  }
}

/** Looks before it waits, so that it also sees processes that end soon. */
async function countWaiting(wait: number): Promise<number> {
  const waiting = new Set<string>();
  lookAround(waiting, '.waiting');
  writeFileSync(join(folder, `${process.pid}.waiting`), '');
  for (let spentMs = 0; waiting.size < wait && spentMs < 10_000; spentMs += 20) {
    await sleep(20);
    lookAround(waiting, '.waiting');
  }
  return waiting.size;
}

const tools = [
  { name: 'look', inputSchema: { type: 'object' }, annotations: { readOnlyHint: true } },
  { name: 'change', inputSchema: { type: 'object' } },
];

async function callTool(name: string, { wait = 0, delayMs = 0, value = 0 }: Arguments) {
  const waiting = wait === 0 ? null : await countWaiting(wait);
  await sleep(delayMs);
  lookAround();
  if (name === 'look') return { content: [{ type: 'text', text: `saw ${waiting ?? others.size}` }] };
  appendFileSync(join(folder, 'changes'), `${value}\n`);
  const isError = others.size > 0;
  const text = isError ? 'Another process has the folder open.' : 'changed';
  return { content: [{ type: 'text', text }], isError };
}

async function answer(method: string, params: { name?: string; arguments?: Arguments }): Promise<object> {
  switch (method) {
    case 'initialize': {
      const serverInfo = { name: 'folder-server', version: '1.0.0' };
      return { result: { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo } };
    }
    case 'tools/list':
      return { result: { tools } };
    case 'tools/call':
      return { result: await callTool(params.name ?? '', params.arguments ?? {}) };
    default:
      return { error: { code: -32601, message: 'Method not found' } };
  }
}

// This comes first, so that it also sees processes that end soon.
lookAround();
writeFileSync(join(folder, own), '');
lookAround();
const input = createInterface({ input: process.stdin });
input.on('line', (line) => {
  const { id, method, params = {} } = JSON.parse(line);
  if (id === undefined) return;
  void answer(method, params).then((said) =>
    process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...said })}\n`),
  );
});
input.on('close', () => {
  // The delay is that of a server that writes its state when it ends.
  setTimeout(() => {
    rmSync(join(folder, own));
    rmSync(join(folder, `${process.pid}.waiting`), { force: true });
  }, 50);
});
