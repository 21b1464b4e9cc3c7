import { describe, expect, it } from 'vitest';
import { runEmbeddedGate } from '../support/gate/embedded-gate.ts';
import type { GateInputs } from '../support/gate/gate-inputs.ts';
import { runGitIn } from '../support/github/pull-request.ts';
import { createWorkspace, type Workspace } from '../support/workspace.ts';

/** A server over stdio with one tool that only reads. */
const writeServer = (answer: string) => `import { createInterface } from 'node:readline';
const tool = {
  name: 'add',
  description: 'Adds two numbers.',
  inputSchema: { type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } }, required: ['a', 'b'] },
  annotations: { readOnlyHint: true },
};
const answers = {
  initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'sums', version: '1.0.0' } }),
  ping: () => ({}),
  'tools/list': () => ({ tools: [tool] }),
  'tools/call': ({ arguments: { a, b } }) => {
    if (typeof a !== 'number' || typeof b !== 'number') return { content: [{ type: 'text', text: 'a and b must be numbers' }], isError: true };
    ${answer}
  },
};
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const result = answers[method]?.(params ?? {});
  const answer = result === undefined ? { error: { code: -32601, message: 'Method not found' } } : { result };
  process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, ...answer }) + '\\n');
});
`;

const sum = "return { content: [{ type: 'text', text: 'The sum is ' + (a + b) }] };";
const broken = "return { content: [{ type: 'text', text: 'Out of order' }], isError: true };";
const reworded = "return { content: [{ type: 'text', text: 'It is ' + (a + b) }] };";

/** Creates a repository in which `main` adds, and the change answers otherwise. */
async function createRepository(answer: string): Promise<Workspace> {
  const workspace = await createWorkspace({ 'server.mjs': writeServer(sum) });
  runGitIn(workspace, 'init', '-q', '--template=', '-b', 'main');
  runGitIn(workspace, 'add', '.');
  runGitIn(workspace, 'commit', '-q', '-m', 'One');
  runGitIn(workspace, 'switch', '-q', '-c', 'change');
  await workspace.write('server.mjs', writeServer(answer));
  runGitIn(workspace, 'commit', '-q', '-a', '--allow-empty', '-m', 'Two');
  return workspace;
}

async function compare(workspace: Workspace, inputs: GateInputs = {}) {
  return await runEmbeddedGate(workspace, {
    evals: '',
    'server-command': `${process.execPath} server.mjs`,
    behaviour: 'base',
    base: 'git',
    'base-ref': 'main',
    ...inputs,
  });
}

describe('behaviour: base', () => {
  it('passes a change that answers as its base does, without evals', async () => {
    await using workspace = await createRepository(sum);
    const { report, exitCode } = await compare(workspace);
    expect(report.behaviour?.problem).toBeNull();
    expect(report.behaviour?.compared?.differences).toEqual([]);
    expect(report.verdict).toMatchObject({ outcome: 'passed', reasons: [{ code: 'behaviour-kept' }] });
    expect(report.server).toBeNull();
    expect(exitCode).toBe(0);
  });

  it('fails a change that breaks a call, until its id is accepted', async () => {
    await using workspace = await createRepository(broken);
    const first = await compare(workspace, { base: 'git\ncache=kept' });
    expect(first.report.verdict.reasons[0]).toMatchObject({ code: 'behaviour-changed' });
    expect(first.exitCode).toBe(1);
    const ids = first.report.behaviour?.compared?.differences.map(({ id }) => id) ?? [];
    const policy = { behaviour: { accept: ids } };
    const second = await compare(workspace, { base: 'git\ncache=kept', policy });
    expect(second.report.behaviour?.compared).toMatchObject({ corpus: 'cached' });
    expect(second.report.behaviour?.compared?.differences.map(({ disposition }) => disposition)).toContain('accepted');
    expect(second.exitCode).toBe(0);
  });

  it('shows another answer, and does not fail', async () => {
    await using workspace = await createRepository(reworded);
    const { report, exitCode } = await compare(workspace);
    expect(report.behaviour?.compared?.differences.map(({ kind, disposition }) => [kind, disposition])).toContainEqual([
      'changed',
      'review',
    ]);
    expect(exitCode).toBe(0);
  });

  it('has no verdict if the server of the change does not start', async () => {
    await using workspace = await createRepository(sum);
    await workspace.write('server.mjs', 'process.exit(3);\n');
    const { report, exitCode } = await compare(workspace);
    expect(report.behaviour?.problem).toContain('The server of the change did not start');
    expect(report.verdict).toMatchObject({ outcome: 'inconclusive', reasons: [{ code: 'behaviour-unread' }] });
    expect(exitCode).toBe(3);
  });

  it('refuses a gate without a base before anything starts', async () => {
    await using workspace = await createRepository(sum);
    await expect(compare(workspace, { base: '', 'base-ref': '' })).rejects.toThrow('no base runs in this job');
  });
});
