import { spawn } from 'node:child_process';
import { resolve } from 'node:path';
import { text as readText } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
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

  it('writes all of it if it has ended its stdout itself, as a captured session does', async () => {
    const flushing = pathToFileURL(resolve(import.meta.dirname, '../../src/supervisor/flush-output.ts')).href;
    const script = `import { flushOutput } from ${JSON.stringify(flushing)};
process.stdout.end('x'.repeat(500_000));
await flushOutput({ limitMs: null });
// Whatever a stream reports is reported by now.
setImmediate(() => process.exit(4));`;
    const pipeline = '{ "$0" --input-type=module --eval "$1"; echo "exit code $?" >&2; } | { sleep 1; cat; }';
    const child = spawn('sh', ['-c', pipeline, process.execPath, script], {
      env: listChildVariables(),
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const [stdout, stderr] = await Promise.all([readText(child.stdout), readText(child.stderr)]);
    expect({ length: stdout.length, stderr }).toEqual({ length: 500_000, stderr: 'exit code 4\n' });
  });
});
