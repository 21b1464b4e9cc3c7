import { join } from 'node:path';
import { isRecord } from '../../base/json.ts';
import { claudeCode } from '../../hosts/profiles/claude-code.ts';
import { defineAdapter, mapServers } from '../define-adapter.ts';
import type { ProviderRequest, RequestKind, ShownTool } from '../driver.ts';
import { readStreamJson } from '../output.ts';
import { classifyByTools } from '../requests.ts';
import { anthropicMessages } from '../wires/anthropic-messages.ts';

/** Claude Code, as 2.1.332 was measured. */
export const claudeCodeAdapter = defineAdapter({
  profile: claudeCode,
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
    const mcpServers = mapServers(servers, ({ command, args }) => ({ type: 'stdio', command, args, env: {} }));
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
        servers.map(({ name }) => `mcp__${name.replaceAll(/[^A-Za-z0-9_-]/g, '_')}`).join(','),
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
  readOutput: readStreamJson,
  classify,
  listDeferred,
});

/** The host counts tokens, too. */
function classify(request: ProviderRequest): RequestKind {
  if (!request.path.startsWith('/v1/messages/count_tokens')) return classifyByTools(request, anthropicMessages);
  const body = JSON.stringify({ input_tokens: 1000 });
  return { kind: 'side', answer: { status: 200, contentType: 'application/json', body } };
}

const reminder = /<system-reminder>([\s\S]*?)<\/system-reminder>/g;
const deferredHeading = 'deferred tools are now available';

function listDeferred(request: ProviderRequest): ShownTool[] {
  return anthropicMessages
    .readTexts(request)
    .flatMap((text) => [...text.matchAll(reminder)].map(([, inner = '']) => inner))
    .filter((text) => text.includes(deferredHeading))
    .flatMap((text) => text.split('\n'))
    .map((name) => ({ name, description: null, schema: null }));
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
