import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ConfigurationError } from '../../../src/base/errors.ts';
import { parseGateOptions } from '../../../src/gate/options.ts';
import { type GatePlan, planGate } from '../../../src/gate/plan/plan.ts';
import type { FileSuite } from '../../../src/gate/plan/plan-suites.ts';
import { type GateInputs, readGateInputs } from '../../support/gate/gate-inputs.ts';
import { createWorkspace, greenEvals } from '../../support/workspace.ts';

async function plan(texts: GateInputs, files: Record<string, string>): Promise<GatePlan> {
  await using workspace = await createWorkspace({ 'a.yaml': greenEvals, ...files });
  const options = readGateInputs({ 'server-command': 'node server.js', evals: 'a.yaml', ...texts });
  return await planGate(options, { cwd: workspace.path, environment: {} });
}

async function planSuite(...args: Parameters<typeof plan>): Promise<FileSuite> {
  const [suite] = (await plan(...args)).suites;
  if (suite?.kind !== 'file') throw new Error('A suite from a file was expected.');
  return suite;
}

async function listIssues(...args: Parameters<typeof plan>): Promise<string[]> {
  const error: unknown = await plan(...args).then(
    () => undefined,
    (error: unknown) => error,
  );
  return error instanceof ConfigurationError ? error.message.split('\n') : [];
}

const withPolicy = (policy: string) => `${greenEvals}policy: ${policy}\n`;

describe('the rules of a suite', () => {
  it('come from no file behind a link out of the checkout, and no message quotes such a file', async () => {
    await using outside = await createWorkspace({ 'secret.txt': 'a: [password-1\n' });
    await using workspace = await createWorkspace({ 'a.yaml': greenEvals });
    await symlink(join(outside.path, 'secret.txt'), join(workspace.path, 'p.yaml'));
    const options = parseGateOptions({ 'server-command': 'x', evals: 'a.yaml', policy: 'p.yaml' });
    const error: unknown = await planGate(options, { cwd: workspace.path, environment: {} }).catch(
      (error: unknown) => error,
    );
    expect(error).toMatchObject({
      message:
        'p.yaml:1:1: The file is a symbolic link that leads out of the checkout, or is in a directory that is one; the gate does not read it. Put the file itself there, or name the path that the link leads to (link-out-of-checkout)',
    });
  });

  it('come from the inputs, then the suite’s part of the policy file, then the rest of it, then the evals file', async () => {
    const files = {
      'a.yaml': withPolicy(
        '{ minimumPassRate: 10%, confidence: 60%, onInconclusive: pass, onNothingRun: pass, reportOnly: true, flaky: pass, retryFailed: 1 }',
      ),
      'p.yaml': 'confidence: 80%\nonInconclusive: warn\nretryFailed: 2\nsuites:\n  everything: { confidence: 90% }\n',
    };
    expect(await planSuite({ policy: 'p.yaml', 'min-pass-rate': '70%' }, files)).toMatchObject({
      requirements: {
        minimumPassRate: { value: 0.7, source: 'min-pass-rate' },
        confidence: { value: 0.9, source: 'p.yaml:5' },
        retryFailed: { value: 2, source: 'p.yaml:3' },
        flaky: { value: 'pass', source: 'a.yaml:23' },
        onInconclusive: { value: 'warn', source: 'p.yaml:2' },
        onNothingRun: { value: 'pass', source: 'a.yaml:23' },
        reportOnly: { value: true, source: 'a.yaml:23' },
      },
    });
    expect(
      await planSuite(
        {
          policy: {
            confidence: 75,
            onNothingRun: 'warn',
            reportOnly: false,
            suites: { everything: { flaky: 'report' } },
          },
        },
        files,
      ),
    ).toMatchObject({
      requirements: {
        minimumPassRate: { value: 0.1, source: 'a.yaml:23' },
        confidence: { value: 0.75, source: 'policy.confidence' },
        onNothingRun: { value: 'warn', source: 'policy.onNothingRun' },
        reportOnly: { value: false, source: 'policy.reportOnly' },
        retryFailed: { value: 1, source: 'a.yaml:23' },
        flaky: { value: 'report', source: 'policy.suites.everything.flaky' },
      },
    });
  });

  it('names cases by their ids, and leaves out those that were not chosen', async () => {
    const policy = `{ cases: { Echoes a message: 50%, sum: 50% }, required: [Refuses letters] }`;
    const whole = await planSuite({}, { 'a.yaml': withPolicy(policy) });
    expect(whole.requirements.cases.map(({ name }) => name).toSorted()).toEqual(['echo', 'sum']);
    expect(whole.requirements.required.map(({ name }) => name)).toEqual(['refusal']);
    const part = await planSuite({ cases: 'sum' }, { 'a.yaml': withPolicy(policy) });
    expect(part.requirements).toMatchObject({ cases: [{ name: 'sum' }], required: [] });
  });

  it('keeps quarantine entries of cases that are gone, and drops those of cases that were not chosen', async () => {
    const entry = (name: string) => `{ case: ${name}, owner: o, reason: r, expires: 2026-01-01 }`;
    const files = { 'a.yaml': withPolicy(`{ quarantine: [${entry('echo')}, ${entry('gone')}] }`) };
    const { requirements } = await planSuite({ cases: 'sum' }, files);
    expect(requirements.quarantine.map((entry) => entry.case)).toEqual(['gone']);
  });

  const twoCalledAdds = `suite: everything
cases:
  - { title: adds, steps: [{ toolCall: add }] }
  - { id: second, title: adds, steps: [{ toolCall: add }] }
  - { id: sum, title: Sums, steps: [{ toolCall: add }] }
  - { id: decoy, title: sum, steps: [{ toolCall: add }] }
`;
  const ambiguousSum =
    '"sum" is ambiguous: it is the id of the case `sum` at a.yaml:5 and the title of the case `decoy` at a.yaml:6. Give each case its own id and title, and name the case by its id (ambiguous-case)';
  const ambiguousAdds =
    '"adds" is ambiguous: it is the title of the case `adds` at a.yaml:3 and the title of the case `second` at a.yaml:4. Give each case its own id and title, and name the case by its id (ambiguous-case)';
  const entry = (name: string) => `{ case: ${name}, owner: o, reason: r, expires: 2026-01-01 }`;

  it.each([
    ['a case minimum', '{ cases: { sum: 50% } }', ambiguousSum],
    ['a required case', '{ required: [adds] }', ambiguousAdds],
    ['a quarantine entry', `{ quarantine: [${entry('adds')}] }`, ambiguousAdds],
  ])('rejects a name that two cases answer to, in %s', async (_, policy, message) => {
    expect(await listIssues({}, { 'a.yaml': `${twoCalledAdds}policy: ${policy}\n` })).toEqual([`a.yaml:7: ${message}`]);
  });

  it('rejects such a name in a policy file, for a suite and for all', async () => {
    const quarantine = `quarantine:\n  - { suite: everything, ${entry('adds').slice(1)}\n`;
    const files = { 'a.yaml': twoCalledAdds, 'p.yaml': `${quarantine}suites:\n  everything: { required: [sum] }\n` };
    expect(await listIssues({ policy: 'p.yaml' }, files)).toEqual([
      `p.yaml:4: ${ambiguousSum}`,
      `p.yaml:2: ${ambiguousAdds}`,
    ]);
  });

  it('accepts cases with one title where they are named by their ids, and judges the one that is named', async () => {
    const policy = `{ required: [second], quarantine: [${entry('decoy')}] }`;
    const { requirements } = await planSuite({}, { 'a.yaml': `${twoCalledAdds}policy: ${policy}\n` });
    expect(requirements.required.map(({ name }) => name)).toEqual(['second']);
    expect(requirements.quarantine.map((each) => each.case)).toEqual(['decoy']);
    expect((await planSuite({}, { 'a.yaml': twoCalledAdds })).suite.cases).toHaveLength(4);
  });

  it('rejects a selection by such a name', async () => {
    expect(await listIssues({ cases: 'adds\nsum' }, { 'a.yaml': twoCalledAdds })).toEqual([
      `cases: ${ambiguousAdds}`,
      `cases: ${ambiguousSum}`,
    ]);
    const { suite } = await planSuite({ cases: 'second\nSums' }, { 'a.yaml': twoCalledAdds });
    expect(suite.cases.map(({ id }) => id)).toEqual(['second', 'sum']);
  });

  it('must name existing cases and tags', async () => {
    expect(await listIssues({}, { 'a.yaml': withPolicy('{ cases: { smu: 50% }, tags: { slow: 50% } }') })).toEqual([
      'a.yaml:23: The policy has a requirement on the case "smu", which a.yaml does not have; did you mean `sum`? (unknown-case)',
      'a.yaml:23: The policy has a requirement on the tag "slow", which no case of a.yaml has (unknown-tag)',
    ]);
    expect(await listIssues({}, { 'a.yaml': withPolicy('{ models: { a/b: 50% } }') })).toEqual([
      'a.yaml:23: The policy requires something of the model "a/b", which no case of a.yaml uses (unknown-model)',
    ]);
    expect(await listIssues({ policy: 'p.yaml' }, { 'p.yaml': 'models: { a/b: 50% }' })).toEqual([]);
    expect(await listIssues({ policy: 'p.yaml' }, { 'p.yaml': 'tags: { slow: 50% }' })).toEqual([]);
    expect(await listIssues({ policy: 'p.yaml' }, { 'p.yaml': 'suites: { Everything: { required: [ech] } }' })).toEqual(
      [
        'p.yaml:1: The policy has a requirement on the case "ech", which a.yaml does not have; did you mean `echo`? (unknown-case)',
      ],
    );
  });

  it('carries the prices, the limit of model calls and the age of recordings', async () => {
    const { limits, suites } = await plan(
      { policy: 'p.yaml' },
      { 'p.yaml': 'prices: { a/b: { input: 1, output: 5 } }\nrecordings: { maximumAge: 7d }' },
    );
    expect(limits).toMatchObject({
      prices: [{ name: 'a/b', value: { input: 1, cachedInput: 1, output: 5 }, source: 'p.yaml:1' }],
      currency: { value: 'USD', source: 'default' },
    });
    expect(suites).toMatchObject([
      {
        requirements: {
          budgets: { modelCalls: { value: 300, source: 'default' } },
          maximumRecordingAgeMs: { value: 7 * 24 * 3_600_000, source: 'p.yaml:2' },
        },
      },
    ]);
  });

  it('must be provable by some number of iterations', async () => {
    expect(await listIssues({ policy: { confidence: '95%' } }, {})).toEqual([
      'policy.confidence: No number of iterations shows a pass rate of 100% (the default minimum) with 95% confidence; require less, such as 95%, or leave the confidence out (confidence-in-100)',
    ]);
    expect(await listIssues({ policy: { confidence: '95%' }, 'min-pass-rate': '90%' }, {})).toEqual([]);
  });

  it('says which part of the policy file has no effect', async () => {
    const { notes } = await plan({ policy: 'p.yaml' }, { 'p.yaml': 'suites: { search: { reportOnly: true } }' });
    expect(notes).toEqual(['p.yaml has a policy for the suite "search", which is not part of this gate.']);
  });

  it('reports every error in the policy file', async () => {
    expect(await listIssues({ policy: 'p.yaml' }, { 'p.yaml': 'reportonly: true' })).toEqual([
      'p.yaml:1:1: Unknown key `reportonly`; did you mean `reportOnly`? (unknown-key)',
    ]);
    const [issue] = await listIssues({ policy: 'q.yaml' }, {});
    expect(issue).toMatch(/^policy: "q.yaml" cannot be read: .*\(unreadable-policy\)$/);
  });

  it('are reported for a suite of the service, too', async () => {
    await using workspace = await createWorkspace({ 'p.yaml': 'suites: { Nightly: { minimumPassRate: 60% } }' });
    const texts = { service: 'mcpjam', 'api-key': 'key-123456', suite: 'Nightly', policy: 'p.yaml' };
    const planned = await planGate(parseGateOptions(texts), { cwd: workspace.path, environment: {} });
    expect(planned.suites).toMatchObject([
      { kind: 'stored', requirements: { minimumPassRate: { value: 0.6, source: 'p.yaml:1' } } },
    ]);
  });
});
