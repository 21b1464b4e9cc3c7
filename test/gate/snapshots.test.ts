import { chmod, mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ConfigurationError } from '../../src/base/errors.ts';
import { createRedactor, Secret } from '../../src/base/redaction.ts';
import { systemClock } from '../../src/base/time.ts';
import { runPlan } from '../../src/gate/job.ts';
import { parseGateOptions } from '../../src/gate/options.ts';
import { planGate } from '../../src/gate/plan/plan.ts';
import { startSayingServer } from '../support/servers/saying-server.ts';
import { createWorkspace } from '../support/workspace.ts';

const environment = { PATH: process.env['PATH'] ?? '' };
const writeEvals = (file: string, more = '') => `suite: Arguments
cases:
  - title: Says its arguments
    steps:
      - toolCall: argv
      - assert: { anyOf: [{ toMatchFile: ${file} }] }
${more}`;

/** Plans and runs a gate with a server that answers with `answer`. */
async function run(cwd: string, answer: string, { updatesSnapshots = false, secrets = [] as Secret[] } = {}) {
  await using server = await startSayingServer(answer);
  const options = parseGateOptions({ 'server-url': server.url, evals: 'evals/*.evals.yaml' });
  const log: string[] = [];
  const say = (text: string) => void log.push(text);
  const logger = {
    debug: () => {},
    info: say,
    warning: say,
    error: say,
    group: (title: string, lines: readonly string[]) => say([title, ...lines].join('\n')),
  };
  const plan = await planGate(options, { cwd, environment, updatesSnapshots });
  const { signal } = new AbortController();
  const redactor = createRedactor(secrets);
  const { exitCode, report } = await runPlan(plan, { clock: systemClock, logger, redactor, signal, environment });
  return { exitCode, notes: report.notes, log };
}

describe('a gate with snapshots', () => {
  it('writes them when asked to, and compares with them otherwise', async () => {
    await using workspace = await createWorkspace({ 'evals/a.evals.yaml': writeEvals('snapshots/argv.json') });
    const made = await run(workspace.path, 'one', { updatesSnapshots: true });
    expect(made).toMatchObject({
      exitCode: 0,
      notes: [
        'The gate took these snapshots from the results instead of comparing with them: evals/snapshots/argv.json (new).',
      ],
    });
    expect(made.log).toContain('Wrote 1 snapshot\nevals/snapshots/argv.json (new)');
    expect(await workspace.read('evals/snapshots/argv.json')).toContain('"one"');
    expect(await run(workspace.path, 'one')).toMatchObject({ exitCode: 0, notes: [] });
    expect((await run(workspace.path, 'two')).exitCode).toBe(1);
    expect(await workspace.read('evals/snapshots/argv.json')).toContain('"one"');
    const changed = await run(workspace.path, 'two', { updatesSnapshots: true });
    expect(changed.log).toContain('Wrote 1 snapshot\nevals/snapshots/argv.json (changed)');
  });

  it('redacts known secrets, and writes nothing behind a link out of the folder', async () => {
    await using workspace = await createWorkspace({ 'evals/a.evals.yaml': writeEvals('snapshots/argv.json') });
    await mkdir(join(workspace.path, 'elsewhere'));
    await symlink('../elsewhere', join(workspace.path, 'evals/snapshots'));
    const { log } = await run(workspace.path, 'one', { updatesSnapshots: true });
    expect(log.join('\n')).toContain(
      'A symbolic link leads from the snapshot evals/snapshots/argv.json out of the folder',
    );
    await expect(workspace.read('elsewhere/argv.json')).rejects.toThrow('ENOENT');
    await rm(join(workspace.path, 'evals/snapshots'));
    const hidden = await run(workspace.path, 'one-s3cret-value', {
      updatesSnapshots: true,
      secrets: [new Secret('one-s3cret-value')],
    });
    expect(hidden.exitCode).toBe(0);
    expect(await workspace.read('evals/snapshots/argv.json')).not.toContain('s3cret');
  });
});

describe('planGate', () => {
  const plan = async (cwd: string, options: object = {}) => {
    const texts = { 'server-url': 'http://127.0.0.1:9/mcp', evals: 'evals/*.evals.yaml' };
    try {
      return (await planGate(parseGateOptions(texts), { cwd, environment, ...options })).snapshots;
    } catch (error) {
      if (error instanceof ConfigurationError)
        return error.issues.map(({ code, line, message }) => [code, line, message]);
      throw error;
    }
  };

  it('finds snapshots that cannot be read, at the lines of their assertions', async () => {
    const more = `  - title: Checks
    steps: [{ toolCall: argv }]
    checks: [{ not: { toMatchFile: big.snap } }, { toMatchFile: link.snap }]
`;
    await using workspace = await createWorkspace({
      'evals/a.evals.yaml': writeEvals('none.snap', more),
      'evals/big.snap': 'x'.repeat(300_000),
      'secret.txt': 'x',
    });
    await symlink('../secret.txt', join(workspace.path, 'evals/link.snap'));
    expect(await plan(workspace.path)).toEqual([
      ['snapshot-too-large', 7, expect.stringContaining('evals/big.snap has 300000 bytes')],
      ['snapshot-outside', 7, expect.stringContaining('evals/link.snap out of the folder of the evals file')],
      ['missing-snapshot', 6, expect.stringContaining('run --update-snapshots')],
    ]);
    await rm(join(workspace.path, 'evals/link.snap'));
    await writeFile(join(workspace.path, 'evals/link.snap'), 'x');
    await writeFile(join(workspace.path, 'evals/big.snap'), '{}');
    expect(await plan(workspace.path, { updatesSnapshots: true })).toMatchObject({ isUpdating: true });
  });

  it.each([
    '.git/hooks/post-checkout',
    'package.json',
    '.github/workflows/ci.yml',
    'snapshots/.github/ci.yml',
    'node_modules/snapshots/index.js',
    'snapshots.json',
    'snapshot/a.json',
    'snapshots/../package.json',
  ])('refuses to keep a snapshot in %s', async (file) => {
    await using workspace = await createWorkspace({ 'evals/a.evals.yaml': writeEvals(file) });
    expect(await plan(workspace.path, { updatesSnapshots: true })).toEqual([
      ['bad-snapshot', 6, expect.stringContaining('below a directory `snapshots`')],
    ]);
  });

  it('refuses a snapshot that is an executable file', async () => {
    await using workspace = await createWorkspace({
      'evals/a.evals.yaml': writeEvals('snapshots/run.sh'),
      'evals/snapshots/run.sh': '#!/bin/sh\n',
    });
    await chmod(join(workspace.path, 'evals/snapshots/run.sh'), 0o755);
    expect(await plan(workspace.path, { updatesSnapshots: true })).toEqual([
      ['snapshot-executable', 6, expect.stringContaining('chmod -x')],
    ]);
  });

  it('plans none where no case compares with a file', async () => {
    await using workspace = await createWorkspace({
      'evals/a.evals.yaml': 'suite: a\ncases: [{ title: b, steps: [{ toolCall: c }] }]\n',
    });
    expect(await plan(workspace.path)).toBeNull();
  });
});
