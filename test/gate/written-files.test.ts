import { execFileSync } from 'node:child_process';
import { linkSync, rmSync, symlinkSync } from 'node:fs';
import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { GateContext } from '../../src/gate/run/context.ts';
import { writeFallback } from '../../src/supervisor/supervise.ts';
import { runEmbeddedGate, writeSayingCases } from '../support/gate/embedded-gate.ts';
import type { GateInputs } from '../support/gate/gate-inputs.ts';
import { createWorkspace, type Workspace } from '../support/workspace.ts';

const evals = writeSayingCases('Says', ['red']);

/** Creates a checkout next to a file that a gate must not change. */
async function createCheckout(): Promise<{ outer: Workspace; checkout: Workspace; readVictim: () => Promise<string> }> {
  const outer = await createWorkspace({ 'victim/keep.txt': 'precious', 'checkout/a.evals.yaml': evals });
  const path = join(outer.path, 'checkout');
  execFileSync('git', ['init', '-q', '--template=', path]);
  const checkout = { ...outer, path, read: (file: string) => readFile(join(path, file), 'utf8') };
  const readVictim = async () => {
    const files = (await readdir(join(outer.path, 'victim'))).toSorted();
    return `${files.join(' ')}: ${await outer.read('victim/keep.txt')}`;
  };
  return { outer, checkout, readVictim };
}

const untouched = 'keep.txt: precious';

async function run(checkout: Workspace, inputs: GateInputs) {
  return await runEmbeddedGate(checkout, inputs, { says: 'red' }).then(
    ({ exitCode, warnings }) => ({ exitCode, warnings: warnings.join('\n') }),
    (error: unknown) => ({
      exitCode: error instanceof Error && 'exitCode' in error ? error.exitCode : null,
      warnings: String(error),
    }),
  );
}

describe('the files of a gate', () => {
  it.each<[string, string, string, GateInputs]>([
    ['report-dir', '../victim', 'mcp-eval-report', { 'report-dir': 'mcp-eval-report' }],
    ['a directory above report-dir', '../victim', 'out', { 'report-dir': 'out/reports' }],
    ['report-dir that leads into .git', '.git', 'out', { 'report-dir': 'out' }],
    ['history-path', '../victim/keep.txt', 'h.jsonl', { 'history-path': 'h.jsonl' }],
    ['a history-path that does not exist yet', '../victim/new.jsonl', 'h.jsonl', { 'history-path': 'h.jsonl' }],
    ['the directory of history-path', '../victim', 'past', { 'history-path': 'past/h.jsonl' }],
  ])('are refused where %s is a link out of the checkout', async (_, target, path, inputs) => {
    const { outer, checkout, readVictim } = await createCheckout();
    await using _outer = outer;
    await symlink(target, join(checkout.path, path));
    const { exitCode, warnings } = await run(checkout, inputs);
    expect([exitCode, await readVictim()]).toEqual([2, untouched]);
    expect(warnings).toContain('is a symbolic link that leads out of the checkout');
    expect(await readdir(join(checkout.path, '.git'))).not.toContain('report.json');
  });

  it.each(['report.json', 'junit.xml', 'report.html', 'iterations.jsonl', 'traces.otlp.jsonl'])(
    'do not overwrite the target of a link that is called %s',
    async (name) => {
      const { outer, checkout, readVictim } = await createCheckout();
      await using _outer = outer;
      await mkdir(join(checkout.path, 'r'));
      await symlink('../../victim/keep.txt', join(checkout.path, 'r', name));
      const { exitCode } = await run(checkout, { 'report-dir': 'r', 'report-formats': 'html, iterations, otlp' });
      expect([exitCode, await readVictim()]).toEqual([0, untouched]);
    },
  );

  it.each(['report-dir', 'report', 'history', 'hard link'])(
    'do not follow a link that is placed during the run: %s',
    async (kind) => {
      const { outer, checkout, readVictim } = await createCheckout();
      await using _outer = outer;
      await writeFile(join(checkout.path, 'h.jsonl'), '');
      await mkdir(join(checkout.path, 'r'));
      // At once, before the gate goes on and writes the files itself.
      const place = () => {
        const at = (path: string) => join(checkout.path, path);
        rmSync(at(kind === 'report-dir' ? 'r' : 'h.jsonl'), { recursive: true, force: true });
        if (kind === 'report-dir') symlinkSync('../victim', at('r'));
        else if (kind === 'history') symlinkSync('../victim/keep.txt', at('h.jsonl'));
        else if (kind === 'report') symlinkSync('../../victim/keep.txt', at('r/report.json'));
        else linkSync(join(outer.path, 'victim/keep.txt'), at('r/report.json'));
      };
      let isPlaced = false;
      const watchEvidence: NonNullable<GateContext['watchEvidence']> = (within) => {
        if (!isPlaced) place();
        isPlaced = true;
        return within;
      };
      const inputs = { 'report-dir': 'r', 'history-path': 'h.jsonl' };
      const { exitCode, warnings } = await runEmbeddedGate(checkout, inputs, { says: 'red', watchEvidence });
      expect([exitCode, isPlaced, await readVictim()]).toEqual([0, true, untouched]);
      expect(warnings.join('\n')).toMatch(/Could not write .*link.* The verdict stands\./);
    },
  );

  it('go through a link that stays in the checkout, and to a path that is named outside of it', async () => {
    const { outer, checkout } = await createCheckout();
    await using _outer = outer;
    await mkdir(join(checkout.path, 'real'));
    await symlink('real', join(checkout.path, 'r'));
    const inputs = { 'report-dir': 'r', 'history-path': '../past/h.jsonl' };
    expect(await run(checkout, inputs)).toMatchObject({ exitCode: 0 });
    expect(await checkout.read('real/report.json')).toContain('"verdict"');
    expect(await outer.read('past/h.jsonl')).toContain('"cases"');
    expect(await run(checkout, { 'report-dir': join(outer.path, 'elsewhere') })).toMatchObject({ exitCode: 0 });
    expect(await outer.read('elsewhere/report.json')).toContain('"verdict"');
  });

  it('are not written through a link by the supervisor either', async () => {
    const { outer, checkout, readVictim } = await createCheckout();
    await using _outer = outer;
    await symlink('../victim', join(checkout.path, 'r'));
    await symlink('../victim/keep.txt', join(checkout.path, 'x.json'));
    const entry = (path: string) => ({ path: join(checkout.path, path), root: checkout.path, text: 'x' });
    const files = ['r/report.json', 'x.json', 'new/y.json'].map((path) => ({
      ...entry(path),
      mode: 'replace' as const,
    }));
    writeFallback({ files, stdout: '' }, 'a cause');
    expect([await readVictim(), await checkout.read('new/y.json')]).toEqual([untouched, 'x']);
  });
});

describe('junit.xml and iterations.jsonl', () => {
  it('hold no characters that reorder text or control a terminal', async () => {
    const evil = 'a\u202Eb\u2066c\u009Bd\u0090e\u0085f\u007Fg';
    const bad = evals.replace('Says red', JSON.stringify(evil)).replace('\'"red"\'', JSON.stringify(`x${evil}`));
    await using workspace = await createWorkspace({ 'a.evals.yaml': bad });
    const { exitCode } = await runEmbeddedGate(workspace, { 'report-formats': 'iterations' }, { says: evil });
    expect(exitCode).toBe(1);
    for (const name of ['junit.xml', 'iterations.jsonl', 'report.json']) {
      const text = await workspace.read(`mcp-eval-report/${name}`);
      expect([name, /[\p{Bidi_Control}\u007F-\u009F]/u.exec(text)?.[0]]).toEqual([name, undefined]);
    }
  });
});
