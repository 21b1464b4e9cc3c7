import { spawn } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { createReport } from '../support/factories/report-factory.ts';
import { createCaseResults, createSuiteResults } from '../support/factories/results-factory.ts';
import { commandPath } from '../support/process/bundled-command.ts';
import { listChildVariables } from '../support/process/child-environment.ts';
import { createWorkspace } from '../support/workspace.ts';

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

describe('a command whose output is longer than a pipe holds', () => {
  const title = (index: number) => `Case ${index}: ${'a long title '.repeat(16).trim()}`;

  it.each([
    ['run', '--list', '--server-command', 'node', 'many.evals.yaml'],
    ['render', 'report.json', '--as', 'code-quality'],
  ])('writes all of it to a reader that begins late: %s', async (...args) => {
    const indexes = Array.from({ length: 480 }, (_, index) => index);
    const cases = indexes.map((index) => createCaseResults({ id: `case-${index}`, title: title(index), failed: 1 }));
    await using workspace = await createWorkspace({
      'report.json': JSON.stringify(createReport({ suites: [createSuiteResults({ cases })] })),
      'many.evals.yaml': JSON.stringify({
        suite: 'Many',
        cases: indexes.map((index) => ({ title: title(index), steps: [{ ping: true }] })),
      }),
    });
    // A pipe of a shell holds 64 KiB; the socket that this process would give its child holds more.
    const child = spawn('sh', ['-c', '"$0" "$@" | { sleep 3; cat; }', process.execPath, commandPath, ...args], {
      cwd: workspace.path,
      env: listChildVariables(),
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    let stdout = '';
    for await (const chunk of child.stdout.setEncoding('utf8')) stdout += String(chunk);
    expect(stdout.length).toBeGreaterThan(80_000);
    expect(stdout).toContain(title(479));
  });
});
