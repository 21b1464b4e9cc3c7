import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runEmbeddedGate, writeSayingCases } from '../support/gate/embedded-gate.ts';
import { mergeShards } from '../support/gate/merged-gate.ts';
import { createPullRequest } from '../support/github/pull-request.ts';
import type { Workspace } from '../support/workspace.ts';
import type { Attack, AttackResult } from './attack.ts';

/** A change whose gate runs in shards. `merge` judges their reports with the policy of the base. */
export interface ShardAttack extends Attack {
  attacker: 'pull-request';
  /** The evals file of the change. */
  head?: string;
  /** The policy file of the change. */
  policy?: string;
  /** Inputs of the gates, which the workflow of the change may set. */
  inputs?: Readonly<Record<string, string>>;
  /** The shards that run. Default: both. */
  shards?: readonly string[];
  /** Changes the reports before the merge. */
  forge?: (workspace: Workspace) => Promise<void>;
}

/** The answer of the server is only `blue`, so that the case `red` fails in its shard. */
const says = 'blue';
const plain = writeSayingCases('Says', ['red', 'blue', 'blu']);
const required = plain.replace('- id: red', '- id: red\n    required: true');
const without = writeSayingCases('Says', ['blue', 'blu']);
const lenient = (evals: string) => evals.replace('cases:', 'policy: { minimumPassRate: 1% }\ncases:');

const reportOf = ({ path }: Workspace, shard: string) => join(path, 'shards', shard, 'report.json');

async function edit(workspace: Workspace, shard: string, change: (report: Record<string, unknown>) => object) {
  const file = reportOf(workspace, shard);
  await writeFile(file, JSON.stringify(change(JSON.parse(await readFile(file, 'utf8')))));
}

/** Lists the shards with the case `red`, which a change would like to omit. */
async function listRed(workspace: Workspace): Promise<string[]> {
  const texts = await Promise.all(['1', '2'].map((shard) => readFile(reportOf(workspace, shard), 'utf8')));
  return ['1', '2'].filter((_, index) => texts[index]?.includes('"Says red"'));
}

const onRed = (change: (workspace: Workspace, shard: string) => Promise<void>) => async (workspace: Workspace) => {
  for (const shard of await listRed(workspace)) await change(workspace, shard);
};

const variants: Array<[string, Omit<ShardAttack, keyof Attack>]> = [
  ['changes nothing', {}],
  ['deletes the required case', { head: without }],
  ['no longer requires the case', { head: lenient(plain) }],
  ['gives the case another id', { head: lenient(required.replace('id: red', 'id: rouge')) }],
  ['renames the suite', { head: lenient(without.replace('suite: Says', 'suite: Said')) }],
  ['sets a lower minimum', { head: lenient(plain), policy: 'minimumPassRate: 1%\n' }],
  ['only reports failures', { policy: 'minimumPassRate: 100%\nreportOnly: true\n' }],
  ['selects the other cases', { inputs: { cases: 'Says bl*' }, head: lenient(required) }],
  ['runs one of two shards', { shards: ['1/2'] }],
  ['runs the other one of two shards', { shards: ['2/2'] }],
  ['runs the first of three shards alone', { shards: ['1/3'] }],
  ['takes the report with the case away', { forge: onRed((workspace, shard) => rm(reportOf(workspace, shard))) }],
  [
    'gives the other report twice',
    {
      forge: onRed(async (workspace, shard) => {
        await cp(reportOf(workspace, shard === '1' ? '2' : '1'), reportOf(workspace, shard));
      }),
    },
  ],
  [
    'takes the cases out of the report with the case',
    {
      forge: onRed((workspace, shard) =>
        edit(workspace, shard, (report) => ({ ...report, cases: [], verdict: { outcome: 'passed', reasons: [] } })),
      ),
    },
  ],
  [
    'says that a shard is the whole',
    {
      forge: async (workspace) => {
        const [red] = await listRed(workspace);
        const other = red === '1' ? '2' : '1';
        await edit(workspace, other, (report) => ({ ...report, shard: null }));
        await rm(reportOf(workspace, red ?? '1'));
      },
    },
  ],
  [
    'says that the shard is of another number of shards',
    {
      forge: async (workspace) => {
        const [red] = await listRed(workspace);
        const other = red === '1' ? '2' : '1';
        await edit(workspace, other, (report) => ({ ...report, shard: { index: 1, count: 1 } }));
        await rm(reportOf(workspace, red ?? '1'));
      },
    },
  ],
];

export const shardAttacks: readonly ShardAttack[] = variants.map(([name, variant]) => ({
  name,
  class: 'shards',
  attacker: 'pull-request',
  deserves: 'failed',
  ...variant,
}));

/** Runs the shards of the change and merges them by the policy of its base. A merge that refuses the reports has not passed. */
export async function runShardAttack(attack: ShardAttack): Promise<AttackResult> {
  const { head = required, policy, inputs = {}, shards = ['1/2', '2/2'], forge } = attack;
  const base = { 'a.evals.yaml': required, 'p.yaml': 'minimumPassRate: 100%\n' };
  const changed = { 'a.evals.yaml': head, ...(policy !== undefined && { 'p.yaml': policy }) };
  const { workspace, environment } = await createPullRequest(base, changed);
  await using _workspace = workspace;
  await mkdir(join(workspace.path, 'shards'));
  const found = await (async () => {
    for (const shard of shards) {
      const directory = join('shards', shard.slice(0, 1));
      // A change may remove `policy-ref` from the jobs of the shards, but not from the job that merges them.
      await runEmbeddedGate(
        workspace,
        { shard, policy: 'p.yaml', 'report-dir': directory, ...inputs },
        { says, environment },
      );
    }
    await forge?.(workspace);
    const merged = await mergeShards(workspace, { policy: 'p.yaml', 'policy-ref': 'base' }, environment);
    return `exit code ${merged.exitCode}`;
  })().catch((error: unknown) =>
    error instanceof Error && 'exitCode' in error ? `exit code ${String(error.exitCode)}` : `threw ${String(error)}`,
  );
  const isRight = ['exit code 1', 'exit code 2', 'exit code 3'].includes(found);
  return { attack, found, problems: isRight ? [] : [found] };
}
