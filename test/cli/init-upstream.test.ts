import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { runEmbeddedGate } from '../support/gate/embedded-gate.ts';
import { runProgramInTest } from '../support/process/program.ts';
import { startWeatherApi } from '../support/upstream/weather-api.ts';
import { createWorkspace } from '../support/workspace.ts';

const run = promisify(execFile);
const weatherServer = fileURLToPath(new URL('../support/upstream/weather-server.mjs', import.meta.url));
const command = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url));
const key = 'planted-weather-key-51c8';

describe('mcp-eval-ci init --upstream', () => {
  it('explores a server with its API, and writes evals that pass without it and fail for a server that got worse', async () => {
    const source = await readFile(weatherServer, 'utf8');
    const server = source
      .replace('&ts=${Date.now()}', '')
      .replace('description: name,', "description: name, annotations: { readOnlyHint: name === 'get_weather' },");
    await using workspace = await createWorkspace({ 'server.mjs': server });
    const start = ['--server-command', 'node server.mjs', '--server-env', 'API_URL', '--server-env', 'API_KEY'];
    {
      await using api = await startWeatherApi(key);
      await workspace.write('person.pem', api.certificate);
      const flags = ['--yes', '--no-run', '--upstream', 'evals/upstream', '--budget', '20', '--time-limit', '30m'];
      const env = {
        PATH: process.env['PATH'] ?? '',
        API_URL: api.url,
        API_KEY: key,
        NODE_EXTRA_CA_CERTS: join(workspace.path, 'person.pem'),
      };
      const { stdout } = await run(process.execPath, [command, 'init', ...flags, ...start], {
        cwd: workspace.path,
        env,
      });
      expect(stdout).toContain('Coverage: 1 of 3 tools');
      expect(stdout).toContain('add_station: it is not declared read-only, and its calls reach an API');
      // Each world asks again, and the API answers once; the cases are recorded after that.
      const cases = (await workspace.read('evals/tools.evals.yaml')).split('toolCall: get_weather').length - 1;
      for (const request of new Set(api.requests)) {
        expect(request).toMatch(/^GET \/weather\?/);
        expect(api.requests.filter((each) => each === request).length).toBeLessThanOrEqual(1 + cases);
      }
    }
    expect(await workspace.read('evals/tools.evals.yaml')).toMatch(/^upstream: upstream$/m);
    const inputs = {
      'server-command': 'node server.mjs',
      'server-env': 'API_URL\nAPI_KEY\nMODE',
      evals: 'evals/tools.evals.yaml',
      isolation: 'iteration',
      sandbox: 'off',
    };
    const replay = async (MODE: string) =>
      await runEmbeddedGate(workspace, inputs, {
        environment: { API_URL: 'https://api.test', API_KEY: 'a-dummy-in-ci', MODE },
      });
    expect((await replay('same')).report.verdict.outcome).toBe('passed');
    expect((await replay('worse')).report.verdict.outcome).toBe('failed');
  });

  it.each([
    ['at a URL', {}, ['--server-url', 'http://127.0.0.1:9/mcp'], /a server at a URL is not started here/],
    [
      'with evals that have no such key',
      { 'evals/tools.evals.yaml': 'suite: s\ncases:\n  - title: t\n    steps:\n      - ping: true\n' },
      ['--server-command', 'node server.mjs'],
      /has no key `upstream`; write `upstream: upstream` into it/,
    ],
  ])('exits 2 for a server %s', async (_where, files, start, message) => {
    await using workspace = await createWorkspace(files);
    const args = ['init', '--yes', '--upstream', 'evals/upstream', ...start];
    const result = await runProgramInTest(args, { cwd: workspace.path });
    expect(result).toMatchObject({ exitCode: 2, stdout: '' });
    expect(result.stderr.replaceAll(/\s+/g, ' ')).toMatch(message);
  });
});
