import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseReport } from '../../src/report/report-json.ts';
import type { Report } from '../../src/model/report.ts';
import { type ContractService, openContractService } from '../support/service/contract-service.ts';
import { findFreePort } from '../support/network/free-port.ts';
import { createPullRequestEvent, createPullRequestTargetEvent, createScheduleEvent } from '../support/runner/events.ts';
import { type ActionRun, type ActionRunOptions, runAction } from '../support/runner/run-action.ts';
import { runActionInTest } from '../support/runner/action-in-test.ts';
import { startServeProcess } from '../support/service/serve-process.ts';
import { addingServerPath, createWorkspace, plainServer } from '../support/workspace.ts';

// Tests the committed dist/ against `serve` of the installed command: two processes that share only the API. For each transport, jobs with
// one expected color run from dist/; the other jobs and those about events run in this process.

const selectService = ({ baseUrl, apiKey }: ContractService) => ({
  service: 'svc',
  'base-url': baseUrl,
  'api-key': apiKey,
});

interface Job extends ActionRun {
  report: Report | null;
}

/** Every job has its own workflow run. Two jobs with the same run and name would disconnect each other, as they should. */
let runs = 100;

async function runJob(
  inputs: Record<string, string>,
  options: Partial<ActionRunOptions> & { evals?: string } = {},
  start = runAction,
): Promise<Job> {
  await using workspace = await createWorkspace({ 'evals/suite.evals.yaml': options.evals ?? passing('Tiny') });
  const run = await start({
    workspace: workspace.path,
    ...options,
    env: { GITHUB_RUN_ID: String(runs++), ...options.env },
    inputs: { 'server-command': `node ${addingServerPath}`, evals: 'evals/*.evals.yaml', ...inputs },
  });
  const text = await workspace.read('mcp-eval-report/report.json').catch(() => null);
  return { ...run, report: text === null ? null : parseReport(JSON.parse(text)) };
}

const runJobHere = (inputs: Record<string, string>, options: Partial<ActionRunOptions> = {}) =>
  runJob({ ...plainServer, ...inputs }, options, runActionInTest);

function passing(suite: string): string {
  return `suite: ${suite}
cases:
  - title: Echoes
    steps:
      - toolCall: echo
        arguments: { message: hello }
`;
}

/** A suite with a case that fails by a check of the service, one that fails by a check of the gate on the trace, and one that passes. */
function failing(suite: string): string {
  return `${passing(suite)}  - title: Says what it should
    steps:
      - toolCall: echo
        arguments: { message: hello }
      - assert: { toolResultContains: "Echo: goodbye" }
  - title: Adds letters
    required: true
    steps:
      - toolCall: get-sum
        arguments: { a: two, b: 3 }
`;
}

/** The parts of a result that must not depend on the service. */
function describeOutcome({ exitCode, conclusion, outputs, annotations, report }: Job) {
  const { verdict, passed, failed, total, 'pass-rate': passRate } = outputs;
  return {
    exitCode,
    conclusion,
    outputs: { verdict, passed, failed, total, passRate },
    reasons: report?.verdict.reasons.map(({ code }) => code),
    places: annotations.map(({ level, file, line, title }) => ({ level, file, line, title })),
    cases: report?.cases.map((member) => ({
      ...member,
      durationMs: null,
      failures: member.failures.map(({ reasons, step }) => ({ reasons, step: step?.index })),
    })),
  };
}

describe('every way to run a gate', () => {
  const ways = [
    ['over stdio', 'red', failing, runAction],
    ['over stdio', 'green', passing, runActionInTest],
    ['over HTTP', 'red', failing, runActionInTest],
    ['over HTTP', 'green', passing, runAction],
  ] as const;

  let service: ContractService;

  beforeAll(async () => {
    service = await startServeProcess();
  });

  afterAll(() => service[Symbol.asyncDispose]());

  it.each(ways)('gives one answer %s, %s', async (transport, color, evals, start) => {
    const suite = `${color} ${transport}`;
    const run = async (inputs: Record<string, string>) => {
      const server = transport === 'over HTTP' ? await serveOverHttp() : color === 'red' ? { sandbox: 'off' } : {};
      return await runJob({ ...server, ...inputs }, { evals: evals(suite) }, start);
    };
    const embedded = await run({});
    const other = await run(selectService(service));
    expect(embedded).toMatchObject({ exitCode: color === 'green' ? 0 : 1, outputs: { 'run-url': '' } });
    expect(describeOutcome(other)).toEqual(describeOutcome(embedded));
    for (const job of [embedded, other]) {
      expect(job).toMatchObject({ problems: [], leftovers: [], post: { exitCode: 0, log: '', leftovers: [] } });
    }
    expect(other.outputs['run-id']).toBe(other.report?.run?.id);
    expect(other.outputs['run-url']).toBe(
      `${new URL(service.baseUrl).origin}/evals/suite/${other.report?.run?.suiteId}/runs/${other.outputs['run-id']}?project=${service.projectId}`,
    );
    expect(cleanSummary(other)).toBe(cleanSummary(embedded));
  });
});

async function serveOverHttp(): Promise<Record<string, string>> {
  const port = await findFreePort();
  return {
    sandbox: 'off',
    'server-url': `http://127.0.0.1:${port}/mcp`,
    'server-env': `PORT=${port}`,
  };
}

/** Removes the parts that differ from run to run. */
function cleanSummary({ summary }: Job): string | undefined {
  // A hosted service reports neither the number of parallel iterations nor the protocol revision.
  return summary
    ?.replaceAll(/\d+(?:\.\d+)? m?s\b/g, 'TIME')
    .replaceAll(/^Ran .* at a time.*\n\n/gm, '')
    .replaceAll(/ --service svc\b/g, '')
    .replaceAll(/127\.0\.0\.1:\d+/g, 'HOST')
    .replaceAll(' at its start', '');
}

async function listNames({ project }: ContractService, path: '/eval-suites' | '/servers'): Promise<string[]> {
  return (await project.get(path)).body.items.map(({ name }: { name: string }) => name);
}

describe('a hosted job', () => {
  it('names its suite on a pull request and on a schedule', async () => {
    await using service = await openContractService();
    const pullRequest = await runJobHere(selectService(service), { event: createPullRequestEvent() });
    expect(pullRequest).toMatchObject({ exitCode: 0, outputs: { verdict: 'passed' } });
    expect(await listNames(service, '/eval-suites')).toEqual(['Tiny · PR 7']);
    const schedule = await runJobHere(selectService(service), { event: createScheduleEvent() });
    expect(schedule).toMatchObject({ exitCode: 0, outputs: { verdict: 'passed' } });
    expect((await listNames(service, '/eval-suites')).toSorted()).toEqual(['Tiny', 'Tiny · PR 7']);
    expect(await listNames(service, '/servers')).toEqual([]);
  });

  it('uses the embedded service on a fork, and exits with code 2 if the fork requests another', async () => {
    const event = createPullRequestEvent({ isFork: true });
    const embedded = await runJobHere({}, { event });
    expect(embedded).toMatchObject({ exitCode: 0, outputs: { verdict: 'passed', 'run-url': '' } });
    const inputs = { service: 'svc', 'base-url': 'https://service.example/api/v1', 'api-key': '' };
    const other = await runJobHere(inputs, { event });
    expect(other).toMatchObject({
      exitCode: 2,
      conclusion: 'failure',
      outputs: { verdict: 'inconclusive' },
      summary: expect.stringContaining('Eval gate not run'),
      problems: [],
    });
    expect(other.log).toMatch(/^Error: api-key: .*Workflows of forks .* use `service: embedded` there/m);
    expect(other.annotations).toHaveLength(1);
  });

  it('stops pull_request_target before anything is started, unless it is allowed', async () => {
    await using service = await openContractService();
    const event = createPullRequestTargetEvent({ isFork: true });
    const refused = await runJobHere(selectService(service), { event });
    expect(refused).toMatchObject({ exitCode: 2, outputs: { verdict: 'inconclusive' } });
    expect(refused.log).toContain('allow-pull-request-target');
    expect(refused.log).not.toContain('Starting');
    expect(await listNames(service, '/eval-suites')).toEqual([]);
    const allowed = await runJobHere({ ...selectService(service), 'allow-pull-request-target': 'true' }, { event });
    expect(allowed).toMatchObject({ exitCode: 0, outputs: { verdict: 'passed' } });
    expect(await listNames(service, '/eval-suites')).toEqual(['Tiny · PR 7']);
  });

  it('has its own name and run in a matrix, and leaves only the suite', async () => {
    await using service = await startServeProcess();
    // The jobs differ in no other variable of the runner.
    const env = { GITHUB_RUN_ID: '41' };
    const start = (index: string, run = runJob) =>
      run({ ...plainServer, ...selectService(service), 'comment-id': index }, { env });
    // The first job creates the suite. The others run at the same time and find it.
    const jobs = [await start('0', runJobHere), ...(await Promise.all([start('1'), start('2', runJobHere)]))];
    for (const job of jobs) expect(job).toMatchObject({ exitCode: 0, outputs: { verdict: 'passed' } });
    expect(new Set(jobs.map(({ log }) => /Opening a tunnel to the server as (.*) …/.exec(log)?.[1])).size).toBe(3);
    expect(new Set(jobs.map(({ outputs }) => outputs['run-id'])).size).toBe(3);
    for (const { log } of jobs) expect(log).not.toContain('taken up again');
    expect(await listNames(service, '/eval-suites')).toEqual(['Tiny']);
    expect(await listNames(service, '/servers')).toEqual([]);
  });
});
