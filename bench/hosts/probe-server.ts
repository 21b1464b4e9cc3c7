// A server over stdio that logs each message, with its time, to a file: `probe-server.ts <surface> <log>`.
import { appendFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { isRecord, type JsonObject, tryParseJson } from '../../src/base/json.ts';
import { countWords, declareTool, instructions, laterTool, resultTools, type SurfaceName, surfaces } from './probe.ts';

const [surface = 'plain', log = ''] = process.argv.slice(2);
const tools = surfaces[surface as SurfaceName].map(declareTool);
/** The calls of `meet` that wait for another one. */
const waiting: unknown[] = [];
/** A host that sends calls one after the other waits this long. */
const meetMs = 3000;

function note(direction: 'in' | 'out', message: unknown): void {
  appendFileSync(log, `${JSON.stringify({ time: Date.now(), direction, message })}\n`);
}

function send(message: JsonObject): void {
  note('out', message['method'] ?? { id: message['id'] });
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
}

const answer = (id: unknown, result: unknown) => send({ id, result });
const say = (id: unknown, text: string) => answer(id, { content: [{ type: 'text', text }] });

function call(id: unknown, { name, arguments: args }: JsonObject): void {
  if (typeof name === 'string' && Object.hasOwn(resultTools, name)) {
    answer(id, resultTools[name as keyof typeof resultTools]);
    return;
  }
  switch (name) {
    case 'hang':
      return;
    case 'sized':
      say(id, countWords('s', Number(isRecord(args) ? args['size'] : 0)));
      return;
    case 'meet':
    case 'meet_reading':
      waiting.push(id);
      if (waiting.length > 1) for (const each of waiting.splice(0)) say(each, 'mark-met');
      else setTimeout(() => waiting.splice(0).forEach((each) => say(each, 'mark-alone')), meetMs);
      return;
    case 'extend':
      tools.push(declareTool(laterTool));
      send({ method: 'notifications/tools/list_changed' });
      say(id, 'mark-extended');
      return;
    default:
      say(id, `mark-${String(name)}`);
  }
}

function receive({ id, method, params }: JsonObject): void {
  if (id === undefined) return;
  switch (method) {
    case 'initialize':
      answer(id, {
        protocolVersion: isRecord(params) ? params['protocolVersion'] : '',
        capabilities: { tools: { listChanged: true } },
        serverInfo: { name: 'probe', version: '1.0.0' },
        instructions,
      });
      return;
    case 'ping':
      answer(id, {});
      return;
    case 'tools/list':
      answer(id, { tools });
      return;
    case 'tools/call':
      call(id, isRecord(params) ? params : {});
      return;
    default:
      send({ id, error: { code: -32601, message: 'Method not found' } });
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  const message = tryParseJson(line);
  note('in', message);
  if (isRecord(message)) receive(message);
}
