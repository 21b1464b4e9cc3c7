import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { Agent } from 'undici';
import { describe, expect, it } from 'vitest';
import { createRedactor, Secret } from '../../src/base/redaction.ts';
import { forward } from '../../src/http/forward.ts';
import { createAuthority } from '../../src/upstream/certificate.ts';
import { maxBodyBytes, type UpstreamSession } from '../../src/upstream/exchange.ts';
import { createHiding } from '../../src/upstream/hidden-values.ts';
import { openProxy } from '../../src/upstream/proxy.ts';
import { openRecord } from '../../src/upstream/record.ts';
import type { WrittenExchange } from '../../src/upstream/recording.ts';
import { openReplay } from '../../src/upstream/replay.ts';
import { listProxyVariables } from '../../src/upstream/variables.ts';
import { findProgram } from '../../src/server/programs.ts';
import { listenOnLoopback } from '../../src/server/proxy-listener.ts';
import { startUpstreamApi, type UpstreamApi } from '../support/upstream/upstream-api.ts';
import { createWorkspace, type Workspace } from '../support/workspace.ts';

const run = promisify(execFile);
const settings = { headers: [], ignore: { query: [], body: [] } };
const redactor = createRedactor();

/** Serves a session as a proxy while `use` runs, with the variables that send programs to it. */
async function serve<Result>(
  session: UpstreamSession,
  workspace: Workspace,
  use: (variables: Record<string, string>) => Promise<Result>,
): Promise<Result> {
  const authority = createAuthority(Date.now());
  const certificate = join(workspace.path, 'ca.pem');
  await writeFile(certificate, authority.certificate);
  await using proxy = openProxy(await listenOnLoopback(), { authority, session });
  return await use(listProxyVariables(proxy.url, certificate));
}

function record(api: UpstreamApi, secrets: readonly string[] = []) {
  const agent = new Agent({ connect: { ca: api.certificate, servername: 'localhost' } });
  const hidden = secrets.map((value, index) => ({ name: `SECRET_${index}`, value }));
  return openRecord({
    settings,
    hidden,
    names: [],
    redactor: createRedactor(secrets.map((value) => new Secret(value))),
    forward: async (request) =>
      await forward(agent, request, { maxBytes: maxBodyBytes, signal: AbortSignal.timeout(10_000) }),
  });
}

function replay(exchanges: readonly WrittenExchange[]) {
  return openReplay(exchanges, { settings, hiding: createHiding([], { redactor }) });
}

const path = process.env['PATH'] ?? '';

/** A program that prints what it got from a URL. */
const clients: ReadonlyArray<[name: string, program: string | null, args: (url: string) => string[]]> = [
  [
    'fetch of Node',
    process.execPath,
    (url) => ['-e', `fetch(${JSON.stringify(url)}).then(r => r.text()).then(t => process.stdout.write(t))`],
  ],
  [
    'https.get of Node',
    process.execPath,
    (url) => [
      '-e',
      `require(${JSON.stringify(url)}.split(':')[0]).get(${JSON.stringify(url)}, r => r.pipe(process.stdout))`,
    ],
  ],
  [
    'urllib of Python',
    findProgram('python3', { path }),
    (url) => [
      '-c',
      `import urllib.request as u, sys; sys.stdout.write(u.urlopen(${JSON.stringify(url)}).read().decode())`,
    ],
  ],
  ['curl', findProgram('curl', { path }), (url) => ['--silent', '--fail-with-body', url]],
];

describe('a recording', () => {
  for (const [name, program, args] of clients) {
    // Needs the program: python3 and curl are not on every machine.
    it.skipIf(program === null)(`of ${name} over HTTPS and HTTP is replayed without the API`, async () => {
      await using workspace = await createWorkspace();
      const get = async (url: string, variables: Record<string, string>) =>
        (await run(program ?? '', args(url), { env: { PATH: path, ...variables } })).stdout;
      for (const isTls of [true, false]) {
        const body = JSON.stringify({ name: 'Ada', visits: 1 });
        await using api = await startUpstreamApi(
          (_request, response) => {
            response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' });
            response.end(gzipSync(body));
          },
          { isTls },
        );
        const url = `${api.url}/users?b=2&a=1`;
        const session = record(api);
        expect(await serve(session, workspace, async (variables) => await get(url, variables))).toBe(body);
        const { exchanges, problems } = session.finish();
        expect({ problems, requests: api.requests }).toEqual({ problems: [], requests: ['GET /users?b=2&a=1'] });
        expect(exchanges).toEqual([
          {
            request: { method: 'GET', url: `${api.url}/users?a=1&b=2` },
            response: {
              status: 200,
              headers: { 'content-type': 'application/json' },
              body: { json: { name: 'Ada', visits: 1 } },
            },
          },
        ]);
        const replayed = replay(exchanges);
        expect(await serve(replayed, workspace, async (variables) => await get(url, variables))).toBe(body);
        expect({ miss: replayed.findMiss(), requests: api.requests.length }).toEqual({ miss: null, requests: 1 });
      }
    });
  }

  it('has none of the secrets of requests and answers', async () => {
    await using workspace = await createWorkspace();
    const secrets = [
      'planted-key-1f9a',
      'planted-token-2b8c',
      'planted-cookie-3c7d',
      'planted-answer-4d6e',
      'planted pw/5',
    ];
    const [key = '', token = '', cookie = '', answer = '', password = ''] = secrets;
    await using api = await startUpstreamApi((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'set-cookie': [`sid=${cookie}; Path=/; Secure`] });
      response.end(
        JSON.stringify({ access_token: answer, echo: [key, token], note: `see ${answer}`, page_token: 'p2' }),
      );
    });
    const session = record(api, [key]);
    const script = `
      const options = { method: 'POST', headers: { authorization: 'Bearer ${token}', 'content-type': 'application/json', cookie: 'sid=${cookie}' },
        body: JSON.stringify({ client_secret: '${password}', hint: '${token}' }) };
      fetch('${api.url}/${key}/items?api_key=${password}&q=${token}', options).then(r => r.text());`;
    await serve(session, workspace, async (variables) => {
      await run(process.execPath, ['-e', script], { env: variables });
    });
    const { exchanges } = session.finish();
    const text = JSON.stringify(exchanges, null, 2);
    for (const secret of [...secrets, encodeURIComponent(password)]) expect(text).not.toContain(secret);
    expect(exchanges).toEqual([
      {
        request: {
          method: 'POST',
          url: `${api.url}/{{env.SECRET_0}}/items?api_key=***&q=***`,
          body: { json: { client_secret: '***', hint: '***' } },
        },
        response: {
          status: 200,
          headers: { 'content-type': 'application/json', 'set-cookie': 'sid=***; Path=/; Secure' },
          body: {
            json: { access_token: '***', echo: ['{{env.SECRET_0}}', '***'], note: 'see ***', page_token: 'p2' },
          },
        },
      },
    ]);
  });

  it('says which request has no answer when the API refuses', async () => {
    await using workspace = await createWorkspace();
    const api = await startUpstreamApi((_request, response) => response.end());
    await api[Symbol.asyncDispose]();
    const session = record(api);
    const { stdout } = await serve(session, workspace, async (variables) => {
      const script = `fetch('${api.url}/users').then(async r => console.log(r.status, await r.text()))`;
      return await run(process.execPath, ['-e', script], { env: variables });
    });
    expect(stdout).toContain('502 ');
    const { exchanges, problems } = session.finish();
    expect(exchanges).toEqual([]);
    expect(problems).toEqual([
      expect.stringMatching(/^GET https:\/\/localhost:\d+\/users has no answer: .*ECONNREFUSED/),
    ]);
  });

  it('names what it cannot hold: a WebSocket, and an answer that is too large', async () => {
    await using workspace = await createWorkspace();
    await using api = await startUpstreamApi((_request, response) => response.end(Buffer.alloc(maxBodyBytes + 1)));
    const session = record(api);
    await serve(session, workspace, async (variables) => {
      const script = `fetch('${api.url}/large').then(r => r.text()).then(() => {
        const socket = new (require('node:https').request)('${api.url}/live', { headers: { connection: 'upgrade', upgrade: 'websocket' } });
        socket.on('response', r => r.resume()); socket.on('error', () => {}); socket.end();
      })`;
      await run(process.execPath, ['-e', script], { env: variables });
    });
    expect(session.finish().problems).toEqual([
      expect.stringMatching(/^GET .*\/large has no answer: the answer is larger than 5 MiB/),
      expect.stringMatching(
        /^The server opened a connection with the protocol "websocket" to https:\/\/localhost:\d+\/live, which/,
      ),
    ]);
  });
});

describe('a replay', () => {
  const read = (visits: number): WrittenExchange => ({
    request: { method: 'GET', url: 'https://api.example.com/count' },
    response: { status: 200, body: { json: { visits } } },
  });
  const write: WrittenExchange = {
    request: { method: 'POST', url: 'https://api.example.com/visit', body: { json: { by: 'Ada', at: 1 } } },
    response: { status: 201 },
  };
  const ask = async (session: UpstreamSession, method: string, url: string, body = '') => {
    const request = { method, url: new URL(url), headers: {}, body: Buffer.from(body) };
    const { status, body: answer } = await session.answer(request);
    return status === 404 ? 'miss' : `${status} ${answer.toString()}`;
  };
  const count = async (session: UpstreamSession) => await ask(session, 'GET', 'https://api.example.com/count');
  const visit = async (session: UpstreamSession, body = '{"at":1,"by":"Ada"}') =>
    await ask(session, 'POST', 'https://api.example.com/visit', body);

  it('gives the state after as many writes, however often the server reads', async () => {
    const exchanges = [read(0), write, read(1)];
    const same = replay(exchanges);
    expect([await count(same), await visit(same), await count(same)]).toEqual([
      '200 {"visits":0}',
      '201 ',
      '200 {"visits":1}',
    ]);
    const more = replay(exchanges);
    expect([await count(more), await count(more), await visit(more), await count(more), await count(more)]).toEqual([
      '200 {"visits":0}',
      '200 {"visits":0}',
      '201 ',
      '200 {"visits":1}',
      '200 {"visits":1}',
    ]);
    const fewer = replay(exchanges);
    expect([await visit(fewer), await count(fewer)]).toEqual(['201 ', '200 {"visits":1}']);
  });

  it('has one answer for each write, and names the write that is one too many', async () => {
    const session = replay([write]);
    expect([await visit(session), await visit(session)]).toEqual(['201 ', 'miss']);
    expect(session.findMiss()).toMatch(
      /^The server sent POST https:\/\/api\.example\.com\/visit once more than its recording, which has it once\./,
    );
  });

  it('names a request without an answer, and what is nearest to it', async () => {
    const other = replay([read(0)]);
    expect(await ask(other, 'GET', 'https://api.example.com/count?since=1')).toBe('miss');
    expect(other.findMiss()).toMatch(
      /^The server sent GET https:\/\/api\.example\.com\/count\?since=1, which has no recorded answer\. The recording has GET https:\/\/api\.example\.com\/count\./,
    );
    const body = replay([write]);
    expect(await visit(body, '{"by":"Bob","at":1}')).toBe('miss');
    expect(body.findMiss()).toContain('Its body differs from the recorded one at /by.');
    const none = replay([]);
    await count(none);
    expect(none.findMiss()).toContain('The case has no recording.');
  });

  it('ignores what the suite ignores, also in what was recorded before', async () => {
    const ignoring = { headers: [], ignore: { query: ['ts'], body: ['/at', '/list/*/id'] } };
    const dated: WrittenExchange = {
      ...read(3),
      request: { method: 'GET', url: 'https://api.example.com/count?ts=1&x=2' },
    };
    const session = openReplay([dated, write], { settings: ignoring, hiding: createHiding([], { redactor }) });
    expect(await ask(session, 'GET', 'https://api.example.com/count?x=2&ts=99')).toBe('200 {"visits":3}');
    expect(await visit(session, '{"by":"Ada","at":7}')).toBe('201 ');
    expect(session.findMiss()).toBeNull();
  });

  it('compares the headers that the suite names', async () => {
    const matching = { headers: ['accept-language'], ignore: { query: [], body: [] } };
    const german: WrittenExchange = {
      request: { method: 'GET', url: 'https://api.example.com/count', headers: { 'accept-language': 'de' } },
      response: { status: 200, body: { text: 'eins' } },
    };
    const session = openReplay([german], { settings: matching, hiding: createHiding([], { redactor }) });
    const send = async (language: string) => {
      const headers = { 'accept-language': language };
      return (
        await session.answer({
          method: 'GET',
          url: new URL('https://api.example.com/count'),
          headers,
          body: Buffer.alloc(0),
        })
      ).status;
    };
    expect([await send('de'), await send('fr')]).toEqual([200, 404]);
    expect(session.findMiss()).toContain('Its header accept-language differs');
  });
});
