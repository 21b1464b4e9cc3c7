import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/time.ts';
import { CancelledError } from '../../src/base/errors.ts';
import type { Report } from '../../src/model/report.ts';
import {
  type ContractService,
  openContractService,
  saveServer,
  saveSuite,
} from '../support/service/contract-service.ts';
import { jobOnBranch, runHostedGate } from '../support/gate/hosted-gate.ts';
import { plainServerCommand } from '../support/servers/bundled-servers.ts';
import { catchError } from '../support/service/service-client.ts';
import { type FixtureMcpServer, startFixtureMcpServer, text } from '../support/servers/fixture-mcp-server.ts';

// A real service on loopback that the gate treats as hosted.

const started = { 'server-command': plainServerCommand, isolation: 'run' };

/** A server in the process of the test, for tests that do not need its process. */
let running: FixtureMcpServer;
let server: { 'server-url': string };

beforeAll(async () => {
  running = await startFixtureMcpServer({
    echo: { call: ({ args }) => text(JSON.stringify(args['value']) ?? 'nothing') },
    hang: { call: () => new Promise<never>(() => {}) },
  });
  server = { 'server-url': running.url };
});

afterAll(() => running[Symbol.asyncDispose]());

const tests = (...titles: string[]) =>
  titles
    .map((title) => `- title: ${title}\n  steps:\n    - toolCall: echo\n      arguments: { value: ${title} }\n`)
    .join('');

async function listTitles({ project }: ContractService): Promise<Record<string, string[]>> {
  const { body } = await project.get('/eval-suites');
  const suites: Array<{ id: string; name: string }> = body.items;
  const entries = suites.map(async ({ id, name }) => {
    const { body: page } = await project.get(`/eval-suites/${id}/cases`);
    const cases: Array<{ title: string }> = page.items;
    return [name, cases.map(({ title }) => title)] as const;
  });
  return Object.fromEntries(await Promise.all(entries));
}

function listOutcomes({ cases }: Report): Record<string, string> {
  return Object.fromEntries(cases.map(({ title, outcome }) => [title, outcome]));
}

describe('a hosted gate', () => {
  it('brings the cases to the service, has them run through a tunnel, and leaves only the suite there', async () => {
    await using service = await openContractService();
    const during: unknown[] = [];
    const { report, exitCode, leftovers } = await runHostedGate(
      service,
      { ...started, tests: tests('one', 'two') },
      {
        onProgress: async ({ kind }) => {
          if (kind === 'run-started') during.push(...(await service.project.get('/servers')).body.items);
        },
      },
    );
    expect(exitCode).toBe(0);
    expect(listOutcomes(report)).toEqual({ one: 'passed', two: 'passed' });
    expect(await listTitles(service)).toEqual({ 'Inline tests · change': ['one', 'two'] });
    expect(during).toMatchObject([{ name: expect.stringMatching(/^mcp-eval-ci your-org\/your-server 41\.1 evals /) }]);
    expect((await service.project.get('/servers')).body.items).toEqual([]);
    expect(leftovers).toBeNull();
    const { origin } = new URL(service.baseUrl);
    expect(report.run?.url).toBe(
      `${origin}/evals/suite/${report.run?.suiteId}/runs/${report.run?.id}?project=${service.projectId}`,
    );
  });

  it('makes the cases of a suite that exists equal to the file, and says beforehand what it changes', async () => {
    await using service = await openContractService();
    await runHostedGate(service, { ...server, tests: tests('kept', 'gone', 'changed') });
    const later = `${tests('kept', 'new')}${tests('changed').replace('value: changed', 'value: other')}`;
    const { exitCode, log } = await runHostedGate(
      service,
      { ...server, tests: later },
      { environment: { ...jobOnBranch, GITHUB_RUN_ID: '42' } },
    );
    expect(exitCode).toBe(0);
    expect(log).toEqual([
      'Inline tests · change: 1 case to create, 1 to change, 1 to delete, 1 as in the file',
      '+ new',
      '~ changed (steps)',
      '- gone',
    ]);
    expect(await listTitles(service)).toEqual({ 'Inline tests · change': ['kept', 'changed', 'new'] });
  });

  it('has a run of its own even where another gate of the same step had one of the same suite', async () => {
    await using service = await openContractService();
    const echoes = `${tests('one')}    - assert: { toolResultContains: one }\n`;
    const before = await runHostedGate(service, { ...server, tests: echoes });
    // The `echo` of this server answers with another argument than that of the case.
    const command = `${process.execPath} test/support/servers/named-tools-server.mjs echo`;
    const broken = { 'server-command': command, 'server-cwd': process.cwd() };
    const after = await runHostedGate(service, { ...broken, tests: echoes });
    expect([before.exitCode, after.exitCode]).toEqual([0, 1]);
    expect(after.report.run?.id).not.toBe(before.report.run?.id);
  });

  it('judges its own assertions from the trace, whether they pass or fail', async () => {
    await using service = await openContractService();
    const judged = (title: string, text: string) =>
      `- title: ${title}\n  steps:\n    - toolCall: echo\n      arguments: { value: hello }\n    - assert: { toolResultContains: ${text} }\n`;
    const { report, exitCode } = await runHostedGate(service, {
      ...server,
      tests: `${judged('right', 'hello')}${judged('wrong', 'goodbye')}`,
    });
    expect(exitCode).toBe(1);
    expect(listOutcomes(report)).toEqual({ wrong: 'failed', right: 'passed' });
    expect(report.cases[0]?.failures[0]).toMatchObject({ step: { index: 1, kind: 'assert' } });
    expect(report.cases[0]?.failures[0]?.reasons[0]).toContain('goodbye');
  });

  it('runs a suite of the service on the server of the job, and leaves the suite as it is', async () => {
    await using service = await openContractService();
    const saved = await saveServer(service, { name: 'demo' });
    const step = { id: 's1', kind: 'toolCall', serverName: 'demo', toolName: 'echo', arguments: { value: 'x' } };
    const check = { id: 's2', kind: 'assert', assertion: { type: 'noToolErrors' } };
    const { suiteId } = await saveSuite(service, saved, [{ title: 'Echoes', steps: [step, check], runs: 2 }], {
      passCriteria: { minimumPassRate: 50 },
    });
    const before = (await service.project.get(`/eval-suites/${suiteId}`)).body;
    const { report, exitCode } = await runHostedGate(service, { ...server, suite: 'A suite' });
    expect(exitCode).toBe(0);
    expect(report.suites).toMatchObject([{ minimumPassRate: 0.5, minimumPassRateSource: 'the suite' }]);
    expect(report.totals).toMatchObject({ passed: 2, failed: 0 });
    expect((await service.project.get(`/eval-suites/${suiteId}`)).body).toEqual(before);

    const unknown = await catchError(runHostedGate(service, { ...server, suite: 'No suite' }));
    expect(unknown.message).toContain('The project has no suite with the id or name "No suite".');
  });

  it('cancels its run and closes its tunnel when it is stopped', async () => {
    await using service = await openContractService();
    const controller = new AbortController();
    let publicUrl = '';
    let runId = '';
    const { exitCode, report, leftovers } = await runHostedGate(
      service,
      {
        ...server,
        tests: `- title: slow\n  steps:\n    - toolCall: hang\n      arguments: {}\n`,
      },
      {
        signal: controller.signal,
        onProgress: async (progress) => {
          if (progress.kind !== 'run-started') return;
          ({ runId } = progress);
          publicUrl = (await service.project.get('/servers')).body.items[0].url;
          controller.abort(new CancelledError('Stopped by SIGTERM.', { signal: 'SIGTERM' }));
        },
      },
    );
    expect(exitCode).toBe(143);
    expect(report.verdict).toMatchObject({ outcome: 'inconclusive', reasons: [{ code: 'cancelled' }] });
    expect((await service.project.get(`/eval-runs/${runId}`)).body.status).toBe('cancelled');
    expect((await fetch(publicUrl, { method: 'POST' })).status).toBe(401);
    expect((await service.project.get('/servers')).body.items).toEqual([]);
    expect(leftovers).toBeNull();
  });

  it('ends when another job is granted its tunnel, and does not close that tunnel', async () => {
    await using service = await openContractService();
    let theirs = '';
    const { exitCode, report } = await runHostedGate(
      service,
      {
        ...server,
        'server-name': 'shared',
        tests: `- title: slow\n  steps:\n    - toolCall: hang\n      arguments: {}\n`,
      },
      {
        onProgress: async ({ kind }) => {
          if (kind !== 'run-started') return;
          await systemClock.sleep(200);
          theirs = (await service.project.post('/tunnels', { name: 'shared' })).body.url;
        },
      },
    );
    expect(exitCode).toBe(3);
    expect(report.verdict.reasons[0]).toMatchObject({
      code: 'tunnel-lost',
      message: expect.stringContaining('another job was granted one under the same server name'),
    });
    // The tunnel is not revoked; without a host, the relay answers 503.
    expect((await fetch(theirs, { method: 'POST' })).status).toBe(503);
  });

  it('restores an overwritten server record, and warns before overwriting', async () => {
    await using service = await openContractService();
    const id = await saveServer(service, { name: 'mine', url: 'https://example.com/mcp?key=1' });
    const { exitCode, log } = await runHostedGate(service, { ...server, 'server-name': 'mine', tests: tests('one') });
    expect(exitCode).toBe(0);
    expect(log[0]).toBe(
      'The project has a server called mine already; this job uses its record, and cuts off its current user. It led to https://example.com/mcp, and will again at the end.',
    );
    expect((await service.project.get(`/servers/${id}`)).body).toMatchObject({
      url: 'https://example.com/mcp?key=1',
      transportType: 'http',
    });
  });

  it('without a tunnel gives the service the address itself', async () => {
    await using service = await openContractService();
    const { exitCode } = await runHostedGate(service, { ...server, tunnel: 'never', tests: tests('one') });
    expect(exitCode).toBe(0);
    expect((await service.project.get('/servers')).body.items).toEqual([]);
  });

  it('refuses a wrong key and an unknown project before anything is started', async () => {
    await using service = await openContractService();
    const inputs = { 'server-command': 'node no-such-file.js', tests: tests('one') };
    const wrongKey = await catchError(runHostedGate({ ...service, apiKey: 'sk_wrong_key' }, inputs));
    expect(wrongKey).toMatchObject({ exitCode: 2, issues: [{ input: 'api-key' }] });
    const wrongProject = await catchError(runHostedGate(service, { ...inputs, project: 'Defualt' }));
    expect(wrongProject).toMatchObject({ exitCode: 2, issues: [{ input: 'project' }] });
  });
});

describe('a hosted gate whose server refuses calls', () => {
  const greet = { call: () => text('hello') };
  const two = `- title: refused\n  steps:\n    - toolCall: greet\n- title: open\n  steps:\n    - toolCall: echo\n`;

  it.each([
    ['a challenge', { 'www-authenticate': 'Bearer' }, {}, /asks for authorization.*Authorization: Bearer …/],
    ['nothing else', {}, { 'server-headers': 'X-Key: old' }, /refuses the request with the headers.*\(x-key\)/],
  ])('has no result of the iteration, and names the header, with %s', async (_what, headers, inputs, expected) => {
    await using target = await startFixtureMcpServer(
      { greet, echo: greet },
      {
        era: 'modern',
        guard: (request) => {
          const isRefused = request.headers.get('mcp-name') === 'greet';
          return isRefused ? new Response('', { status: 401, headers }) : null;
        },
      },
    );
    await using service = await openContractService();
    const { report, exitCode } = await runHostedGate(
      service,
      { 'server-url': target.url, tests: two, ...inputs },
      { clock: systemClock },
    );
    expect(report.cases.map(({ title, passed, failed }) => [title, passed, failed])).toEqual([
      ['refused', 0, 0],
      ['open', 1, 0],
    ]);
    expect(exitCode).toBe(3);
    expect(JSON.stringify(report.cases[0])).toMatch(expected);
  });
});
