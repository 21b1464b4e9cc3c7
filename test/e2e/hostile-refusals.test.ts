import { describe, expect, it } from 'vitest';
import { canaries, listGivenSecrets, runHostileJob, startHostile } from '../support/runner/hostile-job.ts';
import { runStageInTest } from '../support/runner/action-in-test.ts';
import type { HostileAnswer, HostileRequest, HostileService } from '../support/service/hostile-service.ts';
import { findEncodedLeaks, findRemnants, writeSecrets } from '../support/text/leak-forms.ts';

// Error messages quote their cause. Here every cause contains a secret: answers of a service that refuses, unusable grants, unreadable
// inputs, and the process itself. For each kind, the built action runs one job in its own process; the others run in this process.

const ofBuiltAction = new Set([
  '401',
  'a relay with a user',
  'in the status',
  'a base URL with a password, and evals that are not there',
]);
const chooseProcess = (name: string) => (ofBuiltAction.has(name) ? {} : { runStage: runStageInTest });

type Answer = (self: HostileService, request: HostileRequest, text: string) => HostileAnswer;

/** Starts a service that gives other answers to requests of this method and path. */
const startTampering = (pattern: RegExp, answer: Answer) =>
  startHostile((self) => (request, text) => (pattern.test(request.what) ? answer(self, request, text) : undefined));

const echo = (self: HostileService, { headers, body, what }: HostileRequest) =>
  `${JSON.stringify(headers)} ${body} ${what} ${writeSecrets([...Object.values(listGivenSecrets(self)), canaries.githubToken], what)}`;
const envelope = (code: string, message: string) => JSON.stringify({ code, message, details: { [message]: message } });
const page = { 'content-type': 'text/html' };
const atFirst = /^GET \/projects/;
const long = 'x'.repeat(480);

describe('a service that refuses and quotes secrets in its reason', () => {
  it.each<[string, RegExp, Answer]>([
    ['401', atFirst, (self, request) => ({ status: 401, body: envelope('UNAUTHORIZED', echo(self, request)) })],
    [
      'a key that the message is cut in',
      atFirst,
      (self) => ({ status: 400, body: envelope('NO', long + self.apiKey) }),
    ],
    ['its code', atFirst, (self) => ({ status: 400, body: envelope(self.apiKey, 'No.') })],
    ['a page', atFirst, (self, request) => ({ status: 400, headers: page, body: `<p>${echo(self, request)}</p>` })],
    [
      'its content type',
      atFirst,
      (self) => ({ status: 400, headers: { 'content-type': long + self.apiKey }, body: '' }),
    ],
    [
      'an encoding that the gate did not request',
      atFirst,
      (self) => ({ headers: { 'content-encoding': `x-${self.apiKey}` }, body: '' }),
    ],
    [
      'a redirect',
      atFirst,
      (self) => ({
        status: 307,
        headers: { location: `https://${encodeURIComponent(self.apiKey)}.example/` },
        body: '',
      }),
    ],
    ['JSON that ends early', atFirst, (self, request) => ({ body: JSON.stringify(echo(self, request)).slice(0, -1) })],
    [
      'a shape of its own',
      atFirst,
      (self, request) => ({ body: JSON.stringify({ items: [{ [echo(self, request)]: echo(self, request) }] }) }),
    ],
    [
      'names of projects',
      atFirst,
      (self, request) => ({
        body: JSON.stringify({ items: [1].map((id) => ({ id: `${id}`, name: echo(self, request) })) }),
      }),
    ],
    [
      'no suite',
      /^POST .*\/eval-suites$/,
      (self, request) => ({ status: 422, body: envelope('NO', echo(self, request)) }),
    ],
    [
      'no tunnel',
      /\/tunnels$/,
      (self, request) => {
        // The job never receives the grant.
        self.grant = null;
        return { status: 403, body: envelope('FORBIDDEN', echo(self, request)) };
      },
    ],
    ['no run', /^POST .*\/eval-runs$/, (self, request) => ({ status: 422, body: envelope('NO', echo(self, request)) })],
  ])('with %s leaks no secret', async (name, pattern, answer) => {
    await using hostile = await startTampering(pattern, answer);
    const run = await runHostileJob(hostile, { timeout: '3s' }, chooseProcess(name));
    expect([2, 3]).toContain(run.exitCode);
    expect(run.problems).toEqual([]);
    expectClean(run.sinks, listGivenSecrets(hostile));
  });
});

function expectClean(sinks: Record<string, string | null>, given: Record<string, string> = {}): void {
  const { proxyPassword: _, urlKey: __, ...known } = canaries;
  const secrets = { ...known, ...given };
  expect(findEncodedLeaks(secrets, sinks)).toEqual([]);
  // Only `k` of a tunnel's URL is secret.
  const { tunnelUrl: ___, ...others } = { tunnelUrl: '', ...secrets };
  expect(findRemnants(others, sinks)).toEqual([]);
}

describe('a grant that cannot be used', () => {
  it.each<[string, (grant: Record<string, string>) => Record<string, string>]>([
    ['a public URL that is none', ({ url }) => ({ url: `not a url ${url}` })],
    ['a relay that is no URL', ({ connectToken }) => ({ relayWsUrl: `no url?k=${connectToken}` })],
    ['a relay in clear', ({ connectToken }) => ({ relayWsUrl: `ws://relay.example/?k=${connectToken}` })],
    ['a relay with a user', ({ connectToken }) => ({ relayWsUrl: `wss://${connectToken}@127.0.0.1:9/` })],
    ['a token that no header can carry', ({ connectToken }) => ({ connectToken: `${connectToken}\n✗` })],
    ['an id that is a secret', ({ connectToken = '' }) => ({ serverId: connectToken })],
  ])('with %s is not quoted', async (name, change) => {
    await using hostile = await startTampering(/^POST .*\/tunnels$/, (__, ___, text) => {
      const grant = JSON.parse(text) as Record<string, string>;
      return { status: 201, body: JSON.stringify({ ...grant, ...change(grant) }) };
    });
    const run = await runHostileJob(hostile, { timeout: '3s' }, chooseProcess(name));
    expect([2, 3]).toContain(run.exitCode);
    expect(hostile.grant).not.toBeNull();
    expectClean(run.sinks, listGivenSecrets(hostile));
  });
});

describe('a relay that refuses and says the token', () => {
  it.each([
    ['in the status', (authorization: string) => `HTTP/1.1 410 ${authorization}\r\nx: ${authorization}\r\n\r\n`],
    ['in a page', (authorization: string) => `HTTP/1.1 404 No\r\ncontent-type: text/html\r\n\r\n${authorization}`],
    ['in something else than HTTP', (authorization: string) => `${authorization}\r\n\r\n`],
  ])('%s is not quoted', async (name, refuseRelay) => {
    await using hostile = await startHostile(undefined, { refuseRelay });
    const run = await runHostileJob(hostile, { timeout: '8s' }, chooseProcess(name));
    expect(run).toMatchObject({ exitCode: 3, outputs: { verdict: 'inconclusive' } });
    expect(hostile.handshakes.length).toBeGreaterThan(0);
    expectClean(run.sinks, listGivenSecrets(hostile));
  });
});

describe('an input that cannot be used', () => {
  const { apiKey, modelKey, serverSecret } = canaries;
  // Removes characters that would end a quotation in a shell.
  const word = apiKey.replaceAll(/["']/g, '');

  it.each<[string, Record<string, string>]>([
    [
      'a key over two lines, a key without a provider, and every wrong word',
      {
        'api-key': `${apiKey}\n${apiKey}`,
        'model-api-keys': modelKey,
        'server-env': `${apiKey} x=${apiKey}`,
        service: apiKey,
        isolation: apiKey,
        timeout: apiKey,
        'allow-pull-request-target': apiKey,
        'minimum-pass-rate': apiKey,
      },
    ],
    [
      'a base URL with a password, and evals that are not there',
      { service: 'svc', 'base-url': `https://user:${encodeURIComponent(apiKey)}@127.0.0.1/`, evals: `${apiKey}.yaml` },
    ],
    [
      'a base URL that is none, and a case with a key that none has',
      {
        service: 'svc',
        'base-url': apiKey,
        evals: '',
        tests: JSON.stringify([{ [modelKey]: apiKey, title: modelKey }]),
      },
    ],
    ['a server URL with a password', { 'server-url': `http://x:${encodeURIComponent(serverSecret)}@127.0.0.1:9/mcp` }],
    ['a command that is not there', { 'server-command': `'/none/${word}' '${word}'`, 'api-key': word }],
    ['a directory that is not there', { 'server-cwd': apiKey }],
  ])('such as %s is not quoted', async (name, inputs) => {
    const run = await runHostileJob(null, inputs, chooseProcess(name));
    expect([2, 3]).toContain(run.exitCode);
    expect(run.problems).toEqual([]);
    expectClean(run.sinks, { apiKey: inputs['api-key']?.split('\n')[0] ?? apiKey });
  });
});

describe('an unexpected error of the gate', () => {
  it.each([
    ['thrown without a handler', 'throw error'],
    ['of a promise without a handler', 'Promise.reject(error)'],
  ])('%s is reported without the secrets in its message', async (_, fail) => {
    const message = writeSecrets([canaries.apiKey, canaries.modelKey, canaries.githubToken], 'quoted');
    const crash = `
      const error = new Error(${JSON.stringify(message)}, { cause: new Error(${JSON.stringify(message)}) });
      error.input = ${JSON.stringify(canaries.apiKey)};
      process.stdout.write = new Proxy(process.stdout.write, { apply: (write, self, [text, ...rest]) => {
        if (String(text).includes('Starting')) setImmediate(() => { ${fail}; });
        return Reflect.apply(write, self, [text, ...rest]);
      } });`;
    const env = { NODE_OPTIONS: '--import=./crash.mjs' };
    const run = await runHostileJob(null, {}, { env, files: { 'crash.mjs': crash } });
    expect(run.exitCode).toBe(3);
    expect(run.log).toMatch(/^Error: Unexpected error, please report it: Error: quoted \*\*\*/m);
    expect(run.log).toContain('at ');
    expectClean(run.sinks);
  });

  it.each([
    ['a process of its own', {}],
    ['this process', { runStage: runStageInTest }],
  ])('is found by these tests in %s if it quotes a value that is not registered as a secret', async (_, options) => {
    const quoted = 'never-a-secret-6d1c';
    const run = await runHostileJob(null, { 'server-cwd': quoted }, options);
    expect(findRemnants({ quoted }, run.sinks)).toEqual([
      'quoted in log',
      'quoted in summary',
      'quoted in annotations',
    ]);
  });
});
