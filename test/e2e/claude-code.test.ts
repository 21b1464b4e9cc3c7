import { execFileSync } from 'node:child_process';
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { systemClock } from '../../src/base/time.ts';
import { runEmbeddedGate } from '../support/gate/embedded-gate.ts';
import { openScriptedProvider, type ProviderRequest } from '../support/models/scripted-provider.ts';
import { createWorkspace, everythingOverStdio } from '../support/workspace.ts';

/** The version of the program in PATH; null where it is not installed. The package is proprietary, so nothing here installs it. */
function findVersion(): string | null {
  try {
    return /^\d+\.\d+\.\d+/.exec(execFileSync('claude', ['--version'], { encoding: 'utf8' }))?.[0] ?? null;
  } catch {
    return null;
  }
}

const version = findVersion();
if (version === null) console.log('Claude Code is not installed, so its program is not driven here.');

/** Searches the tool unless the host shows it at once, calls it, and repeats its result. */
function answer({ turn, body }: ProviderRequest) {
  const isShown = JSON.stringify(body['tools']).includes('mcp__server__echo');
  if (!isShown) return { toolCalls: [{ name: 'ToolSearch', arguments: { query: 'select:mcp__server__echo' } }] };
  const results = JSON.stringify(body['messages']);
  if (!results.includes('Echo: hi')) {
    return { toolCalls: [{ name: 'mcp__server__echo', arguments: { message: 'hi' } }], usage: { input: turn } };
  }
  return { text: 'It answered Echo: hi.' };
}

const threeDaysMs = 3 * 24 * 3_600_000;

it.skipIf(version === null).each(['on', 'off'])(
  'drives Claude Code against a real server with its own tools %s, and replays it elsewhere',
  { timeout: 300_000 },
  async (builtIns) => {
    await using provider = await openScriptedProvider({ format: 'anthropic', answers: answer });
    await using workspace = await createWorkspace({
      'a.evals.yaml': `suite: Echo
model: anthropic/claude-haiku-4-5
host: { command: claude-code, version: ${version}, built-ins: ${builtIns}, allow-host-network: true }
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
    const environment = { ...path, ANTHROPIC_API_KEY: 'sk-canary', ANTHROPIC_BASE_URL: provider.baseUrl };
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
