import { describe, expect, it } from 'vitest';
import { parseGateOptions } from '../../src/gate/options.ts';
import { judgeShards, rejudgeReport } from '../../src/gate/judge/rejudge.ts';
import { planGate } from '../../src/gate/plan/plan.ts';
import type { Report } from '../../src/model/report.ts';
import { parseReport } from '../../src/report/report-json.ts';
import { readPolicy } from '../../src/suite/read-policy.ts';
import { runEmbeddedGate } from '../support/gate/embedded-gate.ts';
import { createWorkspace } from '../support/workspace.ts';

const evals = `suite: Says
cases:
  - id: says
    title: Says its word
    each: [{ word: red }, { word: blue }, { word: green }]
    steps:
      - toolCall: argv
      - assert: { toolResultContains: '"{{word}}"' }
`;
const rules = `minimumPassRate: 0%
suites:
  Says:
    cases: { Says its word: 50% }
    required: [says]
    quarantine: [{ case: says, owner: "@alice", reason: Flaky., expires: 2999-01-01 }]
`;
const withoutQuarantine = rules.replace(/ {4}quarantine.*\n/, '');

const list = ({ verdict, suites, cases }: Report) => [
  verdict.outcome,
  suites
    .flatMap(({ requirements }) => requirements.map(({ kind, subject, state }) => `${kind} ${subject} ${state}`))
    .toSorted(),
  cases.map(({ id, disposition, quarantine }) => `${id} ${disposition} ${quarantine?.owner}`).toSorted(),
];

function readRules(text: string) {
  const { policy, findings } = readPolicy(text, { file: 'p.yaml' });
  expect(findings).toEqual([]);
  return policy;
}

describe('the shared name of a case with rows', () => {
  it.each([
    ['requirements', withoutQuarantine],
    ['a quarantine', rules.replace(/ {4}(?:cases|required).*\n/g, '')],
  ])('means all of them where a report is judged again: %s', async (_, policy) => {
    await using workspace = await createWorkspace({ 'a.evals.yaml': evals, 'p.yaml': policy });
    const planned = await runEmbeddedGate(workspace, { policy: 'p.yaml' }, { says: 'red green' });
    expect(planned.report.cases).toHaveLength(3);
    await runEmbeddedGate(workspace, { 'min-pass-rate': '0%', 'report-dir': 'plain' }, { says: 'red green' });
    const plain = parseReport(JSON.parse(await workspace.read('plain/report.json')));
    expect(list(plain)).not.toEqual(list(planned.report));
    const again = rejudgeReport(plain, { minimumPassRate: null, baseline: null, policy: readRules(policy) });
    expect(list(again.report)).toEqual(list(planned.report));
  });

  it('means all of them where shards are merged', async () => {
    await using workspace = await createWorkspace({ 'a.evals.yaml': evals, 'p.yaml': withoutQuarantine });
    const planned = await runEmbeddedGate(workspace, { policy: 'p.yaml' }, { says: 'red green' });
    for (const index of [1, 2]) {
      const inputs = { 'min-pass-rate': '0%', shard: `${index}/2`, 'report-dir': `shards/${index}` };
      await runEmbeddedGate(workspace, inputs, { says: 'red green' });
    }
    const options = parseGateOptions({ merge: 'shards', policy: 'p.yaml' });
    const plan = await planGate(options, { cwd: workspace.path, environment: {} });
    if (plan.merge === null) throw new Error('Nothing is merged.');
    expect(list(judgeShards(plan.merge, plan).report)).toEqual(list(planned.report));
  });
});
