import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { listProcesses } from '../../../src/server/process-tree.ts';
import { createWorkspace } from '../workspace.ts';
import { commandPath } from './bundled-command.ts';
import { isRunning } from './processes.ts';

/** Speaks MCP, or prepares the base, until it is ended; a file names its process. */
const program = `import { appendFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
const [, , what, directory] = process.argv;
const isBase = !process.cwd().endsWith('repository');
appendFileSync(directory + '/' + (what === 'setup' ? 'setup' : isBase ? 'base' : 'head'), process.pid + '\\n');
if (what === 'setup' && process.env.HANGS !== 'setup') process.exit();
if (what === 'setup') setInterval(() => {}, 1000);
const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n');
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  const serverInfo = { name: 'x', version: '1' };
  if (method === 'initialize') send({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo } });
  if (method === 'tools/list') send({ id, result: { tools: [{ name: 'wait', inputSchema: { type: 'object' } }] } });
  if (method === 'tools/call' && !isBase) send({ id, result: { content: [{ type: 'text', text: 'ok' }] } });
  if (method === 'tools/call' && isBase) appendFileSync(directory + '/call', '');
});
`;

const evals = 'suite: Waits\ncases:\n  - title: Waits\n    steps:\n      - toolCall: wait\n';

/** Moments of a base. For each, `program` writes a file when it is reached. */
export const baseMoments = ['setup', 'base', 'call'] as const;
/** If the gate is killed, its supervisor survives; if the supervisor is killed, the gate survives. */
export const baseEndings = ['SIGINT', 'SIGTERM', 'SIGKILL', 'SIGKILL of the gate'] as const;

/**
 * Runs the command on a repository with `base: git`, ends it at the given moment of its base, and waits until its processes are gone. Lists the
 * remaining directories. If only the killed gate could remove a directory, the next gate must remove it.
 */
export async function listRemainsOfBase(
  moment: (typeof baseMoments)[number],
  ending: (typeof baseEndings)[number],
): Promise<string[]> {
  await using workspace = await createWorkspace({
    'repository/x.evals.yaml': evals,
    'repository/program.mjs': program,
  });
  const cwd = join(workspace.path, 'repository');
  const temporary = join(workspace.path, 'tmp');
  const marks = join(workspace.path, 'marks');
  for (const directory of [temporary, marks]) await mkdir(directory);
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=A', '-c', 'user.email=a@example.org', ...args], { cwd, encoding: 'utf8' });
  git('init', '-q', '-b', 'main');
  git('add', '.');
  git('commit', '-q', '-m', 'One');
  git('switch', '-q', '-c', 'change');
  const start = (hangs: string) =>
    spawn(
      process.execPath,
      [
        commandPath,
        'run',
        '--evals=x.evals.yaml',
        '--base=git',
        '--base=seed=1',
        '--base-ref=main',
        '--sandbox=off',
        '--timeout=5m',
        `--server-env=HANGS=${hangs}`,
        `--base-setup=node program.mjs setup ${marks}`,
        `--server-command=node program.mjs serve ${marks}`,
      ],
      { cwd, env: { ...process.env, TMPDIR: temporary }, stdio: 'ignore' },
    );
  const readPids = (name: string) => readFileSync(join(marks, name), 'utf8').split('\n').filter(Boolean).map(Number);

  const child = start(moment);
  const exited = once(child, 'exit');
  await expect.poll(() => existsSync(join(marks, moment))).toBe(true);
  const gate = listProcesses().find(({ parentId }) => parentId === child.pid)?.pid;
  if (gate === undefined) throw new Error('The supervisor has no gate.');
  if (ending === 'SIGKILL of the gate') process.kill(gate, 'SIGKILL');
  else child.kill(ending);
  await exited;
  const pids = [gate, ...readdirSync(marks).flatMap(readPids)];
  await expect.poll(() => pids.filter(isRunning)).toEqual([]);
  if (ending === 'SIGKILL of the gate') {
    const before = readPids('setup').length;
    const next = start('setup');
    const over = once(next, 'exit');
    await expect.poll(() => readPids('setup').length).toBeGreaterThan(before);
    next.kill('SIGTERM');
    await over;
  }
  const directories = readdirSync(temporary).filter((name) => name.startsWith('mcp-eval-ci-base'));
  return [...directories, ...git('worktree', 'list').trim().split('\n').slice(1)];
}
