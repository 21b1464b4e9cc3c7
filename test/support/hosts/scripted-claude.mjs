#!/usr/bin/env node
// Behaves as Claude Code does towards its provider and its servers, as far as its adapter knows it. Words in the prompt make it misbehave.
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const args = process.argv.slice(2);
if (args[0] === '--version') {
  console.log('2.1.330 (Claude Code)');
  process.exit(0);
}
const option = (name) => args[args.indexOf(name) + 1];
const prompt = option('-p');
const does = (words) => prompt.includes(words);
const print = (line) => console.log(JSON.stringify(line));
if (does('die at once')) {
  console.error('The host is out of order.');
  process.exit(7);
}

const { mcpServers } = JSON.parse(readFileSync(option('--mcp-config'), 'utf8'));
const [[server, { command, args: words }]] = Object.entries(mcpServers);
const child = spawn(command, words, { stdio: ['pipe', 'pipe', 'inherit'], env: {} });
const waiting = new Map();
createInterface({ input: child.stdout }).on('line', (line) => {
  const message = JSON.parse(line);
  waiting.get(message.id)?.(message);
});
let lastId = 0;
const ask = (method, params) =>
  new Promise((resolve) => {
    lastId += 1;
    waiting.set(lastId, resolve);
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: lastId, method, params })}\n`);
  });

const discovered = await ask('server/discover', {});
if (discovered.error?.code !== -32601) throw new Error('The server knows a later revision.');
const { result: served } = await ask('initialize', {
  protocolVersion: '2025-11-25',
  capabilities: { roots: {} },
  clientInfo: { name: 'scripted-claude', version: '1' },
});
child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' })}\n`);
const { result: list } = await ask('tools/list', {});
print({ type: 'system', subtype: 'init', mcp_servers: [{ name: server, status: 'connected' }] });

const remind = (text) => ({ type: 'text', text: `<system-reminder>\n${text}\n</system-reminder>` });
const shown = does('hide the tools') ? [] : list.tools;
const messages = [
  {
    role: 'user',
    content: [
      remind(`Primary working directory: ${process.cwd()}\nHOME: ${process.env.HOME}`),
      remind(`# MCP Server Instructions\n\n## ${server}\n${served.instructions ?? ''}`),
      remind(`Today is ${new Date().toISOString()}.`),
      { type: 'text', text: prompt },
    ],
  },
];
const tools = [
  { name: 'Bash', description: 'Runs a command.', input_schema: { type: 'object' } },
  ...shown.map(({ name, description, inputSchema }) => ({
    name: `mcp__${server}__${name}`,
    description,
    input_schema: inputSchema,
  })),
];
const post = async (body) => {
  const response = await fetch(`${process.env.ANTHROPIC_BASE_URL}/v1/messages?beta=true`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'anthropic-beta': 'something-2026',
      'x-api-key': process.env.ANTHROPIC_API_KEY,
      'x-session': String(Math.random()),
    },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`API Error: ${response.status} ${text}`);
  return text;
};
const join = (text) => {
  const blocks = [];
  for (const line of text.split('\n')) {
    if (!line.startsWith('data: ')) continue;
    const { type, index, content_block: block, delta } = JSON.parse(line.slice(6));
    if (type === 'content_block_start') blocks[index] = { ...block, input: '' };
    if (delta?.type === 'text_delta') blocks[index].text += delta.text;
    if (delta?.type === 'input_json_delta') blocks[index].input += delta.partial_json;
  }
  return blocks.map(({ input, ...block }) =>
    block.type === 'tool_use' ? { ...block, input: JSON.parse(input) } : block,
  );
};

const model = does('ask another model') ? 'another' : option('--model');
await post({ model, stream: true, messages: [{ role: 'user', content: 'Find a title.' }] });
const denials = [];
let content = [];
do {
  content = join(
    await post({
      model,
      stream: true,
      system: [{ type: 'text', text: `You run on ${process.platform}, process ${process.pid}.` }],
      metadata: { user_id: String(Math.random()) },
      tools,
      messages,
    }),
  );
  messages.push({ role: 'assistant', content });
  const results = [];
  for (const { type, id, name, input } of content) {
    if (type !== 'tool_use') continue;
    if (does('approve nothing')) {
      denials.push({ tool_name: name, tool_use_id: id, tool_input: input });
      results.push({ type: 'tool_result', tool_use_id: id, content: 'Not approved.', is_error: true });
      continue;
    }
    const tool = name.slice(`mcp__${server}__`.length);
    const { result, error } = await ask('tools/call', { name: tool, arguments: input });
    results.push({
      type: 'tool_result',
      tool_use_id: id,
      content: result?.content ?? error.message,
      ...((error !== undefined || result.isError) && { is_error: true }),
    });
    results.at(-1).content = [...[results.at(-1).content].flat(), remind(`${Math.random()} tokens left`)];
  }
  messages.push({ role: 'user', content: results });
} while (content.some(({ type }) => type === 'tool_use'));
const text = content.map((block) => block.text ?? '').join('');
print({ type: 'result', subtype: 'success', is_error: false, result: text, permission_denials: denials });
child.stdin.end();
