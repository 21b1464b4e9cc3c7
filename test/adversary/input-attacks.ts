import { execFile, execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';
import { renderReportJson } from '../../src/report/report-json.ts';
import { commandPath } from '../support/process/bundled-command.ts';
import { listChildVariables } from '../support/process/child-environment.ts';
import { createRedReport } from '../support/factories/report-factory.ts';
import { createWorkspace, greenEvals } from '../support/workspace.ts';
import type { Attack, AttackResult } from './attack.ts';

/** An input that the gate reads before it starts anything, and that has no end or expands too much. */
export interface InputAttack extends Attack {
  attacker: 'pull-request';
  args: readonly string[];
  /** Part of the message of the refusal. */
  says: string;
}

const run = ['run', '--server-command', 'false', '--sandbox', 'off', '--report-dir', 'reports'];

const pipe = 'is not a regular file';

const braces = 'stands for more than 200 patterns';

const inputs: Array<[name: string, args: readonly string[], says: string]> = [
  ['a named pipe is the policy', [...run, '--policy', 'pipe', 'a.yaml'], pipe],
  ['a named pipe is the surface', [...run, '--surface', 'pipe', 'a.yaml'], pipe],
  ['a named pipe is the baseline', [...run, '--baseline', 'pipe', 'a.yaml'], pipe],
  ['a named pipe is the file of servers', ['run', '--mcp-config', 'pipe', 'a.yaml'], pipe],
  ['a named pipe is the report of a shard', ['merge', 'shards'], pipe],
  ['a named pipe is the report to judge', ['judge', 'shards/1'], pipe],
  ['a named pipe is the policy to judge by', ['judge', 'red.json', '--policy', 'pipe'], pipe],
  ['a named pipe is the surface file of the command', ['surface', '--server-command', 'false', '--file', 'pipe'], pipe],
  ['braces in the pattern of evals', [...run, '{a,b}'.repeat(25)], braces],
  ['a range in the pattern of evals', [...run, 'a{1..100000000}.yaml'], braces],
  ['braces in a pattern to validate', ['validate', '{a,b}'.repeat(25)], braces],
];

export const inputAttacks: readonly InputAttack[] = inputs.map(([name, args, says]) => ({
  name,
  class: 'inputs',
  attacker: 'pull-request',
  deserves: 'failed',
  args,
  says,
}));

/** Far longer than any of these commands takes. */
const patienceMs = 60_000;

/** Runs the command, and ends it if it hangs. */
export async function runInputAttack(attack: InputAttack): Promise<AttackResult> {
  await using workspace = await createWorkspace({
    'a.yaml': greenEvals,
    'red.json': renderReportJson(createRedReport()),
    'shards/1/a.txt': '',
  });
  for (const path of ['pipe', 'shards/1/report.json']) execFileSync('mkfifo', [join(workspace.path, path)]);
  const ended = await promisify(execFile)(process.execPath, [commandPath, ...attack.args], {
    cwd: workspace.path,
    env: listChildVariables(),
    timeout: patienceMs,
    killSignal: 'SIGKILL',
  }).then(
    ({ stderr }) => ({ code: 0, stderr }),
    (error: unknown) => failureSchema.parse(error),
  );
  const isRefused = ended.code === 2 && ended.stderr.includes(attack.says);
  const found = ended.code === null ? 'hangs' : `exit code ${ended.code}`;
  return { attack, found, problems: isRefused ? [] : [`${found}: ${ended.stderr.slice(0, 500)}`] };
}

/** The error of Node for a program that fails or is killed. */
const failureSchema = z.object({ code: z.number().nullable(), stderr: z.string() });
