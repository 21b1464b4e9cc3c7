import { describe, expect, it } from 'vitest';
import { fileURLToPath } from 'node:url';
import { runEmbeddedGate } from '../support/gate/embedded-gate.ts';
import { canMake } from '../support/process/sandbox-lab.ts';
import { runGitIn } from '../support/github/pull-request.ts';
import { createWorkspace } from '../support/workspace.ts';

const noteServer = fileURLToPath(new URL('../support/servers/note-server.mjs', import.meta.url));
const hasSandbox = (await canMake('unshare')) || (await canMake('bwrap'));

/** Values of `sandbox`, with the resulting levels. */
const levels = [
  ['off', 'none'],
  ...(hasSandbox
    ? [
        ['auto', 'isolated'],
        ['required', 'confined'],
      ]
    : []),
] as const;

const evals = `suite: Notes
cases:
  - title: Keeps a note
    steps:
      - toolCall: keep
      - assert: { toolResultContains: kept }
`;

async function createRepository(files: Record<string, string>) {
  const workspace = await createWorkspace({ 'x.evals.yaml': evals, ...files });
  runGitIn(workspace, 'init', '-q', '--template=', '-b', 'main');
  runGitIn(workspace, 'add', '.');
  runGitIn(workspace, 'commit', '-q', '-m', 'One');
  runGitIn(workspace, 'switch', '-q', '-c', 'change');
  return workspace;
}

describe('a server that keeps a file where its base works, too', () => {
  const compareInOneDirectory = async (sandbox: string, file = evals) => {
    await using workspace = await createWorkspace({ 'x.evals.yaml': file, 'home/.keep': '' });
    const command = `${process.execPath} ${noteServer} note`;
    const inputs = { 'server-command': command, 'base-server-command': command, base: 'seed=1', sandbox };
    const environment = { HOME: `${workspace.path}/home` };
    return await runEmbeddedGate(workspace, { ...inputs, 'min-pass-rate': '100%' }, { environment });
  };

  it('is named before the first case runs, and again as a cause, where there is no sandbox', async () => {
    const { exitCode, warnings, report } = await compareInOneDirectory('off');
    expect(warnings.join('\n')).toMatch(/Both sides of the comparison share .* 1 case may write there.*"Keeps a note"/);
    expect(report.notes.join('\n')).toContain('a file of an earlier case or run may be the cause: "Keeps a note"');
    expect(exitCode).toBe(1);
  });

  it('is not named where the tool only reads', async () => {
    const { exitCode, warnings, report } = await compareInOneDirectory(
      'off',
      evals.replace('toolCall: keep', 'toolCall: where').replace('kept', 'note'),
    );
    expect([exitCode, warnings, report.notes]).toEqual([0, [], []]);
  });

  it.runIf(hasSandbox)('passes in a sandbox, in which the base has a copy of the directory', async () => {
    const { exitCode, warnings, report } = await compareInOneDirectory('auto');
    expect([exitCode, warnings, report.notes]).toEqual([0, [], []]);
    expect(report.baseComparison?.problem).toBeNull();
  });
});

describe('an unchanged server that keeps a file', () => {
  const places = ['~/.notes/note', '$TMPDIR/note'];
  // At every level, each side begins once, with either directory.
  const gates = levels.flatMap(([sandbox, level], row) =>
    places.map((place, column) => [sandbox, level, place, 1 + ((row + column) % 2)] as const),
  );
  it.each(gates)(
    'passes whichever side begins, with `sandbox: %s` (%s), in %s, with seed %d',
    async (sandbox, level, place, seed) => {
      await using home = await createWorkspace({ 'tmp/.keep': '' });
      await using workspace = await createRepository({});
      const command = `${process.execPath} ${noteServer} ${place}`;
      const environment = { HOME: home.path, TMPDIR: `${home.path}/tmp` };
      const result = await runEmbeddedGate(
        workspace,
        {
          'server-command': command,
          base: `git\nseed=${seed}`,
          'base-ref': 'main',
          'min-pass-rate': '100%',
          sandbox,
        },
        { environment },
      );
      const { report, exitCode } = result;
      expect(report.server?.sandbox?.level).toBe(level);
      expect([exitCode, report.baseComparison?.problem, result.warnings]).toEqual([0, null, []]);
    },
  );
});
