import { afterAll, beforeAll, expect, it } from 'vitest';
import type { ContractService } from '../support/service/contract-service.ts';
import { stdioServerPath } from '../support/servers/bundled-servers.ts';
import { runProgramInTest } from '../support/process/program.ts';
import { findLeaks } from '../support/runner/leaks.ts';
import { startServeProcess } from '../support/service/serve-process.ts';
import { createWorkspace } from '../support/workspace.ts';

const server = `${process.execPath} ${stdioServerPath}`;
const canary = 'canary_5d2e8c7b91f04a66';

// The tool returns its whole environment, so that the test can check what the upload keeps of a secret.
const evals = `suite: Environment
cases:
  - title: Returns its environment
    steps:
      - toolCall: environment
        arguments: { token: ${canary} }
      - assert: { toolResultContains: no such thing }
`;

let service: ContractService;
beforeAll(async () => {
  service = await startServeProcess();
});
afterAll(() => service[Symbol.asyncDispose]());

it('run uploads to a service of another process, and no secret with it', async () => {
  await using workspace = await createWorkspace({ 'a.evals.yaml': evals });
  const flags = ['--server-command', server, '--server-env', `SERVICE_TOKEN=${canary}\nOPEN=open`];
  const upload = ['--upload', 'svc', '--base-url', service.baseUrl, '--suite-scope', 'shared'];
  const { exitCode, stderr } = await runProgramInTest(['run', 'a.evals.yaml', ...flags, ...upload], {
    cwd: workspace.path,
    env: { MCP_EVAL_API_KEY: service.apiKey },
  });
  expect(exitCode).toBe(1);
  const { items } = (await service.project.get('/eval-suites')).body;
  const [{ id: suiteId, latestRun }] = items;
  expect(items).toMatchObject([{ name: 'Environment', totals: { passed: 0, failed: 1, runs: 1 } }]);
  const link = `/evals/suite/${suiteId}/runs/${latestRun.id}?project=${service.projectId}`;
  expect(stderr).toContain(
    `Environment is uploaded, 1 iteration in the suite "Environment": ${new URL(link, service.baseUrl).href}`,
  );

  const run = `/eval-runs/${latestRun.id}`;
  const { body: page } = await service.project.get(`${run}/iterations`);
  const { body: trace } = await service.project.get(`${run}/iterations/${page.items[0].id}/trace`);
  const texts = {
    log: stderr,
    suites: JSON.stringify(items),
    run: JSON.stringify((await service.project.get(run)).body),
    iterations: JSON.stringify(page),
    trace: JSON.stringify(trace),
  };
  expect(findLeaks([canary, service.apiKey], texts)).toEqual([]);
  // It was there, and what is no secret still is.
  for (const place of ['iterations', 'trace'] as const) expect(texts[place]).toContain('***');
  expect(texts.trace).toContain('open');
});

it('run exits 2 where there is no key for an upload, before anything is started', async () => {
  await using workspace = await createWorkspace({ 'a.evals.yaml': evals });
  const flags = ['--server-command', 'no-such-program', '--upload', 'mcpjam'];
  const { exitCode, stderr } = await runProgramInTest(['run', 'a.evals.yaml', ...flags], { cwd: workspace.path });
  expect(exitCode).toBe(2);
  expect(stderr).toMatch(/api-key: is needed by the service mcpjam; .* use `upload: off` there/);
});
