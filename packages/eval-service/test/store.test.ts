import { cp, mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ConfigurationError } from '../../../src/base/errors.ts';
import { openStore } from '../src/store/open-store.ts';
import {
  inlineTest,
  openContractService,
  saveServer,
  saveSuite,
  waitForEnd,
} from '../../../test/support/service/contract-service.ts';
import { startEchoServer } from '../../../test/support/servers/echo-server.ts';

describe('a store that is kept', () => {
  let dataDir: string;
  beforeEach(async () => {
    dataDir = join(await mkdtemp(join(tmpdir(), 'embedded-')), 'data');
  });
  afterEach(async () => {
    await rm(join(dataDir, '..'), { recursive: true });
  });

  it('holds everything when the service is opened again', async () => {
    await using mcp = await startEchoServer();
    const first = await openContractService({ dataDir });
    const { suiteId } = await saveSuite(first, await saveServer(first, { url: mcp.url }));
    const { body } = await first.project.post('/eval-runs', { suiteId });
    const run = await waitForEnd(first, body.runId);
    await first[Symbol.asyncDispose]();

    await using second = await openContractService({ dataDir });
    expect(second.projectId).toBe(first.projectId);
    expect(second.apiKey).not.toBe(first.apiKey);
    expect((await second.project.get(`/eval-runs/${run.id}`)).body).toEqual(run);
    const { body: page } = await second.project.get(`/eval-runs/${run.id}/iterations`);
    const trace = await second.project.get(`/eval-runs/${run.id}/iterations/${page.items[0].id}/trace`);
    expect(trace.status).toBe(200);
  });

  it('is readable by its owner alone', async () => {
    await using _service = await openContractService({ dataDir });
    expect(((await stat(dataDir)).mode & 0o777).toString(8)).toBe('700');
    expect(((await stat(join(dataDir, 'embedded.db'))).mode & 0o777).toString(8)).toBe('600');
  });

  it('ends the runs that a killed process left behind', async () => {
    await using mcp = await startEchoServer();
    const first = await openContractService({ dataDir });
    const { suiteId } = await saveSuite(first, await saveServer(first, { url: mcp.url }), [inlineTest('hang')]);
    const { body } = await first.project.post('/eval-runs', { suiteId });
    await mcp.waitFor('call hang');
    // The files as a kill would leave them at this moment.
    const left = join(dataDir, '..', 'left');
    await cp(dataDir, left, { recursive: true });
    await first[Symbol.asyncDispose]();
    await using second = await openContractService({ dataDir: left });
    expect((await second.project.get(`/eval-runs/${body.runId}`)).body).toMatchObject({
      status: 'failed',
      result: null,
      notes: 'The service stopped while the run was executing.',
    });
    const { body: page } = await second.project.get(`/eval-runs/${body.runId}/iterations`);
    expect(page.items).toMatchObject([{ status: 'cancelled', result: null }]);
  });

  it('says of runs that were executing that the service was stopped', async () => {
    await using mcp = await startEchoServer();
    const first = await openContractService({ dataDir });
    const { suiteId } = await saveSuite(first, await saveServer(first, { url: mcp.url }), [inlineTest('hang')]);
    const { body } = await first.project.post('/eval-runs', { suiteId, notes: 'Nightly.' });
    await mcp.waitFor('call hang');
    await first[Symbol.asyncDispose]();
    await using second = await openContractService({ dataDir });
    expect((await second.project.get(`/eval-runs/${body.runId}`)).body).toMatchObject({
      status: 'cancelled',
      result: null,
      notes: 'Nightly.\nThe service was stopped while the run was executing.',
    });
  });

  it('can be open in one service at a time', async () => {
    await using _service = await openContractService({ dataDir });
    await expect(openContractService({ dataDir })).rejects.toThrow(
      `Another process uses the data directory ${dataDir}; stop it or choose another directory (store-in-use)`,
    );
  });

  it.each([2, 99])('is refused, and unchanged, when it has store version %i', (version) => {
    openStore(dataDir).close();
    const path = join(dataDir, 'embedded.db');
    const write = new DatabaseSync(path);
    write.exec(`pragma user_version = ${version}; drop table traces`);
    write.close();
    expect(() => openStore(dataDir)).toThrow(ConfigurationError);
    expect(() => openStore(dataDir)).toThrow(
      `The data directory has store version ${version}, and this version of the service needs 1; choose another directory`,
    );
    using read = new DatabaseSync(path);
    expect(read.prepare('pragma user_version').get()).toEqual({ user_version: version });
    expect(read.prepare("select name from sqlite_schema where name = 'traces'").all()).toEqual([]);
  });
});

describe('a transaction', () => {
  it('keeps all that it wrote or nothing', () => {
    const store = openStore(undefined);
    const insert = (id: string) => {
      const content = { organizationId: 'org_local', description: null, icon: null, visibility: 'private' as const };
      store.projects.insert({ id, name: id, content, now: 0 });
    };
    store.transact(() => insert('kept'));
    expect(() =>
      store.transact(() => {
        insert('lost');
        insert('kept');
      }),
    ).toThrow(/UNIQUE/);
    expect(store.projects.list().map(({ id }) => id)).toEqual(['kept']);
    store.close();
  });
});
