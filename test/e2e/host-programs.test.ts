import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isolation } from '../../bench/hosts/run-host.ts';
import { systemClock } from '../../src/base/time.ts';
import { runEmbeddedGate } from '../support/gate/embedded-gate.ts';
import { findHostVersion } from '../support/hosts/installed-hosts.ts';
import {
  type ModelReply,
  openScriptedProvider,
  type HostFormat,
  type ProviderRequest,
  type ScriptedToolCall,
} from '../support/models/scripted-provider.ts';
import { createWorkspace, everythingOverStdio } from '../support/workspace.ts';

interface Host {
  id: string;
  format: HostFormat;
  model: string;
  builtIns?: 'off';
  echo: string;
  namespace?: string;
  /** The call that searches the tool, if the host does not show it at once. */
  search?: ScriptedToolCall;
  /** Calls a tool that was found. */
  bridge?: (call: ScriptedToolCall) => ScriptedToolCall;
}

const openAi = { format: 'compatible', model: 'openai/gpt-test' } as const;
const claude = {
  id: 'claude-code',
  format: 'anthropic',
  model: 'anthropic/claude-haiku-4-5',
  echo: 'mcp__server__echo',
  search: { name: 'ToolSearch', arguments: { query: 'select:mcp__server__echo' } },
} as const;

const codex = { id: 'codex', format: 'responses', echo: 'echo', namespace: 'mcp__server' } as const;

const hosts: readonly Host[] = [
  claude,
  { ...claude, builtIns: 'off' },
  { ...openAi, id: 'copilot-cli', echo: 'server-echo' },
  { id: 'gemini-cli', format: 'google', model: 'google/gemini-2.5-flash', echo: 'mcp_server_echo' },
  { ...openAi, id: 'goose', echo: 'server__echo' },
  { ...openAi, id: 'opencode', echo: 'server_echo' },
  {
    ...openAi,
    id: 'qwen-code',
    echo: 'mcp__server__echo',
    search: { name: 'tool_search', arguments: { query: 'select:mcp__server__echo' } },
    bridge: (call) => ({ name: 'tool_call', arguments: { name: call.name, arguments: call.arguments } }),
  },
  // A model that Codex does not know, one that searches its tools, and one that writes programs.
  { ...codex, model: 'openai/gpt-test' },
  { ...codex, model: 'openai/gpt-5.5', search: { name: 'tool_search', arguments: { query: 'echo' } } },
  {
    ...codex,
    model: 'openai/gpt-5.6-sol',
    bridge: () => ({ name: 'exec', arguments: "text(await tools.mcp__server__echo({ message: 'hi' }))" }),
  },
];

/** Searches the tool unless the host shows it at once, calls it, and repeats its result. */
const createScript =
  ({ echo, namespace, search, bridge }: Host) =>
  ({ body }: ProviderRequest): ModelReply => {
    const [tools, said] = [
      JSON.stringify(body['tools'] ?? []),
      JSON.stringify(body['messages'] ?? body['input'] ?? body['contents']),
    ];
    if (said.includes('Echo: hi')) return { text: 'It answered Echo: hi.' };
    const call = { name: echo, ...(namespace !== undefined && { namespace }), arguments: { message: 'hi' } };
    if (tools.includes(`"${echo}"`)) return { toolCalls: [call] };
    if (search !== undefined && !said.includes('Echoes back the input')) return { toolCalls: [search] };
    return { toolCalls: [bridge?.(call) ?? call] };
  };

const threeDaysMs = 3 * 24 * 3_600_000;

describe.each(hosts)('the program of $id with $model (built-ins $builtIns)', (host) => {
  const version = findHostVersion(host.id);
  it.skipIf(version === null)(
    'is driven against a real server, and replays elsewhere on another day without a key',
    { timeout: 300_000 },
    async () => {
      await using provider = await openScriptedProvider({ format: host.format, answers: createScript(host) });
      await using workspace = await createWorkspace({
        'a.evals.yaml': `suite: Echo
model: ${host.model}
host: { command: ${host.id}, version: ${version}, built-ins: ${host.builtIns ?? 'on'}, allow-host-network: ${isolation === null} }
cases:
  - title: Echoes
    timeout: 2m
    steps:
      - prompt: Echo hi.
      - assert: { toolCalledWith: echo, arguments: { message: hi } }
      - assert: { toolResultContains: 'Echo: hi' }
      - assert: { responseContains: 'Echo: hi' }
`,
      });
      const inputs = { 'server-command': everythingOverStdio };
      const path = { PATH: process.env['PATH'] ?? '' };
      const prefix = { anthropic: 'ANTHROPIC', google: 'GEMINI', compatible: 'OPENAI', responses: 'OPENAI' }[
        host.format
      ];
      const keys = { [`${prefix}_API_KEY`]: 'sk-canary', [`${prefix}_BASE_URL`]: provider.baseUrl };
      const environment = { ...path, ...keys };
      const made = await runEmbeddedGate(workspace, { ...inputs, recordings: 'record' }, { environment });
      expect(made.report.cases[0]?.failures).toEqual([]);
      expect(made.report.verdict.outcome).toBe('passed');
      const asked = provider.requests.length;

      await using other = await createWorkspace({ 'home/.keep': '' });
      await cp(workspace.path, join(other.path, 'elsewhere'), { recursive: true });
      const replayed = await runEmbeddedGate(
        { ...other, path: join(other.path, 'elsewhere') },
        { ...inputs, recordings: 'replay' },
        {
          environment: { ...path, HOME: join(other.path, 'home') },
          clock: { ...systemClock, now: () => systemClock.now() + threeDaysMs },
        },
      );
      expect(replayed.report.cases[0]?.failures).toEqual([]);
      expect(replayed.report.verdict.outcome).toBe('passed');
      expect(provider.requests).toHaveLength(asked);
    },
  );
});
