import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listOperations } from '../../../../src/service/operations/table.ts';
import { json, startHttpServer } from '../../../../test/support/network/http-server.ts';
import { runCommand } from '../../../../test/support/process/command.ts';
import { runProgramInTest } from '../../../../test/support/process/program.ts';
import { type ContractService, openContractService } from '../../../../test/support/service/contract-service.ts';
import { createWorkspace } from '../../../../test/support/workspace.ts';

describe('mcp-eval-ci api', () => {
  let service: ContractService;
  beforeAll(async () => {
    service = await openContractService();
  });
  afterAll(async () => {
    await service[Symbol.asyncDispose]();
  });

  const api = (...args: string[]) => start(runProgramInTest, args);

  async function start(run: typeof runCommand, args: readonly string[]) {
    await using workspace = await createWorkspace();
    return await run(['api', ...args], {
      cwd: workspace.path,
      env: { MCP_EVAL_API_KEY: service.apiKey },
    });
  }

  it('prints the answer as JSON, in the only project, with every page of a list', async () => {
    const results = Array.from({ length: 60 }, (_, index) => ({ caseTitle: `Case ${index}`, passed: true }));
    const { body } = await service.project.post('/eval-ingest/report', {
      suiteName: 'S',
      externalRunId: 'e',
      results,
    });
    const list = ['listEvalRunIterations', '--base-url', service.baseUrl, '--run-id', String(body.runId)];
    const [first, all] = await Promise.all([api(...list), api(...list, '--all')]);
    expect(first).toMatchObject({ exitCode: 0, stderr: '' });
    expect(JSON.parse(first.stdout)).toMatchObject({ nextCursor: expect.any(String), items: { length: 50 } });
    expect(JSON.parse(all.stdout)).toMatchObject({ items: { length: 60 } });
  });

  it('hides secrets without `--show-secrets`', async () => {
    const create = ['createTunnel', '--base-url', service.baseUrl, '--name', 'demo'];
    const hidden = JSON.parse((await start(runCommand, create)).stdout);
    expect(hidden).toMatchObject({ name: 'demo', url: '***', connectToken: '***' });
    const shown = JSON.parse((await api(...create, '--show-secrets')).stdout);
    expect(shown.url).toMatch(/\?k=.{20}/);
  });

  it.each([
    [2, 'an unknown operation', ['getMee'], /"getMee" is no operation; did you mean getMe\?/],
    [2, 'an unknown field', ['getMe', '--name', 'x'], /--name: is no field of getMe; getMe has no fields/],
    [3, 'a refusal', ['getEvalRun', '--run-id', 'x'], /404 NOT_FOUND .* Run not found\./, runCommand],
  ])('ends with %i for %s', async (exitCode, _what, args, message, run = runProgramInTest) => {
    const result = await start(run, [...args, '--base-url', service.baseUrl]);
    expect(result).toMatchObject({ exitCode, stdout: '' });
    expect(result.stderr).toMatch(message);
  });

  it.each([
    [['listChatSessions', '--project', 'Two'], '/chat-sessions?projectId=prj_2'],
    [['listChatSessions'], '/chat-sessions'],
    [['exportTracesOtlp', '--project', 'Two'], '/trace-exports/otlp?projectId=prj_2'],
    [['exportTracesOtlp', '--project-id', 'prj_1'], '/trace-exports/otlp?projectId=prj_1'],
  ])('sends the project of %j in the query', async (args, asked) => {
    const projects = ['One', 'Two'].map((name, index) => ({ id: `prj_${index + 1}`, name }));
    await using server = await startHttpServer((response, request) =>
      json(200, { items: request.url === '/projects' ? projects : [], resourceSpans: [] })(response, request),
    );
    expect(await api(...args, '--base-url', server.origin)).toMatchObject({ exitCode: 0, stderr: '' });
    expect(server.requests.at(-1)?.url).toBe(asked);
  });

  it('refuses a project that is not there, for a query too', async () => {
    const result = await api('exportTracesOtlp', '--project', 'Three', '--base-url', service.baseUrl);
    expect(result).toMatchObject({ exitCode: 2, stdout: '' });
    expect(result.stderr).toContain('No project has the id or the name "Three"');
  });

  it('lists the fields of an operation, and every operation', async () => {
    const one = await api('listEvalSuiteRuns', '--help');
    expect(one.stdout).toContain('GET /projects/{projectId}/eval-suites/{suiteId}/runs');
    expect(one.stdout).toContain('--limit <1..100>');
    const { stdout, exitCode } = await api('--help');
    expect(exitCode).toBe(0);
    for (const { name } of listOperations()) expect(stdout).toContain(`\n  ${name} `);
    expect(stdout.split('\n').filter((line) => line.length > 80)).toEqual([]);
  });
});

describe('mcp-eval-ci completion', () => {
  async function script(shell: string, run: typeof runCommand = runProgramInTest): Promise<string> {
    await using workspace = await createWorkspace();
    return (await run(['completion', shell], { cwd: workspace.path })).stdout;
  }

  it.skipIf(process.platform === 'win32')('completes commands, operations and fields in bash', async () => {
    const complete = (words: string[]) =>
      `COMP_WORDS=(mcp-eval-ci ${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length}; _mcp_eval_ci; echo "\${COMPREPLY[*]}"`;
    const program = [
      await script('bash', runCommand),
      complete(['val']),
      complete(['api', 'cancelEvalR']),
      complete(['api', 'getEvalRun', '--r']),
      complete(['serve', '--rate']),
    ].join('\n');
    const { stdout } = await promisify(execFile)('bash', ['--norc', '-c', program]);
    expect(stdout.trimEnd().split('\n')).toEqual(['validate', 'cancelEvalRun', '--run-id', '--rate-limit']);
  });

  it('names every operation in the scripts of zsh and fish', async () => {
    const scripts = await Promise.all([script('zsh'), script('fish')]);
    for (const text of scripts) {
      for (const { name } of listOperations()) expect(text).toMatch(new RegExp(`\\b${name}\\b`));
    }
  });
});
