import { describe, expect, it } from 'vitest';
import { ConfigurationError } from '../../src/base/errors.ts';
import { getMe, listProjects } from '../../src/service/project.ts';
import { createCase, createCases, deleteCase, listCases, updateCase } from '../../src/service/cases.ts';
import type { ServiceClient } from '../../src/service/client.ts';
import { createServer, deleteServer, listServers } from '../../src/service/servers.ts';
import { createSuite, deleteSuite, getSuite, listSuites } from '../../src/service/suites.ts';
import { json, startHttpServer } from '../support/network/http-server.ts';
import { catchError, openTestClient } from '../support/service/service-client.ts';

const project = { id: 'p', name: 'P' };
const server = { id: 'sv', name: 'demo', transportType: 'http', url: 'http://127.0.0.1:1/mcp' };
const newServer = { name: 'demo', enabled: true, transportType: 'http', url: 'http://127.0.0.1:1/mcp' } as const;
const suiteCreated = { suiteId: 's', caseUpsert: { committed: [{ id: 'c', name: 'C' }], failed: [] } };
const newSuite = { name: 'S', serverIds: ['sv'], model: 'none/none', tests: [] };
const suite = { id: 's', name: 'S', settings: { minimumAccuracy: 90 } };
const suiteSummary = { id: 's', name: 'S', latestRun: null, passRateTrend: [0.5, 100] };
const newCase = { title: 'C', steps: [{ id: 's1', kind: 'prompt', prompt: 'hi' }] } as const;
const evalCase = { id: 'c', ...newCase };
const batch = { created: [{ index: 0, id: 'c', title: 'C' }], failed: [] };
const inSuite = { projectId: 'p', suiteId: 's' };

interface Operation {
  name: string;
  call: (client: ServiceClient) => Promise<unknown>;
  sends: [string, string, unknown?];
  answer: [number, unknown];
  gives: unknown;
}

const deleted = (id: string) => [200, { id, deleted: true }] satisfies [number, unknown];

const operations: Operation[] = [
  { name: 'getMe', call: getMe, sends: ['GET', '/me'], answer: [200, { id: 'u' }], gives: { id: 'u' } },
  {
    name: 'listProjects',
    call: listProjects,
    sends: ['GET', '/projects'],
    answer: [200, { items: [project] }],
    gives: [project],
  },
  {
    name: 'createServer',
    call: (client) => createServer(client, { projectId: 'p', server: newServer }),
    sends: ['POST', '/projects/p/servers', newServer],
    answer: [201, server],
    gives: server,
  },
  {
    name: 'listServers',
    call: (client) => listServers(client, { projectId: 'p' }),
    sends: ['GET', '/projects/p/servers'],
    answer: [200, { items: [server] }],
    gives: [server],
  },
  {
    name: 'deleteServer',
    call: (client) => deleteServer(client, { projectId: 'p', serverId: 'sv' }),
    sends: ['DELETE', '/projects/p/servers/sv'],
    answer: deleted('sv'),
    gives: undefined,
  },
  {
    name: 'createSuite',
    call: (client) => createSuite(client, { projectId: 'p', suite: newSuite }),
    sends: ['POST', '/projects/p/eval-suites', newSuite],
    answer: [201, suiteCreated],
    gives: suiteCreated,
  },
  {
    name: 'listSuites',
    call: (client) => listSuites(client, { projectId: 'p' }),
    sends: ['GET', '/projects/p/eval-suites'],
    answer: [200, { items: [suiteSummary] }],
    gives: [suiteSummary],
  },
  {
    name: 'getSuite',
    call: (client) => getSuite(client, inSuite),
    sends: ['GET', '/projects/p/eval-suites/s'],
    answer: [200, suite],
    gives: suite,
  },
  {
    name: 'deleteSuite',
    call: (client) => deleteSuite(client, inSuite),
    sends: ['DELETE', '/projects/p/eval-suites/s'],
    answer: deleted('s'),
    gives: undefined,
  },
  {
    name: 'listCases',
    call: (client) => listCases(client, inSuite),
    sends: ['GET', '/projects/p/eval-suites/s/cases'],
    answer: [200, { items: [evalCase] }],
    gives: [evalCase],
  },
  {
    name: 'createCase',
    call: (client) => createCase(client, { ...inSuite, newCase }),
    sends: ['POST', '/projects/p/eval-suites/s/cases', newCase],
    answer: [201, evalCase],
    gives: evalCase,
  },
  {
    name: 'createCases',
    call: (client) => createCases(client, { ...inSuite, cases: [newCase], duplicatePolicy: 'warn' }),
    sends: ['POST', '/projects/p/eval-suites/s/cases/batch', { cases: [newCase], duplicatePolicy: 'warn' }],
    answer: [201, batch],
    gives: batch,
  },
  {
    name: 'updateCase',
    call: (client) => updateCase(client, { ...inSuite, caseId: 'c', changes: { title: 'D', checks: null } }),
    sends: ['PATCH', '/projects/p/eval-suites/s/cases/c', { title: 'D', checks: null }],
    answer: [200, evalCase],
    gives: evalCase,
  },
  {
    name: 'deleteCase',
    call: (client) => deleteCase(client, { ...inSuite, caseId: 'c' }),
    sends: ['DELETE', '/projects/p/eval-suites/s/cases/c'],
    answer: deleted('c'),
    gives: undefined,
  },
];

describe.each(operations)('$name', ({ call, sends: [method, path, body], answer: [status, answer], gives }) => {
  it('sends one request and returns its response', async () => {
    await using http = await startHttpServer(json(status, answer));
    await using client = openTestClient(http);
    expect(await call(client)).toEqual(gives);
    expect(http.requests).toMatchObject([{ method, url: `/api/v1${path}` }]);
    expect(http.requests[0]?.body).toBe(body === undefined ? '' : JSON.stringify(body));
  });

  it('refuses an answer of another kind', async () => {
    await using http = await startHttpServer(json(status, { unlike: 'anything' }));
    await using client = openTestClient(http);
    await expect(call(client)).rejects.toMatchObject({ code: 'PROTOCOL' });
  });

  it("fails with the service's error, as a configuration error while it sets up a run", async () => {
    await using http = await startHttpServer(json(404, { code: 'NOT_FOUND', message: 'Not here.' }));
    await using client = openTestClient(http);
    const error = await catchError(call(client));
    expect(error instanceof ConfigurationError ? error.cause : error).toMatchObject({ code: 'NOT_FOUND', status: 404 });
  });
});
