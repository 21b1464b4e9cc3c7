import { execFile } from 'node:child_process';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { silentLogger } from '../../src/base/logger.ts';
import { createRedactor } from '../../src/base/redaction.ts';
import { publishUpstream } from '../../src/gate/publish/publish-upstream.ts';
import { runEmbeddedGate } from '../support/gate/embedded-gate.ts';
import { commandPath } from '../support/process/bundled-command.ts';
import { listChildVariables } from '../support/process/child-environment.ts';
import { canMake } from '../support/process/sandbox-lab.ts';
import { startWeatherApi } from '../support/upstream/weather-api.ts';
import { createWorkspace, type Workspace } from '../support/workspace.ts';

const run = promisify(execFile);
const isAvailable = (await canMake('unshare')) || (await canMake('bwrap'));
const server = fileURLToPath(new URL('../support/upstream/weather-server.mjs', import.meta.url));
const key = 'planted-weather-key-7f3a';

const suite = `suite: Weather
upstream:
  path: upstream
  ignore: { query: [ts], body: [/nonce] }
cases:
  - title: Shows the weather
    id: weather
    runs: 2
    steps:
      - toolCall: get_weather
        arguments: { city: Rome }
      - assert: { toolResultContains: "Rome: 21" }
  - title: Adds a station
    id: station
    runs: 2
    steps:
      - toolCall: add_station
        arguments: { name: North }
      - assert: { toolResultContains: "0 → 1" }
`;

async function writeSuite(workspace: Workspace, text = suite): Promise<void> {
  await mkdir(join(workspace.path, 'evals'), { recursive: true });
  await writeFile(join(workspace.path, 'evals/weather.evals.yaml'), text);
}

/** Records with the command, as a person does. */
async function record(workspace: Workspace, variables: Record<string, string>, more: readonly string[] = []) {
  const args = [commandPath, 'record-upstream', '--server-command', `node ${server}`, '--sandbox', 'off'];
  const passed = ['API_URL', 'API_KEY', 'MODE'].filter((name) => variables[name] !== undefined);
  const all = [...args, ...passed.flatMap((name) => ['--server-env', name]), ...more, 'evals/weather.evals.yaml'];
  const env = { ...listChildVariables(), ...variables };
  return await run(process.execPath, all, { cwd: workspace.path, env }).then(
    ({ stdout, stderr }) => ({ code: 0, text: stdout + stderr }),
    (error: { code: number; stdout: string; stderr: string }) => ({
      code: error.code,
      text: error.stdout + error.stderr,
    }),
  );
}

async function replay(workspace: Workspace, inputs: Record<string, string> = {}, environment = {}) {
  return await runEmbeddedGate(
    workspace,
    {
      'server-command': `node ${server}`,
      'server-env': 'API_URL\nAPI_KEY\nMODE',
      evals: 'evals/weather.evals.yaml',
      isolation: 'iteration',
      sandbox: 'off',
      ...inputs,
    },
    { environment: { API_URL: 'https://api.test', API_KEY: 'a-dummy-in-ci', MODE: 'same', ...environment } },
  );
}

/** Writes a suite and records it over HTTPS; the API is gone afterwards. */
async function recordWeather(workspace: Workspace): Promise<void> {
  await writeSuite(workspace);
  await using api = await startWeatherApi(key);
  const certificate = join(workspace.path, 'person.pem');
  await writeFile(certificate, api.certificate);
  const recorded = await record(workspace, { API_URL: api.url, API_KEY: key, NODE_EXTRA_CA_CERTS: certificate });
  expect(recorded).toMatchObject({ code: 0, text: expect.stringContaining('Wrote 2 recordings of upstream answers') });
  expect(api.requests).toEqual([
    expect.stringMatching(/^GET \/weather\?city=Rome&units=metric&ts=\d+$/),
    'GET /stations',
    'POST /stations',
    'GET /stations',
  ]);
}

describe('a gate with recordings of an API', () => {
  it('passes without the API, finds a server that got worse, and scores no request that is new', async () => {
    await using workspace = await createWorkspace();
    await recordWeather(workspace);
    const files = await readdir(workspace.path, { recursive: true, withFileTypes: true });
    for (const file of files.filter((entry) => entry.isFile())) {
      expect(await readFile(join(file.parentPath, file.name), 'utf8')).not.toContain(key);
    }
    const station = await readFile(join(workspace.path, 'evals/upstream/station.json'), 'utf8');
    expect(JSON.parse(station)).toMatchObject({
      version: 1,
      case: 'Adds a station',
      sessions: [
        {
          iteration: 1,
          exchanges: [
            { request: { method: 'GET', url: '{{env.API_URL}}/stations' }, response: { status: 200 } },
            { request: { method: 'POST', body: { json: { name: 'North', key: '{{env.API_KEY}}' } } } },
            {},
          ],
        },
      ],
    });
    expect(station).not.toContain('nonce"');

    const same = await replay(workspace);
    expect(same.report.totals).toMatchObject({ passed: 4, failed: 0 });
    expect(same.report.verdict.outcome).toBe('passed');

    const worse = await replay(workspace, {}, { MODE: 'worse' });
    expect(worse.report.totals).toMatchObject({ passed: 2, failed: 2 });
    expect(worse.report.verdict.outcome).toBe('failed');

    const other = await replay(workspace, {}, { MODE: 'other-url' });
    expect(other.report.totals).toMatchObject({ passed: 2, failed: 0 });
    expect(other.report.verdict.outcome).toBe('inconclusive');
    expect(JSON.stringify(other.report)).toContain(
      'The server sent GET {{env.API_URL}}/v2/weather?city=Rome, which has no recorded answer.',
    );
  });

  it('scores no iteration whose server ended because a request was new', async () => {
    await using workspace = await createWorkspace();
    await mkdir(join(workspace.path, 'evals/upstream'), { recursive: true });
    await writeSuite(
      workspace,
      `suite: Crash
upstream: upstream
cases:
  - title: Ends
    steps:
      - toolCall: crash_on_error
        arguments: { city: Rome }
`,
    );
    const { report } = await replay(workspace);
    expect(report.totals).toMatchObject({ passed: 0, failed: 0 });
    expect(report.verdict.outcome).toBe('inconclusive');
    expect(JSON.stringify(report)).toContain('The case has no recording. Record it with `mcp-eval-ci record-upstream`');
  });
});

describe('a sandbox without a network', () => {
  it.runIf(isAvailable)('reaches the recordings, and nothing else', async () => {
    await using workspace = await createWorkspace();
    const [weather = ''] = suite.split('  - title: Adds a station');
    await writeSuite(workspace, weather);
    await mkdir(join(workspace.path, 'evals/upstream'));
    const exchange = {
      request: { method: 'GET', url: '{{env.API_URL}}/weather?city=Rome&units=metric' },
      response: { status: 200, body: { json: { temperature: 21 } } },
    };
    const recording = { version: 1, case: 'Weather', sessions: [{ iteration: 1, exchanges: [exchange] }] };
    await writeFile(join(workspace.path, 'evals/upstream/weather.json'), JSON.stringify(recording));
    for (const sandbox of ['auto', 'required']) {
      const { report } = await replay(workspace, { sandbox, 'sandbox-network': 'off' });
      expect(report.totals).toMatchObject({ passed: 2, failed: 0 });
      expect(report.server?.sandbox).toMatchObject({ network: 'loopback' });
    }
    const { report } = await replay(workspace, { 'sandbox-network': 'off', sandbox: 'auto' }, { MODE: 'other-url' });
    expect(report.verdict.outcome).toBe('inconclusive');
  });
});

describe('recordings of an API are refused', () => {
  const refuse = async (workspace: Workspace, inputs: Record<string, string> = {}) =>
    await replay(workspace, inputs).then(
      () => '',
      (error: unknown) => String(error),
    );

  it('if they are missing, damaged, or of another version', async () => {
    await using workspace = await createWorkspace();
    await writeSuite(workspace);
    expect(await refuse(workspace)).toContain(
      'evals/weather.evals.yaml:2:1: "evals/upstream" is not a directory; record the answers of the API with `mcp-eval-ci record-upstream`',
    );
    await mkdir(join(workspace.path, 'evals/upstream'));
    const write = async (text: string) => await writeFile(join(workspace.path, 'evals/upstream/station.json'), text);
    await write('{"version": 1, ');
    expect(await refuse(workspace)).toContain('evals/upstream/station.json is not JSON; record it again');
    await write('{"version": 2}');
    expect(await refuse(workspace)).toContain('has version 2, and this gate reads version 1');
    await write('{"version": 1, "case": "x", "sessions": [{"iteration": 1, "exchanges": [{}]}]}');
    expect(await refuse(workspace)).toContain(
      'evals/upstream/station.json is damaged at /sessions/0/exchanges/0/request',
    );
  });

  it('with one process for the run, at a URL, and in a container', async () => {
    await using workspace = await createWorkspace();
    await writeSuite(workspace);
    await mkdir(join(workspace.path, 'evals/upstream'));
    expect(await refuse(workspace, { isolation: 'run' })).toContain(
      'evals/weather.evals.yaml:2:1: every iteration starts a process of its own, whose requests get the answers recorded for it, and `isolation` is `run`',
    );
    expect(await refuse(workspace, { 'server-command': 'node x', 'server-url': 'http://127.0.0.1:9/mcp' })).toContain(
      'share the server at `server-url` over HTTP; start it on stdio, or remove `upstream`',
    );
    expect(await refuse(workspace, { 'server-command': 'docker run --rm weather' })).toContain(
      'the server runs in a container, which reaches no proxy of this machine',
    );
  });
});

describe('record-upstream', () => {
  it('warns and is not complete if the server sent nothing through the recorder', async () => {
    const warnings: string[] = [];
    const logger = { ...silentLogger, warning: (text: string) => void warnings.push(text) };
    const isComplete = await publishUpstream([], { cwd: '/', logger, redactor: createRedactor() });
    expect({ isComplete, warnings }).toEqual({
      isComplete: false,
      warnings: [expect.stringContaining('no request of the server came through the recorder')],
    });
  });
});
