import { describe, expect, it } from 'vitest';
import { ConfigurationError, formatConfigurationIssue } from '../../src/base/errors.ts';
import { parseGateOptions } from '../../src/gate/options.ts';
import { type GatePlan, planGate } from '../../src/gate/plan/plan.ts';
import { jobOnBranch } from '../support/gate/hosted-gate.ts';

const hosted = {
  'server-command': 'node server.js',
  service: 'svc',
  'base-url': 'https://host/api/v1',
  'api-key': 'sk_canary_key',
};
const echo = '- title: Echoes\n  steps: [{ toolCall: echo }]\n';

async function plan(
  texts: Record<string, string>,
  environment: Record<string, string> = jobOnBranch,
): Promise<GatePlan> {
  return await planGate(parseGateOptions({ tests: echo, ...hosted, ...texts }), { cwd: process.cwd(), environment });
}

async function listIssues(...args: Parameters<typeof plan>): Promise<string[]> {
  try {
    await plan(...args);
    return [];
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    return error.issues.map(formatConfigurationIssue);
  }
}

describe('planGate for a hosted service', () => {
  it('opens a tunnel, with the embedded service only if `tunnel` requires it', async () => {
    expect((await plan({})).service).toMatchObject({ isTunnelled: true, isOwnServerName: true });
    expect((await plan({ service: 'embedded' })).service).toMatchObject({ isTunnelled: false, hosted: null });
    expect((await plan({ service: 'embedded', tunnel: 'always' })).service.isTunnelled).toBe(true);
    expect((await plan({ 'base-url': 'http://127.0.0.1:1/api/v1' })).service.isTunnelled).toBe(true);
    expect((await plan({ 'server-name': 'mine' })).service).toMatchObject({
      serverName: 'mine',
      isOwnServerName: false,
    });
  });

  it('refuses what the client offers, since a service has no field for it', async () => {
    const tests = '- title: Asks\n  client: { elicitation: [accept] }\n  steps: [{ toolCall: ask }]\n';
    expect(await listIssues({ tests })).toEqual([
      'tests:2:3: the service svc knows no `client`; remove it, or use `service: embedded` (needs-embedded-service)',
    ]);
    expect(await listIssues({ tests, service: 'embedded' })).toEqual([]);
  });

  it('refuses a judge that gates, which only the service in this process can ask, and leaves out advice', async () => {
    const judged = (role: string) =>
      `- title: Polite\n  checks: [{ judge: It is polite., model: openai/gpt-5-mini${role} }]\n  steps: [{ toolCall: echo }]\n`;
    expect(await listIssues({ tests: judged(', role: gating') })).toEqual([
      'tests:2:12: the service svc knows no judge; remove `role: gating`, or use `service: embedded` (needs-embedded-service)',
    ]);
    expect(await listIssues({ tests: judged('') })).toEqual([]);
  });

  it('refuses steps, a setup and a teardown that the service does not know, each with its line', async () => {
    const tests =
      '- title: Own\n  setup: [{ ping: true }]\n  steps:\n    - readResource: note://1\n    - toolCall: echo\n  teardown: [{ ping: true }]\n';
    const say = (place: string, what: string) =>
      `tests:${place}: the service svc knows no \`${what}\`; remove it, or use \`service: embedded\` (needs-embedded-service)`;
    expect(await listIssues({ tests })).toEqual([
      say('2:11', 'setup'),
      say('4:7', 'readResource'),
      say('6:14', 'teardown'),
    ]);
    expect(await listIssues({ tests, service: 'embedded' })).toEqual([]);
  });

  it('refuses a snapshot, of a step and of a check, which only the service in this process has', async () => {
    const message =
      'the service svc knows no `toMatchFile`; remove it, or use `service: embedded` (needs-embedded-service)';
    const asStep =
      '- title: Same\n  steps:\n    - toolCall: echo\n    - assert: { not: { toMatchFile: snapshots/echo.json } }\n';
    const asCheck = '- title: Same\n  checks: [{ toMatchFile: snapshots/echo.json }]\n  steps: [{ toolCall: echo }]\n';
    const missing = 'does not exist; write it with `mcp-eval-ci run --update-snapshots` (missing-snapshot)';
    for (const [tests, place] of [
      [asStep, 'tests:4:7'],
      [asCheck, 'tests:1:3'],
    ] as const) {
      expect(await listIssues({ tests })).toContain(`${place}: ${message}`);
      expect(await listIssues({ tests, service: 'embedded' })).toEqual([expect.stringContaining(missing)]);
    }
  });

  it('says which assertions an unknown version of the service may not know, and no trace shows', async () => {
    const tests = '- title: Fits\n  checks: [argumentsMatchToolSchema]\n  steps: [{ toolCall: echo }]\n' + echo;
    expect((await plan({ tests })).notes).toEqual([
      'Inline tests: the service svc may not know argumentsMatchToolSchema, and no trace shows what that takes, so these cases will have no result: "Fits". Run them with the embedded service, or make these assertions advisory.',
    ]);
    expect((await plan({ tests, service: 'mcpjam' })).notes).toEqual([]);
    expect((await plan({ tests, service: 'embedded', 'base-url': '', 'api-key': '' })).notes).toEqual([]);
    const advisory = tests.replace('argumentsMatchToolSchema', '{ type: argumentsMatchToolSchema, role: advisory }');
    expect((await plan({ tests: advisory })).notes).toEqual([]);
  });

  it('refuses a program of the evals file where the gate starts no server', async () => {
    const tests = '- title: Seeded\n  steps: [{ repeat: [{ command: [node, seed.js] }], until: noToolErrors }]\n';
    const embedded = { tests, service: 'embedded', 'base-url': '', 'api-key': '' };
    const alone = { ...embedded, 'server-command': '', 'server-url': 'http://127.0.0.1:1/mcp' };
    expect(await listIssues(alone)).toEqual([
      'tests:2:11: A `command` step runs as the server does, and this gate starts no server; set `server-command`, or remove the step (needs-server-command)',
    ]);
    expect(await listIssues(embedded)).toEqual([]);
  });

  it('goes without a tunnel only where the service can reach the server', async () => {
    const never = { tunnel: 'never', 'server-command': '' };
    expect(await listIssues({ ...never, 'server-url': 'https://example.com/mcp' })).toEqual([]);
    expect(await listIssues({ ...never, 'server-url': 'http://127.0.0.1:3000/mcp' })).toEqual([
      'tunnel: is never, but the service cannot reach a server that only this machine can; leave it at auto (server-out-of-reach)',
    ]);
    expect(await listIssues({ tunnel: 'never' })).toEqual([expect.stringContaining('(server-out-of-reach)')]);
    expect(await listIssues({ tunnel: 'never', 'base-url': 'http://127.0.0.1:1/api/v1' })).toEqual([]);
  });

  it('cuts iterations to what the service runs, and says so', async () => {
    const { suites, notes } = await plan({ tests: echo.replace('steps', 'runs: 50\n  steps') });
    expect(suites).toMatchObject([{ suite: { cases: [{ runs: 10 }] }, whole: { cases: [{ runs: 10 }] } }]);
    expect(notes).toEqual([
      'Inline tests: the service svc runs a case at most 10 times, so these run 10 times: "Echoes" (50).',
    ]);
    expect((await plan({ service: 'embedded', runs: '50' })).notes).toEqual([]);
    expect(await listIssues({ tests: '', suite: 'Nightly', runs: '11' })).toEqual([
      expect.stringContaining('(too-many-runs)'),
    ]);
  });

  it('refuses more cases than the service takes', async () => {
    const cases = (count: number) =>
      Array.from({ length: count }, (_, index) => echo.replace('Echoes', `Echoes ${index}`)).join('');
    expect(await listIssues({ tests: cases(100) })).toEqual([]);
    expect(await listIssues({ tests: cases(101) })).toEqual([
      'tests:1: Inline tests has 101 cases, and the service svc takes 100 in a suite; split the file (too-many-cases)',
    ]);
  });

  it('takes prompt steps, where a model is named', async () => {
    const prompt = '- title: Asks\n  steps: [{ prompt: hello }]\n';
    expect(await listIssues({ tests: `model: anthropic/claude-haiku-4.5\nsuite: S\ncases:\n${prompt}` })).toEqual([]);
    expect(await listIssues({ tests: prompt })).toEqual([expect.stringContaining('(missing-model)')]);
  });

  it('refuses two cases that the service could not distinguish', async () => {
    const judged = (text: string) => echo.replace(' }]', ` }, { assert: { toolResultContains: ${text} } }]`);
    expect(await listIssues({ tests: `${judged('a')}${judged('b').replace('Echoes', 'Echoes b')}` })).toEqual([]);
    expect(await listIssues({ tests: `${judged('a')}${judged('b')}` })).toEqual([
      expect.stringMatching(/^tests:3:\d+: case "Echoes" is the same as the one in line 1 to the service svc;/),
    ]);
  });

  it('says which cases a service cannot judge, and only of such a service', async () => {
    const judged = echo.replace(' }]', ' }, { assert: { toolResultContains: x } }]');
    expect((await plan({ tests: judged })).notes).toEqual([]);
    expect((await plan({ tests: judged, service: 'mcpjam' })).notes).toEqual([
      'Inline tests: the service mcpjam keeps no results of toolCall steps, so assertions on them cannot be judged and these cases will have no result: "Echoes". Run them with the embedded service.',
    ]);
    expect((await plan({ service: 'mcpjam' })).notes).toEqual([]);
  });

  it('says that a service ignores the concurrency of a file, and the embedded one does not', async () => {
    const suite = `suite: S\nconcurrency: 2\nindependent: true\ncases:\n${echo.replaceAll(/^(?=.)/gm, '  ')}`;
    expect((await plan({ tests: suite, service: 'mcpjam' })).notes).toEqual([
      'S: the service mcpjam decides itself how many iterations run at the same time; `concurrency` (tests:2) is ignored.',
    ]);
    const { suites, notes } = await plan({ tests: suite, service: 'embedded' });
    expect(notes).toEqual([]);
    expect(suites).toMatchObject([{ concurrency: { setting: 2, source: 'tests:2', isIndependent: true } }]);
  });

  it('refuses to start a server on pull_request_target unless that is asked for', async () => {
    const environment = { ...jobOnBranch, GITHUB_EVENT_NAME: 'pull_request_target' };
    const issues = ['server-command: would run on pull_request_target'];
    expect(await listIssues({ service: 'embedded' }, environment)).toEqual(
      issues.map((text) => expect.stringContaining(text)),
    );
    expect(await listIssues({ 'allow-pull-request-target': 'true' }, environment)).toEqual([]);
    expect(await listIssues({ 'server-command': '', 'server-url': 'https://example.com/mcp' }, environment)).toEqual(
      [],
    );
  });

  it('reports a base URL, a key and a proxy that cannot be used, together and without quoting them', async () => {
    const issues = await listIssues(
      { 'base-url': 'https://user:canary@host/api/v1', 'api-key': 'canary canary' },
      { ...jobOnBranch, HTTPS_PROXY: 'canary://canary' },
    );
    expect(issues.map((issue) => /\(([a-z-]+)\)$/.exec(issue)?.[1])).toEqual(['invalid-base-url']);
    expect(issues.join()).not.toContain('canary');
    const others = await listIssues({ 'api-key': 'canary canary' }, { ...jobOnBranch, HTTPS_PROXY: 'canary://canary' });
    expect(others.map((issue) => /\(([a-z-]+)\)$/.exec(issue)?.[1])).toEqual(['invalid-api-key', 'invalid-proxy']);
    expect(others.join()).not.toContain('canary ');
  });

  it('prints no key, and names all of them for masking', async () => {
    const planned = await plan(
      { 'model-api-keys': 'openai=sk_canary_model' },
      { ...jobOnBranch, https_proxy: 'http://me:canary_password@proxy:3128' },
    );
    expect(JSON.stringify(planned.service.modelApiKeys) + JSON.stringify(planned.service.hosted?.apiKey)).not.toContain(
      'canary',
    );
    expect(planned.secrets.map((secret) => secret.reveal())).toEqual(
      expect.arrayContaining(['sk_canary_key', 'sk_canary_model', 'canary_password']),
    );
  });
});
