import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type EmbeddedGate, runEmbeddedGate } from '../support/gate/embedded-gate.ts';
import { openScriptedProvider, type ProviderRequest } from '../support/models/scripted-provider.ts';
import { type FixtureTool, startFixtureMcpServer, text } from '../support/servers/fixture-mcp-server.ts';
import { createWorkspace, type Workspace } from '../support/workspace.ts';

// A base together with other features of a gate: prompts, recordings, several servers, both revisions of MCP.

type Call = FixtureTool['call'];

/** Compares two servers in this process. Their only tool is `add`. */
async function compare(
  workspace: Workspace,
  { base, head }: { base: Call; head: Call },
  { inputs = {}, environment = {} }: { inputs?: Record<string, string>; environment?: Record<string, string> } = {},
): Promise<EmbeddedGate> {
  await using before = await startFixtureMcpServer({ add: { call: base } }, { era: 'both' });
  await using after = await startFixtureMcpServer({ add: { call: head } }, { era: 'both' });
  return await runEmbeddedGate(
    workspace,
    {
      'server-command': '',
      'server-url': after.url,
      base: `url=${before.url}\nseed=3`,
      'min-pass-rate': '0%',
      ...inputs,
    },
    { environment },
  );
}

const adds: Call = ({ args }) => text(String(Number(args['a']) + Number(args['b'])));
const breaks: Call = () => ({ ...text('No such tool.'), isError: true });

const listWorse = ({ report: { baseComparison } }: EmbeddedGate) => {
  expect(baseComparison?.problem).toBeNull();
  return baseComparison?.cases.filter(({ isWorse }) => isWorse).map(({ title }) => title);
};

const prompts = `suite: Sums
id: sums
model: anthropic/claude-test
cases:
  - id: adds
    title: Adds with the tool
    steps:
      - prompt: What is 2 + 3? Use the tools.
      - assert: noToolErrors
      - assert: { toolResultContains: "5" }
  - id: greets
    title: Greets
    steps:
      - prompt: Say hello.
      - assert: { responseContains: hello }
`;

/** Calls the tool if the prompt asks for a sum, then repeats its answer. */
const answer = ({ turn, userText }: ProviderRequest) =>
  turn === 1 && userText.includes('2 + 3')
    ? { toolCalls: [{ name: 'add', arguments: { a: 2, b: 3 } }] }
    : { text: 'hello' };

describe('a base and evals with prompts', () => {
  it.each([
    ['a server as good', adds, [], 0],
    ['a broken tool', breaks, ['Adds with the tool'], 1],
  ])('compares what a model does with %s', async (_, head, worse, exitCode) => {
    await using workspace = await createWorkspace({ 'x.evals.yaml': prompts });
    await using provider = await openScriptedProvider({ format: 'anthropic', answers: answer });
    const environment = { ANTHROPIC_API_KEY: 'sk-canary', ANTHROPIC_BASE_URL: provider.baseUrl };
    const result = await compare(workspace, { base: adds, head }, { inputs: { recordings: 'live' }, environment });
    expect(listWorse(result)).toEqual(worse);
    expect(result.exitCode).toBe(exitCode);
  });
});

describe('a base and recordings', () => {
  it('replays the recorded answers on both sides, as often as the comparison needs, without a call of a model', async () => {
    await using workspace = await createWorkspace({ 'x.evals.yaml': prompts });
    await using provider = await openScriptedProvider({ format: 'anthropic', answers: answer });
    const environment = { ANTHROPIC_API_KEY: 'sk-canary', ANTHROPIC_BASE_URL: provider.baseUrl };
    const record = { inputs: { recordings: 'record', base: '' }, environment };
    expect((await compare(workspace, { base: adds, head: adds }, record)).exitCode).toBe(0);
    const made = provider.requests.length;
    const replay = { inputs: { recordings: 'replay' } };
    const green = await compare(workspace, { base: adds, head: adds }, replay);
    expect([listWorse(green), green.exitCode]).toEqual([[], 0]);
    const red = await compare(workspace, { base: adds, head: breaks }, replay);
    expect([listWorse(red), red.exitCode]).toEqual([['Adds with the tool'], 1]);
    expect(provider.requests).toHaveLength(made);
  });
});

describe('a base and both revisions of MCP', () => {
  const evals = `suite: Sums
protocol: both
cases:
  - id: adds
    title: Adds
    steps:
      - toolCall: add
        arguments: { a: 2, b: 3 }
      - assert: { toolResultContains: "5" }
`;
  const addsWithSession: Call = (context) => (context.sessionId === undefined ? breaks : adds)(context);

  it.each([
    ['a server as good', adds, [], 0],
    ['one that is broken in one revision', addsWithSession, ['Adds (2026-07-28)'], 1],
  ])('compares each revision with itself in %s', async (_, head, worse, exitCode) => {
    await using workspace = await createWorkspace({ 'x.evals.yaml': evals });
    const result = await compare(workspace, { base: adds, head });
    expect(result.report.baseComparison?.cases).toHaveLength(2);
    expect(listWorse(result)).toEqual(worse);
    expect(result.exitCode).toBe(exitCode);
  });
});

describe('base: git and several servers', () => {
  const server = readFileSync(join(import.meta.dirname, '../support/servers/named-tools-server.mjs'), 'utf8');
  const start = (name: string) => ({ command: process.execPath, args: [`${name}.mjs`, `${name}_says`] });
  const writeCase = (name: string) => `  - title: ${name} answers
    steps:
      - toolCall: ${name}_says
        server: ${name}
        arguments: { text: hello }
      - assert: { toolResultContains: hello }
`;

  it.each([
    ['as good', (program: string) => `${program}\n`, [], 0],
    ['broken', (program: string) => program.replace('?.text)', '?.word)'), ['second answers'], 1],
  ])(
    'starts all of them in the checkout of the base, with one that is %s in the change',
    async (_, change, worse, exitCode) => {
      await using workspace = await createWorkspace({
        'x.evals.yaml': `suite: Two\ncases:\n${writeCase('first')}${writeCase('second')}`,
        '.mcp.json': JSON.stringify({ mcpServers: { first: start('first'), second: start('second') } }),
        'first.mjs': server,
        'second.mjs': server,
      });
      const git = (...args: string[]) =>
        execFileSync('git', ['-c', 'user.name=A', '-c', 'user.email=a@example.org', ...args], { cwd: workspace.path });
      git('init', '-q', '--template=', '-b', 'main');
      git('add', '.');
      git('commit', '-q', '-m', 'One');
      git('switch', '-q', '-c', 'change');
      await workspace.write('second.mjs', change(server));
      git('commit', '-q', '-a', '-m', 'Two');
      const result = await runEmbeddedGate(
        workspace,
        {
          'server-command': '',
          'mcp-config': '.mcp.json',
          base: 'git\nseed=3',
          'base-ref': 'main',
          'min-pass-rate': '0%',
        },
        { environment: { TMPDIR: workspace.path } },
      );
      expect(listWorse(result)).toEqual(worse);
      expect(result.exitCode).toBe(exitCode);
    },
  );
});
