import { describe, expect, it } from 'vitest';

import { ConfigurationError } from '../../src/base/errors.ts';
import { parseGateOptions } from '../../src/gate/options.ts';
import { describeServer } from '../../src/report/wording.ts';
import { runEmbeddedGate, writeSayingCases } from '../support/gate/embedded-gate.ts';
import type { GateInputs } from '../support/gate/gate-inputs.ts';
import { canMake } from '../support/process/sandbox-lab.ts';
import { plainServerCommand, plainServerPath } from '../support/servers/bundled-servers.ts';
import { createWorkspace } from '../support/workspace.ts';

const isAvailable = (await canMake('unshare')) || (await canMake('bwrap'));

/** Overwrites the files that decide the verdict before the server starts, and records the result of each attempt. */
const attack = `
import { writeFileSync, existsSync } from 'node:fs';
const tries = {};
for (const path of process.argv.slice(2)) {
  try { writeFileSync(path, 'forged'); tries[path] = 'written'; } catch (error) { tries[path] = error.code; }
}
tries.gate = existsSync('/proc/${process.pid}/environ');
try { writeFileSync('tries.json', JSON.stringify(tries)); } catch {}
`;
const decisive = ['a.evals.yaml', 'policy.yml', 'base.json', 'past/history.jsonl', 'out/report.json', 'runner/output'];

async function runAttack(inputs: Record<string, string>) {
  await using workspace = await createWorkspace({
    'a.evals.yaml': writeSayingCases('Attacked', ['one', 'two']),
    'attack.mjs': attack,
    'policy.yml': 'minimumPassRate: 50%\n',
    'runner/output': '',
  });
  const environment = { GITHUB_OUTPUT: `${workspace.path}/runner/output`, PATH: process.env['PATH'] ?? '' };
  const surroundings = { environment };
  const usual = {
    policy: 'policy.yml',
    'history-path': 'past/history.jsonl',
    'report-dir': 'out',
  };
  // The report of a first gate is the baseline of the next one.
  await runEmbeddedGate(workspace, { ...usual, 'report-dir': '.', sandbox: 'off' }, { says: 'one two' });
  const { rename } = await import('node:fs/promises');
  await rename(`${workspace.path}/report.json`, `${workspace.path}/base.json`);
  const kept = await Promise.all(decisive.slice(0, 4).map((file) => workspace.read(file)));
  const command = `sh -c '"$0" attack.mjs "$@"; exec "$0" ${plainServerPath} one two' ${process.execPath} ${decisive.join(' ')}`;
  const ran = await runEmbeddedGate(
    workspace,
    { ...usual, baseline: 'base.json', 'server-command': command, ...inputs },
    surroundings,
  );
  const after = await Promise.all(decisive.slice(0, 4).map((file) => workspace.read(file)));
  const tries: Record<string, unknown> = JSON.parse(await workspace.read('tries.json').catch(() => '{}'));
  return { ran, kept, after, tries };
}

describe('the gate of a server that overwrites what decides the verdict', () => {
  it.runIf(isAvailable)('keeps the verdict by default, and names the sandbox in the report', async () => {
    const { ran, kept, after, tries } = await runAttack({ sandbox: 'auto' });
    expect(tries).toEqual({ ...Object.fromEntries(decisive.map((file) => [file, 'EROFS'])), gate: false });
    expect(ran.exitCode).toBe(0);
    expect(after.slice(0, 3)).toEqual(kept.slice(0, 3));
    expect(after[3]).toMatch(/^\{/);
    expect(after[3]?.trim().split('\n')).toHaveLength(2);
    expect(ran.report.server?.sandbox).toMatchObject({ level: 'isolated', network: 'shared' });
    expect(ran.report.server === null ? '' : describeServer(ran.report.server)).toMatch(
      /, sandbox isolated \(made with (?:bwrap|unshare)\)$/,
    );
  });

  it('is not protected with `off`, and the report says so', async () => {
    const { ran, kept, after, tries } = await runAttack({ sandbox: 'off' });
    expect(tries).toMatchObject(Object.fromEntries(decisive.slice(0, 4).map((file) => [file, 'written'])));
    expect(tries['gate']).toBe(process.platform === 'linux');
    expect(after.slice(0, 3)).toEqual(['forged', 'forged', 'forged']);
    expect(kept).not.toEqual(after);
    expect(ran.report.server?.sandbox).toEqual({ level: 'none', network: 'shared', why: '`sandbox` is `off`' });
  });

  it.runIf(isAvailable)('serves with `required`, where it can write to nothing of the workspace', async () => {
    const { ran, tries } = await runAttack({ sandbox: 'required' });
    expect(tries).toEqual({});
    expect([ran.exitCode, ran.report.server?.sandbox?.level]).toEqual([0, 'confined']);
  });
});

describe('a machine that has no sandbox', () => {
  const environment = { PATH: '/nonexistent' };
  const run = async (inputs: GateInputs) => {
    await using workspace = await createWorkspace({ 'a.evals.yaml': writeSayingCases('Plain', ['one']) });
    const started = { 'server-command': `${plainServerCommand} one` };
    return await runEmbeddedGate(workspace, { ...started, ...inputs }, { environment });
  };

  it('runs the gate by default and says why there is none', async () => {
    const { exitCode, report } = await run({ sandbox: 'auto' });
    expect(exitCode).toBe(0);
    expect(report.server?.sandbox).toMatchObject({ level: 'none', why: expect.stringMatching(/^a sandbox needs /) });
  });

  it('is not changed by `enable-sandbox` if it is no hosted runner, and the log says so', async () => {
    await using workspace = await createWorkspace({ 'a.evals.yaml': writeSayingCases('Plain', ['one']) });
    const inputs = { 'server-command': `${plainServerCommand} one`, sandbox: 'auto', 'enable-sandbox': 'true' };
    const { exitCode, infos } = await runEmbeddedGate(workspace, inputs, { environment });
    expect(exitCode).toBe(0);
    expect(infos.filter((line) => line.includes('enable-sandbox'))).toEqual([
      expect.stringContaining('`enable-sandbox` changes nothing: this is not a hosted Linux runner of GitHub.'),
    ]);
  });

  it.each<GateInputs>([
    { sandbox: 'required', policy: { onNothingRun: 'pass', onInconclusive: 'pass' } },
    { 'sandbox-network': 'off', policy: { onNothingRun: 'pass' } },
  ])('is inconclusive where a sandbox is asked for, whatever is lenient: %o', async (inputs) => {
    const { exitCode, report } = await run(inputs);
    expect([exitCode, report.verdict.outcome]).toEqual([3, 'inconclusive']);
    expect(report.verdict.reasons[0]).toMatchObject({
      code: 'sandbox-unavailable',
      message: expect.stringMatching(/cannot be met: a sandbox needs .*docs\/hardening\.md/),
    });
    expect(report.server).toBeNull();
  });
});

describe('the options of a sandbox', () => {
  const evals = { evals: 'x.evals.yaml' };
  const command = { ...evals, 'server-command': 'node server.js' };
  const url = { ...evals, 'server-url': 'http://127.0.0.1:3000/mcp' };
  const readCodes = (texts: Record<string, string>) => {
    try {
      parseGateOptions(texts);
      return [];
    } catch (error) {
      return error instanceof ConfigurationError ? error.issues.map(({ input, code }) => `${input}: ${code}`) : ['?'];
    }
  };

  it.each([
    [{ ...url, sandbox: 'required' }, ['sandbox: needs-server-command']],
    [{ ...url, 'sandbox-network': 'off' }, ['sandbox-network: network-and-url']],
    [{ ...command, ...url, 'sandbox-network': 'off' }, ['sandbox-network: network-and-url']],
    [{ ...command, sandbox: 'off', 'sandbox-network': 'off' }, ['sandbox-network: needs-sandbox']],
    [{ ...command, 'sandbox-write': 'data' }, ['sandbox-write: needs-sandbox']],
    [{ ...command, 'sandbox-write': 'data', base: 'git' }, []],
    [{ ...command, 'sandbox-write': 'data', base: 'git', sandbox: 'off' }, ['sandbox-write: needs-sandbox']],
    [{ ...command, sandbox: 'strict' }, ['sandbox: bad-sandbox']],
    [{ ...command, sandbox: 'required', 'sandbox-write': 'data', 'sandbox-network': 'off' }, []],
    [{ ...command, ...url, sandbox: 'required' }, []],
    [{ ...command, 'enable-sandbox': 'true' }, []],
    [{ ...command, 'enable-sandbox': 'true', sandbox: 'off' }, ['enable-sandbox: needs-sandbox']],
    [{ ...url, 'enable-sandbox': 'true' }, ['enable-sandbox: needs-server-command']],
  ])('are checked together: %o', (texts, codes) => {
    expect(readCodes(texts)).toEqual(codes);
  });

  it('name only paths that exist', async () => {
    await using workspace = await createWorkspace({ 'a.evals.yaml': writeSayingCases('Plain', ['one']) });
    const inputs = { 'server-command': plainServerCommand, sandbox: 'required', 'sandbox-write': 'not-there' };
    await expect(runEmbeddedGate(workspace, inputs)).rejects.toThrow('sandbox-write: "not-there" does not exist');
  });
});
