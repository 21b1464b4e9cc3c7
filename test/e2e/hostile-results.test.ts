import { describe, expect, it } from 'vitest';
import { startForwardProxy } from '../support/network/forward-proxy.ts';
import { canaries, listGivenSecrets, runHostileJob, startHostile } from '../support/runner/hostile-job.ts';
import type { HostileAnswer, HostileRequest, HostileService } from '../support/service/hostile-service.ts';
import { findEncodedLeaks, findRemnants, leakEncodings, writeSecrets } from '../support/text/leak-forms.ts';
import { runtimeToken } from '../support/runner/job-variables.ts';
import { runStageInTest } from '../support/runner/action-in-test.ts';

// A service and a server that put every secret, in every encoding, into every text that they send. The secrets must reach their targets and
// nothing else. Each location has its own mark, which shows where its text appears.

/** Locations of secrets in the service's answers: the data of a run and the parts of the answer around it. */
const placesOfService = Array.from({ length: 14 }, (_, index) => `service-${index + 1}`);

/** Puts every secret that the service knows into every text of its answers about a run, and makes the run fail. */
function writeInResults(
  { what }: HostileRequest,
  text: string,
  write: (place: string) => string,
): HostileAnswer | undefined {
  if (!what.startsWith('GET')) return undefined;
  const answer = JSON.parse(text) as { items?: object[]; status?: string; summary?: object };
  const place = (number: number) => write(`service-${number}`);
  const headers = {
    'x-request-id': Buffer.from(place(14))
      .toString('latin1')
      .replaceAll(/[^ -~]/g, ''),
  };
  const call = { toolName: place(1), arguments: { [place(2)]: place(3) } };
  const iteration = {
    result: 'failed',
    title: place(4),
    error: place(5),
    actualToolCalls: [call],
    expectedToolCalls: [{ toolName: place(6), arguments: {} }],
    [place(7)]: place(7),
  };
  const evidence = { toolCalls: [{ name: place(9), ok: false, error: place(10) }] };
  const step = { status: 'fail', reason: place(8), evidence };
  const change = what.endsWith('/projects')
    ? { name: place(11) }
    : what.includes('/steps')
      ? step
      : what.includes('/eval-runs/')
        ? iteration
        : {};
  if (answer.items !== undefined) {
    return {
      headers,
      body: JSON.stringify({ ...answer, items: answer.items.map((item) => ({ ...item, ...change })) }),
    };
  }
  if (!what.includes('/eval-runs/')) return undefined;
  const isOver = answer.status === 'completed';
  const summary = isOver ? { total: 1, passed: 0, failed: 1, passRate: 0 } : answer.summary;
  return { headers, body: JSON.stringify({ ...answer, notes: place(12), error: place(13), summary }) };
}

/** Locations of secrets in the server's answers and in the evals. */
const placesOfServer = Array.from({ length: 17 }, (_, index) => `server-${index + 1}`);

const heardIn = (places: readonly string[], sinks: Readonly<Record<string, string | null>>) =>
  places.filter((place) => Object.values(sinks).some((text) => new RegExp(`${place}\\b`).test(text ?? '')));

const passwordInUrl = encodeURIComponent(canaries.proxyPassword);

describe('a service that writes every secret into the results of a run', () => {
  it('leaks none of them, and each secret reaches its one recipient', async () => {
    const write = (self: HostileService) => (place: string) =>
      writeSecrets([...Object.values(listGivenSecrets(self)), canaries.proxyPassword, canaries.githubToken], place);
    await using hostile = await startHostile((self) => (request, text) => writeInResults(request, text, write(self)));
    await using proxy = await startForwardProxy({ credentials: `user:${canaries.proxyPassword}` });
    const env = { HTTP_PROXY: `http://user:${passwordInUrl}@${proxy.place}` };
    const run = await runHostileJob(hostile, { sandbox: 'auto' }, { env });
    expect(run).toMatchObject({ exitCode: 1, outputs: { verdict: 'failed', failed: '1' }, problems: [] });
    const secrets = { ...canaries, ...listGivenSecrets(hostile) };
    expect(findEncodedLeaks(secrets, run.sinks)).toEqual([]);
    // Only `k` of the tunnel's URL is secret.
    const { tunnelUrl: _, ...others } = { tunnelUrl: '', ...secrets };
    expect(findRemnants(others, run.sinks)).toEqual([]);
    // These marks precede the redacted texts, so that the secrets did arrive.
    expect(heardIn(placesOfService, run.sinks)).toEqual([
      'service-1',
      'service-2',
      'service-3',
      'service-5',
      'service-6',
      'service-8',
      'service-9',
      'service-10',
      'service-12',
    ]);
    for (const sink of ['log', 'summary', 'annotations', 'report.json', 'report.html', 'junit.xml']) {
      expect(run.sinks[sink]).toContain('***');
    }

    // Each secret reaches its one target.
    expect(new Set(hostile.requests.map(({ headers }) => headers.authorization))).toEqual(
      new Set([`Bearer ${canaries.apiKey}`]),
    );
    expect(hostile.handshakes).toEqual([`Bearer ${hostile.grant?.connectToken}`]);
    const sent = hostile.requests.flatMap(({ what, headers, body }) => {
      const { authorization: __, 'proxy-authorization': ___, ...others } = headers;
      const leaks = findEncodedLeaks(canaries, { sent: JSON.stringify(others) + what + body });
      return leaks.map((leak) => `${leak.split(' in ')[0]} with ${what.replace(/prj_\w+/, '…')}`);
    });
    expect(new Set(sent)).toEqual(new Set(['modelKey with POST /projects/…/eval-runs']));
    expect(new Set(proxy.credentials)).toEqual(
      new Set([`Basic ${Buffer.from(`user:${canaries.proxyPassword}`).toString('base64')}`]),
    );
    expect([...new Set(hostile.requests.map(({ headers }) => headers['user-agent']))]).toEqual([
      expect.stringMatching(/^mcp-eval-ci\/[\w.-]+$/),
    ]);

    // The server receives its own secret and no other.
    expect(JSON.parse(run.received.split('\n')[0] ?? '')[0]).toMatchObject({ SERVER_SECRET: canaries.serverSecret });
    const notForServer = { ...secrets, serverSecret: runtimeToken };
    expect(findEncodedLeaks(notForServer, { received: run.received })).toEqual([]);
    expect(run.received).not.toMatch(/INPUT_|ACTIONS_|GITHUB_/);

    // Each mask is printed before the first line that could show its secret, including those of grants.
    const lines = run.log.split('\n');
    const isMask = (line: string | undefined) => line?.startsWith('::add-mask::') === true;
    const escaped = (secret: string) => `::add-mask::${secret.replaceAll('%', '%25')}`;
    const before = (index: number) => lines.slice(0, index);
    expect(before(lines.findIndex((line) => !isMask(line)))).toEqual(
      expect.arrayContaining([canaries.apiKey, canaries.modelKey, canaries.githubToken].map(escaped)),
    );
    const starting = lines.findIndex((line) => line.startsWith('Starting'));
    expect(before(starting)).toEqual(
      expect.arrayContaining([canaries.proxyPassword, canaries.serverSecret].map(escaped)),
    );
    const opening = lines.findIndex((line) => line.startsWith('Opening a tunnel'));
    const { grant } = hostile;
    expect(lines.slice(opening + 1, opening + 4).toSorted()).toEqual(
      [grant?.url, grant?.connectToken, grant?.k].map((secret) => escaped(secret ?? '')).toSorted(),
    );
  });

  it('leaks a value that is not registered as a secret into every sink, which these tests find', async () => {
    const shown = 'never-a-secret-6d1c';
    await using hostile = await startHostile(
      () => (request, text) => writeInResults(request, text, (place) => `${shown} ${place}`),
    );
    const run = await runHostileJob(hostile, {}, { runStage: runStageInTest });
    const sinks = findEncodedLeaks({ shown }, run.sinks).map((leak) => /in (.*), plain/.exec(leak)?.[1]);
    expect(sinks.filter((sink) => sink !== undefined)).toEqual([
      'log',
      'summary',
      'annotations',
      'junit.xml',
      'report.html',
      'report.json',
    ]);
  });

  it('cannot place a token in the ids that the job writes', async () => {
    const apiKey = 'sk_live_7f3a9b2c4d5e6f708192';
    await using hostile = await startHostile(
      (self) =>
        ({ what }, text) =>
          /^POST .*\/eval-runs$/.test(what)
            ? { body: JSON.stringify({ ...(JSON.parse(text) as object), runId: self.apiKey, suiteId: self.grant?.k }) }
            : undefined,
      { apiKey },
    );
    const run = await runHostileJob(hostile, { timeout: '5s' }, { runStage: runStageInTest });
    expect(run).toMatchObject({ exitCode: 3, outputs: { 'run-id': '', 'run-url': '' } });
    const { k = '', connectToken = '' } = listGivenSecrets(hostile);
    expect(findRemnants({ ...canaries, apiKey, k, connectToken }, run.sinks)).toEqual([]);
  });
});

describe('a server that writes every secret of the job', () => {
  const { proxyPassword: _, ...known } = canaries;
  const write = (place: string) => writeSecrets(Object.values(known), place);
  const telling = Object.fromEntries(placesOfServer.map((place) => [place, write(place)]));

  it('leaks none of them', async () => {
    const run = await runHostileJob(
      null,
      { 'server-env': passed, 'server-command': 'node telling.mjs' },
      {
        env: { PASSED_THROUGH: canaries.urlKey },
        files: {
          'telling.json': JSON.stringify(telling),
          'telling.mjs': tellingServer,
          'x.evals.yaml': tellingEvals(write),
        },
      },
    );
    expect(run).toMatchObject({ exitCode: 1, outputs: { verdict: 'failed' }, problems: [] });
    expect(findEncodedLeaks(known, run.sinks)).toEqual([]);
    expect(findRemnants(known, run.sinks)).toEqual([]);
    // No output shows a server's texts about itself and its tools, except their names.
    const unheard = new Set(['server-6', 'server-7', 'server-9']);
    expect(heardIn(placesOfServer, run.sinks)).toEqual(placesOfServer.filter((place) => !unheard.has(place)));
  });
});

const passed = `SERVER_SECRET=${canaries.serverSecret}\nPASSED_THROUGH`;

const tellingEvals = (write: (place: string) => string) =>
  JSON.stringify({
    // Sets ids, because ids derived from titles are not encodings of them.
    id: 'telling',
    suite: write('server-12'),
    cases: [
      {
        id: 'telling',
        title: write('server-13'),
        steps: [
          { toolCall: 'speak', arguments: { [write('server-14')]: write('server-15') } },
          { assert: { toolResultEquals: write('server-16') } },
        ],
      },
      { title: 'Leaks in structured content', steps: [{ toolCall: 'structure' }] },
      { title: 'Leaks in an error', steps: [{ toolCall: 'fail' }] },
      { title: 'Leaks in a failed result', steps: [{ toolCall: 'refuse' }] },
      { title: 'Is not there', steps: [{ toolCall: write('server-17') }] },
    ],
  });

const tellingServer = `
import { createInterface } from 'node:readline';
import { readFileSync } from 'node:fs';
const texts = JSON.parse(readFileSync('telling.json', 'utf8'));
const write = (number) => texts['server-' + number];
console.error(write(1));
console.error('x'.repeat(1990 - 20) + write(2));
console.log(write(3));
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  const send = (message) => console.log(JSON.stringify({ jsonrpc: '2.0', id, ...message }));
  if (method === 'initialize') {
    const serverInfo = { name: write(4), version: write(5) };
    send({ result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo, instructions: write(6) } });
  }
  if (method === 'tools/list') {
    const names = ['speak', 'structure', 'fail', 'refuse'];
    send({ result: { tools: names.map((name) => ({ name, description: write(7), inputSchema: { type: 'object' } })) } });
  }
  if (method !== 'tools/call') continue;
  const content = [{ type: 'text', text: write(8) }];
  if (params.name === 'speak') send({ result: { content } });
  if (params.name === 'structure') send({ result: { content: [], structuredContent: { [write(9)]: write(9) }, isError: true } });
  if (params.name === 'fail') send({ error: { code: -32000, message: write(10), data: write(10) } });
  else if (params.name !== 'structure' && params.name !== 'speak') send({ result: { content: [{ type: 'text', text: write(11) }], isError: true } });
}
`;

describe('the search for leaks in these tests', () => {
  it.each(Object.entries(leakEncodings))('finds a secret in %s', (encoding, encode) => {
    for (const [name, secret] of Object.entries(canaries)) {
      const leaks = findEncodedLeaks({ [name]: secret }, { sink: `before ${encode(secret)} after` });
      expect(leaks).toContain(`${name} in sink, ${encoding}`);
    }
    expect(findEncodedLeaks(canaries, { sink: 'before after' })).toEqual([]);
  });

  it('finds nine characters of a secret and not eight', () => {
    const secret = { token: 'sk_live_9fK2mQ7xW4bT1zR8' };
    expect(findRemnants(secret, { sink: 'a 9fk2mq7xw b' })).toEqual(['token in sink']);
    expect(findRemnants(secret, { sink: 'a 9fK2mQ7x b sk_live_' })).toEqual([]);
  });
});
