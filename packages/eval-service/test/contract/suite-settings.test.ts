import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ways } from '../../../../test/support/service/answers.ts';
import {
  type ContractService,
  openContractService,
  saveServer,
  saveSuite,
} from '../../../../test/support/service/contract-service.ts';

describe('the settings of suites', () => {
  let service: ContractService;
  let serverId: string;
  let hostId: string;
  let environments = 0;
  beforeAll(async () => {
    service = await openContractService();
    serverId = await saveServer(service);
    const config = { modelId: 'a/b', serverIds: [serverId] };
    ({
      body: { id: hostId },
    } = await service.project.post('/hosts', { name: 'Desk', config }));
  });
  afterAll(async () => {
    await service[Symbol.asyncDispose]();
  });

  const createEnvironment = async (): Promise<string> => {
    const name = `Environment ${(environments += 1)}`;
    return (await service.project.post('/environments', { name, hostId })).body.id;
  };
  const archive = async (id: string) =>
    await service.project.post(`/environments/${id}/archive`, { expectedRevision: 1 });
  const createSuite = async () => (await saveSuite(service, serverId)).suiteId;
  const patch = async (suiteId: string, body: unknown) => await service.project.patch(`/eval-suites/${suiteId}`, body);
  const schedule = async (suiteId: string, body: unknown) =>
    await service.project.patch(`/eval-suites/${suiteId}/schedule`, body);

  it.each(ways)('updateEvalSuite answers 200: every setting, read back as it was sent ($way)', async ({ open }) => {
    const suiteId = await createSuite();
    const [one, two] = [await createEnvironment(), await createEnvironment()];
    const judge = { enabled: true, model: 'a/b', autoRun: true, threshold: 0.7 };
    const executionConfig = { model: 'c/d', systemPrompt: 'Be short.', temperature: 0.2 };
    const { status, body } = await open(service)('updateEvalSuite', {
      suiteId,
      environmentIds: [one, two, one],
      executionConfig,
      hosts: [{ host: 'Desk', servers: ['demo'] }],
      settings: { judge },
    });
    expect({ status, body }).toMatchObject({
      status: 200,
      body: {
        environmentIds: [one, two],
        executionConfig,
        hosts: [{ id: hostId, name: 'Desk', servers: [serverId] }],
        settings: { judge },
      },
    });
    const kept = await open(service)('updateEvalSuite', { suiteId, executionConfig: { temperature: 1 } });
    expect(kept.body).toMatchObject({
      environmentIds: [one, two],
      executionConfig: { ...executionConfig, temperature: 1 },
      settings: { judge },
    });
    expect((await service.project.get(`/eval-suites/${suiteId}`)).body).toEqual(kept.body);
  });

  it.each(ways)('updateEvalSuite answers 200: null removes all environments ($way)', async ({ open }) => {
    const suiteId = await createSuite();
    await patch(suiteId, { environmentIds: [await createEnvironment()], hosts: [{ host: hostId }] });
    const { body } = await open(service)('updateEvalSuite', { suiteId, environmentIds: null, hosts: [] });
    expect(body).toMatchObject({ environmentIds: [], hosts: [] });
  });

  it.each(ways)('updateEvalSuite answers 400: an empty list of environments ($way)', async ({ open }) => {
    const suiteId = await createSuite();
    const { status, code } = await open(service)('updateEvalSuite', { suiteId, environmentIds: [] });
    expect({ status, code }).toEqual({ status: 400, code: 'VALIDATION_ERROR' });
  });

  it.each([
    [{ executionConfig: { temperature: 9 } }, 400],
    [{ settings: { judge: { threshold: 70 } } }, 400],
    [{ hosts: [{ host: 'Desk' }, { host: 'Desk' }] }, 400],
    [{ hosts: [{ host: 'Nothing' }] }, 404],
    [{ hosts: [{ host: 'Desk', servers: ['nothing'] }] }, 404],
  ])('updateEvalSuite refuses %j with %i', async (body, status) => {
    expect((await patch(await createSuite(), body)).status).toBe(status);
  });

  it.each(ways)('updateEvalSuite answers 404: an unknown suite or environment ($way)', async ({ open }) => {
    const send = open(service);
    expect(await send('updateEvalSuite', { suiteId: 'ste_none', name: 'x' })).toMatchObject({ status: 404 });
    const suiteId = await createSuite();
    expect(await send('updateEvalSuite', { suiteId, environmentIds: ['env_none'] })).toMatchObject({ status: 404 });
  });

  it.each(ways)('updateEvalSuite answers 409: an archived environment ($way)', async ({ open }) => {
    const [suiteId, environmentId] = [await createSuite(), await createEnvironment()];
    await archive(environmentId);
    const { status, code } = await open(service)('updateEvalSuite', { suiteId, environmentIds: [environmentId] });
    expect({ status, code }).toEqual({ status: 409, code: 'CONFLICT' });
    const { body } = await patch(suiteId, { environmentIds: [environmentId] });
    expect(body.details).toEqual({ code: 'ENV_ARCHIVED', environmentId });
  });

  it.each(ways)('attachEvalSuiteEnvironment answers 200: appended once ($way)', async ({ open }) => {
    const suiteId = await createSuite();
    const environmentIds = [await createEnvironment(), await createEnvironment()];
    const [first, second] = environmentIds;
    const attach = async (environmentId: string | undefined) =>
      await open(service)('attachEvalSuiteEnvironment', { suiteId, environmentId });
    expect((await attach(first)).body).toEqual({ suiteId, attached: true, environmentIds: [first] });
    await attach(second);
    expect(await attach(first)).toEqual({
      status: 200,
      code: undefined,
      body: { suiteId, attached: true, environmentIds },
    });
  });

  it.each(ways)('attachEvalSuiteEnvironment answers 400: an archived environment ($way)', async ({ open }) => {
    const [suiteId, environmentId] = [await createSuite(), await createEnvironment()];
    await archive(environmentId);
    const { status } = await open(service)('attachEvalSuiteEnvironment', { suiteId, environmentId });
    expect(status).toBe(400);
    const { body } = await service.project.post(`/eval-suites/${suiteId}/environments`, { environmentId });
    expect(body.details).toEqual({ reason: 'ATTACH_UNAVAILABLE' });
  });

  it.each(ways)('attachEvalSuiteEnvironment answers 404: an unknown environment or suite ($way)', async ({ open }) => {
    const send = open(service);
    const [suiteId, environmentId] = [await createSuite(), await createEnvironment()];
    const unknown = await send('attachEvalSuiteEnvironment', { suiteId, environmentId: 'env_none' });
    expect(unknown).toMatchObject({ status: 404, code: 'NOT_FOUND' });
    expect(await send('attachEvalSuiteEnvironment', { suiteId: 'ste_none', environmentId })).toMatchObject({
      status: 404,
    });
  });

  it.each(ways)('updateEvalSuiteSchedule answers 200: disabling keeps the interval ($way)', async ({ open }) => {
    const suiteId = await createSuite();
    const send = async (fields: Record<string, unknown>) =>
      (await open(service)('updateEvalSuiteSchedule', { suiteId, ...fields })).body.schedule;
    expect(await send({ enabled: true, intervalMinutes: 60 })).toEqual({
      enabled: true,
      intervalMinutes: 60,
      environmentId: null,
    });
    expect(await send({ enabled: false })).toEqual({ enabled: false, intervalMinutes: 60, environmentId: null });
    expect(await send({ enabled: true })).toMatchObject({ enabled: true, intervalMinutes: 60 });
    expect(await send({ enabled: false, intervalMinutes: 5 })).toMatchObject({ enabled: false, intervalMinutes: 5 });
  });

  it.each(ways)('updateEvalSuiteSchedule answers 200: the only environment is pinned ($way)', async ({ open }) => {
    const [suiteId, environmentId] = [await createSuite(), await createEnvironment()];
    await patch(suiteId, { environmentIds: [environmentId] });
    const { body } = await open(service)('updateEvalSuiteSchedule', {
      suiteId,
      enabled: true,
      intervalMinutes: 10_080,
    });
    expect(body.schedule).toEqual({ enabled: true, intervalMinutes: 10_080, environmentId });
  });

  it.each(ways)('updateEvalSuiteSchedule answers 400: no interval, saved or sent ($way)', async ({ open }) => {
    const suiteId = await createSuite();
    const { status, code } = await open(service)('updateEvalSuiteSchedule', { suiteId, enabled: true });
    expect({ status, code }).toEqual({ status: 400, code: 'VALIDATION_ERROR' });
  });

  it.each([
    [{ enabled: true, intervalMinutes: 4 }, 'intervalMinutes: Too small: expected number to be >=5'],
    [{ enabled: true, intervalMinutes: 10_081 }, 'intervalMinutes: Too big: expected number to be <=10080'],
    [{ enabled: true, intervalMinutes: 5.5 }, 'intervalMinutes: Invalid input: expected int, received number'],
    [{ intervalMinutes: 5 }, 'enabled: Invalid input: expected boolean, received undefined'],
    [{ enabled: false, environmentId: 'env' }, 'environmentId: Only allowed where enabled is true'],
    [{ enabled: true }, 'intervalMinutes: Required, since the suite has none saved'],
  ])('updateEvalSuiteSchedule refuses %j', async (body, message) => {
    const answer = await schedule(await createSuite(), body);
    expect({ status: answer.status, message: answer.body.message }).toEqual({ status: 400, message });
  });

  it('updateEvalSuiteSchedule takes one of the suite’s environments, and requires it where there are several', async () => {
    const suiteId = await createSuite();
    const environmentIds = [await createEnvironment(), await createEnvironment()];
    const [, environmentId] = environmentIds;
    await patch(suiteId, { environmentIds });
    const enable = { enabled: true, intervalMinutes: 30 };
    const { status, body: refusal } = await schedule(suiteId, enable);
    expect({ status, details: refusal.details }).toEqual({
      status: 400,
      details: { reason: 'ENVIRONMENT_REQUIRED', environmentIds },
    });
    expect(refusal.message).toMatch(/send one of "Environment \d+" \(\w+\), "Environment \d+" \(\w+\)$/);
    expect((await schedule(suiteId, { ...enable, environmentId: 'env_other' })).body.details).toEqual({
      reason: 'ENVIRONMENT_NOT_ATTACHED',
      environmentId: 'env_other',
      environmentIds,
    });
    expect((await schedule(suiteId, { ...enable, environmentId })).body.schedule).toMatchObject({ environmentId });
    await schedule(suiteId, { enabled: false });
    expect((await schedule(suiteId, { enabled: true })).body.schedule).toEqual({ ...enable, environmentId });
  });

  it('updateEvalSuiteSchedule holds the environment that it runs in', async () => {
    const suiteId = await createSuite();
    const [first, second] = [await createEnvironment(), await createEnvironment()];
    await patch(suiteId, { environmentIds: [first] });
    await schedule(suiteId, { enabled: true, intervalMinutes: 30 });
    for (const environmentIds of [null, [second]]) {
      const { status, body } = await patch(suiteId, { environmentIds });
      expect({ status, details: body.details }).toEqual({
        status: 400,
        details: { reason: 'SCHEDULE_ENVIRONMENT_PINNED', environmentId: first },
      });
    }
    expect((await patch(suiteId, { environmentIds: [second, first] })).status).toBe(200);
    await schedule(suiteId, { enabled: false });
    const { body } = await patch(suiteId, { environmentIds: [second] });
    expect(body.schedule).toEqual({ enabled: false, intervalMinutes: 30, environmentId: null });
  });

  it('updateEvalSuiteSchedule of a suite without environments takes the first one, and refuses several at once', async () => {
    const suiteId = await createSuite();
    const environmentIds = [await createEnvironment(), await createEnvironment()];
    await schedule(suiteId, { enabled: true, intervalMinutes: 30 });
    expect((await patch(suiteId, { environmentIds })).body.details).toEqual({
      reason: 'SCHEDULE_ENVIRONMENT_PIN_REQUIRED',
      environmentIds,
    });
    const { body } = await patch(suiteId, { environmentIds: [environmentIds[0]] });
    expect(body.schedule).toMatchObject({ enabled: true, environmentId: environmentIds[0] });
  });

  it.each(ways)('updateEvalSuiteSchedule answers 404: an unknown suite ($way)', async ({ open }) => {
    const { status, code } = await open(service)('updateEvalSuiteSchedule', { suiteId: 'ste_none', enabled: false });
    expect({ status, code }).toEqual({ status: 404, code: 'NOT_FOUND' });
  });

  it.each(ways)('updateEvalSuiteSchedule answers 409: an archived environment ($way)', async ({ open }) => {
    const [suiteId, environmentId] = [await createSuite(), await createEnvironment()];
    await patch(suiteId, { environmentIds: [environmentId] });
    await archive(environmentId);
    const enable = { enabled: true, intervalMinutes: 30 };
    const { status, code } = await open(service)('updateEvalSuiteSchedule', { suiteId, ...enable });
    expect({ status, code }).toEqual({ status: 409, code: 'CONFLICT' });
    const { body } = await schedule(suiteId, enable);
    expect(body.details).toEqual({ code: 'ENV_ARCHIVED' });
    expect((await service.project.get(`/eval-suites/${suiteId}`)).body.schedule.enabled).toBe(false);
  });

  it('updateEvalSuiteSchedule refuses an environment without a model where a case asks one', async () => {
    const { body: modelless } = await service.project.post('/hosts', {
      name: 'Without a model',
      config: { modelId: 'a/b', serverIds: [serverId] },
    });
    await service.project.patch(`/hosts/${modelless.id}`, { config: { modelId: null } });
    const { body: environment } = await service.project.post('/environments', { name: 'Bare', hostId: modelless.id });
    const asks = { title: 'Asks', steps: [{ id: 'p', kind: 'prompt', prompt: 'Hello?' }] };
    const { suiteId } = await saveSuite(service, serverId, [asks]);
    await patch(suiteId, { environmentIds: [environment.id] });
    const { status, body } = await schedule(suiteId, { enabled: true, intervalMinutes: 30 });
    expect({ status, details: body.details }).toEqual({
      status: 409,
      details: { reason: 'environment_model_required' },
    });
    const own = { ...asks, model: 'a/b' };
    const { suiteId: other } = await saveSuite(service, serverId, [own]);
    await patch(other, { environmentIds: [environment.id] });
    expect((await schedule(other, { enabled: true, intervalMinutes: 30 })).status).toBe(200);
  });
});
