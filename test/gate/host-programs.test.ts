import { cp, mkdir, readdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/time.ts';
import { runEmbeddedGate } from '../support/gate/embedded-gate.ts';
import { openScriptedProvider, type ScriptedProvider } from '../support/models/scripted-provider.ts';
import { createWorkspace, type Workspace } from '../support/workspace.ts';

const scripts: ReadonlyMap<string, string> = new Map([
  ['claude', 'scripted-claude.mjs'],
  ['codex', 'scripted-codex.mjs'],
  ['copilot', 'scripted-chat.mjs'],
  ['gemini', 'scripted-gemini.mjs'],
  ['goose', 'scripted-chat.mjs'],
  ['opencode', 'scripted-chat.mjs'],
  ['qwen', 'scripted-chat.mjs'],
]);
const threeDaysMs = 3 * 24 * 3_600_000;
const key = 'sk-canary-of-the-provider';
const recorded = 'recordings/notes/says.anthropic-claude-haiku-4.5@claude-code.program.jsonl';

interface Written {
  prompt?: string;
  host?: string;
  keys?: string;
  checks?: string;
}

function writeEvals({ prompt = 'Say it.', host = '', keys = '', checks = '' }: Written = {}): string {
  return `suite: Notes
model: anthropic/claude-haiku-4.5
host: { command: claude-code, version: 2.1.330, allow-host-network: true${host} }
${keys}
cases:
  - id: says
    title: Says it
    steps:
      - prompt: ${prompt}
      - assert: { toolCalledWith: argv, arguments: { loud: true } }
      - assert: { toolResultContains: hello }
      - assert: { responseContains: It said hello. }
${checks}
`;
}

const answers = ({ turn }: { turn: number }) =>
  turn === 1
    ? { text: 'I ask.', toolCalls: [{ name: 'mcp__server__argv', arguments: { loud: true } }] }
    : { text: 'It said hello.' };

let programs: Workspace;
let provider: ScriptedProvider;

beforeAll(async () => {
  programs = await createWorkspace();
  await mkdir(join(programs.path, 'bin'));
  for (const [program, script] of scripts) {
    const path = fileURLToPath(new URL(`../support/hosts/${script}`, import.meta.url));
    await symlink(path, join(programs.path, 'bin', program));
  }
  provider = await openScriptedProvider({ format: 'anthropic', answers });
});

afterAll(async () => {
  await provider[Symbol.asyncDispose]();
  await programs[Symbol.asyncDispose]();
});

const path = () => `${join(programs.path, 'bin')}:${process.env['PATH'] ?? ''}`;

async function run(workspace: Workspace, inputs = {}, environment: Record<string, string> = {}) {
  const before = provider.requests.length;
  const variables = {
    PATH: path(),
    ANTHROPIC_API_KEY: key,
    ANTHROPIC_BASE_URL: provider.baseUrl,
    ...environment,
  };
  const result = await runEmbeddedGate(workspace, inputs, { says: 'hello', environment: variables });
  return { ...result, testCase: result.report.cases[0], requests: provider.requests.slice(before) };
}

describe.skipIf(process.platform === 'win32')('the program of a host', () => {
  it('answers a prompt with the tools of the server, and the gate sees its calls', async () => {
    await using workspace = await createWorkspace({ 'notes.evals.yaml': writeEvals() });
    const { report, testCase, requests } = await run(workspace);
    expect(report.verdict.outcome).toBe('passed');
    expect(testCase).toMatchObject({ host: { id: 'claude-code', version: '2.1.330', program: true } });
    // The title that the host asks for is the gate's.
    expect(requests).toHaveLength(2);
    expect(requests[0]?.headers).toMatchObject({ 'x-api-key': key, 'anthropic-beta': 'something-2026' });
    expect(requests[0]?.headers).not.toHaveProperty('x-session');
    expect(JSON.stringify(requests[0]?.body)).toContain('Runs a command.');
  });

  it('replays a recording in another directory with another HOME, on another day, without a key', async () => {
    await using workspace = await createWorkspace({ 'notes.evals.yaml': writeEvals() });
    const made = await run(workspace, { recordings: 'record' });
    expect(made.report.verdict.outcome).toBe('passed');
    const text = await workspace.read(recorded);
    expect(text).not.toContain(key);
    expect(text).not.toContain('tokens left');
    expect(text).not.toContain('Runs a command.');

    await using other = await createWorkspace({ 'home/.keep': '' });
    await cp(workspace.path, join(other.path, 'deeper'), { recursive: true });
    const deeper = { ...other, path: join(other.path, 'deeper') };
    const before = provider.requests.length;
    const { report } = await runEmbeddedGate(
      deeper,
      { recordings: 'replay' },
      {
        says: 'hello',
        environment: { PATH: path(), HOME: join(other.path, 'home') },
        clock: { ...systemClock, now: () => systemClock.now() + threeDaysMs },
      },
    );
    expect(report.verdict.outcome).toBe('passed');
    expect(provider.requests).toHaveLength(before);

    const changed = await runEmbeddedGate(
      deeper,
      { recordings: 'replay' },
      { says: 'hello again', environment: { PATH: path() } },
    );
    expect(changed.report.verdict.outcome).toBe('inconclusive');
    expect(JSON.stringify(changed.report)).toContain('The recording of call 2 of iteration 1 is stale.');
    expect(await readdir(join(deeper.path, 'recordings/notes'))).toHaveLength(2);
  });

  it.each([
    [
      'refuses a call',
      { prompt: 'Say it and approve nothing.' },
      'refused a call: It did not approve the call of mcp__server__argv.',
    ],
    ['shows no tool', { prompt: 'Say it and hide the tools.' }, 'showed the model no tool of the server "server".'],
    ['dies', { prompt: 'Say it and die at once.' }, 'died: it ended with exit code 7 (The host is out of order.).'],
    ['asks another model', { prompt: 'Say it and ask another model.' }, 'asked for the model another instead of'],
  ])('has no result if the host %s', async (_, written, reason) => {
    await using workspace = await createWorkspace({ 'notes.evals.yaml': writeEvals(written) });
    const { report, testCase } = await run(workspace);
    expect(JSON.stringify(testCase)).toContain(JSON.stringify(reason).slice(1, -1));
    expect(report.totals).toMatchObject({ passed: 0, failed: 0 });
    expect(report.verdict.outcome).toBe('inconclusive');
  });

  it('has no result with another version, and without the host', async () => {
    await using workspace = await createWorkspace({
      'notes.evals.yaml': writeEvals().replace('2.1.330', '2.1.331'),
    });
    const other = await run(workspace);
    expect(JSON.stringify(other.report)).toContain('The case asks for claude-code 2.1.331, and 2.1.330 is installed.');
    expect(other.report.verdict.outcome).toBe('inconclusive');
    const missing = await run(workspace, {}, { PATH: '/usr/bin:/bin' });
    expect(JSON.stringify(missing.report)).toContain('The host claude-code is not installed');
    expect(missing.report.verdict.outcome).toBe('inconclusive');
  });

  it('fails a model that is not done within `maxSteps`, and refuses a call that `toolPolicy` forbids', async () => {
    await using workspace = await createWorkspace({ 'notes.evals.yaml': writeEvals({ keys: 'maxSteps: 1' }) });
    const limited = await run(workspace);
    expect(JSON.stringify(limited.testCase)).toContain('`maxSteps` allows 1.');
    expect(limited.report.totals).toMatchObject({ failed: 1 });

    const keys = 'toolPolicy: { allow: [other] }';
    await workspace.write('notes.evals.yaml', writeEvals({ keys }));
    const refused = await run(workspace);
    expect(JSON.stringify(refused.requests[1]?.body)).toContain('not allowed here');
    expect(refused.report.totals).toMatchObject({ failed: 1 });
  });
});

interface OtherHost {
  /** Chat Completions by default. */
  format?: 'responses' | 'google';
  namespace?: string;
  id: string;
  version: string;
  shown: string;
  /** The tool that calls the others. */
  bridge?: string;
  misbehaves: string;
  reason: string;
}

const denial = (name: string) => `refused a call: It did not approve the call of ${name}.`;
const noTool = 'showed the model no tool of the server \\"server\\".';
const otherHosts: readonly OtherHost[] = [
  {
    id: 'codex',
    version: '0.171.0',
    format: 'responses',
    namespace: 'mcp__server',
    shown: 'argv',
    misbehaves: 'approve nothing',
    reason: denial('argv'),
  },
  {
    id: 'copilot-cli',
    version: '1.0.102',
    shown: 'server-argv',
    misbehaves: 'approve nothing',
    reason: denial('server-argv'),
  },
  {
    id: 'gemini-cli',
    version: '0.61.0',
    format: 'google',
    shown: 'mcp_server_argv',
    misbehaves: 'hide the tools',
    reason: noTool,
  },
  {
    id: 'goose',
    version: '1.52.0',
    shown: 'server__argv',
    misbehaves: 'hide the tools',
    reason: noTool,
  },
  {
    id: 'opencode',
    version: '1.18.33',
    shown: 'server_argv',
    misbehaves: 'approve nothing',
    reason: denial('server_argv'),
  },
  {
    id: 'qwen-code',
    version: '0.24.4',
    shown: 'mcp__server__argv',
    bridge: 'tool_call',
    misbehaves: 'approve nothing',
    reason: denial('mcp__server__argv'),
  },
];

describe.skipIf(process.platform === 'win32').each(otherHosts)('the program of $id', (host) => {
  const { shown: name, namespace } = host;
  const prefix = host.format === 'google' ? 'GEMINI' : 'OPENAI';
  const call = { name, ...(namespace !== undefined && { namespace }), arguments: { loud: true } };
  const open = async () =>
    await openScriptedProvider({
      format: host.format ?? 'compatible',
      answers: ({ turn }) => {
        if (turn > 1) return { text: 'It said hello.' };
        return {
          text: 'I ask.',
          toolCalls: [host.bridge === undefined ? call : { name: host.bridge, arguments: call }],
        };
      },
    });
  const write = (written: Written = {}) =>
    writeEvals(written)
      .replace('anthropic/claude-haiku-4.5', host.format === 'google' ? 'google/gemini-2.5-flash' : 'openai/gpt-test')
      .replace('command: claude-code, version: 2.1.330', `command: ${host.id}, version: ${host.version}`);

  it('answers a prompt, and replays it elsewhere on another day without a key', async () => {
    await using chat = await open();
    await using workspace = await createWorkspace({ 'notes.evals.yaml': write({ prompt: `'Say "it".'` }) });
    const environment = { PATH: path(), [`${prefix}_API_KEY`]: key, [`${prefix}_BASE_URL`]: chat.baseUrl };
    const made = await runEmbeddedGate(workspace, { recordings: 'record' }, { says: 'hello', environment });
    expect(made.report.cases[0]?.failures).toEqual([]);
    expect(made.report.verdict.outcome).toBe('passed');
    expect(chat.requests).toHaveLength(2);
    expect(JSON.stringify(chat.requests[0]?.body)).toContain(JSON.stringify('Say "it".'));
    const authorization = host.format === 'google' ? { 'x-goog-api-key': key } : { authorization: `Bearer ${key}` };
    expect(chat.requests[0]?.headers).toMatchObject(authorization);
    expect(chat.requests[0]?.headers).not.toHaveProperty('x-session');

    await using other = await createWorkspace({ 'home/.keep': '' });
    await cp(workspace.path, join(other.path, 'deeper'), { recursive: true });
    const deeper = { ...other, path: join(other.path, 'deeper') };
    const replay = async (says: string) =>
      await runEmbeddedGate(
        deeper,
        { recordings: 'replay' },
        {
          says,
          environment: { PATH: path(), HOME: join(other.path, 'home') },
          clock: { ...systemClock, now: () => systemClock.now() + threeDaysMs },
        },
      );
    const replayed = await replay('hello');
    expect(replayed.report.cases[0]?.failures).toEqual([]);
    expect(replayed.report.verdict.outcome).toBe('passed');
    const changed = await replay('hello again');
    expect(changed.report.verdict.outcome).toBe('inconclusive');
    expect(chat.requests).toHaveLength(2);
  });

  it('has no result if it does what its user would not see', async () => {
    await using chat = await open();
    await using workspace = await createWorkspace({
      'notes.evals.yaml': write({ prompt: `Say it and ${host.misbehaves}.` }),
    });
    const environment = { PATH: path(), [`${prefix}_API_KEY`]: key, [`${prefix}_BASE_URL`]: chat.baseUrl };
    const { report } = await runEmbeddedGate(workspace, {}, { says: 'hello', environment });
    expect(JSON.stringify(report.cases[0])).toContain(host.reason);
    expect(report.totals).toMatchObject({ passed: 0, failed: 0 });
  });
});
