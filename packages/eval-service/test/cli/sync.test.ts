import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCommand } from '../../../../test/support/process/command.ts';
import { runProgramInTest } from '../../../../test/support/process/program.ts';
import {
  type ContractService,
  openContractService,
  saveServer,
} from '../../../../test/support/service/contract-service.ts';
import { createWorkspace, type Workspace } from '../../../../test/support/workspace.ts';

const file = 'suite: Notes\ncases:\n  - title: Adds\n    steps:\n      - toolCall: add\n';

describe('mcp-eval-ci sync and pull', () => {
  let service: ContractService;
  beforeAll(async () => {
    service = await openContractService();
    await saveServer(service);
  });
  afterAll(async () => {
    await service[Symbol.asyncDispose]();
  });

  const run = (workspace: Workspace, ...args: string[]) => start(runProgramInTest, workspace, args);
  const start = (runner: typeof runCommand, workspace: Workspace, args: readonly string[]) =>
    runner([...args, '--base-url', service.baseUrl], {
      cwd: workspace.path,
      env: { MCP_EVAL_API_KEY: service.apiKey },
    });

  it('print a plan, carry it out, and write the suite as a file, which is not replaced unless asked for', async () => {
    await using workspace = await createWorkspace({ 'notes.evals.yaml': file });
    const planned = await run(workspace, 'sync', '--plan', 'notes.evals.yaml');
    const lines = 'Notes: the suite is created.\n  + adds: Adds\n';
    expect(planned).toMatchObject({ exitCode: 0, stdout: `${lines}Nothing was changed; --apply does it.\n` });
    expect((await service.project.get('/eval-suites')).body.items).toEqual([]);
    const applied = await start(runCommand, workspace, ['sync', '--apply', 'notes.evals.yaml']);
    expect(applied).toMatchObject({ exitCode: 0, stdout: `${lines}Changed 1 of 1.\n` });
    const pulled = await start(runCommand, workspace, ['pull', 'Notes', '--out', 'pulled.yaml']);
    expect(pulled).toMatchObject({ exitCode: 0, stdout: '' });
    expect(await workspace.read('pulled.yaml')).toBe(file);
    const again = await start(runCommand, workspace, ['pull', 'Notes', '--out', 'pulled.yaml']);
    expect(again).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('pulled.yaml is there already; --force'),
    });
  });

  it('end with 2 for a file that the service could not give back, and for neither or both of --plan and --apply', async () => {
    await using workspace = await createWorkspace({
      'notes.evals.yaml': file.replace('steps', 'tags: [a]\n    steps'),
    });
    const lost = await start(runCommand, workspace, ['sync', '--plan', 'notes.evals.yaml']);
    expect(lost).toMatchObject({ exitCode: 2, stdout: '' });
    expect(lost.stderr).toContain('notes.evals.yaml:4:5: the service svc does not keep `tags`');
    const both = await run(workspace, 'sync', '--plan', '--apply', 'notes.evals.yaml');
    expect(both).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('write one of the two') });
  });
});
