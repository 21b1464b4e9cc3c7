import { spawn } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { commandPath } from '../support/process/bundled-command.ts';
import { listChildVariables } from '../support/process/child-environment.ts';

/** A pipeline of a shell: the command starts once the reader of its stdout has closed the pipe and said so. */
const pipeline = `{ read -r _; "$0" "$@"; echo "exit code $?" >&2; } | { exec 0<&-; echo closed >&2; }`;

async function runWithoutReader(args: readonly string[], cwd = process.cwd()): Promise<string> {
  const child = spawn('sh', ['-c', pipeline, process.execPath, commandPath, ...args], {
    cwd,
    env: listChildVariables(),
    stdio: ['pipe', 'ignore', 'pipe'],
  });
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    stderr += chunk;
    if (stderr === 'closed\n') child.stdin.end('go\n');
  });
  await new Promise((resolve, reject) => child.once('error', reject).once('close', resolve));
  return stderr;
}

describe('a command whose stdout is closed', () => {
  it.each([[['--help']], [['run', '--help']], [['--version']]])('ends quietly with its exit code: %j', async (args) => {
    expect(await runWithoutReader(args)).toBe('closed\nexit code 0\n');
  });

  it('still says what is wrong on stderr', async () => {
    const stderr = await runWithoutReader(['validate', 'missing.evals.yaml']);
    expect(stderr).toMatch(/missing\.evals\.yaml/);
    expect(stderr).toMatch(/exit code 2\n$/);
  });
});
