import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Ending, type Phase, runCancelledJob } from '../support/runner/cancelled-job.ts';
import type { ContractService } from '../support/service/contract-service.ts';
import { listRemainsOfBase } from '../support/process/cancelled-base.ts';
import { runAction } from '../support/runner/run-action.ts';
import { startServeProcess } from '../support/service/serve-process.ts';
import { createWorkspace } from '../support/workspace.ts';

// Runs dist/ in the runner harness, against a service in another process. test/faults/ covers the other moments in the process of the test.
// test/soak/ covers all moments with all endings, many times.

let service: ContractService;

beforeAll(async () => {
  service = await startServeProcess();
});

afterAll(() => service[Symbol.asyncDispose]());

const cells: Array<[Phase, Ending]> = [
  ['as a grant is answered', 'SIGTERM'],
  ['as the public URL is asked', 'SIGKILL'],
  ['as a run is answered', 'SIGINT'],
  ['as the run is polled', 'SIGINT twice'],
  ['as the second grant is answered', 'SIGKILL'],
  ['as a further round is answered', 'SIGKILL'],
];

describe('a hosted job', () => {
  it.each(cells)('leaves nothing behind when it is cancelled %s by %s', async (phase, ending) => {
    const { run, faults } = await runCancelledJob(service, phase, ending);
    expect(faults, `${run.log}\n${run.post?.log}`).toEqual([]);
  });

  it('has nothing to clean up in its post step if it was killed before it started anything', async () => {
    await using workspace = await createWorkspace();
    const run = await runAction({
      workspace: workspace.path,
      inputs: { 'server-command': 'no-such-program', tests: '- title: one\n  steps:\n    - toolCall: echo\n' },
      onMain: (main) => main.send('SIGKILL'),
    });
    expect(run).toMatchObject({ signal: 'SIGKILL', log: '', state: {}, post: { exitCode: 0, log: '', summary: null } });
  });
});

describe('a job with base: git', () => {
  it.each([
    ['setup', 'SIGTERM'],
    ['call', 'SIGKILL of the gate'],
  ] as const)('leaves nothing of the base at the moment %s after %s', async (moment, ending) => {
    expect(await listRemainsOfBase(moment, ending)).toEqual([]);
  });
});
