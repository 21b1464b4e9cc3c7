import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createFindings } from '../../src/base/findings.ts';
import type { HistoryRecord } from '../../src/model/history.ts';
import { applyPolicyDefaults, emptyPolicyLayer } from '../../src/model/policy.ts';
import { anyProtocol } from '../../src/model/protocol.ts';
import type { FileSuite } from '../../src/gate/plan/plan-suites.ts';
import { planShard } from '../../src/gate/plan/plan-shard.ts';
import { runEmbeddedGate, writeSayingCases } from '../support/gate/embedded-gate.ts';
import { createHistoryRecord } from '../support/factories/history-factory.ts';
import { createSuite, createSuiteCase } from '../support/factories/suite-factory.ts';
import { createWorkspace } from '../support/workspace.ts';

function planSuiteOf(id: string, caseIds: readonly string[], runs = 1): FileSuite {
  const suite = { ...createSuite(caseIds.map((caseId) => createSuiteCase({ id: caseId, runs }))), id };
  return {
    kind: 'file',
    suite,
    whole: suite,
    hostedName: id,
    baselineName: null,
    protocol: anyProtocol,
    concurrency: { setting: 'auto', source: 'default', isIndependent: false },
    workspace: null,
    upstream: null,
    requirements: applyPolicyDefaults(emptyPolicyLayer),
  };
}

function cut(suites: readonly FileSuite[], total: number, records: HistoryRecord[] = []) {
  const findings = createFindings();
  const parts = Array.from({ length: total }, (_, index) =>
    planShard(suites, { index: index + 1, total }, records, findings),
  );
  const listed = parts.map((part) =>
    part.suites.flatMap(({ suite }) => suite.cases.map((item) => `${suite.id}/${item.id}`)),
  );
  return { parts, listed, issues: findings.issues };
}

describe('planShard', () => {
  it('puts every case of every suite into exactly one shard, and all shards agree', () => {
    const ids = fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g'), { minLength: 1 });
    fc.assert(
      fc.property(ids, ids, fc.integer({ min: 1, max: 5 }), (first, second, total) => {
        const suites = [planSuiteOf('one', first), planSuiteOf('two', second, 3)];
        const { parts, listed } = cut(suites, total);
        const all = suites.flatMap(({ suite }) => suite.cases.map((item) => `${suite.id}/${item.id}`));
        expect(listed.flat().toSorted()).toEqual(all.toSorted());
        expect(new Set(parts.map(({ shard }) => shard.digest)).size).toBe(1);
      }),
    );
  });

  it('cuts by how long the cases took the last time', () => {
    const base = { suiteId: 'one', passed: 1, total: 1, replayed: 0, definitionHash: null };
    const older = createHistoryRecord({ cases: [{ ...base, id: 'd', durationMs: 9000 }] });
    const newer = createHistoryRecord({
      cases: [
        { ...base, id: 'a', durationMs: 3000 },
        { ...base, id: 'b', durationMs: 1000 },
        { ...base, id: 'c', durationMs: 1000 },
        { ...base, id: 'd', durationMs: 1000 },
      ],
    });
    const suites = [planSuiteOf('one', ['a', 'b', 'c', 'd'])];
    expect(cut(suites, 2, [older, newer]).listed).toEqual([['one/a'], ['one/b', 'one/c', 'one/d']]);
    expect(cut(suites, 2).listed).toEqual([
      ['one/a', 'one/c'],
      ['one/b', 'one/d'],
    ]);
  });

  it('has another digest for other cases, definitions, runs and counts of shards', () => {
    const digest = (suites: FileSuite[], total = 2) => cut(suites, total).parts[0]?.shard.digest;
    const plain = planSuiteOf('one', ['a', 'b', 'c']);
    const changed = { ...plain.suite, cases: plain.suite.cases.map((item) => ({ ...item, timeoutMs: 1 })) };
    const digests = [
      digest([plain]),
      digest([plain], 3),
      digest([planSuiteOf('one', ['a', 'b', 'd'])]),
      digest([planSuiteOf('one', ['a', 'b', 'c'], 2)]),
      digest([{ ...plain, suite: changed }]),
    ];
    expect(new Set(digests).size).toBe(digests.length);
  });

  it('refuses more shards than cases, of which some would be empty and green', () => {
    const suites = [planSuiteOf('one', ['a', 'b'])];
    expect(cut(suites, 2).issues).toEqual([]);
    expect(cut(suites, 3).issues[0]).toMatchObject({
      code: 'too-many-shards',
      message: 'cuts 2 cases into 3 shards, and some would be empty; use at most 2',
    });
  });
});

describe('a gate of a shard', () => {
  const evals = writeSayingCases('Says', ['a', 'b', 'c']);

  it('runs its part, says which, and leaves the history to the merge', async () => {
    await using workspace = await createWorkspace({ 'x.evals.yaml': evals });
    const inputs = { shard: '2/2', 'history-path': 'history.jsonl' };
    const { report, exitCode } = await runEmbeddedGate(workspace, inputs, { says: 'a b c' });
    expect(exitCode).toBe(0);
    expect(report).toMatchObject({ shard: { index: 2, total: 2 }, totals: { cases: 1 }, trend: null });
    await expect(workspace.read('history.jsonl')).rejects.toThrow('ENOENT');
  });

  it.each([
    ['3/2', 'bad-shard'],
    ['0/2', 'bad-shard'],
    ['2', 'bad-shard'],
    ['1/257', 'bad-shard'],
    ['4/4', 'too-many-shards'],
  ])('refuses %s', async (shard, code) => {
    await using workspace = await createWorkspace({ 'x.evals.yaml': evals });
    await expect(runEmbeddedGate(workspace, { shard })).rejects.toThrow(`(${code})`);
  });

  it('refuses a baseline, which is one of the whole', async () => {
    await using workspace = await createWorkspace({ 'x.evals.yaml': evals });
    await expect(runEmbeddedGate(workspace, { shard: '1/2', baseline: 'old' })).rejects.toThrow('(shard-and-baseline)');
  });
});
