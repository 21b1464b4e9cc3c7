import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../../../src/base/time.ts';
import { silentLogger } from '../../../../src/base/logger.ts';
import { createRedactor } from '../../../../src/base/redaction.ts';
import { openServeCommands } from '../../src/cli/serve-commands.ts';
import { canMake } from '../../../../test/support/process/sandbox-lab.ts';
import { ways } from '../../../../test/support/service/answers.ts';
import {
  type ContractService,
  inlineTest,
  openContractService,
  saveServer,
  saveSuite,
  waitForEnd,
} from '../../../../test/support/service/contract-service.ts';
import { raw, startHttpServer } from '../../../../test/support/network/http-server.ts';
import {
  type FixtureMcpServer,
  startFixtureMcpServer,
  text,
} from '../../../../test/support/servers/fixture-mcp-server.ts';
import { stdioServerCommand } from '../../../../test/support/servers/running-server.ts';

const stdio = { name: 'local', enabled: true, transportType: 'stdio', command: 'canary-command', args: ['canary'] };
const stdioContent = { name: 'local', enabled: true, transportType: 'stdio' as const };
const hasSandbox = (await canMake('unshare')) || (await canMake('bwrap'));
const connecting = ['validateServer', 'runDoctor'];
const each = (names: string[]) => ways.flatMap((way) => names.map((name) => ({ ...way, name })));

describe('diagnostics of servers', () => {
  let service: ContractService;
  let server: FixtureMcpServer;
  beforeAll(async () => {
    service = await openContractService();
    server = await startFixtureMcpServer({ echo: { call: () => text('hi') } }, { era: 'both' });
  });
  afterAll(async () => {
    await service[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
  });
  let saved = 0;
  const save = (url: string) => saveServer(service, { name: `server ${(saved += 1)}`, url });

  it.each(ways)('validateServer answers 200: how the server introduced itself ($way)', async ({ open }) => {
    const { status, body } = await open(service)('validateServer', { serverId: await save(server.url) });
    expect({ status, body }).toMatchObject({
      status: 200,
      body: { success: true, status: 'connected', initInfo: { serverInfo: { name: 'fixture' } } },
    });
  });

  it.each(ways)('validateServer answers 403: a server that refuses what the record has ($way)', async ({ open }) => {
    await using guarded = await startHttpServer(raw(401, '', { 'www-authenticate': 'Bearer' }));
    const record = { name: `key ${(saved += 1)}`, enabled: true, transportType: 'http', url: `${guarded.origin}/mcp` };
    const { body } = await service.project.post('/servers', { ...record, headers: { Authorization: 'Bearer canary' } });
    const { status, code } = await open(service)('validateServer', { serverId: body.id });
    expect({ status, code }).toEqual({ status: 403, code: 'FORBIDDEN' });
  });

  it.each(ways)('validateServer answers 502: a web server that is none of MCP ($way)', async ({ open }) => {
    await using web = await startHttpServer(raw(200, '<html>', { 'content-type': 'text/html' }));
    const { status, code } = await open(service)('validateServer', { serverId: await save(`${web.origin}/mcp`) });
    expect({ status, code }).toEqual({ status: 502, code: 'SERVER_UNREACHABLE' });
  });

  it.each(ways)('validateServer answers 504: a server that never answers ($way)', async ({ open }) => {
    await using silent = await startHttpServer(() => {});
    const serverId = await save(`${silent.origin}/mcp`);
    await service.project.patch(`/servers/${serverId}`, { timeout: 100 });
    const { status, code } = await open(service)('validateServer', { serverId });
    expect({ status, code }).toEqual({ status: 504, code: 'TIMEOUT' });
  });

  it.each(ways)('runDoctor answers 200: a server that is ready ($way)', async ({ open }) => {
    const { status, body } = await open(service)('runDoctor', { serverId: await save(server.url) });
    expect({ status, body }).toMatchObject({
      status: 200,
      body: { status: 'ready', tools: [{ name: 'echo' }], checks: { tools: { status: 'ok' } }, error: null },
    });
  });

  it.each(ways)('runDoctor answers 200: a server that cannot be reached ($way)', async ({ open }) => {
    const { status, body } = await open(service)('runDoctor', { serverId: await save('http://127.0.0.1:9/mcp') });
    expect({ status, body }).toMatchObject({
      status: 200,
      body: { status: 'error', checks: { probe: { status: 'error' }, tools: { status: 'skipped' } } },
    });
  });

  it.each(ways)('checkOAuth answers 200: what the record says ($way)', async ({ open }) => {
    const serverId = await save(server.url);
    const send = open(service);
    expect((await send('checkOAuth', { serverId })).body).toEqual({ useOAuth: false, serverUrl: server.url });
    await service.project.patch(`/servers/${serverId}`, { useOAuth: true });
    expect((await send('checkOAuth', { serverId })).body).toEqual({ useOAuth: true, serverUrl: server.url });
  });

  it.each(each([...connecting, 'checkOAuth']))(
    '$name answers 404: a server that does not exist ($way)',
    async ({ open, name }) => {
      const { status, code } = await open(service)(name, { serverId: 'srv_missing' });
      expect({ status, code }).toEqual({ status: 404, code: 'NOT_FOUND' });
    },
  );

  it.each(each(connecting))('$name answers 400: a server that is disabled ($way)', async ({ open, name }) => {
    const serverId = await save(server.url);
    await service.project.patch(`/servers/${serverId}`, { enabled: false });
    const { status, code } = await open(service)(name, { serverId });
    expect({ status, code }).toEqual({ status: 400, code: 'VALIDATION_ERROR' });
  });

  it.each(each(connecting))('$name answers 422: a command that may not be started ($way)', async ({ open, name }) => {
    const { body } = await service.project.post('/servers', { ...stdio, name: `stdio ${(saved += 1)}` });
    const answer = await open(service)(name, { serverId: body.id });
    expect(answer).toMatchObject({ status: 422, code: 'FEATURE_NOT_SUPPORTED' });
    expect(JSON.stringify(answer)).not.toContain('canary');
  });
});

describe('servers over stdio, where the service may start commands', () => {
  let service: ContractService;
  const redactor = createRedactor();
  const options = { clock: systemClock, logger: silentLogger, redactor, environment: process.env, cwd: process.cwd() };
  let folder: string;
  let commands: ReturnType<typeof openServeCommands>;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'serve-commands-'));
    await writeFile(join(folder, 'kept'), 'kept');
    commands = openServeCommands({ ...options, sandbox: 'auto', protect: [folder] });
    service = await openContractService({ commands });
  });
  afterAll(async () => {
    await service[Symbol.asyncDispose]();
    await commands[Symbol.asyncDispose]();
    await rm(folder, { recursive: true });
  });

  it.runIf(hasSandbox)('cannot write to what the service keeps', async () => {
    const write = 'try { fs.writeFileSync(process.argv[1], "forged") } catch (error) { console.error(error.code) }';
    const serve = `import(${JSON.stringify(stdioServerCommand.split(' ').at(-1))})`;
    const forge = { command: process.execPath, args: ['-e', `${write}; ${serve}`, join(folder, 'kept')] };
    const { body } = await service.project.post('/servers', { ...stdio, name: 'forger', ...forge });
    expect((await service.project.post(`/servers/${body.id}/doctor`)).body).toMatchObject({ status: 'ready' });
    expect(await readFile(join(folder, 'kept'), 'utf8')).toBe('kept');
    // Without the sandbox, the same command writes.
    await using free = openServeCommands({ ...options, sandbox: 'off', protect: [folder] });
    await free.open({ id: 'free', projectId: '', createdAt: 0, updatedAt: 0, content: { ...stdioContent, ...forge } });
    expect(await readFile(join(folder, 'kept'), 'utf8')).toBe('forged');
  });

  it('are examined and run', async () => {
    const [command, ...args] = stdioServerCommand.split(' ');
    const { body } = await service.project.post('/servers', { ...stdio, command, args });
    const { body: found } = await service.project.post(`/servers/${body.id}/doctor`);
    expect(found).toMatchObject({ status: 'ready', probe: null, checks: { probe: { status: 'ok' } } });
    const { suiteId } = await saveSuite(service, body.id, [inlineTest(found.tools[0].name)]);
    const { status, body: run } = await service.project.post('/eval-runs', { suiteId });
    expect(status).toBe(202);
    expect(await waitForEnd(service, run.runId)).toMatchObject({ status: 'completed' });
  });

  it('that do not start are a finding, without their command', async () => {
    const { body } = await service.project.post('/servers', { ...stdio, name: 'missing' });
    const doctor = await service.project.post(`/servers/${body.id}/doctor`);
    expect(doctor).toMatchObject({ status: 200, body: { status: 'error' } });
    const validate = await service.project.post(`/servers/${body.id}/validate`);
    expect(validate).toMatchObject({ status: 502, body: { code: 'SERVER_UNREACHABLE' } });
    expect(JSON.stringify([doctor.body, validate.body])).not.toContain('canary');
  });
});
