import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { CancelledError } from '../../src/base/errors.ts';
import { runEmbeddedGate } from '../support/gate/embedded-gate.ts';
import type { GateInputs } from '../support/gate/gate-inputs.ts';
import { jobOnBranch } from '../support/gate/hosted-gate.ts';
import { isRunning } from '../support/process/processes.ts';
import { createPullRequestEvent } from '../support/runner/events.ts';
import { openRegistry } from '../support/servers/registries.ts';
import { runGitIn } from '../support/github/pull-request.ts';
import { writeCallingCases } from '../support/servers/flaky-server.ts';
import { createWorkspace, type Workspace } from '../support/workspace.ts';

/** A server over stdio with one tool that only reads. It ends if it is given a directory that is not there. */
const writeServer = (answer: string) => `import { existsSync } from 'node:fs';
import { createInterface } from 'node:readline';
if (process.argv[2] !== undefined && !existsSync(process.argv[2])) process.exit(3);
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
async function createRepository(answer: string, before = sum): Promise<Workspace> {
  const workspace = await createWorkspace({ 'server.mjs': writeServer(before) });
  runGitIn(workspace, 'init', '-q', '--template=', '-b', 'main');
  runGitIn(workspace, 'add', '.');
  runGitIn(workspace, 'commit', '-q', '-m', 'One');
  runGitIn(workspace, 'switch', '-q', '-c', 'change');
  await workspace.write('server.mjs', writeServer(answer));
  runGitIn(workspace, 'commit', '-q', '-a', '--allow-empty', '-m', 'Two');
  return workspace;
}

async function compare(
  workspace: Workspace,
  inputs: GateInputs = {},
  surroundings: Parameters<typeof runEmbeddedGate>[2] = {},
) {
  const usual = {
    evals: '',
    'server-command': `${process.execPath} server.mjs`,
    behaviour: 'base',
    base: 'git',
    'base-ref': 'main',
  };
  return await runEmbeddedGate(workspace, { ...usual, ...inputs }, surroundings);
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

  it('reads the surfaces of servers that need a workspace, and measures no coverage where no cases run', async () => {
    await using workspace = await createRepository(sum);
    const command = `${process.execPath} server.mjs {{workspace}}`;
    const { report } = await compare(workspace, { surface: 'base', 'server-command': command });
    expect(report.verdict.outcome).toBe('passed');
    expect(report.surface).toMatchObject({ against: 'base', unread: null });
    expect(report.surface?.configurations).toHaveLength(1);
    expect(report.coverage).toBeUndefined();
    await workspace.write('x.evals.yaml', writeCallingCases(['add']));
    const { report: other } = await compare(workspace, { surface: 'base', behaviour: 'off', evals: 'x.evals.yaml' });
    expect(other.coverage?.items).not.toEqual([]);
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

  it.each([
    [['accept-behaviour', 'docs'], 'passed'],
    [['accept-behavior'], 'failed'],
  ])('reads the labels %j of the pull request', async (labels, outcome) => {
    await using workspace = await createRepository(broken);
    await using elsewhere = await createWorkspace({
      'event.json': JSON.stringify(createPullRequestEvent({ labels }).payload),
    });
    const environment = {
      ...jobOnBranch,
      GITHUB_EVENT_NAME: 'pull_request',
      GITHUB_EVENT_PATH: join(elsewhere.path, 'event.json'),
      GITHUB_BASE_REF: 'main',
    };
    const { report, warnings } = await compare(workspace, {}, { environment });
    expect(report.verdict.outcome).toBe(outcome);
    expect(warnings.some((line) => line.includes('The label accept-behaviour accepts'))).toBe(outcome === 'passed');
  });

  it('compares with the last release, from a registry', async () => {
    await using workspace = await createRepository(broken);
    await workspace.write('package.json', JSON.stringify({ name: 'notes', version: '1.1.0', type: 'module' }));
    await using packages = await createWorkspace();
    await using registry = await openRegistry(packages, writeServer(sum));
    const environment = { HOME: packages.path, npm_config_registry: registry.url, npm_config_fetch_retries: '0' };
    const { report } = await compare(workspace, { base: 'package', 'base-ref': '' }, { environment });
    expect(report.behaviour?.base.label).toContain('notes 1.1.0');
    expect(report.behaviour?.compared?.differences[0]).toMatchObject({ kind: 'broken', tool: 'add' });
    expect(report.verdict.outcome).toBe('failed');
  });

  it('says that it was cancelled, and ends both servers', async () => {
    await using marks = await createWorkspace();
    const path = JSON.stringify(join(marks.path, 'pids'));
    const marking = `process.getBuiltinModule('node:fs').appendFileSync(${path}, process.pid + '\\n'); ${sum}`;
    await using workspace = await createRepository(marking, marking);
    const cancel = new AbortController();
    const { report, exitCode } = await compare(
      workspace,
      { sandbox: 'off' },
      {
        signal: cancel.signal,
        onInfo: (message) => {
          if (message.startsWith('Comparing answers'))
            cancel.abort(new CancelledError('Stopped by SIGINT.', { signal: 'SIGINT' }));
        },
      },
    );
    expect(report.behaviour).toMatchObject({ problem: expect.stringContaining('Stopped by SIGINT'), compared: null });
    expect(report.verdict.outcome).toBe('inconclusive');
    expect(exitCode).not.toBe(0);
    const pids = (await readFile(join(marks.path, 'pids'), 'utf8')).split('\n').filter(Boolean).map(Number);
    expect(pids.length).toBeGreaterThan(0);
    expect(pids.filter(isRunning)).toEqual([]);
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

  it('says first why the base does not start, and then what is not known for that reason', async () => {
    await using workspace = await createRepository(sum);
    const missing = `${process.execPath} missing.mjs`;
    const { report } = await compare(workspace, {
      surface: 'base',
      base: '',
      'base-ref': '',
      'base-server-command': missing,
    });
    expect(report.verdict.outcome).toBe('inconclusive');
    expect(report.verdict.reasons.map(({ code }) => code)).toEqual(['behaviour-unread', 'surface-unread']);
    expect(report.verdict.reasons[0]?.message).toContain('The server of the base did not start');
  });

  it('explores no longer than it may, and says so', async () => {
    await using workspace = await createRepository(sum);
    const { report } = await compare(workspace, { 'behaviour-time-limit': '1ms' });
    expect(report.behaviour?.compared).toMatchObject({ isCutByTime: true });
    await expect(compare(workspace, { behaviour: 'off', 'behaviour-time-limit': '5m' })).rejects.toThrow(
      'behaviour-time-limit: has no effect without `behaviour: base`; set that, or remove it',
    );
  });

  it('refuses a gate without a base before anything starts', async () => {
    await using workspace = await createRepository(sum);
    await expect(compare(workspace, { base: '', 'base-ref': '' })).rejects.toThrow('no base runs in this job');
  });
});
