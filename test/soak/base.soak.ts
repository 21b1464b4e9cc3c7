import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';
import { createWorkspace } from '../support/workspace.ts';

// Every way to end a gate at every moment of its base, again and again. `REPEATS` says how often; `npm run test:soak`.

const repeats = Number(process.env['REPEATS'] ?? 3);
const command = resolve('src/cli/main.ts');

/** Speaks MCP, or prepares the base, until it is ended; says in a file which process it is. */
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

/** By the file that shows that it has come. */
const moments = ['setup', 'base', 'call'] as const;
const endings = ['SIGINT', 'SIGTERM', 'SIGKILL', 'SIGKILL of the gate'] as const;

function isAlive(pid: number): boolean {
  try {
    return !readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ');
  } catch {
    return false;
  }
}

const cells = moments.flatMap((moment) => endings.map((ending) => [moment, ending] as const));

it.each(Array.from({ length: repeats }, () => cells).flat())(
  'leaves nothing of the base at the moment %s after %s',
  { timeout: 120_000 },
  async (moment, ending) => {
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
          command,
          'run',
          '--evals=x.evals.yaml',
          '--base=git',
          '--base=seed=1',
          '--base-ref=main',
          '--sandbox=off',
          '--timeout=60s',
          `--server-env=HANGS=${hangs}`,
          `--base-setup=node program.mjs setup ${marks}`,
          `--server-command=node program.mjs serve ${marks}`,
        ],
        { cwd, env: { ...process.env, TMPDIR: temporary }, stdio: ['ignore', 'ignore', 'inherit'] },
      );
    const child = start(moment);
    const exited = once(child, 'exit');
    await expect.poll(() => existsSync(join(marks, moment)), { timeout: 60_000 }).toBe(true);
    const gate = Number(execFileSync('pgrep', ['-P', String(child.pid), '-o'], { encoding: 'utf8' }));
    if (ending === 'SIGKILL of the gate') process.kill(gate, 'SIGKILL');
    else child.kill(ending);
    await exited;
    await expect.poll(() => isAlive(gate), { timeout: 30_000 }).toBe(false);
    const pids = readdirSync(marks).flatMap((name) =>
      readFileSync(join(marks, name), 'utf8').split('\n').filter(Boolean),
    );
    await expect.poll(() => pids.map(Number).filter(isAlive), { timeout: 30_000 }).toEqual([]);
    if (ending === 'SIGKILL of the gate') {
      // What only the gate itself could remove, the next one does.
      const count = () => readFileSync(join(marks, 'setup'), 'utf8').split('\n').filter(Boolean).length;
      const before = count();
      const next = start('setup');
      const over = once(next, 'exit');
      await expect.poll(count, { timeout: 60_000 }).toBeGreaterThan(before);
      next.kill('SIGTERM');
      await over;
    }
    expect(readdirSync(temporary).filter((name) => name.startsWith('mcp-eval-ci-base'))).toEqual([]);
    expect(git('worktree', 'list').trim().split('\n')).toHaveLength(1);
  },
);
