import { describe, expect, it } from 'vitest';
import { ConfigurationError, type ConfigurationIssue } from '../../src/base/errors.ts';
import { parseDoctorOptions, parseGateOptions } from '../../src/gate/options.ts';
import { listOptions } from '../../src/gate/options/list.ts';

const complete = { evals: 'evals/*.evals.yaml', 'server-command': 'node build/index.js' };

function listIssues(texts: Record<string, string>): readonly ConfigurationIssue[] {
  try {
    parseGateOptions(texts);
    return [];
  } catch (error) {
    return error instanceof ConfigurationError ? error.issues : [];
  }
}

const readIssues = (texts: Record<string, string>) => listIssues(texts).map(({ input, code }) => `${input}: ${code}`);
const readMessages = (texts: Record<string, string>) => listIssues(texts).map(({ message }) => message);

describe('the option table', () => {
  it('names each option once, in kebab-case, with a description of full sentences', () => {
    const options = listOptions();
    expect(new Set(options.map(({ name }) => name)).size).toBe(options.length);
    for (const { name, description } of options) {
      expect(name).toMatch(/^[a-z]+(?:-[a-z]+)*$/);
      expect(description).toMatch(/^[A-Z`].*\.$/s);
    }
  });

  it('parses every default that it states', () => {
    expect(() => parseGateOptions(complete)).not.toThrow();
    for (const { name, default: fallback } of listOptions()) {
      expect(parseGateOptions({ ...complete, ...(fallback === '' ? {} : { [name]: fallback }) })).toEqual(
        parseGateOptions(complete),
      );
    }
  });
});

describe('a value that no option takes', () => {
  it.each(['???', '-1', '2024-11-05', '{', '"'])(
    'is described in words of the option, not of the parser: %s',
    (text) => {
      const messages = listOptions().flatMap(({ name }) => readMessages({ ...complete, [name]: text }));
      expect(messages.length).toBeGreaterThan(5);
      for (const message of messages) expect(message).not.toMatch(/Invalid|[Ee]xpected|received|Too /);
    },
  );

  it('names the values that the option takes', () => {
    expect(readMessages({ ...complete, protocol: '2024-11-05' })).toEqual([
      '"2024-11-05" is not a protocol; write auto, 2025-11-25, 2026-07-28 or both',
    ]);
  });
});

describe('parseGateOptions', () => {
  it('needs two inputs and fills in the rest', () => {
    expect(parseGateOptions(complete)).toEqual({
      evals: ['evals/*.evals.yaml'],
      base: null,
      baseServerCommand: null,
      baseServerCwd: null,
      baseSetup: [],
      baseCacheKey: null,
      tests: null,
      branch: null,
      commit: null,
      baseRef: null,
      suite: null,
      suiteScope: 'branch',
      surface: null,
      behaviour: 'off',
      behaviourTimeLimit: 120_000,
      workspace: null,
      cases: [],
      tags: [],
      concurrency: null,
      runs: null,
      shard: null,
      merge: [],
      bail: false,
      dryRun: false,
      serverCommand: 'node build/index.js',
      serverUrl: null,
      serverHeaders: new Map(),
      serverOauth: null,
      serverOauthSecret: null,
      oauthTokenOrigin: null,
      allowEnvHosts: [],
      serverEnv: new Map(),
      serverCwd: null,
      serverReadyTimeout: 60_000,
      isolation: 'iteration',
      mcpConfig: null,
      sandbox: 'auto',
      enableSandbox: false,
      sandboxNetwork: 'on',
      sandboxWrite: [],
      allowPullRequestTarget: false,
      allowUnsandboxedChecks: false,
      service: 'embedded',
      upload: 'off',
      baseUrl: null,
      apiKey: null,
      project: null,
      environment: null,
      modelApiKeys: new Map(),
      modelTimeout: 45_000,
      modelCallsPerSecond: 5,
      queueTimeout: 600_000,
      tunnel: 'auto',
      serverName: null,
      commentId: null,
      minPassRate: null,
      policy: null,
      policyRef: 'head',
      protocol: null,
      timeout: 1_800_000,
      baseline: null,
      historyPath: null,
      recordings: 'auto',
      reportDir: 'mcp-eval-report',
      reportFormats: ['html'],
      reportTo: { annotations: true, summary: true, comment: null, checkRun: false, issue: false },
      githubToken: null,
      host: null,
      publish: null,
      pullNumber: null,
    });
  });

  it.each([
    ['svc', {}],
    ['embedded', { service: 'embedded' }],
    ['mcpjam', { service: 'mcpjam' }],
    ['embedded', { upload: 'svc' }],
    ['embedded', { 'api-key': ' ' }],
    ['embedded', { 'base-url': '' }],
  ])('takes the service %s for a base URL and a key with %j', (service, texts) => {
    const named = { 'base-url': 'https://host.example/api/v1', 'api-key': 'sk_1' };
    expect(parseGateOptions({ ...complete, ...named, ...texts }).service).toBe(service);
  });

  it('reads lists by line, and names and tags by comma too', () => {
    const options = parseGateOptions({
      ...complete,
      evals: 'a.yaml\n\n b, c.yaml ',
      cases: 'sum, echo\nthird',
      tags: 'smoke,slow',
    });
    expect(options).toMatchObject({
      evals: ['a.yaml', 'b, c.yaml'],
      cases: ['sum', 'echo', 'third'],
      tags: ['smoke', 'slow'],
    });
  });

  it('reads the environment of the server: values keep their equals signs, bare names pass through', () => {
    const { serverEnv } = parseGateOptions({ ...complete, 'server-env': 'A=1=2\nTOKEN\nEMPTY=' });
    expect([...serverEnv]).toEqual([
      ['A', '1=2'],
      ['TOKEN', null],
      ['EMPTY', ''],
    ]);
  });

  it.each([
    ['90%', 0.9],
    ['90', 0.9],
    ['99.5%', 0.995],
    ['0', 0],
    ['1%', 0.01],
  ])('reads the pass rate %s as the fraction %d', (text, fraction) => {
    expect(parseGateOptions({ ...complete, 'min-pass-rate': text }).minPassRate).toBe(fraction);
  });

  it('reads how many iterations may run at the same time, for the embedded service alone', () => {
    const read = (text: string) => parseGateOptions({ ...complete, concurrency: text }).concurrency;
    expect(['', 'auto', '1', ' 64 '].map(read)).toEqual([null, 'auto', 1, 64]);
    for (const text of ['0', '65', '1.5', 'Auto', '-1', '1e1']) {
      expect(readIssues({ ...complete, concurrency: text })).toEqual(['concurrency: bad-concurrency']);
    }
    const hosted = { ...complete, service: 'mcpjam', 'api-key': 'sk_1' };
    expect(() => parseGateOptions({ ...hosted, concurrency: 'auto' })).toThrow(
      'concurrency: applies to the embedded service; the service mcpjam decides itself how many iterations run at the same time. Leave it out, or use `service: embedded` (needs-embedded-service)',
    );
    expect(readIssues({ merge: 'shards', concurrency: '2' })).toEqual(['merge: merge-and-run']);
  });

  it('rejects options of a run next to `merge`', () => {
    expect(readIssues({ merge: 'shards', runs: '2' })).toEqual(['merge: merge-and-run']);
  });

  it('reads which reports to write in addition to the usual ones, in one order, or none', () => {
    const read = (text: string) => parseGateOptions({ ...complete, 'report-formats': text }).reportFormats;
    expect(['badge, html', 'none', 'ctrf\nctrf', ''].map(read)).toEqual([['html', 'badge'], [], ['ctrf'], ['html']]);
    expect(() => read('html,pdf')).toThrow(
      'report-formats: "pdf" is not a report; write html, ctrf, badge, otlp, iterations or transcripts, or none alone (bad-report-formats)',
    );
    expect(readIssues({ ...complete, 'report-formats': 'none,html' })).toEqual(['report-formats: bad-report-formats']);
  });

  it.each([
    ['', { annotations: true, summary: true }],
    ['none', {}],
    ['summary', { summary: true }],
    ['comment', { comment: 'always' }],
    ['comment:on-failure, check-run', { comment: 'on-failure', checkRun: true }],
    ['comment: on-change\nissue\nissue', { comment: 'on-change', issue: true }],
    ['comment, comment:always', { comment: 'always' }],
  ])('reads where to report from %j', (text, expected) => {
    const nowhere = { annotations: false, summary: false, comment: null, checkRun: false, issue: false };
    expect(parseGateOptions({ ...complete, 'report-to': text }).reportTo).toEqual({ ...nowhere, ...expected });
  });

  it.each([
    ['mail', '"mail" is not a destination; write annotations, summary, comment, check-run or issue, or none alone'],
    ['none, summary', '"none" is not a destination;'],
    [
      'comment:sometimes',
      '"comment:sometimes" has no such mode; write comment, which is always, or one of comment:always,',
    ],
    ['summary:always', '"summary:always" has a mode, and only `comment` takes one; write summary'],
    ['comment, comment:on-change', 'has two modes for the comment, always and on-change; write one of them'],
  ])('rejects %j as the places to report to', (text, message) => {
    expect(() => parseGateOptions({ ...complete, 'report-to': text })).toThrow(`report-to: ${message}`);
  });

  it('refuses a pass rate that could be a fraction and names both readings', () => {
    expect(() => parseGateOptions({ ...complete, 'min-pass-rate': '0.9' })).toThrow(
      'min-pass-rate: 0.9 could mean 0.9% or 90%; write the one you mean with its % sign (bad-min-pass-rate)',
    );
  });

  it('reports every problem of every option at once', () => {
    expect(
      readIssues({
        ...complete,
        runs: '0',
        'server-ready-timeout': '60',
        isolation: 'none',
        'min-pass-rate': '101%',
        timeout: '0s',
        'report-to': 'mail',
        'server-env': '1A=b',
      }).toSorted(),
    ).toEqual([
      'isolation: bad-isolation',
      'min-pass-rate: bad-min-pass-rate',
      'report-to: bad-report-to',
      'runs: bad-runs',
      'server-env: bad-server-env',
      'server-ready-timeout: bad-server-ready-timeout',
      'timeout: bad-timeout',
    ]);
  });

  it('says what is missing when there is nothing to run and nothing to test', () => {
    expect(readIssues({})).toEqual(['evals: missing-evals', 'server-command: missing-server']);
  });

  it('refuses settings of a server that it does not start', () => {
    const url = 'http://127.0.0.1:3000/mcp';
    expect(readIssues({ evals: 'a', 'server-url': url })).toEqual([]);
    // Cases may use the variables, so that only the plan shows if they have an effect.
    expect(readIssues({ evals: 'a', 'server-url': url, 'server-env': 'A=b', 'server-cwd': 'dir' })).toEqual([
      'server-cwd: needs-server-command',
    ]);
  });

  it('takes variables for the servers of an mcp-config where no evals run, and none for a running server', () => {
    const env = { 'server-env': 'TOKEN=x' };
    expect(() =>
      parseDoctorOptions({ ...env, 'mcp-config': '.mcp.json', 'allow-env-hosts': 'a.example' }),
    ).not.toThrow();
    expect(() => parseDoctorOptions({ ...env, 'server-url': 'http://127.0.0.1:3000/mcp' })).toThrow(
      'server-env: has no effect without `server-command`',
    );
  });

  it('leaves to the run what only a run decides', () => {
    const sandboxed = { 'server-url': 'http://127.0.0.1:3000/mcp', sandbox: 'required', 'sandbox-network': 'off' };
    expect(() => parseDoctorOptions({ ...sandboxed, 'sandbox-write': 'out' })).not.toThrow();
    expect(() => parseDoctorOptions({ ...sandboxed, sandbox: 'off', 'sandbox-write': 'out' })).not.toThrow();
    expect(readIssues({ evals: 'a', ...sandboxed, sandbox: 'off', 'sandbox-write': 'out' })).toEqual([
      'sandbox-network: network-and-url',
      'sandbox-network: needs-sandbox',
      'sandbox-write: needs-sandbox',
    ]);
    expect(readIssues({ merge: 'shards', shard: '1/2', baseline: 'report.json' })).toEqual(['merge: merge-and-run']);
  });

  it('refuses a server URL that is not http and does not repeat it, for it may hold a key', () => {
    const texts = { evals: 'a', 'server-url': 'ftp://user:hunter2@host/' };
    expect(readIssues(texts)).toEqual(['server-url: bad-url']);
    expect(() => parseGateOptions(texts)).not.toThrow('hunter2');
  });

  it('does not repeat a malformed line of the environment, for it may hold a secret', () => {
    expect(() => parseGateOptions({ ...complete, 'server-env': 'MY-TOKEN=hunter2' })).toThrow(
      'server-env: line 1 is neither NAME=value nor NAME (bad-server-env)',
    );
  });
});
