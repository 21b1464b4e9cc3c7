import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ManualClock } from '../../../../test/support/clocks/manual-clock.ts';
import { startHttpServer, type TestHttpServer } from '../../../../test/support/network/http-server.ts';
import { ways } from '../../../../test/support/service/answers.ts';
import {
  type ContractService,
  openContractService,
  saveServer,
  saveSuite,
} from '../../../../test/support/service/contract-service.ts';

const inputs = {
  listTools: {},
  listPrompts: {},
  listResources: {},
  readResource: { uri: 'demo://one' },
  getPrompt: { promptName: 'greet' },
  exportServer: {},
};
const each = Object.entries(inputs).flatMap(([name, input]) => ways.map((way) => ({ ...way, name, input })));

describe('a server that takes requests and never answers', () => {
  let clock: ManualClock;
  let silent: TestHttpServer;
  let service: ContractService;
  let arrived: PromiseWithResolvers<void>;
  beforeEach(async () => {
    clock = new ManualClock();
    arrived = Promise.withResolvers<void>();
    silent = await startHttpServer(() => arrived.resolve());
    service = await openContractService({ clock });
  });
  afterEach(async () => {
    await service[Symbol.asyncDispose]();
    await silent[Symbol.asyncDispose]();
  });
  /** Lets a minute pass once the server has the request. */
  const passMinute = async () => {
    await arrived.promise;
    await clock.advance(60_000);
  };
  const save = async (url: string) => await saveServer(service, { url });

  it.each(each)('$name answers 504: a server that never answers ($way)', async ({ open, name, input }) => {
    const answer = open(service)(name, { serverId: await save(`${silent.origin}/mcp`), ...input });
    await passMinute();
    expect(await answer).toMatchObject({ status: 504, code: 'TIMEOUT' });
  });

  it.each(ways)('createEvalRun answers 504: a server that never answers ($way)', async ({ open }) => {
    const { suiteId } = await saveSuite(service, await save(`${silent.origin}/mcp`));
    const answer = open(service)('createEvalRun', { suiteId });
    await passMinute();
    expect(await answer).toMatchObject({ status: 504, code: 'TIMEOUT' });
    expect((await service.project.get(`/eval-suites/${suiteId}/runs`)).body).toEqual({ items: [] });
  });

  it.each(ways)('createEvalRun answers 502: a server that is gone ($way)', async ({ open }) => {
    const { suiteId } = await saveSuite(service, await save('http://127.0.0.1:9/mcp'));
    const answer = await open(service)('createEvalRun', { suiteId });
    expect(answer).toMatchObject({ status: 502, code: 'SERVER_UNREACHABLE' });
  });
});
