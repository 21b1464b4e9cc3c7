import { join } from 'node:path';
import { isRecord, type JsonObject, tryParseJson } from '../../base/json.ts';
import type { HostAdapter, HostOutput, ProviderRequest, RequestKind, ShownServers, ShownTool } from '../driver.ts';
import { anthropicMessages } from '../wires/anthropic-messages.ts';

/** Claude Code, as 2.1.330 was measured. */
export const claudeCodeAdapter: HostAdapter = {
  id: 'claude-code',
  program: 'claude',
  wire: {
    ...anthropicMessages,
    // The host adds reminders to results, with a count of tokens that moves.
    readResults: (request) =>
      anthropicMessages.readResults(request).map(({ callId, output }) => ({ callId, output: dropReminders(output) })),
  },
  canDropBuiltIns: true,
  start: ({ home, servers, provider, model, prompt, builtIns }) => {
    const config = join(home, 'mcp.json');
    const mcpServers = Object.fromEntries(
      servers.map(({ name, command: [command, ...args] }) => [name, { type: 'stdio', command, args, env: {} }]),
    );
    return {
      files: new Map([[config, JSON.stringify({ mcpServers })]]),
      args: [
        '-p',
        prompt,
        '--model',
        model,
        '--strict-mcp-config',
        '--mcp-config',
        config,
        '--allowedTools',
        servers.map(({ name }) => `mcp__${replaceRefused(name)}`).join(','),
        '--output-format',
        'stream-json',
        '--verbose',
        '--no-session-persistence',
        ...(builtIns === 'off' ? ['--tools', ''] : []),
      ],
      env: {
        ANTHROPIC_BASE_URL: provider.url,
        ANTHROPIC_API_KEY: provider.token,
        CLAUDE_CONFIG_DIR: join(home, '.claude'),
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
        DISABLE_AUTOUPDATER: '1',
      },
    };
  },
  readOutput,
  classify,
  readShown,
  nameTool: (server, tool) => `mcp__${replaceRefused(server)}__${replaceRefused(tool)}`,
};

function replaceRefused(name: string): string {
  return name.replaceAll(/[^A-Za-z0-9_-]/g, '_');
}

/** A request without tools is a title or a check of the connection; the main conversation always has some. */
function classify({ method, path, body }: ProviderRequest): RequestKind {
  const answer = (status: number, value: unknown): RequestKind => ({
    kind: 'side',
    answer: { status, contentType: 'application/json', body: JSON.stringify(value) },
  });
  if (method === 'HEAD' || path === '/') return answer(200, {});
  if (path.startsWith('/v1/messages/count_tokens')) return answer(200, { input_tokens: 1000 });
  if (path.startsWith('/v1/models')) return answer(200, { data: [], has_more: false, first_id: null, last_id: null });
  if (anthropicMessages.toProviderPath(path) === null)
    return answer(404, { type: 'error', error: { type: 'not_found_error', message: 'Not found.' } });
  const tools = isRecord(body) && Array.isArray(body['tools']) ? body['tools'] : [];
  if (tools.length > 0) return { kind: 'main' };
  const said = {
    content: [{ type: 'text' as const, text: 'A short title' }],
    finishReason: { unified: 'stop' as const, raw: 'end_turn' },
    usage: {
      inputTokens: { total: 0, noCache: 0, cacheRead: 0, cacheWrite: 0 },
      outputTokens: { total: 0, text: 0, reasoning: 0 },
    },
    isReplayed: true,
  };
  return { kind: 'side', answer: anthropicMessages.printAnswer(said, { method, path, headers: {}, body }) };
}

const reminder = /<system-reminder>([\s\S]*?)<\/system-reminder>/g;
const deferredHeading = 'deferred tools are now available';
const instructionsHeading = '# MCP Server Instructions';

function readShown({ body }: ProviderRequest, servers: readonly string[]): ShownServers {
  const prefixes = servers.map((name) => `mcp__${replaceRefused(name)}__`);
  const isOurs = (name: string) => prefixes.some((prefix) => name.startsWith(prefix));
  const request = isRecord(body) ? body : {};
  const reminders = listTexts(request).flatMap((text) =>
    [...text.matchAll(reminder)].map(([, inner = '']) => inner.trim()),
  );
  const deferred = reminders
    .filter((text) => text.includes(deferredHeading))
    .flatMap((text) => text.split('\n'))
    .filter(isOurs);
  const listed = Array.isArray(request['tools']) ? request['tools'].filter(isRecord) : [];
  const shown = new Map<string, ShownTool>(deferred.map((name) => [name, { name, description: null, schema: null }]));
  for (const { name, description, input_schema: schema } of listed) {
    if (typeof name !== 'string' || !isOurs(name)) continue;
    const described = typeof description === 'string' ? description : null;
    shown.set(name, { name, description: described, schema: isRecord(schema) ? schema : {} });
  }
  const instructions = reminders.filter((text) => text.startsWith(instructionsHeading)).join('\n\n');
  return { tools: [...shown.values()], instructions: instructions === '' ? null : instructions };
}

/** Lists the texts of the system prompt and of all messages. */
function listTexts({ system, messages }: JsonObject): string[] {
  const read = (content: unknown): string[] => {
    if (typeof content === 'string') return [content];
    if (!Array.isArray(content)) return [];
    return content
      .filter(isRecord)
      .flatMap(({ type, text }) => (type === 'text' && typeof text === 'string' ? [text] : []));
  };
  const said = Array.isArray(messages) ? messages.filter(isRecord) : [];
  return [...read(system), ...said.flatMap(({ content }) => read(content))];
}

/** Removes reminders of the host and the white space around them from the texts of a result. */
function dropReminders(value: unknown): unknown {
  if (typeof value === 'string') return value.replaceAll(reminder, '').trimEnd();
  if (Array.isArray(value)) {
    return value
      .map(dropReminders)
      .filter((part) => !(isRecord(part) && part['type'] === 'text' && part['text'] === ''));
  }
  if (!isRecord(value)) return value;
  const { cache_control: _mark, ...members } = value;
  return Object.fromEntries(Object.entries(members).map(([name, member]) => [name, dropReminders(member)]));
}

function readOutput({ stdout }: { stdout: string; stderr: string }): HostOutput {
  const lines = stdout.split('\n').map(tryParseJson).filter(isRecord);
  const init = lines.find(({ type, subtype }) => type === 'system' && subtype === 'init') ?? {};
  const result = lines.findLast((line) => 'permission_denials' in line || line['type'] === 'result') ?? {};
  const denied = Array.isArray(result['permission_denials']) ? result['permission_denials'].filter(isRecord) : [];
  const names = denied.map(({ tool_name: name }) => String(name)).filter((name) => name.startsWith('mcp__'));
  const servers = Array.isArray(init['mcp_servers']) ? init['mcp_servers'].filter(isRecord) : [];
  const failed = servers.filter(({ status }) => status === 'failed');
  const text = typeof result['result'] === 'string' ? result['result'] : null;
  return {
    text,
    denials: names.map((name) => `It did not approve the call of ${name}.`),
    errors: [
      ...failed.map(({ name }) => `It could not connect to the server ${String(name)}.`),
      ...(result['is_error'] === true ? [`It reports an error: ${text ?? String(result['subtype'])}`] : []),
    ],
  };
}
