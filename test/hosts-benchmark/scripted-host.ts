// A host for tests: `scripted-host.ts <provider> <drops-texts|plain> <command…>`. Shows the tools of the server to the provider of chat
// completions, makes the calls of an answer at the same time, and ends with a text.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

interface Message {
  id?: number;
  result?: { tools?: Tool[]; instructions?: string; content?: Part[]; structuredContent?: unknown };
}
interface Tool {
  name: string;
  description: string;
  inputSchema: unknown;
}
interface Part {
  type: string;
  text?: string;
}
interface Choice {
  message: {
    content: string | null;
    tool_calls?: Array<{ id: string; function: { name: string; arguments: string } }>;
  };
}

const [provider = '', kind = '', command = '', ...args] = process.argv.slice(2);
const server = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] });
const waiting = new Map<number, (message: Message) => void>();
createInterface({ input: server.stdout }).on('line', (line) => {
  const message = JSON.parse(line) as Message;
  if (message.id !== undefined) waiting.get(message.id)?.(message);
});
let id = 0;
const ask = (method: string, params: unknown) =>
  new Promise<Message>((resolve) => {
    id += 1;
    waiting.set(id, resolve);
    server.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
  });

const { result: hello } = await ask('initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: {} });
const { result: listed } = await ask('tools/list', {});
const tools = (listed?.tools ?? []).map(({ name, description, inputSchema }) => ({
  type: 'function',
  function: { name: `probe_${name}`, description: description.slice(0, 1000), parameters: inputSchema },
}));
const messages: unknown[] = [
  { role: 'system', content: hello?.instructions },
  { role: 'user', content: 'Use the tools.' },
];
for (;;) {
  const response = await fetch(`${provider}/v1/chat/completions`, {
    method: 'POST',
    body: JSON.stringify({ model: 'probe-model', messages, tools }),
  });
  const { choices } = (await response.json()) as { choices: Choice[] };
  const { message } = choices[0]!;
  messages.push({ role: 'assistant', ...message });
  if (message.tool_calls === undefined) break;
  const calling = message.tool_calls.map(async (call) => {
    const name = call.function.name.replace('probe_', '');
    const { result } = await ask('tools/call', { name, arguments: JSON.parse(call.function.arguments) });
    const text = (result?.content ?? []).map((part) => part.text ?? '').join('');
    const shown = kind === 'drops-texts' && result?.structuredContent !== undefined ? '' : text;
    const content = shown + JSON.stringify(result?.structuredContent ?? '').replace('""', '');
    return { role: 'tool', tool_call_id: call.id, content };
  });
  messages.push(...(await Promise.all(calling)));
}
server.kill();
