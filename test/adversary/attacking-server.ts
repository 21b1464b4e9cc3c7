/**
 * An MCP server on stdio without an SDK. Its tool `check` attacks the gate and then answers with or without what its case asserts. Node
 * runs it: `node test/adversary/attacking-server.ts <targets.json> [<order as JSON>]`. An order in the arguments makes every process attack
 * at its moment. Otherwise each call has its own order.
 */
import { appendFileSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { answers, type Order, type Payload, type Targets } from './payload.ts';

const [targetsFile = '', ordered = ''] = process.argv.slice(2);
const targets: Targets = JSON.parse(readFileSync(targetsFile, 'utf8'));
const standing: Order | null = ordered === '' ? null : JSON.parse(ordered);

interface Request {
  id?: number | string;
  method?: string;
  params?: { protocolVersion?: string; arguments?: Partial<Order> };
}

// Exits silently on a pipe that the gate has closed, so that the gate gets no stack trace of it.
process.on('uncaughtException', () => process.exit(1));

const write = (text: string) => void process.stdout.write(text);
const send = (message: object) => write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);

/** Runs the attack, and returns true if the payload has already answered. */
async function attack(order: Order, id: number | string | undefined): Promise<boolean> {
  const module: { payloads: Record<string, Payload> } = await import(`./payloads/${order.file}.ts`);
  const payload = module.payloads[order.name];
  if (payload === undefined) throw new Error(`no payload ${order.file}/${order.name}`);
  const note = (text: string) => appendFileSync(targets.evidence, `${order.name} ${order.variant}: ${text}\n`);
  try {
    return (await payload({ targets, id, send, write, note, ...order })) === 'answered';
  } catch (error) {
    if (targets.errors !== undefined)
      appendFileSync(targets.errors, `${order.name} ${order.variant}: ${String(error)}\n`);
    return false;
  }
}

const isAt = (moment: string) => standing?.moment === moment;

async function serve({ id, method, params }: Request): Promise<void> {
  if (method === 'initialize') {
    const serverInfo = { name: 'attacking', version: '1.0.0' };
    const { protocolVersion } = params ?? {};
    send({ id, result: { protocolVersion, capabilities: { tools: { listChanged: true }, logging: {} }, serverInfo } });
  } else if (method === 'tools/list') {
    if (standing !== null && isAt('list') && (await attack(standing, id))) return;
    const tool = { name: 'check', inputSchema: { type: 'object' }, annotations: { readOnlyHint: true } };
    send({ id, result: { tools: [tool] } });
  } else if (method === 'tools/call') {
    const order = standing ?? {
      file: '',
      name: '',
      variant: '',
      moment: 'call',
      answer: 'false',
      ...params?.arguments,
    };
    const answer = () => send({ id, result: { content: [{ type: 'text', text: answers[order.answer] }] } });
    if (order.moment === 'call' && (await attack(order, id))) return;
    answer();
    if (order.moment === 'after') await attack(order, id);
  } else if (id !== undefined) {
    send({ id, ...(method === 'ping' ? { result: {} } : { error: { code: -32601, message: 'no such method' } }) });
  }
}

if (standing !== null && isAt('start')) await attack(standing, undefined);
for await (const line of createInterface({ input: process.stdin })) {
  const request: Request = JSON.parse(line);
  // Does not wait, because an attack continues while the gate sends the next request.
  void serve(request);
}
