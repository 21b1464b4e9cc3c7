import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createJumpingClock } from '../../support/clocks/bent-clock.ts';
import { runEmbeddedGate } from '../../support/gate/embedded-gate.ts';
import { type FlakyServer, startFlakyServer, writeCallingCases } from '../../support/servers/flaky-server.ts';
import { createGitHubJob } from '../../support/runner/github-job.ts';
import { type Answer, json, startHttpServer } from '../../support/network/http-server.ts';
import { createWorkspace } from '../../support/workspace.ts';

let server: FlakyServer;
beforeAll(async () => {
  server = await startFlakyServer({ good: ['passes'], bad: ['fails'] });
});
afterAll(() => server[Symbol.asyncDispose]());

const projects = json(200, { items: [{ id: 'p_1', name: 'Demo' }] });
const receipt = { ok: true, suiteId: 's_1', runId: 'r_1' };

/** Uploads in a job of a pull request to a service that gives this answer to the second request. */
async function upload(answer: Answer, clock = createJumpingClock({ fromMs: 0, toMs: 60_000, instead: 1 })) {
  await using service = await startHttpServer([projects, answer]);
  const evals = writeCallingCases(['good', 'bad']);
  const policy = `quarantine:\n  - { suite: Flaky, case: bad, owner: me, reason: known, expires: 2999-01-01 }\n`;
  await using workspace = await createWorkspace({ 'a.evals.yaml': evals, 'policy.yaml': policy });
  const environment = await createGitHubJob(workspace, service.origin, { attempt: 2 });
  const inputs = { upload: 'mcpjam', 'base-url': `${service.origin}/api/v1`, 'api-key': 'sk_1', policy: 'policy.yaml' };
  const { exitCode, warnings, infos } = await runEmbeddedGate(
    workspace,
    { 'server-command': '', 'server-url': server.url, 'comment-id': '3', ...inputs },
    { environment, onlineClock: clock },
  );
  const body = JSON.parse(service.requests[1]?.body ?? '{}') as Record<string, unknown> & { results: object[] };
  return { exitCode, warnings, infos, url: service.requests[1]?.url, body };
}

describe('the body of an upload', () => {
  it('has exactly these fields, which the service accepts', async () => {
    const { url, body, warnings } = await upload(json(200, receipt));
    expect(warnings).toEqual([]);
    expect(url).toBe('/api/v1/projects/p_1/eval-ingest/report');
    const { results, ...run } = body;
    const externalRunId = String(run['externalRunId']);
    expect(externalRunId).toMatch(/^mcp-eval-ci-[0-9a-f]{16}$/);
    expect(run).toEqual({
      suiteName: 'Flaky · PR 7',
      serverNames: [expect.any(String)],
      notes:
        'The verdict is passed. 1 of 1 iteration passed (100%), the minimum is 100% (the default).\n' +
        'By its pass rate alone, with every case and without further rounds, this run has failed.',
      passCriteria: { minimumPassRate: 100 },
      externalRunId,
      framework: 'mcp-eval-ci',
      ci: {
        provider: 'github',
        pipelineId: '41',
        jobId: 'test 3',
        runUrl: 'https://github.com/your-org/your-server/actions/runs/41/attempts/2',
        branch: expect.any(String),
        commitSha: expect.stringMatching(/^[0-9a-f]{40}$/),
      },
      expectedIterations: 2,
      tags: ['mcp-eval-ci', 'PR 7', 'passed'],
    });
    const call = (toolName: string) => [{ toolName, arguments: {} }];
    expect(results).toEqual([
      {
        caseTitle: 'Calls good',
        passed: true,
        externalIterationId: `${externalRunId}-good-1`,
        externalCaseId: 'good',
        durationMs: expect.any(Number),
        expectedToolCalls: [],
        actualToolCalls: call('good'),
        metadata: { iterationNumber: 1, quarantined: false },
      },
      {
        caseTitle: 'Calls bad',
        passed: false,
        externalIterationId: `${externalRunId}-bad-1`,
        externalCaseId: 'bad',
        durationMs: expect.any(Number),
        error: expect.stringMatching(/Not this time/),
        trace: { messages: expect.any(Array), spans: expect.any(Array), prompts: expect.any(Array) },
        expectedToolCalls: [],
        actualToolCalls: call('bad'),
        metadata: { iterationNumber: 1, quarantined: true },
      },
    ]);
  });
});

describe('a service that takes an upload', () => {
  const answered = { ...receipt, status: 'completed', summary: { total: 2, passed: 1, failed: 1 } };

  it.each([
    ['nothing', receipt, []],
    ['the same counts', answered, []],
    ['others', { ...answered, summary: { total: 1, passed: 1 } }, ['says that 1 of 1 passed; here it is 1 of 2']],
    [
      'that it was cancelled',
      { ...answered, reused: true, status: 'cancelled' },
      ['is cancelled, which an earlier upload'],
    ],
    ['that it does not want it', { ok: false, error: 'Too many suites.' }, ['Too many suites. The verdict stands.']],
  ])('may tell of it %s', async (_, answer, expected) => {
    const { exitCode, warnings } = await upload(json(200, answer));
    expect(exitCode).toBe(0);
    expect(warnings).toEqual(expected.map((part) => expect.stringContaining(part)));
  });

  it('is not waited for longer than two minutes', async () => {
    const clock = createJumpingClock({ fromMs: 100_000, toMs: 120_000, instead: 300 });
    const { exitCode, warnings } = await upload(() => {}, clock);
    expect([exitCode, warnings]).toEqual([
      0,
      ['The results could not be uploaded: It was not over after two minutes. The verdict stands.'],
    ]);
  });
});
