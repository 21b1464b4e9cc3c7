import { describe, expect, it } from 'vitest';
import { startDeadline } from '../../src/base/time.ts';
import { CancelledError, ConfigurationError, GitHubError, NetworkError } from '../../src/base/errors.ts';
import { silentLogger } from '../../src/base/logger.ts';
import type { ProxySettings } from '../../src/http/proxy.ts';
import { Secret } from '../../src/base/redaction.ts';
import { openGitHub } from '../../src/github/github-client.ts';
import { createComment, listComments, updateComment } from '../../src/github/comments.ts';
import { getIdentity } from '../../src/github/identity.ts';
import { getPullRequest } from '../../src/github/pull-requests.ts';
import { parseRepository } from '../../src/github/repository.ts';
import { startForwardProxy } from '../support/network/forward-proxy.ts';
import { type GitHubApi, refusals, otherUser, startGitHubApi } from '../support/github/github-api.ts';
import { findClosedPort, hangUp, json, raw } from '../support/network/http-server.ts';
import { VirtualClock } from '../support/clocks/virtual-clock.ts';

const repository = { owner: 'your-org', repo: 'your-server' };
const token = new Secret('ghs_canaryCanaryCanary');

function open(
  apiUrl: string,
  options: {
    clock?: VirtualClock;
    timeoutMs?: number;
    signal?: AbortSignal;
    proxy?: ProxySettings;
    token?: Secret;
  } = {},
) {
  const clock = options.clock ?? new VirtualClock();
  const deadline = startDeadline(clock, options.timeoutMs ?? 120_000, 'Asking GitHub');
  return openGitHub({ apiUrl, token, logger: silentLogger, random: () => 0.5, ...options, clock, deadline });
}

/** Requests a pull request while the API has this fault; returns the outcome and the time waited. */
async function askFor(api: GitHubApi, options: Parameters<typeof open>[1] = {}) {
  const clock = new VirtualClock();
  await using client = open(api.url, { clock, ...options });
  const error = await getPullRequest(client, repository, 7).then(
    () => null,
    (error: unknown) => error,
  );
  return { error, sleepsMs: clock.sleepsMs, requests: api.requests.length };
}

describe('openGitHub', () => {
  it('sends the token, and says who asks', async () => {
    await using api = await startGitHubApi();
    await using client = open(api.url);
    expect(await getPullRequest(client, repository, 7)).toEqual({ number: 7, headCommit: '1'.repeat(40) });
    expect(api.requests[0]?.headers).toMatchObject({
      authorization: 'token ghs_canaryCanaryCanary',
      accept: 'application/vnd.github.v3+json',
    });
    expect(api.requests[0]?.headers['user-agent']).toMatch(/^mcp-eval-ci\//);
  });

  it('reads every page of a list', async () => {
    await using api = await startGitHubApi();
    for (let id = 1; id <= 250; id += 1) api.comments.push({ id, issue: 7, body: `${id}`, user: otherUser });
    await using client = open(api.url);
    expect((await listComments(client, repository, 7)).map(({ id }) => id)).toEqual(api.comments.map(({ id }) => id));
    expect(api.requests).toHaveLength(3);
  });

  it('does not follow a page to another host', async () => {
    await using elsewhere = await startGitHubApi();
    await using api = await startGitHubApi();
    const link = `<${elsewhere.url}/repos/your-org/your-server/issues/7/comments?page=2>; rel="next"`;
    api.trouble.push({ request: 'GET issues/7/comments', answer: json(200, [], { link }) });
    await using client = open(api.url);
    await expect(listComments(client, repository, 7)).rejects.toThrow('the answer leads to another host');
    expect(elsewhere.requests).toEqual([]);
  });

  it('does not follow a redirect', async () => {
    await using api = await startGitHubApi();
    api.trouble.push({ request: 'GET pulls/7', answer: raw(301, '', { location: `${api.url}/elsewhere` }) });
    expect((await askFor(api)).error).toBeInstanceOf(NetworkError);
    expect(api.asked().filter((asked) => asked !== 'GET pulls/7')).toEqual([]);
  });

  it('reaches an Enterprise Server below its path, GraphQL next to it', async () => {
    await using api = await startGitHubApi({ prefix: '/api/v3' });
    await using client = open(api.url);
    expect(await getIdentity(client)).toEqual({ login: 'github-actions[bot]', id: 41_898_282 });
    await getPullRequest(client, repository, 7);
    expect(api.requests.map(({ url }) => url)).toEqual(['/api/graphql', '/api/v3/repos/your-org/your-server/pulls/7']);
  });

  it('goes through the proxy of the job', async () => {
    await using api = await startGitHubApi();
    await using proxy = await startForwardProxy({ credentials: 'user:password' });
    const settings = { httpProxy: `http://user:password@${proxy.place}`, httpsProxy: null, noProxy: null };
    await using client = open(api.url, { proxy: settings });
    await getPullRequest(client, repository, 7);
    expect(proxy.asked).toEqual([`GET ${api.url}/repos/your-org/your-server/pulls/7`]);
    await using direct = open(api.url, { proxy: { ...settings, noProxy: '127.0.0.1' } });
    await getPullRequest(direct, repository, 7);
    expect(proxy.asked).toHaveLength(1);
  });

  it.each(['http://github.example/api', 'nonsense', 'ftp://127.0.0.1'])('refuses the URL %s', (url) => {
    expect(() => open(url)).toThrow(ConfigurationError);
  });

  it('refuses a token that no header holds, without quoting it', () => {
    const bad = new Secret('ghs canary\n');
    expect(() => open('https://api.github.com', { token: bad })).toThrow(/^(?!.*canary).*github-token: has a space/s);
  });
});

describe('an error response', () => {
  it.each([
    [
      'forbidden',
      403,
      'GitHub answered 403 to GET /repos/your-org/your-server/pulls/7: Resource not accessible by integration.',
    ],
    ['notFound', 404, 'GitHub answered 404 to GET /repos/your-org/your-server/pulls/7: Not Found.'],
    ['gone', 410, 'GitHub answered 410 to GET /repos/your-org/your-server/pulls/7: Gone.'],
    [
      'tooLong',
      422,
      'GitHub answered 422 to GET /repos/your-org/your-server/pulls/7: Validation Failed: Body is too long.',
    ],
  ] as const)('%s is final at once', async (name, status, message) => {
    await using api = await startGitHubApi();
    api.trouble.push({ request: 'GET pulls/7', answer: refusals[name] });
    const { error, requests } = await askFor(api);
    expect(error).toBeInstanceOf(GitHubError);
    expect(error).toMatchObject({ status });
    expect((error as Error).message).toBe(message);
    expect(requests).toBe(1);
  });

  it('with the HTML page of a proxy is reported in short', async () => {
    await using api = await startGitHubApi();
    const answer = raw(403, `<html>${'x'.repeat(10_000)}`, { 'content-type': 'text/html' });
    api.trouble.push({ request: 'GET pulls/7', answer });
    const { error } = await askFor(api);
    expect((error as Error).message).toBe(
      'GitHub answered 403 to GET /repos/your-org/your-server/pulls/7: no reason was given.',
    );
  });
});

describe('a rate limit', () => {
  it.each([
    ['retry-after', refusals.secondaryLimit({ 'retry-after': '12' }), [12_500]],
    ['a message alone', refusals.secondaryLimit(), [60_500]],
    [
      'x-ratelimit-reset',
      json(
        403,
        { message: 'API rate limit exceeded' },
        {
          'x-ratelimit-remaining': '0',
          'x-ratelimit-reset': String(Date.UTC(2026, 0, 1, 0, 0, 30) / 1000),
          date: new Date(Date.UTC(2026, 0, 1)).toUTCString(),
        },
      ),
      [30_500],
    ],
    ['429', json(429, { message: 'Too many requests' }, { 'retry-after': '5' }), [5250]],
  ])('that %s announces is waited for, also before a comment is written', async (_, answer, sleepsMs) => {
    await using api = await startGitHubApi();
    api.trouble.push({ request: 'POST issues/7/comments', answer, times: 1 });
    const clock = new VirtualClock();
    await using client = open(api.url, { clock });
    await createComment(client, repository, { number: 7, body: 'hello' });
    expect(clock.sleepsMs).toEqual(sleepsMs);
    expect(api.comments.map(({ body }) => body)).toEqual(['hello']);
  });

  it('that lasts longer than the remaining time ends the attempt', async () => {
    await using api = await startGitHubApi();
    const answer = refusals.secondaryLimit({ 'retry-after': '3600' });
    api.trouble.push({ request: 'GET pulls/7', answer });
    const { error, sleepsMs } = await askFor(api);
    expect(error).toMatchObject({ status: 403, retryAfterMs: 3_600_000 });
    expect((error as Error).message).toContain('It asks to wait 1 h 0 min.');
    expect(sleepsMs).toEqual([]);
  });
});

describe('a network fault', () => {
  it.each([
    ['an answer of a gateway', refusals.broken],
    ['a broken connection', hangUp],
  ])('such as %s is overcome by asking again', async (_, answer) => {
    await using api = await startGitHubApi();
    api.trouble.push({ request: 'GET pulls/7', answer, times: 2 });
    expect(await askFor(api)).toEqual({ error: null, sleepsMs: [250, 500], requests: 3 });
  });

  it('that persists ends the attempt', async () => {
    await using api = await startGitHubApi();
    api.trouble.push({ request: 'GET pulls/7', answer: refusals.broken });
    expect(await askFor(api)).toMatchObject({ error: { status: 502, mayHaveHappened: false }, requests: 4 });
  });

  it.each([
    ['answers', refusals.broken],
    ['breaks', hangUp],
  ])('that %s while a comment is created leaves open whether it was', async (_, answer) => {
    await using api = await startGitHubApi();
    api.trouble.push({ request: 'POST issues/7/comments', answer, isCarriedOut: true });
    await using client = open(api.url);
    const creating = createComment(client, repository, { number: 7, body: 'hello' });
    await expect(creating).rejects.toMatchObject({ mayHaveHappened: true });
    expect(api.comments).toHaveLength(1);
  });

  it('does not keep an update from being sent again', async () => {
    await using api = await startGitHubApi();
    api.comments.push({ id: 1, issue: 7, body: 'old', user: otherUser });
    api.trouble.push({ request: 'PATCH issues', answer: hangUp, times: 1 });
    await using client = open(api.url);
    await updateComment(client, repository, { id: 1, body: 'new' });
    expect(api.comments[0]?.body).toBe('new');
  });

  it('is reported with host and cause if the port is closed', async () => {
    const port = await findClosedPort();
    await using client = open(`http://127.0.0.1:${port}`);
    await expect(getPullRequest(client, repository, 7)).rejects.toThrow(
      `No answer from 127.0.0.1:${port} to GET /repos/your-org/your-server/pulls/7: connect ECONNREFUSED`,
    );
  });

  it('ends with the signal of the job', async () => {
    await using api = await startGitHubApi();
    api.trouble.push({ request: 'GET pulls/7', answer: () => stop.abort(new CancelledError()) });
    const stop = new AbortController();
    expect((await askFor(api, { signal: stop.signal })).error).toBe(stop.signal.reason);
  });
});

describe('getIdentity', () => {
  it.each([
    ['that GraphQL is not to be had', json(404, { message: 'Not Found' })],
    ['that GraphQL does not tell', json(200, { data: null, errors: [{ message: 'no' }] })],
  ])('takes it %s for the job’s own token', async (_, answer) => {
    await using api = await startGitHubApi();
    api.trouble.push({ request: 'POST graphql', answer });
    await using client = open(api.url);
    expect(await getIdentity(client)).toEqual({ login: 'github-actions[bot]', id: null });
  });

  it.each([
    ['is broken', refusals.broken],
    ['is limited', refusals.secondaryLimit({ 'retry-after': '3600' })],
  ])('does not guess while GraphQL %s', async (_, answer) => {
    await using api = await startGitHubApi();
    api.trouble.push({ request: 'POST graphql', answer });
    await using client = open(api.url);
    await expect(getIdentity(client)).rejects.toBeInstanceOf(GitHubError);
  });
});

describe('parseRepository', () => {
  it('reads owner and name, and nothing that leads elsewhere', () => {
    expect(parseRepository('your-org/your.server_1')).toEqual({ owner: 'your-org', repo: 'your.server_1' });
    for (const text of ['', 'a', 'a/b/c', '../b', 'a/..', 'a/b?c', 'a/b#c', 'a b/c']) {
      expect(parseRepository(text)).toBeNull();
    }
  });
});
