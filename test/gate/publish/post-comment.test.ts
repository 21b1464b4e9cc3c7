import { describe, expect, it } from 'vitest';
import { startDeadline } from '../../../src/base/time.ts';
import { GitHubError } from '../../../src/base/errors.ts';
import { silentLogger } from '../../../src/base/logger.ts';
import { Secret } from '../../../src/base/redaction.ts';
import { buildKey, nameComments, parseMarker, renderMarker } from '../../../src/gate/plan/marker.ts';
import { type CommentDraft, postComment } from '../../../src/gate/publish/post-comment.ts';
import { type GitHubClient, openGitHub } from '../../../src/github/github-client.ts';
import type { VerdictOutcome } from '../../../src/model/verdict.ts';
import { actionsBot, type GitHubApi, refusals, otherUser, startGitHubApi } from '../../support/github/github-api.ts';
import { hangUp } from '../../support/network/http-server.ts';
import { VirtualClock } from '../../support/clocks/virtual-clock.ts';

const repository = { owner: 'your-org', repo: 'your-server' };
const place = nameComments(repository, 7);
const commit = '1'.repeat(40);
const key = buildKey(['evals.yml', 'test', '0', '']);

interface Telling {
  run?: number;
  attempt?: number;
  outcome?: VerdictOutcome;
  mode?: CommentDraft['mode'];
  key?: string;
  text?: string;
}

function createDraft({ run = 1, attempt = 1, outcome = 'failed', mode = 'always', ...rest }: Telling): CommentDraft {
  return {
    repository,
    pullNumber: 7,
    commit,
    workflow: '.github/workflows/evals.yml',
    mode,
    marker: { key: rest.key ?? key, run: { id: String(4000 + run), number: run, attempt }, outcome },
    hidden: [],
    render: () => rest.text ?? `run ${run}.${attempt} ${outcome}`,
  };
}

function open(api: GitHubApi): GitHubClient {
  const clock = new VirtualClock();
  const deadline = startDeadline(clock, 120_000, 'Asking GitHub');
  const token = new Secret('ghs_canaryCanaryCanary');
  return openGitHub({ apiUrl: api.url, token, clock, deadline, logger: silentLogger, random: () => 0.5 });
}

/** Posts as a run that GitHub knows. */
async function post(api: GitHubApi, telling: Telling = {}): Promise<string> {
  const { id, number, attempt } = createDraft(telling).marker.run;
  api.runs.set(id, { number, attempt: Math.max(attempt, api.runs.get(id)?.attempt ?? 0) });
  await using client = open(api);
  return (await postComment(client, createDraft(telling), silentLogger)).kind;
}

/** Reads the visible text of the comments on the pull request, oldest first. */
const read = (api: GitHubApi) => api.comments.map(({ body }) => body.replace(/^<!--.*-->\n/, ''));

describe('postComment', () => {
  it('creates a comment, and updates it from then on', async () => {
    await using api = await startGitHubApi();
    expect(await post(api)).toBe('created');
    expect(await post(api, { run: 2, outcome: 'passed' })).toBe('updated');
    expect(read(api)).toEqual(['run 2.1 passed']);
    expect(parseMarker(api.comments[0]?.body ?? '', place)).toEqual({
      key,
      run: { id: '4002', number: 2, attempt: 1 },
      outcome: 'passed',
    });
  });

  it('hands the text of the comment that it replaces to the new one, whose hidden lines follow the marker', async () => {
    await using api = await startGitHubApi();
    await post(api);
    const replaced: Array<string | null> = [];
    const draft = { ...createDraft({ run: 2 }), hidden: ['<!-- record -->'] };
    const render = (_maxBytes: number, text: string | null) => {
      replaced.push(text);
      return 'next';
    };
    api.runs.set(draft.marker.run.id, { number: 2, attempt: 1 });
    await using client = open(api);
    await postComment(client, { ...draft, render }, silentLogger);
    expect(replaced).toEqual([expect.stringContaining('\nrun 1.1 failed')]);
    expect(api.comments.map(({ body }) => body.split('\n').slice(1))).toEqual([['<!-- record -->', 'next']]);
  });

  it('has a hundred re-runs end in one comment, which shows the last', async () => {
    await using api = await startGitHubApi();
    for (let attempt = 1; attempt <= 100; attempt += 1) await post(api, { attempt });
    expect(read(api)).toEqual(['run 1.100 failed']);
    expect(api.asked().filter((asked) => asked.startsWith('POST issues'))).toHaveLength(1);
  });

  it('finds its comment among hundreds', async () => {
    await using api = await startGitHubApi();
    for (let id = 1; id <= 150; id += 1) api.comments.push({ id, issue: 7, body: `${id}`, user: otherUser });
    await post(api);
    for (let id = 2001; id <= 2150; id += 1) api.comments.push({ id, issue: 7, body: `${id}`, user: otherUser });
    expect(await post(api, { run: 2 })).toBe('updated');
    expect(read(api).filter((text) => text.startsWith('run'))).toEqual(['run 2.1 failed']);
  });

  it('keeps the comments of parallel jobs apart', async () => {
    await using api = await startGitHubApi();
    const other = buildKey(['evals.yml', 'test', '1', '']);
    await Promise.all([post(api, { text: 'one' }), post(api, { key: other, text: 'other' })]);
    await Promise.all([post(api, { text: 'one again' }), post(api, { key: other, text: 'other again' })]);
    expect(read(api).toSorted()).toEqual(['one again', 'other again']);
  });

  it('ignores a marker that another author has posted', async () => {
    await using api = await startGitHubApi();
    const copied = renderMarker(createDraft({ run: 9 }).marker, place);
    const evil = { id: 666, login: 'github-actions[bot]' };
    api.comments.push({ id: 1, issue: 7, body: `${copied}\nmine`, user: otherUser });
    api.comments.push({ id: 2, issue: 7, body: `${copied}\nmine too`, user: evil });
    expect(await post(api)).toBe('created');
    expect(await post(api, { run: 2 })).toBe('updated');
    expect(read(api)).toEqual(['mine', 'mine too', 'run 2.1 failed']);
  });

  it('does not change its own comment that only quotes a marker', async () => {
    await using api = await startGitHubApi();
    const quoted = `> ${renderMarker(createDraft({}).marker, place)}\nsaid the other one`;
    api.comments.push({ id: 1, issue: 7, body: quoted, user: actionsBot });
    expect(await post(api)).toBe('created');
    expect(api.comments[0]?.body).toBe(quoted);
  });

  it.each([
    ['an app', { id: 77, login: 'eval-app[bot]' }],
    ['a person', otherUser],
  ])('knows its own comments by the token of %s, too', async (_, identity) => {
    await using api = await startGitHubApi();
    await post(api);
    api.identity = identity;
    expect(await post(api, { run: 2 })).toBe('created');
    expect(await post(api, { run: 3 })).toBe('updated');
    expect(read(api)).toEqual(['run 1.1 failed', 'run 3.1 failed']);
  });

  it.each([
    ['an older attempt', { run: 5, attempt: 1 }],
    ['an older run', { run: 4, attempt: 1 }],
    ['a new attempt of an older run', { run: 4, attempt: 3 }],
  ])('does not let %s overwrite the comment of a newer one', async (_, older) => {
    await using api = await startGitHubApi();
    await post(api, { run: 5, attempt: 2 });
    expect(await post(api, { ...older, outcome: 'passed' })).toBe('outdated');
    expect(read(api)).toEqual(['run 5.2 failed']);
  });

  it.each<[string, Partial<Record<'number' | 'attempt', number>> & { path?: string }, string]>([
    ['GitHub does not know', {}, '404'],
    ['GitHub counts in another way', { number: 3, attempt: 1 }, 'known'],
    ['is of another workflow', { number: 9, attempt: 1, path: '.github/workflows/other.yml' }, 'known'],
    ['the token may not see, on the newest commit', {}, '403'],
  ])('is not silenced by a comment with the name of the token, of a run that %s', async (_, run, answer) => {
    await using api = await startGitHubApi();
    const forged = renderMarker(createDraft({ run: 9, outcome: 'passed' }).marker, place);
    api.comments.push({ id: 1, issue: 7, body: `${forged}\nAll is well.`, user: actionsBot });
    if (answer === 'known') api.runs.set('4009', { number: 9, attempt: 1, ...run });
    if (answer === '403') api.trouble.push({ request: 'GET actions', answer: refusals.forbidden });
    expect(await post(api, { run: 2 })).toBe('updated');
    expect(read(api)).toEqual(['run 2.1 failed']);
  });

  it('leaves a newer verdict where the token may not read runs and the pull request has a newer commit', async () => {
    await using api = await startGitHubApi();
    await post(api, { run: 9 });
    api.trouble.push({ request: 'GET actions', answer: refusals.forbidden });
    api.pulls.set(7, { sha: '2'.repeat(40), owner: 'your-org', branch: 'change' });
    expect(await post(api, { run: 2 })).toBe('outdated');
    expect(read(api)).toEqual(['run 9.1 failed']);
  });

  it('deletes its own second comment, and lets no older run overwrite either', async () => {
    await using api = await startGitHubApi();
    for (const [id, run] of [
      [1, 3],
      [2, 5],
    ] as const) {
      const body = `${renderMarker(createDraft({ run }).marker, place)}\nrun ${run}`;
      api.runs.set(String(4000 + run), { number: run, attempt: 1 });
      api.comments.push({ id, issue: 7, body, user: actionsBot });
    }
    expect(await post(api, { run: 4 })).toBe('outdated');
    expect(await post(api, { run: 6 })).toBe('updated');
    expect(read(api)).toEqual(['run 6.1 failed']);
  });

  it('has two runs that create one at the same moment end in the comment of the newer', async () => {
    await using api = await startGitHubApi();
    const both = Promise.withResolvers<void>();
    let looking = 0;
    const before = async () => {
      looking += 1;
      if (looking === 2) both.resolve();
      await both.promise;
    };
    api.trouble.push({ request: 'GET issues/7/comments', times: 2, before });
    await Promise.all([post(api, { run: 1 }), post(api, { run: 2 })]);
    expect(api.asked().filter((asked) => asked.startsWith('POST issues'))).toHaveLength(2);
    expect(read(api)).toEqual(['run 2.1 failed']);
  });

  it.each([
    [2, 'updated', 'run 2.1 failed'],
    [0, 'outdated', 'run 1.1 failed'],
  ])('gives way to an older comment that it did not see: run %i', async (run, kind, text) => {
    await using api = await startGitHubApi();
    const body = `${renderMarker(createDraft({ run: 1 }).marker, place)}\nrun 1.1 failed`;
    api.runs.set('4001', { number: 1, attempt: 1 });
    const before = () => void api.comments.push({ id: 1, issue: 7, body, user: actionsBot });
    api.trouble.push({ request: 'POST issues/7/comments', times: 1, before, isCarriedOut: true, answer: hangUp });
    expect([await post(api, { run }), ...read(api)]).toEqual([kind, text]);
  });
});

describe('the comment mode', () => {
  const outcomes = ['passed', 'failed', 'failed', 'inconclusive', 'passed', 'passed'] as const;

  it.each([
    ['always', ['created', 'updated', 'updated', 'updated', 'updated', 'updated']],
    ['on-failure', ['unwanted', 'created', 'updated', 'updated', 'updated', 'updated']],
    ['on-change', ['created', 'updated', 'unwanted', 'updated', 'updated', 'unwanted']],
  ] as const)('%s posts what it promises', async (mode, kinds) => {
    await using api = await startGitHubApi();
    const posted: string[] = [];
    for (const [run, outcome] of outcomes.entries()) posted.push(await post(api, { mode, run, outcome }));
    expect(posted).toEqual(kinds);
    expect(api.comments).toHaveLength(1);
  });
});

describe('postComment when GitHub rejects a request', () => {
  it.each([
    ['an answer that never came', hangUp],
    ['an answer of a gateway', refusals.broken],
  ])('finds out by itself that its comment is there after %s', async (_, answer) => {
    await using api = await startGitHubApi();
    api.trouble.push({ request: 'POST issues/7/comments', times: 1, answer, isCarriedOut: true });
    expect(await post(api)).toBe('created');
    expect(read(api)).toEqual(['run 1.1 failed']);
  });

  it('creates the comment if the lost request did not create it', async () => {
    await using api = await startGitHubApi();
    api.trouble.push({ request: 'POST issues/7/comments', times: 2, answer: refusals.broken });
    expect(await post(api)).toBe('created');
    expect(read(api)).toEqual(['run 1.1 failed']);
  });

  it('gives up after three attempts', async () => {
    await using api = await startGitHubApi();
    api.trouble.push({ request: 'POST issues/7/comments', answer: refusals.broken });
    await expect(post(api)).rejects.toMatchObject({ status: 502 });
    expect(api.asked().filter((asked) => asked.startsWith('POST issues'))).toHaveLength(3);
  });

  it('creates a new one if the old one is deleted meanwhile', async () => {
    await using api = await startGitHubApi();
    await post(api);
    api.trouble.push({
      request: 'PATCH issues',
      times: 1,
      answer: async (response, request) => {
        api.comments.length = 0;
        await refusals.notFound(response, request);
      },
    });
    expect(await post(api, { run: 2 })).toBe('created');
    expect(read(api)).toEqual(['run 2.1 failed']);
  });

  it('shortens the comment once if GitHub rejects its length', async () => {
    await using api = await startGitHubApi();
    const limits: number[] = [];
    const render = (maxBytes: number) => {
      limits.push(maxBytes);
      return 'x'.repeat(limits.length === 1 ? 70_000 : maxBytes);
    };
    await using client = open(api);
    await postComment(client, { ...createDraft({}), render }, silentLogger);
    expect(limits.map((limit) => limit > 59_000)).toEqual([true, false]);
    expect(Buffer.byteLength(api.comments[0]?.body ?? '')).toBe(15_000);
    api.trouble.push({ request: 'PATCH issues', answer: refusals.tooLong });
    await expect(postComment(client, createDraft({ run: 2 }), silentLogger)).rejects.toMatchObject({ status: 422 });
    expect(api.asked().filter((asked) => asked.startsWith('PATCH'))).toHaveLength(2);
  });

  it.each(['forbidden', 'notFound', 'gone'] as const)('throws that it is %s, and asks once', async (name) => {
    await using api = await startGitHubApi();
    api.trouble.push({ request: 'POST issues/7/comments', answer: refusals[name] });
    await expect(post(api)).rejects.toBeInstanceOf(GitHubError);
    expect(api.asked().filter((asked) => asked.startsWith('POST issues'))).toHaveLength(1);
  });
});

describe('a marker', () => {
  it('is read back as it was written', () => {
    const { marker } = createDraft({ run: 123, attempt: 4, outcome: 'inconclusive' });
    const written = renderMarker(marker, place);
    expect(parseMarker(`${written}\ntext`, place)).toEqual(marker);
    expect(parseMarker(` ${written}`, place)).toBeNull();
    expect(parseMarker('<!-- mcp-eval-ci key=zz -->', place)).toBeNull();
  });

  it('is none on another pull request, and none with another run or verdict', () => {
    const written = renderMarker(createDraft({ run: 12, outcome: 'passed' }).marker, place);
    for (const elsewhere of [nameComments(repository, 8), nameComments({ ...repository, repo: 'other' }, 7)]) {
      expect(parseMarker(written, elsewhere)).toBeNull();
    }
    expect(parseMarker(written.replace('number=12', 'number=99'), place)).toBeNull();
    expect(parseMarker(written.replace('passed', 'failed'), place)).toBeNull();
  });
});
