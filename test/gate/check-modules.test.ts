import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { ConfigurationError } from '../../src/base/errors.ts';
import { runEmbeddedGate } from '../support/gate/embedded-gate.ts';
import type { GateInputs } from '../support/gate/gate-inputs.ts';
import { createPullRequest } from '../support/github/pull-request.ts';
import { canMake } from '../support/process/sandbox-lab.ts';
import { createWorkspace } from '../support/workspace.ts';

const hasSandbox = (await canMake('unshare')) || (await canMake('bwrap'));

/** A module that misbehaves in every way that a check can. */
const checks = `
import { writeFileSync } from 'node:fs';
import { defineCheck, fail, leaveUnmeasured, pass } from 'mcp-eval-ci/checks';
import { says } from './lib/says.ts';

console.log('{"id":"noise"}');
const schema = { type: 'object', properties: { word: { type: 'string' } }, additionalProperties: false } as const;
const define = (name: string, judge: (...asked: never[]) => unknown, timeoutMs = 10_000) =>
  defineCheck({ name, schema, judge, timeoutMs } as never);

export const saysWord = define('saysWord', ({ word }: { word: string }, evidence: { toolResults: Array<{ text: string }> }) =>
  says(evidence.toolResults.at(-1)?.text ?? '', word) ? pass('it says it') : fail('it does not say ' + word));
export const crashes = define('crashes', () => process.exit(3));
export const loops = define('loops', () => { for (;;); }, 200);
export const isHuge = define('isHuge', () => pass('x'.repeat(1e6)));
export const isNonsense = define('isNonsense', () => ({ state: 'great' }));
export const throwsText = define('throwsText', () => { throw 'no reason'; });
export const fillsMemory = define('fillsMemory', () => { for (const kept = []; ; ) kept.push(Buffer.alloc(5e7, 1)); });
export const seesNothing = define('seesNothing', async () => {
  const seen = Object.entries(process.env).filter(([, value]) => value === 'of the job').map(([name]) => name);
  try { writeFileSync(import.meta.dirname + '/written.txt', ''); seen.push('a file to write'); } catch {}
  return seen.length === 0 ? pass('nothing') : leaveUnmeasured('it sees ' + seen.join());
});
export const notACheck = { name: 'forged', schema, judge: () => pass('never') };
`;
const lib = 'export const says = (text: string, word: string): boolean => text.includes(word);\n';

const writeSuite = (assertions: readonly string[], path = './checks.ts') => `suite: Own
checkModules: ${path}
cases:
${assertions
  .map(
    (assertion) =>
      `  - title: ${JSON.stringify(assertion)}\n    steps: [{ toolCall: argv }, { assert: ${assertion} }]\n`,
  )
  .join('')}`;

const readCases = ({ report }: Awaited<ReturnType<typeof runEmbeddedGate>>) =>
  Object.fromEntries(
    report.cases.map(({ title, passed, total, failures }) => [
      title,
      [`${passed} of ${total}`, ...(failures ?? []).flatMap(({ reasons }) => reasons)].join(': '),
    ]),
  );

describe('`checkModules`', () => {
  it('run in a process of their own, and decide only by a judgement', async () => {
    await using workspace = await createWorkspace({
      'evals/checks.ts': checks,
      'evals/lib/says.ts': lib,
      'evals/own.evals.yaml': writeSuite([
        '{ saysWord: blue }',
        '{ saysWord: red }',
        '{ not: { saysWord: red } }',
        '{ saysWord: { wrd: red } }',
        'crashes',
        'loops',
        '{ not: isHuge }',
        'isNonsense',
        '{ not: throwsText }',
        'fillsMemory',
        'forged',
        'sayWord',
        'seesNothing',
      ]),
    });
    const ran = await runEmbeddedGate(
      workspace,
      { evals: 'evals/*.evals.yaml' },
      { says: 'blue', environment: { TOKEN: 'of the job' } },
    );
    const found = readCases(ran);
    expect(found).toEqual({
      '{ saysWord: blue }': '1 of 1',
      '{ saysWord: red }': '0 of 1: saysWord: it does not say red.',
      '{ not: { saysWord: red } }': '1 of 1',
      '{ saysWord: { wrd: red } }': expect.stringMatching(/^0 of 1: .*its arguments do not fit its schema/),
      crashes: '0 of 0: crashes: not measured: its process ended (exit code 3): {"id":"noise"}.',
      loops: '0 of 0: loops: not measured: it has not answered for 200 ms.',
      '{ not: isHuge }': '0 of 0: not: isHuge: not measured: it answered with more than 256 KiB.',
      isNonsense: expect.stringMatching(/^0 of 0: .*which is no judgement/),
      '{ not: throwsText }': '0 of 0: not: throwsText: not measured: the check failed: no reason.',
      fillsMemory: process.platform === 'linux' ? expect.stringMatching(/^0 of 0: .*not measured/) : expect.anything(),
      forged:
        '0 of 0: forged: not measured: no module has a check of this name; known here: `crashes`, `fillsMemory`, `isHuge`, `isNonsense`, `loops`, `saysWord`, `seesNothing`, `throwsText`.',
      sayWord: '0 of 0: sayWord: not measured: no module has a check of this name; did you mean `saysWord`?',
      seesNothing: '1 of 1',
    });
    expect(ran.report.verdict.outcome).toBe('failed');
    expect(existsSync(`${workspace.path}/evals/written.txt`)).toBe(false);
  });

  it.runIf(hasSandbox)('cannot write, see the gate or reach the network in the sandbox', async () => {
    const module = `
import { existsSync, writeFileSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import { defineCheck, fail, pass } from 'mcp-eval-ci/checks';
export default defineCheck({ name: 'isConfined', schema: { type: 'object' }, judge: () => {
  const found = Object.values(networkInterfaces()).flat().filter((each) => !each.internal).map((each) => each.address);
  if (existsSync('/proc/${process.pid}/environ')) found.push('the gate');
  try { writeFileSync(import.meta.dirname + '/written.txt', ''); found.push('a file'); } catch (error) { if (error.code !== 'EROFS') throw error; }
  return found.length === 0 ? pass('it reaches nothing') : fail('it reaches ' + found.join());
} });
`;
    await using workspace = await createWorkspace({
      'checks.ts': module,
      'own.evals.yaml': writeSuite(['isConfined']),
    });
    const ran = await runEmbeddedGate(workspace, {}, { environment: { CI: 'true', GITHUB_ACTIONS: 'true' } });
    expect([readCases(ran), ran.exitCode]).toEqual([{ isConfined: '1 of 1' }, 0]);
  });

  it('are refused by a CI job without a sandbox unless it allows them, and run with a warning elsewhere', async () => {
    await using workspace = await createWorkspace({
      'checks.ts': checks,
      'lib/says.ts': lib,
      'own.evals.yaml': writeSuite(['{ saysWord: blue }']),
    });
    const run = async (inputs: GateInputs, environment: Record<string, string>) => {
      try {
        const ran = await runEmbeddedGate(workspace, inputs, {
          says: 'blue',
          environment: { PATH: '/nonexistent', ...environment },
        });
        return [ran.exitCode, ran.warnings.filter((line) => line.includes('checkModules')).length];
      } catch (error) {
        if (!(error instanceof ConfigurationError)) throw error;
        return [error.exitCode, error.message];
      }
    };
    const ci = { GITHUB_ACTIONS: 'true', CI: 'true' };
    expect(await run({}, ci)).toEqual([
      2,
      expect.stringMatching(
        /^own\.evals\.yaml:2:15: The code of `checkModules` needs a sandbox.*\(no-check-sandbox\)$/,
      ),
    ]);
    expect(await run({ 'allow-unsandboxed-checks': 'true' }, ci)).toEqual([0, 1]);
    expect(await run({}, {})).toEqual([0, 1]);
    const elevated = { ...ci, GITHUB_EVENT_NAME: 'pull_request_target' };
    expect(await run({ 'allow-unsandboxed-checks': 'true' }, elevated)).toEqual([
      2,
      expect.stringContaining('would run on pull_request_target'),
    ]);
  });

  it.each([
    ['./missing.ts', 'no-check-module'],
    ['./own.evals.yaml', 'bad-check-module'],
  ])('must be a file with code: %s', async (path, code) => {
    await using workspace = await createWorkspace({ 'own.evals.yaml': writeSuite(['a'], path) });
    await expect(runEmbeddedGate(workspace)).rejects.toThrow(`(${code})`);
  });

  it('are those of the base with `policy-ref: base`, with their imports and without packages', async () => {
    const suite = writeSuite(['{ saysWord: blue }']);
    const name = 'lib/@say [s].ts';
    const written = checks.replace('./lib/says.ts', `./${name}`);
    const base = { 'checks.ts': written, [name]: lib, 'own.evals.yaml': suite };
    const run = async (before: Record<string, string>, after: Record<string, string>) => {
      const { workspace, environment } = await createPullRequest(before, after);
      await using _workspace = workspace;
      const ran = await runEmbeddedGate(
        workspace,
        { 'policy-ref': 'base', 'allow-unsandboxed-checks': 'true' },
        { says: 'red', environment },
      );
      return { cases: readCases(ran), notes: ran.report.notes.filter((note) => note.includes('checks.ts')) };
    };
    const lenient = { [name]: 'export const says = () => true;\n' };
    const failing = { '{ saysWord: blue }': '0 of 1: saysWord: it does not say blue.' };
    expect(await run(base, lenient)).toEqual({ cases: failing, notes: [] });
    const { 'checks.ts': _checks, ...withoutModule } = base;
    expect(await run(withoutModule, base)).toEqual({
      cases: failing,
      notes: ['main has no checks.ts yet, so that the one of this pull request counts.'],
    });
    const importing = { ...base, 'checks.ts': `import 'left-pad';\n${written}` };
    expect((await run(importing, lenient)).cases).toEqual({
      '{ saysWord: blue }': expect.stringContaining(
        'checks.ts cannot be loaded: it imports left-pad, which comes from the change and not from the base',
      ),
    });
  });
});
