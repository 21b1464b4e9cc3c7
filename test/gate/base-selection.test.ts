import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Report } from '../../src/model/report.ts';
import { runEmbeddedGate, writeSayingCases } from '../support/gate/embedded-gate.ts';
import type { GateInputs } from '../support/gate/gate-inputs.ts';
import { mergeShards } from '../support/gate/merged-gate.ts';
import { createPullRequest, type FileChange } from '../support/github/pull-request.ts';

type Files = Readonly<Record<string, FileChange>>;

/** With this answer, `blue` passes and `red` fails. */
const says = 'blue';
const plain = writeSayingCases('Says', ['red', 'blue']);
const tagged = plain.replaceAll('    title:', '    tags: [smoke]\n    title:');
const required = tagged.replace('- id: red', '- id: red\n    required: true');
/** The case `red` without its tag. */
const untagged = required.replace('    tags: [smoke]\n', '');
const retitled = required.replace('title: Says red', 'title: Murmurs red');

async function runChange(base: Files, head: Files, inputs: GateInputs, words = says) {
  const { workspace, environment } = await createPullRequest(base, head);
  await using _workspace = workspace;
  const gateInputs = { 'policy-ref': 'base', ...inputs };
  return await runEmbeddedGate(workspace, gateInputs, { says: words, environment }).catch(
    (error: unknown): { exitCode: unknown; report: null } => ({
      exitCode: error instanceof Error && 'exitCode' in error ? error.exitCode : error,
      report: null,
    }),
  );
}

const ranCases = (report: Report | null) => report?.cases.map(({ suiteId, id }) => `${suiteId}/${id}`);
const codes = (report: Report | null) => report?.verdict.reasons.map(({ code }) => code);

describe('a gate with `policy-ref: base` and a selection', () => {
  it.each<[string, Files, GateInputs]>([
    ['loses its tag', { 'a.evals.yaml': untagged }, { tags: 'smoke' }],
    ['gets another title', { 'a.evals.yaml': retitled }, { cases: 'Says *' }],
    ['loses the only title that is asked for', { 'a.evals.yaml': retitled }, { cases: 'Says red' }],
    ['loses the last case of a tag', { 'a.evals.yaml': plain }, { tags: 'smoke' }],
    ['loses its tag and is no longer required', { 'a.evals.yaml': plain.replace('blue', 'red2') }, { tags: 'smoke' }],
    [
      'is in a suite of which the change selects nothing',
      { 'a.evals.yaml': untagged.replace('    tags: [smoke]\n', ''), 'b.evals.yaml': tagged.replace('Says', 'New') },
      { tags: 'smoke', policy: { suites: { new: { minimumPassRate: '1%' } } } },
    ],
  ])('runs a required case that %s', async (_, head, inputs) => {
    const { report, exitCode } = await runChange({ 'a.evals.yaml': required }, head, inputs);
    expect([exitCode, ranCases(report)]).toEqual([1, expect.arrayContaining(['says/red'])]);
  });

  it('runs what the base selects of cases that are not required, and says so', async () => {
    const { report, exitCode } = await runChange(
      { 'a.evals.yaml': tagged },
      { 'a.evals.yaml': tagged.replace('    tags: [smoke]\n', '') },
      { tags: 'smoke' },
    );
    expect([exitCode, ranCases(report)]).toEqual([1, ['says/red', 'says/blue']]);
    expect(report?.notes).toContain(
      'The selection of main (`cases`, `tags`) also takes 1 case that this pull request leaves out, and the gate runs it: "Says red".',
    );
  });

  it('runs every model and row of a case that the change splits up', async () => {
    const rows = plain.replace('title: Says red', 'title: Says red {{n}}\n    each: [{ n: 1 }, { n: 2 }]');
    const { report, exitCode } = await runChange(
      { 'a.evals.yaml': tagged },
      { 'a.evals.yaml': rows },
      { tags: 'smoke' },
    );
    expect([exitCode, ranCases(report)?.length]).toEqual([1, 3]);
  });

  it('runs no more than the selection of the change where that takes all of the base', async () => {
    const more = `${tagged}${writeSayingCases('x', ['green']).split('cases:\n')[1]}`;
    const base = { 'a.evals.yaml': more };
    const head = { 'a.evals.yaml': more.replace('- id: green', '- id: green\n    tags: [smoke]') };
    const { report, exitCode } = await runChange(base, head, { tags: 'smoke' }, 'red blue green');
    expect([exitCode, ranCases(report), report?.notes]).toEqual([0, ['says/red', 'says/blue', 'says/green'], []]);
    const same = await runChange(base, {}, { tags: 'smoke' }, 'red blue');
    expect([same.exitCode, ranCases(same.report)]).toEqual([0, ['says/red', 'says/blue']]);
  });

  it('still refuses a name and a tag that neither side has', async () => {
    const base = { 'a.evals.yaml': required };
    expect((await runChange(base, {}, { tags: 'smokes' })).exitCode).toBe(2);
    expect((await runChange(base, {}, { cases: 'Says green' })).exitCode).toBe(2);
  });

  it('fails where the change renames the suite or the id of a selected case', async () => {
    const ofSuite = await runChange(
      { 'a.evals.yaml': required },
      { 'a.evals.yaml': untagged.replace('suite: Says', 'suite: Speaks') },
      { tags: 'smoke' },
    );
    expect([ofSuite.exitCode, codes(ofSuite.report)?.[0]]).toEqual([1, 'suite-removed']);
    const ofCase = await runChange(
      { 'a.evals.yaml': required },
      { 'a.evals.yaml': untagged.replace('id: red', 'id: rouge') },
      { tags: 'smoke' },
    );
    expect([ofCase.exitCode, codes(ofCase.report)?.[0]]).toEqual([1, 'required-case-removed']);
  });
});

describe('a change that keeps the gate from running what the base requires', () => {
  it.each<[string, string, string]>([
    ['runs in one revision of MCP instead of both', 'protocol: both', 'protocol: "2026-07-28"'],
    ['leaves the revision to the server', 'protocol: "2025-11-25"', ''],
  ])('fails where it %s', async (_, before, after) => {
    const withHead = (head: string) => plain.replace('cases:', `${head}\ncases:`);
    const { report, exitCode } = await runChange(
      { 'a.evals.yaml': withHead(before) },
      { 'a.evals.yaml': withHead(after) },
      {},
      'red blue',
    );
    expect([exitCode, codes(report)]).toEqual([1, ['requirement-lowered']]);
  });

  it('fails where it renames the suite and the base protects required cases alone', async () => {
    const base = { 'a.evals.yaml': required, 'p.yaml': 'protect: [requiredCases]\n' };
    const away = writeSayingCases('Speaks', ['blue']);
    const moved = await runChange(base, { 'a.evals.yaml': null, 'b.evals.yaml': away }, { policy: 'p.yaml' });
    expect([moved.exitCode, codes(moved.report)]).toEqual([1, ['required-case-removed']]);
    const renamed = await runChange(base, { 'a.evals.yaml': away }, { policy: 'p.yaml' });
    expect([renamed.exitCode, codes(renamed.report)]).toEqual([1, ['required-case-removed']]);
    const kept = { 'a.evals.yaml': required.replace('suite: Says', 'suite: Speaks') };
    const same = await runChange(base, kept, { policy: 'p.yaml' }, 'red blue');
    expect([same.exitCode, codes(same.report)]).toEqual([0, ['minimum-met']]);
  });
});

describe('a quarantine of the base', () => {
  const entry = (name: string) =>
    `quarantine: [{ suite: says, case: ${name}, owner: "@alice", reason: x, expires: 2099-01-01 }]\n`;
  const base = { 'a.evals.yaml': plain, 'p.yaml': entry('blue') };
  const inputs = { policy: 'p.yaml' };
  /** The failing case `red`, with the id that is in quarantine. */
  const reused =
    writeSayingCases('Says', ['red']).replace('- id: red', '- id: blue') +
    writeSayingCases('x', ['red']).split('cases:\n')[1]?.replace('"red"', '"blue"');

  it('does not cover another case with the id', async () => {
    const { report, exitCode } = await runChange(base, { 'a.evals.yaml': reused }, inputs);
    expect([exitCode, codes(report)]).toEqual([1, ['quarantine-widened', 'below-minimum']]);
    expect(report?.verdict.reasons[0]?.message).toBe(
      'This pull request defines the case "Says red" (a.evals.yaml:3) differently from main, whose quarantine (main:p.yaml:1) is for the case as main defines it. The case counts. Remove the entry from the quarantine, restore the definition or give the case another id, or let the policy file of main allow it, with a `protect` that leaves out `quarantine`.',
    );
  });

  it('lets a change mend its case and remove the entry', async () => {
    const mended = plain.replace(`'"blue"'`, `'"bl'`);
    const head = { 'a.evals.yaml': mended, 'p.yaml': 'minimumPassRate: 100%\n' };
    const { report, exitCode } = await runChange(base, head, inputs, 'red blue');
    expect([exitCode, codes(report)]).toEqual([0, ['minimum-met']]);
    expect(report?.cases.map(({ disposition }) => disposition)).toEqual(['passed', 'passed']);
    const notMended = await runChange(base, head, inputs, 'red');
    expect([notMended.exitCode, codes(notMended.report)]).toEqual([1, ['below-minimum']]);
  });

  it('does not cover a new case with the name of one that is gone', async () => {
    const stale = { 'a.evals.yaml': plain, 'p.yaml': entry('Says green') };
    const head = { 'a.evals.yaml': plain.replace('title: Says red', 'title: Says green') };
    const { report, exitCode } = await runChange(stale, head, inputs);
    expect([exitCode, codes(report)]).toEqual([1, ['quarantine-widened', 'below-minimum']]);
  });

  it('covers its case where the change only moves it, gives it another title or another tag', async () => {
    const snapshot = plain.replace(`{ toolResultContains: '"blue"' }`, '{ toMatchFile: snapshots/blue.json }');
    const moved = snapshot.replace('title: Says blue', 'title: Says azure\n    tags: [new]');
    const files = (text: string, folder: string) => ({
      [`${folder}/a.evals.yaml`]: text,
      [`${folder}/snapshots/blue.json`]: '"x"\n',
    });
    const { report, exitCode } = await runChange(
      { ...files(snapshot, 'one'), 'p.yaml': entry('blue') },
      { 'one/a.evals.yaml': null, ...files(moved, 'two') },
      { ...inputs, evals: '*/*.evals.yaml' },
      'red',
    );
    expect([exitCode, codes(report)]).toEqual([0, ['minimum-met']]);
  });
});

describe('shards with `policy-ref: base` and a selection', () => {
  const three = (evals: string) =>
    `${evals}${writeSayingCases('x', ['bl']).split('cases:\n')[1]?.replace('"bl"', '"blue"')}`;
  const smoke = three(required).replace('- id: bl\n', '- id: bl\n    tags: [smoke]\n');

  /** Runs the gates of two shards of a change, and merges them. */
  async function runShards(head: FileChange, inputs: GateInputs, ofMerge: Record<string, string>) {
    const { workspace, environment } = await createPullRequest({ 'a.evals.yaml': smoke }, { 'a.evals.yaml': head });
    await using _workspace = workspace;
    const shards = [];
    for (const shard of ['1/2', '2/2']) {
      const own = { shard, 'report-dir': join('shards', shard.slice(0, 1)), ...inputs };
      shards.push(await runEmbeddedGate(workspace, own, { says, environment }));
    }
    const merged = await mergeShards(workspace, ofMerge, environment);
    return { shards, merged };
  }

  it('cut the same union, and only the shard with the case fails for it', async () => {
    const untag = smoke.replace('    tags: [smoke]\n', '');
    const { shards, merged } = await runShards(untag, { 'policy-ref': 'base', tags: 'smoke' }, {});
    const found = shards.map(({ report, exitCode }) => `${ranCases(report)?.join(' ')}: ${exitCode}`);
    expect(found.toSorted()).toEqual(['says/blue: 0', 'says/red says/bl: 1']);
    expect([merged.exitCode, codes(merged.report)]).toEqual([1, ['below-minimum', 'required-failed']]);
  });

  it.each([
    ['has no case with the id', '- id: rouge'],
    ['does not require the case', '- id: red'],
  ])('fail where the policy of the base merges them and the change %s', async (_, id) => {
    const head = smoke
      .replace('- id: red\n    required: true', id)
      .replace('cases:', 'policy: { minimumPassRate: 1% }\ncases:');
    const { shards, merged } = await runShards(head, {}, { 'policy-ref': 'base' });
    expect(shards.map(({ report }) => report.verdict.outcome)).toContain('passed');
    expect([merged.exitCode, codes(merged.report)]).toEqual([1, ['required-case-removed']]);
  });

  it('are not asked for what the selection leaves out of the base', async () => {
    const { merged } = await runShards(smoke, { cases: 'bl*' }, { 'policy-ref': 'base' });
    expect([merged.exitCode, ranCases(merged.report)?.toSorted()]).toEqual([0, ['says/bl', 'says/blue']]);
  });
});
