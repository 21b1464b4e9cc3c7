import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  startFixtureMcpServer,
  text,
  type FixtureMcpServer,
} from '../../../../test/support/servers/fixture-mcp-server.ts';
import { ways } from '../../../../test/support/service/answers.ts';
import {
  type ContractService,
  inlineTest,
  openContractService,
  saveServer,
  saveSuite,
  waitForEnd,
} from '../../../../test/support/service/contract-service.ts';

/** Of 501 levels. */
const deep: unknown = JSON.parse(`${'['.repeat(501)}${']'.repeat(501)}`);
const stdio = { name: 'local', enabled: true, transportType: 'stdio', command: 'true' };
const each = (names: readonly string[]) => names.flatMap((name) => ways.map((way) => ({ ...way, name })));

describe('requests that are refused', () => {
  let service: ContractService;
  let mcp: FixtureMcpServer;
  let serverId: string;
  let entered: PromiseWithResolvers<void>;
  let release: PromiseWithResolvers<void>;
  beforeAll(async () => {
    mcp = await startFixtureMcpServer({
      wait: { call: async () => (entered.resolve(), await release.promise, text('over')) },
    });
    service = await openContractService();
    serverId = await saveServer(service, { url: mcp.url });
  });
  afterAll(async () => {
    await service[Symbol.asyncDispose]();
    await mcp[Symbol.asyncDispose]();
  });
  let suites = 0;
  const save = async (tests = [inlineTest('wait')]) =>
    await saveSuite(service, serverId, tests, { name: `Suite ${(suites += 1)}` });

  it.each(each(['checkOAuth', 'buildSandboxImage', 'promoteSandboxImage', 'useSandboxImage', 'resetComputer']))(
    '$name answers 400: a body that nests too deep ($way)',
    async ({ open, name }) => {
      const answer = await open(service)(name, { serverId, imageId: 'img_none', deep });
      expect(answer).toMatchObject({ status: 400, code: 'VALIDATION_ERROR' });
    },
  );

  it.each(ways)('getProjectServer answers 400: a text that cannot be an id ($way)', async ({ open }) => {
    const answer = await open(service)('getProjectServer', { serverId: 'a b' });
    expect(answer).toMatchObject({ status: 400, code: 'VALIDATION_ERROR' });
  });

  it.each(each(['validateServer', 'runDoctor', 'exportServer']))(
    '$name answers 422: a command that the service may not start ($way)',
    async ({ open, name }) => {
      const { body } = await service.project.post('/servers', { ...stdio, name: `local ${Math.random()}` });
      const answer = await open(service)(name, { serverId: body.id });
      expect(answer).toMatchObject({ status: 422, code: 'FEATURE_NOT_SUPPORTED' });
    },
  );

  it.each(ways)('createEvalRun answers 422: a prompt, and no model ($way)', async ({ open }) => {
    const { suiteId } = await save([inlineTest('wait', { steps: [{ id: 's', kind: 'prompt', prompt: 'Wait.' }] })]);
    const answer = await open(service)('createEvalRun', { suiteId });
    expect(answer).toMatchObject({ status: 422, code: 'FEATURE_NOT_SUPPORTED' });
  });

  it.each(ways)('createEvalRun answers 409: the key of another request ($way)', async ({ open }) => {
    const { suiteId } = await save([inlineTest('gone')]);
    const send = open(service);
    const { body } = await send('createEvalRun', { suiteId, idempotencyKey: 'k' });
    const answer = await send('createEvalRun', { suiteId, idempotencyKey: 'k', notes: 'Another.' });
    expect(answer).toMatchObject({ status: 409, code: 'CONFLICT' });
    await waitForEnd(service, body.runId);
  });

  it.each(ways)('deleteEvalSuite answers 409: a run of it is executing ($way)', async ({ open }) => {
    entered = Promise.withResolvers<void>();
    release = Promise.withResolvers<void>();
    const { suiteId } = await save();
    const send = open(service);
    const { body } = await send('createEvalRun', { suiteId });
    await entered.promise;
    const answer = await send('deleteEvalSuite', { suiteId });
    expect(answer).toMatchObject({ status: 409, code: 'CONFLICT' });
    release.resolve();
    await waitForEnd(service, body.runId);
    expect(await send('deleteEvalSuite', { suiteId })).toMatchObject({ status: 200 });
  });

  it.each(ways)('updateEvalCase answers 409: another case says the same ($way)', async ({ open }) => {
    const { suiteId, caseIds } = await save([inlineTest('one'), inlineTest('two')]);
    const [caseId, otherId] = caseIds;
    const { body: other } = await service.project.get(`/eval-suites/${suiteId}/cases/${otherId}`);
    const send = open(service);
    const same = { suiteId, caseId, title: other.title, steps: other.steps };
    expect(await send('updateEvalCase', same)).toMatchObject({ status: 409, code: 'CONFLICT' });
    expect(await send('updateEvalCase', { ...same, title: 'Another' })).toMatchObject({ status: 200 });
  });

  it.each(ways)('deleteEvalCase answers 409: the only case of a suite with a schedule ($way)', async ({ open }) => {
    const { suiteId, caseIds } = await save();
    const [caseId] = caseIds;
    const send = open(service);
    await send('updateEvalSuiteSchedule', { suiteId, enabled: true, intervalMinutes: 60 });
    expect(await send('deleteEvalCase', { suiteId, caseId })).toMatchObject({ status: 409, code: 'CONFLICT' });
    await send('updateEvalSuiteSchedule', { suiteId, enabled: false });
    expect(await send('deleteEvalCase', { suiteId, caseId })).toMatchObject({ status: 200 });
  });
});
