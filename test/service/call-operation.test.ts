import { describe, expect, it } from 'vitest';
import { ConfigurationError, ProtocolError } from '../../src/base/errors.ts';
import { callOperation } from '../../src/service/call-operation.ts';
import type { ServiceClient } from '../../src/service/client.ts';
import { operations } from '../../src/service/operations/table.ts';
import { json, startHttpServer } from '../support/network/http-server.ts';
import { catchError, openTestClient } from '../support/service/service-client.ts';

const { account, servers, suites, cases, tunnels } = operations;
const server = { id: 'sv/1', name: 'demo', transportType: 'http', url: 'http://127.0.0.1:1/mcp' };
const newServer = { name: 'demo', enabled: true, transportType: 'http', url: 'http://127.0.0.1:1/mcp' } as const;
const suiteCreated = { suiteId: 's', caseUpsert: { committed: [{ id: 'c', name: 'C' }], failed: [] } };
const newSuite = { name: 'S', serverIds: ['sv'], model: 'none/none', tests: [] };
const newCase = { title: 'C', steps: [{ id: 's1', kind: 'prompt', prompt: 'hi' }] } as const;
const inProject = { projectId: 'p' };
const atServer = { projectId: 'p', serverId: 'sv/1' };
const inSuite = { projectId: 'p', suiteId: 's' };
const atCase = { ...inSuite, caseId: 'c' };

interface Row {
  name: string;
  call: (client: ServiceClient) => Promise<unknown>;
  sends: [method: string, path: string, body?: unknown];
  answer: unknown;
}

const rows: Row[] = [
  {
    name: 'one without fields',
    call: (client) => callOperation(client, account.getMe, {}),
    sends: ['GET', '/me'],
    answer: { id: 'u' },
  },
  {
    name: 'one with an id of its path, which is encoded',
    call: (client) => callOperation(client, servers.getProjectServer, atServer),
    sends: ['GET', '/projects/p/servers/sv%2F1'],
    answer: server,
  },
  {
    name: 'a list',
    call: (client) => callOperation(client, cases.listEvalCases, inSuite),
    sends: ['GET', '/projects/p/eval-suites/s/cases'],
    answer: { items: [{ id: 'c', ...newCase }] },
  },
  {
    name: 'a creation, whose body has all but the ids of the path',
    call: (client) => callOperation(client, servers.createProjectServer, { ...inProject, ...newServer }),
    sends: ['POST', '/projects/p/servers', newServer],
    answer: server,
  },
  {
    name: 'a creation in the setup of a run',
    call: (client) => callOperation(client, suites.createEvalSuite, { ...inProject, ...newSuite }, { isSetup: true }),
    sends: ['POST', '/projects/p/eval-suites', newSuite],
    answer: suiteCreated,
  },
  {
    name: 'a change, whose body has null for what it clears',
    call: (client) => callOperation(client, cases.updateEvalCase, { ...atCase, title: 'D', checks: null }),
    sends: ['PATCH', '/projects/p/eval-suites/s/cases/c', { title: 'D', checks: null }],
    answer: { id: 'c', ...newCase },
  },
  {
    name: 'a deletion',
    call: (client) => callOperation(client, cases.deleteEvalCase, atCase),
    sends: ['DELETE', '/projects/p/eval-suites/s/cases/c'],
    answer: { id: 'c', deleted: true },
  },
];

describe.each(rows)('callOperation of $name', ({ call, sends: [method, path, body], answer }) => {
  it('sends one request and returns its response', async () => {
    await using http = await startHttpServer(json(200, answer));
    await using client = openTestClient(http);
    expect(await call(client)).toEqual(answer);
    expect(http.requests).toMatchObject([{ method, url: `/api/v1${path}` }]);
    expect(http.requests[0]?.body).toBe(body === undefined ? '' : JSON.stringify(body));
  });

  it('refuses an answer of another kind', async () => {
    await using http = await startHttpServer(json(200, { unlike: 'anything' }));
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

describe('callOperation', () => {
  it('repeats a change of single fields and the end of a tunnel after a failure that leaves them in doubt', async () => {
    const inDoubt = json(503, {});
    await using http = await startHttpServer([
      inDoubt,
      json(200, server),
      inDoubt,
      json(200, { serverId: 'sv/1', status: 'closed' }),
    ]);
    await using client = openTestClient(http);
    await callOperation(client, servers.updateProjectServer, { ...atServer, enabled: false });
    await callOperation(client, tunnels.closeTunnel, atServer);
    const [change, again, close, once] = http.requests.map((request) => [request.method, request.url, request.body]);
    expect([change, again]).toEqual([again, ['PATCH', '/api/v1/projects/p/servers/sv%2F1', '{"enabled":false}']]);
    expect([close, once]).toEqual([once, ['POST', '/api/v1/projects/p/tunnels/sv%2F1/close', '']]);
  });

  it('asks again where the answer is refused by its caller, and gives up', async () => {
    await using http = await startHttpServer(json(200, server));
    await using client = openTestClient(http);
    const check = ({ id }: { id: string }) => {
      throw new ProtocolError(`This is ${id}.`, { path: 'id' });
    };
    const error = await catchError(callOperation(client, servers.getProjectServer, atServer, { check }));
    expect(error).toMatchObject({ code: 'PROTOCOL', message: 'This is sv/1.' });
    expect(http.requests).toHaveLength(3);
  });
});
