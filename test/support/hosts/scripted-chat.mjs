#!/usr/bin/env node
// Behaves as Copilot CLI, goose, opencode or Qwen Code do towards their provider and their servers, by the name of the program, as far as their adapters know
// them. Words in the prompt make it misbehave.
import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { connect, option, post as send, print, printVersion, readEvents, readPrompt } from './scripted-parts.mjs';

const { env } = process;
const readConfig = (path) => JSON.parse(readFileSync(join(env.HOME, path), 'utf8'));
const underscored = (name) => name.replaceAll(/[^A-Za-z0-9_-]/g, '_');

const hosts = {
  copilot: () => {
    const path = option('--additional-mcp-config').slice('@'.length);
    const [[server, { command, args: words }]] = Object.entries(JSON.parse(readFileSync(path, 'utf8')).mcpServers);
    return {
      server,
      command: [command, ...words],
      protocolVersion: '2025-11-25',
      key: env.COPILOT_PROVIDER_API_KEY,
      url: `${env.COPILOT_PROVIDER_BASE_URL}/chat/completions`,
      model: env.COPILOT_MODEL,
      prompt: option('-p'),
      nameTool: (tool) => `${underscored(server)}-${underscored(tool)}`,
      deny: (toolName) => {
        const started = { toolCallId: 'call_denied', toolName, mcpServerName: server };
        print({ type: 'tool.execution_start', data: started });
        const error = { message: 'Permission denied', code: 'denied' };
        print({ type: 'tool.execution_complete', data: { toolCallId: 'call_denied', success: false, error } });
      },
      fail: (message) => print({ type: 'session.error', data: { message } }),
    };
  },
  goose: () => {
    const [[server, { cmd, args: words }]] = Object.entries(readConfig('.config/goose/config.yaml').extensions);
    return {
      server,
      command: [cmd, ...words],
      protocolVersion: '2025-03-26',
      key: env.OPENAI_API_KEY,
      url: `${env.OPENAI_HOST}/${env.OPENAI_BASE_PATH}`,
      model: env.GOOSE_MODEL,
      prompt: option('-t'),
      nameTool: (tool) => `${server.replaceAll(' ', '').toLowerCase()}__${tool}`,
      asksTitle: true,
      fail: (error) => print({ type: 'error', error }),
    };
  },
  opencode: () => {
    const { mcp, model, provider } = JSON.parse(readFileSync(env.OPENCODE_CONFIG, 'utf8'));
    const [[server, { command }]] = Object.entries(mcp);
    return {
      server,
      command,
      protocolVersion: '2025-11-25',
      key: env.GATE_API_KEY,
      url: `${provider.gate.options.baseURL}/chat/completions`,
      model: model.slice('gate/'.length),
      prompt: readFileSync(0, 'utf8'),
      nameTool: (tool) => `${underscored(server)}_${underscored(tool)}`,
      deny: (name) => print({ type: 'tool_use', part: refuse(name) }),
      fail: (error) => print({ type: 'error', error: { data: { message: error } } }),
    };
  },
  qwen: () => {
    const [[server, { command, args: words }]] = Object.entries(readConfig('.qwen/settings.json').mcpServers);
    return {
      server,
      command: [command, ...words],
      protocolVersion: '2025-11-25',
      key: env.OPENAI_API_KEY,
      url: `${env.OPENAI_BASE_URL}/chat/completions`,
      model: option('-m'),
      prompt: option('-p'),
      nameTool: (tool) => `mcp__${underscored(server)}__${underscored(tool)}`,
      isDeferred: true,
      deny: (name) => print({ type: 'result', permission_denials: [{ tool_name: name }] }),
      fail: (error) => print({ type: 'result', is_error: true, result: error, permission_denials: [] }),
    };
  },
};

const refuse = (tool) => {
  const error = 'The user rejected permission to use this specific tool call.';
  return { type: 'tool', tool, state: { status: 'error', error } };
};

const versions = { copilot: 'GitHub Copilot CLI 1.0.102.', goose: ' 1.52.0', opencode: '1.18.33', qwen: '0.24.4' };
const name = basename(process.argv[1]);
printVersion(versions[name]);
const host = hosts[name]();
const does = readPrompt(host.prompt);
const connection = await connect(host.command, { client: `scripted-${name}`, protocolVersion: host.protocolVersion });
const post = (body) => send(host.url, { authorization: `Bearer ${host.key}` }, { stream: true, ...body });
const model = does('ask another model') ? 'another' : host.model;

const names = new Map(connection.tools.map((tool) => [host.nameTool(tool.name), tool]));
const shown = does('hide the tools') ? [] : [...names];
const declare = (shownName, description, parameters) => ({
  type: 'function',
  function: { name: shownName, description, parameters },
});
const deferred = shown.map(([shownName, { description }]) => {
  const quoted = [shownName, (description ?? '').slice(0, 160)].map((text) => JSON.stringify(text));
  return `- ${quoted.join(': ')}`;
});
const tools = [
  declare('shell', 'Runs a command.', { type: 'object' }),
  ...(host.isDeferred
    ? [declare('tool_call', 'Calls a tool.', { type: 'object' })]
    : shown.map(([shownName, { description, inputSchema }]) => declare(shownName, description, inputSchema))),
];
const messages = [
  {
    role: 'system',
    content: `You run as ${process.pid}.\n## ${host.server}\n    ${connection.instructions}\n# The end`,
  },
  {
    role: 'user',
    content: [
      { type: 'text', text: `HOME is ${env.HOME}, and now is ${new Date().toISOString()}.` },
      ...(host.isDeferred ? [{ type: 'text', text: `### MCP servers\n${deferred.join('\n')}` }] : []),
      { type: 'text', text: host.prompt },
    ],
  },
];

const joinChunks = (text) => {
  const message = { role: 'assistant', content: '', tool_calls: [] };
  for (const { choices } of readEvents(text)) {
    const { content, tool_calls: parts = [] } = choices[0]?.delta ?? {};
    message.content += content ?? '';
    for (const { index, id, function: called } of parts) {
      const call = (message.tool_calls[index] ??= { id, type: 'function', function: { name: '', arguments: '' } });
      call.function.name += called.name ?? '';
      call.function.arguments += called.arguments ?? '';
    }
  }
  return message;
};

async function answerCall({ id, function: { name: called, arguments: text } }) {
  const input = JSON.parse(text);
  const [shownName, given] = host.isDeferred ? [input.name, input.arguments] : [called, input];
  const reply = (content) => ({ role: 'tool', tool_call_id: id, content });
  if (does('approve nothing') && host.deny !== undefined) {
    host.deny(shownName);
    return reply('Not approved.');
  }
  const { result, error } = await connection.call(names.get(shownName)?.name, given);
  return reply(error?.message ?? result.content.map((part) => part.text).join('\n'));
}

try {
  if (host.asksTitle) await post({ model, messages: [{ role: 'user', content: 'Find a title.' }] });
  let message;
  do {
    message = joinChunks(await post({ model, messages, tools, stream_options: { include_usage: true } }));
    messages.push(message);
    for (const call of message.tool_calls) messages.push(await answerCall(call));
  } while (message.tool_calls.length > 0);
} catch (error) {
  host.fail(error.message);
  process.exitCode = 1;
}
connection.close();
