import { createHash } from 'node:crypto';
import {
  type Answer,
  json,
  type ReceivedRequest,
  startHttpServer,
  type TestHttpServer,
} from '../network/http-server.ts';

export interface GitHubUser {
  id: number;
  login: string;
}

export interface StoredComment {
  id: number;
  issue: number;
  body: string;
  user: GitHubUser;
}

export interface StoredIssue {
  number: number;
  state: string;
  title: string;
  body: string;
  user: GitHubUser;
  /** Set on issues in lists that are pull requests. */
  pull_request?: object;
}

/** The user that comments with the token of a job. */
export const actionsBot: GitHubUser = { id: 41_898_282, login: 'github-actions[bot]' };
export const otherUser: GitHubUser = { id: 5, login: 'octocat' };

const repository = '/repos/your-org/your-server';

/** Requests that get another answer than usual: `POST comments`, `GET pulls/7`, `POST graphql`. */
export interface Trouble {
  request: `${string} ${string}`;
  /** The number of affected requests, starting with the next one; all by default. */
  times?: number;
  /** Waits for this before anything else. */
  before?: () => void | Promise<void>;
  /** Answers instead of executing the request; without it, the API executes the request as usual. */
  answer?: Answer;
  /** Executes the request as well, so that only its answer is lost. */
  isCarriedOut?: boolean;
}

/** GitHub's API on the loopback interface, with the parts that this project uses and one repository: `your-org/your-server`. */
export interface GitHubApi extends AsyncDisposable {
  url: string;
  comments: StoredComment[];
  issues: StoredIssue[];
  /** Bodies of the checks that were created. */
  checks: Array<Record<string, unknown>>;
  /** The existing commits with their files by path, and the commits of branches. */
  files: Map<string, Record<string, string>>;
  branches: Map<string, string>;
  /** Runs of workflows by their ids; `path` is the workflow's file. */
  runs: Map<string, { number: number; attempt: number; path?: string }>;
  /** Git's modes of files that are not regular files. */
  modes: Map<string, string>;
  /** Heads of pull requests by number. */
  pulls: Map<number, { sha: string; owner: string; branch: string }>;
  requests: ReceivedRequest[];
  /** The method, and the path below the repository, of every request in order. */
  asked(): string[];
  /** The owner of the token. */
  identity: GitHubUser;
  trouble: Trouble[];
}

/** Refusals in GitHub's words. */
export const refusals = {
  forbidden: json(403, { message: 'Resource not accessible by integration', status: '403' }),
  notFound: json(404, { message: 'Not Found', status: '404' }),
  gone: json(410, { message: 'Gone', status: '410' }),
  tooLong: json(422, {
    message: 'Validation Failed',
    errors: [{ resource: 'IssueComment', code: 'unprocessable', field: 'data', message: 'Body is too long' }, 'odd'],
  }),
  broken: json(502, { message: 'Server Error' }),
  secondaryLimit: (headers: Record<string, string> = {}) =>
    json(403, { message: 'You have exceeded a secondary rate limit. Please wait a few minutes.' }, headers),
};

export async function startGitHubApi(options: { prefix?: '/api/v3' } = {}): Promise<GitHubApi> {
  const comments: StoredComment[] = [];
  const issues: StoredIssue[] = [];
  const checks: GitHubApi['checks'] = [];
  const pulls: GitHubApi['pulls'] = new Map([[7, { sha: '1'.repeat(40), owner: 'your-org', branch: 'change' }]]);
  const files: GitHubApi['files'] = new Map();
  const branches: GitHubApi['branches'] = new Map();
  const modes: GitHubApi['modes'] = new Map();
  const runs: GitHubApi['runs'] = new Map();
  const trouble: Trouble[] = [];
  let lastId = 1000;

  const showComment = ({ id, issue, body, user }: StoredComment) => ({
    id,
    body,
    user: { ...user, type: user.login.endsWith('[bot]') ? 'Bot' : 'User' },
    html_url: `https://github.com/your-org/your-server/pull/${issue}#issuecomment-${id}`,
    issue_url: `${api.url}${repository}/issues/${issue}`,
  });
  const showIssue = (issue: StoredIssue) => {
    return { ...issue, html_url: `https://github.com/your-org/your-server/issues/${issue.number}` };
  };
  const showPull = ([number, { sha, owner, branch }]: [number, { sha: string; owner: string; branch: string }]) => ({
    number,
    state: 'open',
    head: { sha, ref: branch, label: `${owner}:${branch}` },
  });

  const routes: Array<[RegExp, (match: RegExpExecArray, request: ReceivedRequest, url: URL) => Answer]> = [
    [
      /^POST \/graphql$/,
      () => json(200, { data: { viewer: { login: api.identity.login, databaseId: api.identity.id } } }),
    ],
    [
      /^GET \/issues\/(\d+)\/comments$/,
      ([, issue], _, url) =>
        paginate(
          comments.filter((comment) => comment.issue === Number(issue)).map((comment) => showComment(comment)),
          url,
        ),
    ],
    [
      /^POST \/issues\/(\d+)\/comments$/,
      ([, issue], request) => {
        const body = readBody(request);
        if (body.length > 65_536) return refusals.tooLong;
        lastId += 1;
        const comment = { id: lastId, issue: Number(issue), body, user: api.identity };
        comments.push(comment);
        return json(201, showComment(comment));
      },
    ],
    [
      /^(PATCH|DELETE) \/issues\/comments\/(\d+)$/,
      ([, method, id], request) => {
        const place = comments.findIndex((comment) => comment.id === Number(id));
        const comment = comments[place];
        if (comment === undefined) return refusals.notFound;
        if (method === 'PATCH') {
          comment.body = readBody(request);
          return json(200, showComment(comment));
        }
        comments.splice(place, 1);
        return (response) => void response.writeHead(204).end();
      },
    ],
    [
      /^GET \/issues$/,
      (_match, _request, url) => {
        const state = url.searchParams.get('state') ?? 'open';
        const found = issues.filter(
          (issue) => issue.user.login === url.searchParams.get('creator') && (state === 'all' || issue.state === state),
        );
        return paginate(found.toReversed().map(showIssue), url);
      },
    ],
    [
      /^POST \/issues$/,
      (_match, { body }) => {
        const issue = JSON.parse(body) as Pick<StoredIssue, 'title' | 'body'>;
        issues.push({ ...issue, number: 100 + issues.length, state: 'open', user: api.identity });
        return json(201, showIssue(issues.at(-1)!));
      },
    ],
    [
      /^PATCH \/issues\/(\d+)$/,
      ([, number], { body }) => {
        const issue = issues.find((candidate) => candidate.number === Number(number));
        if (issue === undefined) return refusals.notFound;
        return json(200, showIssue(Object.assign(issue, JSON.parse(body))));
      },
    ],
    [
      /^POST \/check-runs$/,
      (_match, { body }) => {
        checks.push(JSON.parse(body) as Record<string, unknown>);
        return json(201, {
          id: checks.length,
          html_url: `https://github.com/your-org/your-server/runs/${checks.length}`,
        });
      },
    ],
    [
      /^GET \/commits\/(.+)$/,
      ([, name = '']) => {
        const ref = decodeURIComponent(name);
        const sha = branches.get(ref) ?? ref;
        return files.has(sha) ? json(200, { sha }) : json(422, { message: `No commit found for SHA: ${ref}` });
      },
    ],
    [
      /^GET \/actions\/runs\/(\d+)$/,
      ([, id = '']) => {
        const run = runs.get(id);
        if (run === undefined) return refusals.notFound;
        const { number, attempt, path = '.github/workflows/evals.yml' } = run;
        return json(200, { id: Number(id), run_number: number, run_attempt: attempt, path });
      },
    ],
    [
      /^GET \/git\/trees\/([0-9a-f]+)$/,
      ([, sha = '']) => {
        const tree = Object.entries(files.get(sha) ?? {}).map(([path, text]) => {
          const blob = createHash('sha1')
            .update(`blob ${Buffer.byteLength(text)}\0${text}`)
            .digest('hex');
          return { path, mode: modes.get(path) ?? '100644', type: 'blob', sha: blob };
        });
        return json(200, { sha, tree, truncated: false });
      },
    ],
    [
      /^GET \/contents\/(.+)$/,
      ([, path = ''], _, url) => {
        const text = files.get(url.searchParams.get('ref') ?? '')?.[decodeURIComponent(path)];
        if (text === undefined) return refusals.notFound;
        return json(200, { type: 'file', encoding: 'base64', content: Buffer.from(text).toString('base64') });
      },
    ],
    [
      /^GET \/pulls\/(\d+)$/,
      ([, number]) => {
        const pull = pulls.get(Number(number));
        return pull === undefined ? refusals.notFound : json(200, showPull([Number(number), pull]));
      },
    ],
    [
      /^GET \/pulls$/,
      (_match, _request, url) => {
        const shown = [...pulls].map(showPull);
        return json(
          200,
          shown.filter(({ head }) => head.label === url.searchParams.get('head')),
        );
      },
    ],
  ];

  const answer: Answer = async (response, request) => {
    const url = new URL(request.url, server.origin);
    const name = describe(request);
    const usual = () => {
      for (const [pattern, respond] of routes) {
        const match = pattern.exec(name.replace(' ', ' /'));
        if (match !== null) return respond(match, request, url);
      }
      return refusals.notFound;
    };
    const found = trouble.find(({ request: wanted, times = Infinity }) => name.startsWith(wanted) && times > 0);
    if (found === undefined) return await usual()(response, request);
    if (found.times !== undefined) found.times -= 1;
    await found.before?.();
    if (found.answer === undefined) return await usual()(response, request);
    if (found.isCarriedOut === true) usual();
    await found.answer(response, request);
  };

  const server: TestHttpServer = await startHttpServer(answer);
  const api: GitHubApi = {
    url: `${server.origin}${options.prefix ?? ''}`,
    comments,
    issues,
    checks,
    files,
    branches,
    modes,
    runs,
    pulls,
    requests: server.requests,
    asked: () => server.requests.map(describe),
    identity: actionsBot,
    trouble,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
  return api;
}

/** Describes a request as `GET issues/7/comments`: below the repository and without the query. */
function describe({ method, url }: ReceivedRequest): string {
  const path = url
    .replace(/\?.*$/s, '')
    .replace(/^\/api(?:\/v3)?/, '')
    .replace(repository, '');
  return `${method} ${path.slice(1)}`;
}

function readBody({ body }: ReceivedRequest): string {
  return (JSON.parse(body) as { body: string }).body;
}

/** Returns a page of a list, with the link to the next page as GitHub writes it. */
function paginate(items: readonly unknown[], url: URL): Answer {
  const perPage = Number(url.searchParams.get('per_page') ?? 30);
  const page = Number(url.searchParams.get('page') ?? 1);
  const next = new URL(url);
  next.searchParams.set('page', String(page + 1));
  const hasNext = items.length > page * perPage;
  const headers: Record<string, string> = hasNext ? { link: `<${next.href}>; rel="next"` } : {};
  return json(200, items.slice((page - 1) * perPage, page * perPage), headers);
}
