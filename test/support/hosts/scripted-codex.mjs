#!/usr/bin/env node
// Behaves as Codex does with a model that it does not know, as far as its adapter knows it. Words in the prompt make it misbehave.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { args, connect, post as send, print, printVersion, readEvents, readPrompt } from './scripted-parts.mjs';

printVersion('codex-cli 0.171.0');
const does = readPrompt(args.at(-1));
const config = readFileSync(join(process.env.CODEX_HOME, 'config.toml'), 'utf8');
const read = (key) => JSON.parse(new RegExp(`^${key} = (.*)$`, 'm').exec(config)[1]);
const server = JSON.parse(/^\[mcp_servers\.(.*)\]$/m.exec(config)[1]);
const connection = await connect([read('command'), ...read('args')], {
  client: 'scripted-codex',
  protocolVersion: '2025-06-18',
});
const namespace = {
  type: 'namespace',
  name: `mcp__${server}`,
  description: connection.instructions,
  tools: connection.tools.map(({ name, description, inputSchema: parameters }) => ({
    type: 'function',
    name,
    description,
    parameters,
  })),
};
const tools = [{ type: 'function', name: 'exec_command' }, ...(does('hide the tools') ? [] : [namespace])];
const text = (said) => [{ type: 'input_text', text: said }];
const input = [
  { type: 'message', role: 'developer', content: text(`You run as ${process.pid}.`) },
  { type: 'message', role: 'user', content: text(args.at(-1)) },
];

async function answer({ call_id: callId, name, arguments: given }) {
  const reply = (output) => ({ type: 'function_call_output', call_id: callId, output });
  if (does('approve nothing')) {
    const error = { message: 'MCP tool call requires approval, but approval policy is never' };
    print({ type: 'item.completed', item: { type: 'mcp_tool_call', tool: name, status: 'failed', error } });
    return reply(error.message);
  }
  const { result } = await connection.call(name, JSON.parse(given));
  const texts = result.content.map((part) => part.text).join('\n');
  return reply([...text(`Wall time: ${Math.random()} seconds\nOutput:`), ...text(texts)]);
}

const headers = { authorization: `Bearer ${process.env.GATE_API_KEY}` };
try {
  let calls;
  do {
    const body = { model: read('model'), stream: true, prompt_cache_key: String(Math.random()), tools, input };
    const events = readEvents(await send(`${read('base_url')}/responses`, headers, body));
    const items = events.filter(({ type }) => type === 'response.output_item.done').map(({ item }) => item);
    input.push(...items);
    calls = items.filter(({ type }) => type === 'function_call');
    for (const call of calls) input.push(await answer(call));
  } while (calls.length > 0);
} catch (error) {
  print({ type: 'turn.failed', error: { message: error.message } });
  process.exitCode = 1;
}
connection.close();
