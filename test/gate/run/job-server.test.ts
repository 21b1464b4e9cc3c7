import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CancelledError } from '../../../src/base/errors.ts';
import { type ContractService, saveServer } from '../../support/service/contract-service.ts';
import { jobOnBranch, runHostedGate } from '../../support/gate/hosted-gate.ts';
import { startServeProcess } from '../../support/service/serve-process.ts';
import { openServiceTap } from '../../support/service/service-tap.ts';
import { catchError } from '../../support/service/service-client.ts';
import { plainServerCommand } from '../../support/servers/bundled-servers.ts';

// Without a tunnel, the gate gives the service the server's own address.

const inputs = {
  'server-command': plainServerCommand,
  tunnel: 'never',
  tests: '- title: one\n  steps:\n    - toolCall: echo\n      arguments: { value: hello }\n',
};
const isCreated = /^POST .*\/servers$/;

let service: ContractService;

beforeAll(async () => {
  service = await startServeProcess();
});

afterAll(() => service[Symbol.asyncDispose]());

async function listServers(): Promise<Array<{ name: string; url: string }>> {
  return (await service.project.get('/servers')).body.items;
}

/** Lists the records while the run of a job executes. */
async function runAndList(options: Record<string, string>, environment: Record<string, string>) {
  const during: Array<{ name: string; url: string }> = [];
  const result = await runHostedGate(
    service,
    { ...inputs, ...options },
    {
      environment,
      onProgress: async ({ kind }) => {
        if (kind === 'run-started') during.push(...(await listServers()));
      },
    },
  );
  return { result, during };
}

describe('the record of a server without a tunnel', () => {
  it.each([
    ['a name of its own', '42', {}, /^mcp-eval-ci your-org\/your-server 42\.1 evals /],
    ['the name that it is given', '43', { 'server-name': 'mine' }, /^mine$/],
  ])('is there under %s for the run, and taken away after it', async (_, runId, options, name) => {
    const { result, during } = await runAndList(options, { ...jobOnBranch, GITHUB_RUN_ID: runId });
    expect(result).toMatchObject({ exitCode: 0, leftovers: null });
    expect(during).toEqual([
      expect.objectContaining({
        name: expect.stringMatching(name),
        transportType: 'http',
        url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\//),
      }),
    ]);
    expect(await listServers()).toEqual([]);
  });

  it('is not created if the name is taken, and the existing record does not change', async () => {
    const id = await saveServer(service, { name: 'taken', url: 'https://example.com/mcp' });
    const before = await listServers();
    await using tap = await openServiceTap(service);
    const error = await catchError(runHostedGate(tap.service, { ...inputs, 'server-name': 'taken' }));
    expect(error).toMatchObject({
      exitCode: 2,
      message:
        'server-name: is taken by another server of the project; choose another, or leave it out (server-name-taken)',
    });
    expect(tap.requests.filter((request) => /^(?:DELETE|PATCH)/.test(request))).toEqual([]);
    expect(await listServers()).toEqual(before);
    await service.project.delete(`/servers/${id}`);
  });

  it('is also deleted if it was created after the job was stopped', async () => {
    await using tap = await openServiceTap(service);
    const held = tap.hold(isCreated, 'asked');
    const stop = new AbortController();
    const job = runHostedGate(tap.service, inputs, { signal: stop.signal });
    await Promise.race([held.reached, job]);
    stop.abort(new CancelledError('Stopped by SIGINT.', { signal: 'SIGINT' }));
    held.release();
    expect(await job).toMatchObject({ exitCode: 130, leftovers: null });
    await tap.settle();
    expect(tap.requests.filter((request) => isCreated.test(request))).toHaveLength(1);
    expect(await listServers()).toEqual([]);
  });
});
