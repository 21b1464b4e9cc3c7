import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ContractService, openContractService } from '../support/service/contract-service.ts';
import { writeSayingCases } from '../support/gate/embedded-gate.ts';
import { jobOnBranch, runHostedGate } from '../support/gate/hosted-gate.ts';
import { plainServerCommand } from '../support/servers/bundled-servers.ts';
import { startSayingServer } from '../support/servers/saying-server.ts';

// Jobs on branches of a repository, against a service with a suite for each branch.

let service: ContractService;
let jobs = 0;

beforeAll(async () => {
  service = await openContractService();
});

afterAll(() => service[Symbol.asyncDispose]());

const head = 'policy: { minimumPassRate: 0% }\n';

/** Each case passes if the server's answer contains its id. */
async function runJob(
  suite: string,
  { branch, says, ids, inputs = {} }: { branch: string; says: string; ids: string[]; inputs?: Record<string, string> },
) {
  jobs += 1;
  const environment = { ...jobOnBranch, GITHUB_RUN_ID: `${suite} ${jobs}`, GITHUB_REF_NAME: branch };
  const files = { 'x.evals.yaml': writeSayingCases(suite, ids, { head }) };
  await using server = await startSayingServer(says);
  return await runHostedGate(
    service,
    { 'server-url': server.url, evals: 'x.evals.yaml', ...inputs },
    { files, environment },
  );
}

const againstMain = { baseline: 'branch:main' };

describe('a hosted gate with the baseline of a branch', () => {
  it('warns where the branch has no run yet', async () => {
    const { exitCode, report, log } = await runJob('First', {
      branch: 'change',
      says: 'a',
      ids: ['a'],
      inputs: againstMain,
    });
    expect({ exitCode, comparison: report.comparison }).toEqual({ exitCode: 0, comparison: null });
    expect(log).toContain(
      'The service has no completed run of branch:main, so nothing is compared; a first run has none.',
    );
  });

  it('fails on what regressed since its newest completed run, which it judges as its own', async () => {
    await runJob('Says', { branch: 'main', says: 'a b gone', ids: ['a', 'b', 'gone'] });
    const { exitCode, report } = await runJob('Says', {
      branch: 'change',
      says: 'a fresh',
      ids: ['a', 'b', 'fresh'],
      inputs: againstMain,
    });
    expect(exitCode).toBe(1);
    expect(report.verdict.reasons).toEqual([expect.objectContaining({ code: 'regressed', caseId: 'b' })]);
    expect(report.comparison).toMatchObject({
      baseline: { source: 'branch:main', branch: 'main' },
      counts: { regressed: 1, new: 1, removed: 1, unchanged: 1 },
    });
  });

  it('does not compare what the branch defines otherwise, nor takes a number of runs for that', async () => {
    await runJob('Defined', { branch: 'main', says: 'a b', ids: ['a', 'b'], inputs: { runs: '2' } });
    const [a = '', b = ''] = writeSayingCases('Defined', ['a', 'b'], { head }).split('  - id: b');
    const other = `${a}  - id: b${b.replace('toolCall: argv', 'toolCall: count')}`;
    jobs += 1;
    const { report } = await runHostedGate(
      service,
      {
        'server-command': `${plainServerCommand} a`,
        'server-cwd': process.cwd(),
        isolation: 'run',
        evals: 'x.evals.yaml',
        ...againstMain,
      },
      { files: { 'x.evals.yaml': other }, environment: { ...jobOnBranch, GITHUB_RUN_ID: `Defined ${jobs}` } },
    );
    expect(report.comparison?.cases.map(({ id, change }) => `${id} ${change}`)).toEqual(['b changed']);
    expect(report.comparison?.comparable.baseline).toEqual({ passed: 2, total: 2 });
  });

  it('holds a nightly run against the one before it, not against itself', async () => {
    const night = { branch: 'main', ids: ['a'], inputs: againstMain };
    await runJob('Nightly', { ...night, says: 'a' });
    const { exitCode, report } = await runJob('Nightly', { ...night, says: 'b' });
    expect(exitCode).toBe(1);
    expect(report.comparison?.counts.regressed).toBe(1);
  });
});

describe('a hosted gate with the baseline of a run', () => {
  it('compares with that run', async () => {
    const first = await runJob('Runs', { branch: 'main', says: 'a', ids: ['a'] });
    await runJob('Runs', { branch: 'main', says: 'b', ids: ['a'] });
    const inputs = { baseline: `run:${first.report.run?.id}` };
    const { exitCode } = await runJob('Runs', { branch: 'change', says: 'b', ids: ['a'], inputs });
    expect(exitCode).toBe(1);
  });

  it('is inconclusive where the service does not know it', async () => {
    const job = runJob('Unknown', { branch: 'main', says: 'a', ids: ['a'], inputs: { baseline: 'run:nope' } });
    expect(await job).toMatchObject({ exitCode: 3, report: { verdict: { outcome: 'inconclusive' } } });
  });

  it.each([
    [{ baseline: 'run:a b' }, /baseline: "a b" is not the id of a run/],
    [{ baseline: 'branch:main', 'suite-scope': 'shared' }, /with `suite-scope: shared` no suite belongs to one/],
    [{ baseline: 'run:x', service: 'embedded' }, /names a run of a hosted service, and there is none/],
    [
      { baseline: 'run:x', tests: '- title: t\n  steps:\n    - toolCall: argv\n' },
      /names one run, and this gate has 2 suites/,
    ],
  ])('refuses %j', async (inputs, message) => {
    await expect(runJob('Refused', { branch: 'main', says: 'a', ids: ['a'], inputs })).rejects.toThrow(message);
  });
});
