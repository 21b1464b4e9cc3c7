import { describe, expect, it } from 'vitest';
import { ConfigurationError, formatConfigurationIssue } from '../../../src/base/errors.ts';
import { parseGateOptions } from '../../../src/gate/options.ts';
import { type GatePlan, planGate } from '../../../src/gate/plan/plan.ts';
import type { FileSuite } from '../../../src/gate/plan/plan-suites.ts';
import { createWorkspace, greenEvals } from '../../support/workspace.ts';

const inline = '- title: Echoes\n  steps: [{ toolCall: echo }]\n';

async function plan(
  texts: Record<string, string>,
  files: Record<string, string> = {},
  environment: Record<string, string> = {},
): Promise<GatePlan> {
  await using workspace = await createWorkspace(files);
  return await planGate(parseGateOptions({ 'server-command': 'node server.js', ...texts }), {
    cwd: workspace.path,
    environment,
  });
}

function listFileSuites({ suites }: GatePlan): FileSuite[] {
  return suites.filter((planned) => planned.kind === 'file');
}

async function listIssues(...args: Parameters<typeof plan>): Promise<string[]> {
  try {
    await plan(...args);
    return [];
  } catch (error) {
    return error instanceof ConfigurationError ? error.issues.map(formatConfigurationIssue) : [String(error)];
  }
}

describe('planGate', () => {
  it('takes files first, then the tests written in place', async () => {
    const planned = await plan({ evals: '*.yaml', tests: inline }, { 'a.yaml': greenEvals });
    expect(listFileSuites(planned).map(({ suite }) => `${suite.id} from ${suite.location.file}`)).toEqual([
      'everything from a.yaml',
      'inline-tests from tests',
    ]);
  });

  it('reports a missing path of `sandbox-write` once, however many servers there are', async () => {
    const sandboxed = { 'base-server-command': 'node base.js', sandbox: 'required', 'sandbox-write': 'not-there' };
    expect(await listIssues({ evals: 'a.yaml', ...sandboxed }, { 'a.yaml': greenEvals })).toEqual([
      expect.stringMatching(/^sandbox-write: "not-there" does not exist/),
    ]);
  });

  it('reads tests whose lines are all indented, and reports their lines as they are written', async () => {
    const tests = `\n    ${inline.trimEnd().replaceAll('\n', '\n    ')}\n`;
    expect(listFileSuites(await plan({ tests }))[0]?.suite.cases[0]?.location.line).toBe(2);
    expect(await listIssues({ tests: tests.replace('toolCall', 'tolCall') })).toEqual([
      expect.stringMatching(/^tests:3:\d+: .*`toolCall`/),
    ]);
  });

  it('refuses tests written in place that call themselves like a file’s suite', async () => {
    const tests = `suite: Everything\ncases:\n${inline}`;
    expect(await listIssues({ evals: 'a.yaml', tests }, { 'a.yaml': greenEvals })).toEqual([
      'tests:1:1: The suite id `everything` is taken by a.yaml; set another `id` (duplicate-suite-id)',
    ]);
    expect(await listIssues({ evals: 'a.yaml', tests: `id: other\n${tests}` }, { 'a.yaml': greenEvals })).toEqual([]);
  });

  it.each([
    ['default', {}, '', 1],
    ['a.yaml:2', {}, 'policy:\n  minimumPassRate: 80%\n', 0.8],
    ['min-pass-rate', { 'min-pass-rate': '70%' }, 'policy:\n  minimumPassRate: 80%\n', 0.7],
  ])('says that the minimum comes from %s', async (source, texts, policy, minimumPassRate) => {
    const { suites } = await plan({ evals: 'a.yaml', ...texts }, { 'a.yaml': `${policy}${greenEvals}` });
    expect(suites).toMatchObject([{ requirements: { minimumPassRate: { value: minimumPassRate, source } } }]);
  });

  it('refuses a command that cannot be split as it is meant, before anything starts', async () => {
    expect(await listIssues({ tests: inline, 'server-command': 'node C:\\srv\\x.js' })).toEqual([
      expect.stringMatching(/^server-command: .* \(lost-backslash\)$/),
    ]);
    expect(await listIssues({ tests: inline, 'server-command': 'node "x' })).toEqual([
      'server-command: "node \\"x" cannot be split into words: Got EOF while in a quoted string (invalid-command)',
    ]);
  });

  it('refuses a prompt step at its line, unless its case is left out', async () => {
    const files = { 'a.yaml': `${greenEvals}  - title: Asks\n    tags: [model]\n    steps:\n      - prompt: hello\n` };
    expect(await listIssues({ evals: 'a.yaml' }, files)).toEqual([
      expect.stringMatching(/^a\.yaml:26:\d+: case "Asks" has a prompt step/),
    ]);
    expect(await listIssues({ evals: 'a.yaml', cases: 'echo,sum' }, files)).toEqual([]);
  });

  it('refuses a timeout that is longer than the gate’s, once at the line that says it', async () => {
    const files = {
      'a.yaml': `suite: a\ntimeout: 15m\ncases:\n${inline.replace('Echoes', 'A')}${inline.replace('Echoes', 'B')}- title: C\n  timeout: 20m\n  steps: [{ toolCall: echo }]\n`,
    };
    expect(await listIssues({ evals: 'a.yaml', timeout: '12m' }, files)).toEqual([
      'a.yaml:2:1: The timeout of 15 min is longer than the whole gate may take, 12 min; shorten it, or raise the option `timeout` (timeout-too-long)',
      'a.yaml:9:3: The timeout of 20 min is longer than the whole gate may take, 12 min; shorten it, or raise the option `timeout` (timeout-too-long)',
    ]);
    expect(await listIssues({ evals: 'a.yaml', timeout: '20m' }, files)).toEqual([]);
  });

  it('leaves the default timeout of cases to a gate that may take less', async () => {
    expect(await listIssues({ tests: inline, timeout: '30s' })).toEqual([]);
  });

  it('passes variables through, and keeps secret what is one by its origin, its name or its form', async () => {
    const {
      servers: [server],
    } = await plan(
      {
        tests: inline,
        'server-env': 'PASSED\nAPI_TOKEN=token-value\nMODE=production\nDATABASE=postgres://me:hunter22@db/orders',
      },
      {},
      { PASSED: 'from-the-job', OTHER: 'x' },
    );
    expect([...(server?.environment ?? [])].map(([name, value]) => `${name}=${value.reveal()}`)).toEqual([
      'PASSED=from-the-job',
      'API_TOKEN=token-value',
      'MODE=production',
      'DATABASE=postgres://me:hunter22@db/orders',
    ]);
    expect(server?.secrets.map((secret) => secret.reveal())).toEqual([
      'from-the-job',
      'token-value',
      'postgres://me:hunter22@db/orders',
    ]);
  });

  it('takes no value for a secret that the report is made of, since masking it would mask the verdict', async () => {
    const {
      servers: [server],
    } = await plan(
      { tests: inline, 'server-env': 'STATUS\nSCHEMA\nOTHER' },
      {},
      { STATUS: 'failed', SCHEMA: 'schema', OTHER: 'failed-canary' },
    );
    expect(server?.secrets.map((secret) => secret.reveal())).toEqual(['failed-canary']);
  });

  it('reports files, inputs and variables together', async () => {
    const issues = await listIssues(
      { evals: '*.yaml\nnone/*', tests: '- title: x', 'server-env': 'MISSING', 'server-cwd': 'nowhere' },
      { 'a.yaml': 'suite: A\n' },
    );
    expect(issues.map((issue) => /\(([a-z-]+)\)$/.exec(issue)?.[1])).toEqual([
      'no-files',
      'missing-key',
      'missing-key',
      'missing-variable',
      'no-directory',
    ]);
  });

  it('reports a hundred thousand problems of a file, and does not break on their number', async () => {
    const issues = await listIssues({ evals: 'a.yaml' }, { 'a.yaml': `suite: x\ncases:\n${'- 1\n'.repeat(130_000)}` });
    expect([issues.length, issues.at(-1)]).toEqual([
      130_000,
      'a.yaml:130002:3: `cases` item 130000 must be a mapping, not 1 (wrong-type)',
    ]);
  });

  it.each(['workflow_run', 'issue_comment', 'pull_request_target'])(
    'warns where a server starts on %s',
    async (event) => {
      const inputs = { tests: inline, 'allow-pull-request-target': 'true' };
      const environment = { GITHUB_ACTIONS: 'true', GITHUB_EVENT_NAME: event };
      expect((await plan(inputs, {}, environment)).notes).toEqual([
        `\`server-command\` starts a server on ${event}, where the job has the secrets of this repository and a token that may write, although others can cause the event. If a pull request can change what is built or started, its author gets both. Start it on pull_request, and comment on its report with \`publish\`. See "Two jobs" in https://github.com/your-org/mcp-eval-ci/blob/v0.1.0/docs/hardening.md`,
      ]);
      const elsewhere = { ...inputs, 'server-command': '', 'server-url': 'https://mcp.example/mcp' };
      expect((await plan({ ...elsewhere, 'allow-pull-request-target': '' }, {}, environment)).notes).toEqual([]);
      expect((await plan({ tests: inline }, {}, { ...environment, GITHUB_EVENT_NAME: 'pull_request' })).notes).toEqual(
        [],
      );
    },
  );

  it('takes a directory for the server that exists, and no file for one', async () => {
    const files = { 'server/index.js': '' };
    expect((await plan({ tests: inline, 'server-cwd': 'server' }, files)).servers[0]?.cwd).toMatch(/\/server$/);
    expect(await listIssues({ tests: inline, 'server-cwd': 'server/index.js' }, files)).toEqual([
      expect.stringContaining('(no-directory)'),
    ]);
  });

  it('prints no value of the environment', async () => {
    const printed = JSON.stringify(await plan({ tests: inline, 'server-env': 'API_TOKEN=canary' }));
    expect(printed).not.toContain('canary');
  });
});
