import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CancelledError } from '../../../src/base/errors.ts';
import { silentLogger } from '../../../src/base/logger.ts';
import { createRedactor } from '../../../src/base/redaction.ts';
import { draftUploads, uploadResults } from '../../../src/gate/publish/upload-results.ts';
import { createJumpingClock } from '../../support/clocks/bent-clock.ts';
import { type ContractService, openContractService } from '../../support/service/contract-service.ts';
import { runEmbeddedGate } from '../../support/gate/embedded-gate.ts';
import type { GateInputs } from '../../support/gate/gate-inputs.ts';
import { type FlakyServer, startFlakyServer, writeCallingCases } from '../../support/servers/flaky-server.ts';
import { jobOnBranch } from '../../support/gate/hosted-gate.ts';
import { findClosedPort } from '../../support/network/http-server.ts';
import { openServiceTap } from '../../support/service/service-tap.ts';
import { createWorkspace } from '../../support/workspace.ts';

let service: ContractService;
let server: FlakyServer;
beforeAll(async () => {
  service = await openContractService();
  server = await startFlakyServer({
    good: ['passes'],
    other: ['passes'],
    bad: ['fails'],
    late: ['fails', 'passes'],
    dead: ['breaks'],
    slow: ['hangs'],
  });
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await service[Symbol.asyncDispose]();
});

interface Job {
  inputs?: GateInputs;
  files?: Record<string, string>;
  environment?: Record<string, string>;
  signal?: AbortSignal;
}

let jobs = 0;

/** Runs a gate with an upload. Each has its own job unless another one is given. */
async function run(to: Pick<ContractService, 'baseUrl' | 'apiKey'>, evals: string, job: Job = {}) {
  await using workspace = await createWorkspace({ 'a.evals.yaml': evals, ...job.files });
  const environment = { ...jobOnBranch, GITHUB_RUN_ID: String((jobs += 1)), ...job.environment };
  const upload = { upload: 'svc', 'base-url': to.baseUrl, 'api-key': to.apiKey };
  return await runEmbeddedGate(
    workspace,
    { 'server-command': '', 'server-url': server.url, ...upload, ...job.inputs },
    { environment, onlineClock: quickClock(), ...(job.signal === undefined ? {} : { signal: job.signal }) },
  );
}

/** Shortens waits, but the limit of an upload stays far. */
const quickClock = () => createJumpingClock({ fromMs: 0, toMs: 60_000, instead: 1 });

const callGood = writeCallingCases(['good']);
const nameSuite = (name: string, evals = callGood) => evals.replace('suite: Flaky', `suite: ${name}`);

async function listRuns(name: string) {
  const { items } = (await service.project.get('/eval-suites')).body;
  const suite = items.find((item: { name: string }) => item.name === name);
  return suite === undefined ? [] : (await service.project.get(`/eval-suites/${suite.id}/runs`)).body.items;
}

describe('a gate that uploads', () => {
  it('creates a run of every suite in the project, with its verdict, and links them', async () => {
    const red = nameSuite(
      'Red',
      writeCallingCases(['good', 'bad'], { runs: 2, head: 'policy: { minimumPassRate: 75% }\n' }),
    );
    const { exitCode, infos, warnings } = await run(service, red, {
      files: { 'b.evals.yaml': nameSuite('Green') },
      inputs: { 'comment-id': '3' },
    });
    expect([exitCode, warnings]).toEqual([1, []]);

    const [failed] = await listRuns('Red · change');
    const notes = 'The verdict is failed. 2 of 4 iterations passed (50%), the minimum is 75% (from a.evals.yaml:2).';
    expect(failed).toMatchObject({ status: 'completed', result: 'failed', source: 'sdk', notes });
    const summary = { total: 4, passed: 2, failed: 2, passRate: 0.5 };
    expect(failed.summary).toEqual(summary);
    const { items } = (await service.project.get(`/eval-runs/${failed.id}/iterations`)).body;
    const call = { toolName: 'bad', arguments: {} };
    expect(items[2]).toMatchObject({
      title: 'Calls bad',
      iterationNumber: 1,
      result: 'failed',
      actualToolCalls: [call],
    });
    expect(items[2].error).toMatch(/^bad answered with an error: "Not this time."/);
    const traces = await Promise.all(
      items.map(({ id }: { id: string }) => service.project.get(`/eval-runs/${failed.id}/iterations/${id}/trace`)),
    );
    // The upload includes traces only of failed iterations.
    expect(traces.map(({ status }) => status)).toEqual([404, 404, 200, 200]);
    expect(JSON.stringify(traces[2].body.messages)).toContain('Not this time.');

    const [passed] = await listRuns('Green · change');
    expect(passed).toMatchObject({ status: 'completed', result: 'passed', summary: { total: 1 } });
    const { origin } = new URL(service.baseUrl);
    const link = ({ id, suiteId }: { id: string; suiteId: string }) =>
      `${origin}/evals/suite/${suiteId}/runs/${id}?project=${service.projectId}`;
    expect(infos.filter((info) => info.includes('upload'))).toEqual([
      `Red is uploaded, 4 iterations in the suite "Red · change": ${link(failed)}`,
      `Green is uploaded, 1 iteration in the suite "Green · change": ${link(passed)}`,
    ]);
  });

  it('uploads the iterations of all rounds of a suite as one run, and none of its base', async () => {
    const head = 'runs: { min: 2, max: 20 }\npolicy: { minimumPassRate: 50%, confidence: 95% }\n';
    const evals = nameSuite('Rounds', writeCallingCases(['good', 'bad', 'other'], { head, runs: null }));
    await using base = await startFlakyServer({ good: ['passes'], bad: ['passes'], other: ['passes'] });
    const { report, warnings } = await run(service, evals, { inputs: { base: `url=${base.url}` } });
    expect(warnings).toEqual([
      expect.stringMatching(/^Both sides of the comparison share this machine\. 3 cases may write there/),
    ]);
    const [result] = report.results;
    expect(result?.rounds?.runs.length).toBeGreaterThan(1);
    expect(result?.base?.cases.some(({ head: rounds }) => rounds.includes('f'))).toBe(true);
    const [uploaded] = await listRuns('Rounds · change');
    const { iterations: total, passed, failed } = report.totals;
    expect(uploaded).toMatchObject({ status: 'completed', summary: { total, passed, failed } });
    const { items } = (await service.project.get(`/eval-runs/${uploaded.id}/iterations?limit=100`)).body;
    const numbers = (title: string) =>
      items
        .filter((item: { title: string }) => item.title === title)
        .map((item: { iterationNumber: number }) => item.iterationNumber)
        .toSorted((one: number, two: number) => one - two);
    for (const { title, total } of report.cases) {
      expect(numbers(title)).toEqual(Array.from({ length: total }, (_, index) => index + 1));
    }
  });

  it('sends more results than one request takes in several, up to what two minutes are enough for', async () => {
    await using tap = await openServiceTap(service);
    const few = nameSuite('Few', writeCallingCases(['good', 'bad']));
    const { report, kept, plan } = await run(tap.service, few);
    const before = tap.requests.length;
    const multiply = (times: number) =>
      new Map([...kept!.suites].map(([id, results]) => [id, Array.from({ length: times }, () => results).flat()]));
    const suites = multiply(101);
    const warnings: string[] = [];
    const upload = { ...plan.upload!, invocation: ['many'] };
    await uploadResults(
      { report, kept: { ...kept!, suites }, upload, suites: plan.suites },
      {
        clock: quickClock(),
        logger: { ...silentLogger, warning: (message) => void warnings.push(message) },
        redactor: createRedactor(),
        signal: new AbortController().signal,
      },
    );
    expect(warnings).toEqual([]);
    expect(tap.requests.slice(before).map((request) => request.split('/').at(-1))).toEqual([
      'projects',
      'start',
      'iterations',
      'iterations',
      'finalize',
    ]);
    expect(await listRuns('Few · change')).toMatchObject([
      { result: 'failed', summary: { total: 202, passed: 101 } },
      { summary: { total: 2 } },
    ]);

    const most = { report, upload, suites: plan.suites };
    expect(draftUploads({ ...most, kept: { ...kept!, suites: multiply(10_000) } }).drafts).toHaveLength(1);
    expect(draftUploads({ ...most, kept: { ...kept!, suites: multiply(10_001) } })).toEqual({
      drafts: [],
      leftOut: [{ name: 'Few', why: 'with it, there would be more than 20000 iterations' }],
    });
  });

  it('reports first rounds alone', async () => {
    const { exitCode } = await run(service, nameSuite('Late', writeCallingCases(['late'])), {
      inputs: { policy: { retryFailed: 1, flaky: 'pass' } },
    });
    expect(exitCode).toBe(0);
    const [late] = await listRuns('Late · change');
    expect(late).toMatchObject({ result: 'failed', summary: { total: 1, passed: 0 } });
    expect(late.notes).toMatch(/^The verdict is passed\./);
  });

  it('has a run of its own for every attempt, and one for an attempt that is made twice', async () => {
    const environment = { GITHUB_RUN_ID: 'attempts' };
    const good = nameSuite('Attempts');
    const infos: string[] = [];
    for (const attempt of ['1', '1', '2']) {
      const { exitCode, ...said } = await run(service, good, {
        environment: { ...environment, GITHUB_RUN_ATTEMPT: attempt },
      });
      expect([exitCode, said.warnings]).toEqual([0, []]);
      infos.push(said.infos.findLast((info) => info.startsWith('Attempts is uploaded'))!);
    }
    expect(await listRuns('Attempts · change')).toHaveLength(2);
    expect([infos[1], infos[2] === infos[0]]).toEqual([infos[0], false]);
    // The service keeps the first results.
    const other = await run(service, nameSuite('Attempts', writeCallingCases(['good', 'bad'])), { environment });
    expect(other.warnings).toEqual([
      'Attempts: the run in the service says that 1 of 1 passed; here it is 1 of 2. The verdict stands.',
    ]);
  });
});

describe('an obstacle to an upload', () => {
  it.each([
    ['good', 0],
    ['bad', 1],
  ] as const)('changes nothing where a case calls %s: no service is there', async (tool, expected) => {
    const nowhere = { baseUrl: `http://127.0.0.1:${await findClosedPort()}/api/v1`, apiKey: 'sk_none' };
    const { exitCode, warnings } = await run(nowhere, writeCallingCases([tool]));
    expect(exitCode).toBe(expected);
    expect(warnings).toEqual([
      expect.stringMatching(/^The results could not be uploaded: No answer from .*The verdict stands\.$/s),
    ]);
  });

  it('is a warning if the service rejects the key or the results', async () => {
    const { exitCode, warnings } = await run({ ...service, apiKey: 'sk_wrong' }, callGood);
    expect([exitCode, warnings]).toEqual([0, [expect.stringMatching(/does not take the key.*The verdict stands\.$/s)]]);
    await using tap = await openServiceTap(service);
    tap.refuse(/eval-ingest/);
    const refused = await run(tap.service, nameSuite('Refused'));
    expect([refused.exitCode, refused.warnings]).toEqual([
      0,
      [expect.stringMatching(/^Refused could not be uploaded to its end: .* 403 .*The verdict stands\.$/s)],
    ]);
    expect(await listRuns('Refused · change')).toEqual([]);
  });

  it('is waited out if it is the rate limit', async () => {
    const clock = quickClock();
    await using paced = await openContractService({ clock, rateLimit: { perMinute: 60, burst: 1 } });
    await using workspace = await createWorkspace({ 'a.evals.yaml': callGood });
    await using tap = await openServiceTap(paced);
    const upload = { upload: 'svc', 'base-url': tap.service.baseUrl, 'api-key': paced.apiKey };
    const inputs = { 'server-command': '', 'server-url': server.url, ...upload };
    const { warnings, infos } = await runEmbeddedGate(workspace, inputs, {
      environment: jobOnBranch,
      onlineClock: clock,
    });
    expect([warnings, infos.filter((info) => info.includes('is uploaded'))]).toEqual([[], [expect.any(String)]]);
    // The second request was refused, and the gate repeated it after the requested time.
    expect(tap.requests.map((request) => request.split('/').at(-1))).toEqual(['projects', 'report', 'report']);
  });
});

describe('a suite', () => {
  it('is not uploaded without a verdict, nor as a part of one', async () => {
    const dead = await run(service, nameSuite('Dead', writeCallingCases(['dead'])));
    expect([dead.exitCode, dead.infos]).toEqual([
      3,
      expect.arrayContaining(['Dead is not uploaded: its verdict is inconclusive.']),
    ]);
    const open = await run(service, nameSuite('Open'), {
      inputs: { policy: { confidence: '95%' }, 'min-pass-rate': '90%' },
    });
    expect([open.exitCode, open.infos]).toEqual([
      3,
      expect.arrayContaining(['Open is not uploaded: its verdict is inconclusive.']),
    ]);
    const early = await run(service, nameSuite('Early', writeCallingCases(['bad', 'slow'])), {
      inputs: { policy: { stopEarly: true } },
    });
    expect([early.exitCode, early.infos]).toEqual([
      1,
      expect.arrayContaining(['Early is not uploaded: its run was stopped early.']),
    ]);
    for (const name of ['Dead', 'Open', 'Early']) expect(await listRuns(`${name} · change`)).toEqual([]);
  });

  it('is not uploaded when the job was cancelled', async () => {
    await using tap = await openServiceTap(service);
    const signal = AbortSignal.abort(new CancelledError('Stopped.', { signal: 'SIGTERM' }));
    const { exitCode } = await run(tap.service, callGood, { signal });
    expect([exitCode, tap.requests]).toEqual([143, []]);
  });
});
