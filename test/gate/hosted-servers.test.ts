import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { CancelledError } from '../../src/base/errors.ts';
import { silentLogger } from '../../src/base/logger.ts';
import { Secret } from '../../src/base/redaction.ts';
import { systemClock } from '../../src/base/time.ts';
import { clearRemoteResources } from '../../src/gate/run/clear-remote.ts';
import type { RemoteResources } from '../../src/gate/run/cleanup-journal.ts';
import type { Report } from '../../src/model/report.ts';
import { serviceProfiles } from '../../src/service/profile.ts';
import { type HostedGateOptions, jobOnBranch, runHostedGate } from '../support/gate/hosted-gate.ts';
import {
  type ContractService,
  openContractService,
  saveServer,
  saveSuite,
} from '../support/service/contract-service.ts';
import { startFixtureMcpServer, text, type ToolContext } from '../support/servers/fixture-mcp-server.ts';
import { catchError } from '../support/service/service-client.ts';
import { findRemains } from '../support/service/service-remains.ts';
import { openServiceTap, type ServiceTap } from '../support/service/service-tap.ts';

// Gates with two servers and a service that they treat as hosted: a tunnel and a record for each server.

const program = readFileSync(resolve('test/support/servers/named-tools-server.mjs'), 'utf8');
const start = (...tools: string[]) => ({ command: process.execPath, args: ['server.mjs', ...tools] });
const two = { notes: start('note', 'end-notes'), search: start('find', 'hang') };

const files = (mcpServers: object) => ({ '.mcp.json': JSON.stringify({ mcpServers }), 'server.mjs': program });
const both = { 'mcp-config': '.mcp.json' };
const call = (server: string, tool: string, word = 'milk') =>
  `    - toolCall: ${tool}\n      server: ${server}\n      arguments: { text: ${word} }\n`;
const expectText = (toolName: string, word: string) =>
  `    - assert: { toolResultContains: ${word}, toolName: ${toolName} }\n`;
const test = (title: string, ...steps: string[]) => `- title: ${title}\n  steps:\n${steps.join('')}`;

const green =
  test('Uses both', call('notes', 'note'), expectText('note', 'milk'), call('search', 'find', 'tea')) +
  test('Uses one', call('search', 'find'), expectText('find', 'milk'));
const endless = test('Waits', call('notes', 'note'), call('search', 'hang'));

/** Starts the same two servers in the process of the test, for tests that do not need their processes. */
async function startTwo() {
  const echo = { call: ({ args }: ToolContext) => text(String(args['text'])) };
  const hang = { call: () => new Promise<never>(() => {}) };
  const notes = await startFixtureMcpServer({ note: echo, 'end-notes': echo }, { name: 'server of note' });
  const search = await startFixtureMcpServer({ find: echo, hang }, { name: 'server of find' });
  return {
    config: { notes: { url: notes.url }, search: { url: search.url } },
    [Symbol.asyncDispose]: async () => {
      await notes[Symbol.asyncDispose]();
      await search[Symbol.asyncDispose]();
    },
  };
}

const taps: ServiceTap[] = [];
afterEach(async () => {
  for (const tap of taps.splice(0)) await tap[Symbol.asyncDispose]();
});

/**
 * Runs a gate, and lists the resources that it has left in the service. A stopped job has only seconds to clean up, which may not be enough
 * on a busy machine. The function then cleans up from the journal, like the post step.
 */
async function run(
  service: ContractService,
  tests: string,
  { servers, inputs = {}, ...options }: { servers?: object; inputs?: Record<string, string> } & HostedGateOptions = {},
) {
  const tap = await openServiceTap(service);
  taps.push(tap);
  await using inTest = servers === undefined ? await startTwo() : null;
  const config = files(servers ?? inTest?.config ?? {});
  const usual = { ...both, ...(servers !== undefined && { isolation: 'run' }), tests };
  const result = await runHostedGate(tap.service, { ...usual, ...inputs }, { ...options, files: config });
  if (result.leftovers) await clear(service, result.leftovers);
  return { ...result, grants: tap.grants, remains: await findRemains(service, tap) };
}

/** Cleans up like the post step. */
async function clear({ baseUrl, apiKey }: ContractService, leftovers: RemoteResources): Promise<void> {
  const proxy = { httpProxy: null, httpsProxy: null, noProxy: null };
  const key = new Secret(apiKey);
  const options = {
    profile: serviceProfiles.svc,
    baseUrl,
    apiKey: key,
    proxy,
    clock: systemClock,
    logger: silentLogger,
  };
  await clearRemoteResources(leftovers, options);
}

const nothing = { grants: [], runs: [], servers: [] };

function listOutcomes({ cases }: Report): Record<string, string> {
  return Object.fromEntries(cases.map(({ title, outcome }) => [title, outcome]));
}

async function listServers({ project }: ContractService): Promise<Array<{ id: string; name: string; url: string }>> {
  return (await project.get('/servers')).body.items;
}

describe('a hosted gate with several servers', () => {
  it('opens a tunnel to each, has cases use both, reports each, and leaves no record', async () => {
    await using service = await openContractService();
    const during: string[] = [];
    const { report, exitCode, grants, remains, leftovers } = await run(service, green, {
      onProgress: async ({ kind }) => {
        if (kind === 'run-started') during.push(...(await listServers(service)).map(({ name }) => name));
      },
    });
    expect([exitCode, listOutcomes(report)]).toEqual([0, { 'Uses both': 'passed', 'Uses one': 'passed' }]);
    const recordName = (name: string) =>
      expect.stringMatching(new RegExp(`^mcp-eval-ci your-org/your-server 41\\.1 evals .* ${name}$`));
    expect(grants.map(({ name }) => name)).toEqual([recordName('notes'), recordName('search')]);
    expect(during.toSorted()).toEqual(grants.map(({ name }) => name).toSorted());
    expect([report.server, ...report.otherServers].map((server) => [server?.label, server?.name])).toEqual([
      ['notes', 'server of note'],
      ['search', 'server of find'],
    ]);
    expect([remains, leftovers]).toEqual([nothing, null]);
    for (const { url } of grants) expect(JSON.stringify(report)).not.toContain(new URL(url).searchParams.get('k'));
  });

  it('runs the cases again that the service keeps by then', async () => {
    await using service = await openContractService();
    await run(service, green);
    const later = green.replaceAll('text: milk', 'text: bread').replaceAll('Contains: milk', 'Contains: bread');
    const { exitCode, log, report } = await run(service, later, {
      environment: { ...jobOnBranch, GITHUB_RUN_ID: '42' },
    });
    expect([exitCode, log[0]]).toEqual([
      0,
      'Inline tests · change: 1 case to create, 1 to change, 1 to delete, 0 as in the file',
    ]);
    expect(report.totals).toMatchObject({ passed: 2 });
  });

  it('is red for a case whose server is wrong or ends, and names that server', async () => {
    await using service = await openContractService();
    const tests =
      test('Wrong', call('search', 'find'), expectText('find', 'bread')) +
      test('Right', call('notes', 'note')) +
      test('Ends', call('search', 'find'), call('notes', 'end-notes'));
    const { report, exitCode, remains } = await run(service, tests, {
      servers: two,
      inputs: { isolation: 'iteration' },
    });
    expect(listOutcomes(report)).toEqual({ Wrong: 'failed', Right: 'passed', Ends: 'failed' });
    expect(exitCode).toBe(1);
    const reasons = report.cases.find(({ title }) => title === 'Ends')?.failures[0]?.reasons ?? [];
    expect(reasons.join('\n')).toContain('end-notes');
    expect(remains).toEqual(nothing);
  });

  it('refuses a case whose servers list a tool of the same name, before the service gets anything to run', async () => {
    await using service = await openContractService();
    const servers = { notes: start('note', 'find'), search: start('find') };
    const clashing =
      test('Uses one', call('search', 'find')) + test('Uses both', call('notes', 'note'), call('search', 'find'));
    const { message } = await catchError(run(service, clashing, { servers }));
    expect(message).toMatch(
      /^mcp-config: Case "Uses both" uses the servers "notes" and "search", which both list a tool "find"; rename it in one, or split the case/,
    );
    expect((await service.project.get('/eval-suites')).body.items).toEqual([]);
    expect(await listServers(service)).toEqual([]);
    const apart = test('Uses one', call('search', 'find')) + test('Uses the other', call('notes', 'find'));
    expect((await run(service, apart, { servers })).exitCode).toBe(0);
  });

  it('has no verdict where one server is dead, names it, and takes the tunnel of the other back', async () => {
    await using service = await openContractService();
    const { report, exitCode, remains } = await run(service, green, { servers: { ...two, search: start('dead') } });
    expect(exitCode).toBe(3);
    expect(report.verdict.reasons[0]?.message).toMatch(
      /^search: The server under test exited with code 7 before it was ready/,
    );
    expect(remains).toEqual(nothing);
  });

  it('has no verdict where another job takes one of its tunnels, names it, and clears the other', async () => {
    await using service = await openContractService();
    const { report, exitCode, remains, grants } = await run(service, endless, {
      onProgress: async ({ kind }) => {
        if (kind !== 'run-started') return;
        const { name } = (await listServers(service)).find((server) => server.name.endsWith(' search')) ?? {};
        await service.project.post('/tunnels', { name });
      },
    });
    expect(exitCode).toBe(3);
    expect(report.verdict.reasons[0]).toMatchObject({
      code: 'tunnel-lost',
      message: expect.stringMatching(/^search: The tunnel was closed, or another job was granted one/),
    });
    expect(report.totals.failed).toBe(0);
    // The name that was taken now belongs to the other job.
    expect(remains).toEqual({ ...nothing, servers: [grants[1]?.name] });
  });

  it('leaves nothing when it is cancelled, or what another process clears', async () => {
    await using service = await openContractService();
    const controller = new AbortController();
    const { exitCode, remains } = await run(service, endless, {
      signal: controller.signal,
      onProgress: ({ kind }) => {
        if (kind === 'run-started') controller.abort(new CancelledError('Stopped by SIGTERM.', { signal: 'SIGTERM' }));
      },
    });
    expect([exitCode, remains]).toEqual([143, nothing]);
  });

  it('gives a suite of the service its servers by the names in its steps, and refuses a name that it has not', async () => {
    await using service = await openContractService();
    const saved = await saveServer(service, { name: 'demo' });
    const step = (serverName: string, toolName: string) => ({
      id: toolName,
      kind: 'toolCall',
      serverName,
      toolName,
      arguments: { text: 'x' },
    });
    const check = { id: 'check', kind: 'assert', assertion: { type: 'noToolErrors' } };
    await saveSuite(
      service,
      saved,
      [{ title: 'Both', steps: [step('notes', 'note'), step('search', 'find'), check], runs: 1 }],
      {},
    );
    const inputs = { tests: '', suite: 'A suite' };
    const { exitCode, report, remains } = await run(service, '', { inputs });
    expect([exitCode, report.totals, remains]).toEqual([0, expect.objectContaining({ passed: 1 }), nothing]);
    const wrong = await catchError(run(service, '', { inputs, servers: { notes: two.notes, find: two.search } }));
    expect(wrong.message).toContain(
      'A step of the suite calls the server "search", and the gate tests "notes" and "find"',
    );
    const clashing = await catchError(run(service, '', { inputs, servers: { ...two, notes: start('note', 'find') } }));
    expect(clashing.message).toContain(
      'Case "Both" uses the servers "notes" and "search", which both list a tool "find"',
    );
  });
});
