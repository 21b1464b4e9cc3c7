#!/usr/bin/env node
// Behaves as Claude Code does towards its provider and its servers, as far as its adapter knows it. Words in the prompt make it misbehave.
import { readFileSync } from 'node:fs';
import { connect, option, post as send, print, printVersion, readEvents, readPrompt } from './scripted-parts.mjs';

printVersion('2.1.330 (Claude Code)');
const prompt = option('-p');
const does = readPrompt(prompt);

const { mcpServers } = JSON.parse(readFileSync(option('--mcp-config'), 'utf8'));
const [[server, { command, args: words }]] = Object.entries(mcpServers);
const connection = await connect([command, ...words], {
  client: 'scripted-claude',
  protocolVersion: '2025-11-25',
  discovers: true,
});
print({ type: 'system', subtype: 'init', mcp_servers: [{ name: server, status: 'connected' }] });

const remind = (text) => ({ type: 'text', text: `<system-reminder>\n${text}\n</system-reminder>` });
const shown = does('hide the tools') ? [] : connection.tools;
const messages = [
  {
    role: 'user',
    content: [
      remind(`Primary working directory: ${process.cwd()}\nHOME: ${process.env.HOME}`),
      remind(`# MCP Server Instructions\n\n## ${server}\n${connection.instructions}`),
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
const post = (body) =>
  send(
    `${process.env.ANTHROPIC_BASE_URL}/v1/messages?beta=true`,
    { 'anthropic-beta': 'something-2026', 'x-api-key': process.env.ANTHROPIC_API_KEY },
    body,
  );
const join = (text) => {
  const blocks = [];
  for (const { type, index, content_block: block, delta } of readEvents(text)) {
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
    const { result, error } = await connection.call(tool, input);
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
connection.close();
