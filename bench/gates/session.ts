// Speaks MCP over stdio with one process of a server: what it shows, and what it answers to calls. A client of its own, so that no gate of
// the table is measured with its own client.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { endGroup, keepGroup } from './process.ts';

type Json = Record<string, unknown>;

/** A call of a tool, or another request. */
export type Call = { tool: string; arguments?: Json } | { method: string; params?: Json };

export interface Seen {
  /** What a host shows: the answer to `initialize` and all lists. Null where the server did not start. */
  shown: string | null;
  tools: ReadonlyArray<{ name: string; inputSchema: Json }>;
  answers: readonly string[];
  /** How long the calls took together. */
  callsMs: number;
}

interface SessionOptions {
  /** The script that starts the server. */
  start: string;
  cwd: string;
  /** What the client declares. */
  capabilities?: Json;
  /** How long one answer may take. */
  limitMs?: number;
}

const lists = [
  ['tools', 'tools/list'],
  ['resources', 'resources/list'],
  ['resources', 'resources/templates/list'],
  ['prompts', 'prompts/list'],
] as const;

const noAnswer = 'no answer';

/** Starts the server, asks for everything that it shows, and makes the calls one after the other. */
export async function runSession(calls: readonly Call[], options: SessionOptions): Promise<Seen> {
  await using peer = startPeer(options);
  const { capabilities = {} } = options;
  const clientInfo = { name: 'bench-gates', version: '1.0.0' };
  const hello = await peer.ask('initialize', { protocolVersion: '2025-11-25', capabilities, clientInfo });
  if (hello === null || !('result' in hello)) {
    return { shown: null, tools: [], answers: calls.map(() => noAnswer), callsMs: 0 };
  }
  peer.send({ method: 'notifications/initialized' });
  const result = hello['result'] as Json;
  const declared = (result['capabilities'] ?? {}) as Json;
  const shown: unknown[] = [result];
  let tools: Seen['tools'] = [];
  for (const [capability, method] of lists) {
    if (declared[capability] === undefined) continue;
    const answer = await peer.ask(method, {});
    shown.push(method, answer);
    if (method === 'tools/list') tools = ((answer?.['result'] as Json | undefined)?.['tools'] ?? []) as Seen['tools'];
  }
  const answers: string[] = [];
  const start = performance.now();
  for (const call of calls) {
    const answer =
      'tool' in call
        ? await peer.ask('tools/call', { name: call.tool, arguments: call.arguments ?? {} })
        : await peer.ask(call.method, call.params ?? {});
    answers.push(answer === null ? noAnswer : JSON.stringify(answer));
  }
  return { shown: JSON.stringify(shown), tools, answers, callsMs: performance.now() - start };
}

interface Peer extends AsyncDisposable {
  send(message: Json): void;
  /** The result or the error, without what numbers a message; null where none comes. */
  ask(method: string, params: Json): Promise<Json | null>;
}

function startPeer({ start, cwd, limitMs = 120_000 }: SessionOptions): Peer {
  const child = spawn(start, [], { cwd, stdio: ['pipe', 'pipe', 'ignore'], detached: true });
  keepGroup(child.pid);
  const waiting = new Map<number, (answer: Json | null) => void>();
  let hasEnded = false;
  const end = () => {
    hasEnded = true;
    for (const settle of waiting.values()) settle(null);
  };
  child.once('close', end);
  child.once('error', end);
  child.stdin.on('error', end);
  const send = (message: Json) => {
    if (!hasEnded) child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  };
  createInterface({ input: child.stdout }).on('line', (line) => {
    const message = parseMessage(line);
    const { id, method, jsonrpc: _, ...answer } = message;
    if (method === undefined && typeof id === 'number') waiting.get(id)?.(answer);
    else if (id !== undefined) send({ id, ...answerServer(method) });
  });
  let last = 0;
  return {
    send,
    async ask(method, params) {
      if (hasEnded) return null;
      last += 1;
      const id = last;
      const { promise, resolve } = Promise.withResolvers<Json | null>();
      const limit = setTimeout(() => resolve(null), limitMs);
      waiting.set(id, resolve);
      send({ id, method, params });
      const answer = await promise;
      clearTimeout(limit);
      waiting.delete(id);
      return answer;
    },
    async [Symbol.asyncDispose]() {
      child.stdin.end();
      endGroup(child.pid);
      if (!hasEnded) await once(child, 'close');
    },
  };
}

function parseMessage(line: string): Json {
  try {
    return JSON.parse(line) as Json;
  } catch {
    return {};
  }
}

/** What a server that asks its client gets, always the same. */
function answerServer(method: unknown): Json {
  if (method === 'sampling/createMessage') {
    const content = { type: 'text', text: 'A sampled answer.' };
    return { result: { role: 'assistant', model: 'none', content } };
  }
  if (method === 'elicitation/create') return { result: { action: 'decline' } };
  if (method === 'roots/list') return { result: { roots: [] } };
  if (method === 'ping') return { result: {} };
  return { error: { code: -32601, message: 'Method not found' } };
}
