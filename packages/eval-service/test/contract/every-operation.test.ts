import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { request } from 'undici';
import { Secret } from '../../../../src/base/redaction.ts';
import type { Role } from '../../src/callers.ts';
import { listPathFields, type Operation } from '../../../../src/service/operations/operation.ts';
import { listOperations } from '../../../../src/service/operations/table.ts';
import { ways } from '../../../../test/support/service/answers.ts';
import {
  type ContractService,
  openContractService,
  saveServer,
  saveSuite,
} from '../../../../test/support/service/contract-service.ts';
import { isClosed, isInProject, isPublic, isWrite } from '../../../../test/support/service/generic-cells.ts';

const served = listOperations();

function holdKey(name: string, organizationId: string, role: Role) {
  const user = { id: `user_${name}`, email: `${name}@localhost`, name };
  return { secret: new Secret(`sk_${name}`), caller: { keyId: `key_${name}`, user, organizationId, role } };
}

const keys = [
  holdKey('owner', 'org_one', 'admin'),
  holdKey('guest', 'org_one', 'guest'),
  holdKey('stranger', 'org_two', 'admin'),
];
const owner = { key: 'sk_owner' };

/** The ids of an operation's path; of records that exist where the service has some. */
let ids: Record<string, string> = {};
const fieldsOf = ({ path, query }: Operation): Record<string, string> =>
  Object.fromEntries(
    [...listPathFields(path), ...Object.keys(query.shape).filter((name) => name === 'projectId')].map((name) => [
      name,
      ids[name] ?? 'none',
    ]),
  );

const bothWays = (operations: readonly Operation[]) =>
  operations.flatMap((operation) => ways.map(({ way, open }) => ({ name: operation.name, operation, way, open })));

describe('every operation', () => {
  let service: ContractService;
  beforeAll(async () => {
    service = await openContractService({ keys, apiKey: new Secret('sk_owner') });
    const serverId = await saveServer(service);
    const { suiteId, caseIds } = await saveSuite(service, serverId);
    const run = await service.project.post('/eval-ingest/report', {
      suiteName: 'A suite',
      externalRunId: 'e1',
      results: [{ caseTitle: 'Calls echo', passed: true }],
    });
    const runId = String(run.body.runId);
    const { body } = await service.project.get(`/eval-runs/${runId}/iterations`);
    const caseId = caseIds[0] ?? '';
    ids = { projectId: service.projectId, serverId, suiteId, caseId, runId, iterationId: String(body.items[0].id) };
  });
  afterAll(async () => {
    await service[Symbol.asyncDispose]();
  });

  it('is one of many', () => {
    expect(served.length).toBeGreaterThan(30);
  });

  it.each(bothWays(served.filter((operation) => !isPublic(operation))))(
    '$name answers 401: no key, or a wrong one ($way)',
    async ({ name, operation, way, open }) => {
      const refused = await open(service)(name, fieldsOf(operation), { key: 'sk_wrong' });
      expect(refused).toMatchObject({ status: 401, code: 'UNAUTHORIZED' });
      if (way === 'client') return;
      const path = operation.path.replaceAll(/\{(\w+)\}/g, (_, id: string) => ids[id] ?? 'none');
      const { status } = await fetch(service.baseUrl + path, { method: operation.method });
      expect(status).toBe(401);
    },
  );

  it.each(bothWays(served.filter((operation) => isPublic(operation) && operation.errors.includes(401))))(
    '$name answers 401: a wrong key, although it needs none ($way)',
    async ({ name, operation, open }) => {
      const refused = await open(service)(name, fieldsOf(operation), { key: 'sk_wrong' });
      expect(refused).toMatchObject({ status: 401, code: 'UNAUTHORIZED' });
    },
  );

  it.each(served.filter(isPublic).map((operation) => ({ name: operation.name, operation })))(
    '$name needs no key',
    async ({ operation }) => {
      const path = operation.path.replaceAll(/\{(\w+)\}/g, (_, id: string) => ids[id] ?? 'none');
      const { status } = await fetch(service.baseUrl + path, { method: operation.method });
      expect([200, 404]).toContain(status);
    },
  );

  it.each(bothWays(served.filter(isWrite)))(
    "$name answers 403: a guest's key ($way)",
    async ({ name, operation, open }) => {
      const refused = await open(service)(name, fieldsOf(operation), { key: 'sk_guest' });
      expect(refused).toMatchObject({ status: 403, code: 'FORBIDDEN' });
    },
  );

  it.each(served.map((operation) => ({ name: operation.name, operation })))(
    '$name answers 403: a Host that is not loopback (http)',
    async ({ operation }) => {
      const path = operation.path.replaceAll(/\{(\w+)\}/g, (_, id: string) => ids[id] ?? 'none');
      const answer = await request(service.baseUrl + path, {
        method: operation.method,
        headers: { host: 'rebound.example', authorization: 'Bearer sk_owner' },
      });
      expect({ status: answer.statusCode, body: await answer.body.json() }).toMatchObject({
        status: 403,
        body: { code: 'FORBIDDEN' },
      });
    },
  );

  it.each(bothWays(served.filter(isInProject)))(
    '$name answers 404: a project of another organization ($way)',
    async ({ name, operation, open }) => {
      const refused = await open(service)(name, fieldsOf(operation), { key: 'sk_stranger' });
      expect(refused).toMatchObject({ status: 404, code: 'NOT_FOUND' });
    },
  );

  it.each(bothWays(served.filter(isClosed)))(
    '$name answers 400: an unknown field of the body ($way)',
    async ({ name, operation, open }) => {
      const refused = await open(service)(name, { ...fieldsOf(operation), unheardOf: true }, owner);
      expect(refused).toMatchObject({ status: 400, code: 'VALIDATION_ERROR' });
    },
  );
});
