import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { listChildVariables } from '../support/process/child-environment.ts';
import { isRunning } from '../support/process/processes.ts';
import { createWorkspace } from '../support/workspace.ts';

const script = fileURLToPath(new URL('../support/process/supervised-script.ts', import.meta.url));

/** Runs a gate of that kind below its supervisor; `onReady` gets the ids of both once the gate says that it is ready. */
async function run(
  mode: string,
  onReady: (ids: { supervisor: number; gate: number }) => void | Promise<void> = () => {},
) {
  await using workspace = await createWorkspace();
  const file = join(workspace.path, 'report.txt');
  const child = spawn(process.execPath, [script, mode, file], {
    env: listChildVariables(),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  let ready: Promise<void> | undefined;
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    output += chunk;
    const gate = /^ready (\d+)$/m.exec(output)?.[1];
    if (gate !== undefined) ready ??= Promise.resolve(onReady({ supervisor: child.pid ?? 0, gate: Number(gate) }));
  });
  const [exitCode, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null];
  await ready;
  return { exitCode, signal, output, report: existsSync(file) ? await workspace.read('report.txt') : null };
}

describe.runIf(process.platform === 'linux')('supervise', () => {
  it.each([
    ['pass', 0],
    ['fail', 1],
  ])('ends as a gate does that is to %s', async (mode, exitCode) => {
    expect(await run(mode)).toEqual({ exitCode, signal: null, output: '', report: null });
  });

  it.each([
    ['leave without a word', 'The gate ended with code 0 before it was done.', false],
    ['spin before the plan', 'The gate stood still and was ended.', false],
    ['spin', 'The gate gave no verdict by its deadline and was ended.', true],
    ['wait for ever', 'The gate gave no verdict by its deadline and was ended.', true],
    ['grow', 'The gate used more than 300 MiB of memory and was ended.', true],
  ])('ends with 3 over a gate that is to %s', async (mode, cause, hasReport) => {
    const { exitCode, output, report } = await run(mode);
    expect({ exitCode, output }).toEqual({ exitCode: 3, output: `Error: ${cause} The verdict is inconclusive.\n` });
    expect(report).toBe(hasReport ? `<${cause}>` : null);
  });

  it.each(['gate', 'supervisor'] as const)('goes on after another process has halted the %s', async (name) => {
    const { exitCode, signal } = await run('take a while', (ids) => void process.kill(ids[name], 'SIGSTOP'));
    expect({ exitCode, signal }).toEqual({ exitCode: 0, signal: null });
  });

  it.each([
    ['pass', 0],
    ['leave without a word', 3],
  ])('continues a supervisor that is halted right before the gate is to %s', async (end, expected) => {
    const { exitCode, signal } = await run(`halt the supervisor and ${end}`);
    expect({ exitCode, signal }).toEqual({ exitCode: expected, signal: null });
  });

  it('stops the processes of a gate that was killed, and reports it', async () => {
    const { exitCode, output, report } = await run('crash');
    const [, server = ''] = /^server (\d+)$/m.exec(output) ?? [];
    expect({ exitCode, report }).toEqual({
      exitCode: 3,
      report: '<The gate ended with SIGKILL before it was done.>',
    });
    expect(isRunning(Number(server))).toBe(false);
  });

  it.each([
    ['the supervisor', (ids: { supervisor: number }) => void process.kill(ids.supervisor, 'SIGINT')],
    ['the gate', (ids: { gate: number }) => void process.kill(ids.gate, 'SIGINT')],
    [
      'both, as a terminal does',
      (ids: { supervisor: number; gate: number }) => {
        process.kill(ids.gate, 'SIGINT');
        process.kill(ids.supervisor, 'SIGINT');
      },
    ],
  ])('brings a gate one signal that was sent to %s', async (_, send) => {
    const { exitCode, output } = await run('count signals', send);
    expect({ exitCode, output }).toMatchObject({ exitCode: 130, output: expect.stringContaining('signals 1\n') });
  });

  it('ends a gate that does not leave when it is asked to, with the code of the signal', async () => {
    let gateId = 0;
    const { exitCode } = await run('ignore signals', ({ supervisor, gate }) => {
      gateId = gate;
      process.kill(supervisor, 'SIGINT');
    });
    expect(exitCode).toBe(130);
    expect(isRunning(gateId)).toBe(false);
  });

  it('lets the gate clean up if the supervisor was killed', async () => {
    let gateId = 0;
    const { signal, report } = await run('clear up on SIGTERM', async ({ supervisor, gate }) => {
      gateId = gate;
      process.kill(supervisor, 'SIGKILL');
      while (isRunning(gate)) await sleep(20);
    });
    expect({ signal, report }).toEqual({ signal: 'SIGKILL', report: 'cleared up' });
    expect(isRunning(gateId)).toBe(false);
  });
});
