import { createServer } from 'node:http';
import { text as readText } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { ciExamples } from '../support/runner/ci-variables.ts';
import {
  addTools,
  copyExample,
  runBash,
  runBuildkiteStep,
  runCircleJob,
  runGitLabJob,
} from '../support/runner/example-pipeline.ts';
import { addingServerPath, createWorkspace, greenEvals, redEvals, type Workspace } from '../support/workspace.ts';

// The scripts of examples/ci, run by bash with the variables of their CI systems. The server stands for the output of `npm run build`.

async function createRepository(tools: Readonly<Record<string, string>> = {}): Promise<Workspace> {
  const workspace = await createWorkspace({
    'build/index.js': `import(${JSON.stringify(addingServerPath)});\n`,
    'evals/everything.evals.yaml': greenEvals,
  });
  await addTools(workspace, tools);
  return workspace;
}

function listVariables(name: string): Record<string, string> {
  return { ...ciExamples[name]?.variables };
}

const noteSchema = z.object({ body: z.string() });

/** Serves the notes of merge request 7 of project 42 on the loopback interface. The token belongs to user 1. */
async function startGitLabApi() {
  const notes: Array<{ id: number; body: string; author: { id: number } }> = [];
  const refused: string[] = [];
  const server = createServer((request, response) => {
    void (async () => {
      const { method = '', url = '', headers } = request;
      const [, id] = /^\/api\/v4\/projects\/42\/merge_requests\/7\/notes(?:\/(\d+))?(?:\?.*)?$/.exec(url) ?? [];
      const isNotes = url.startsWith('/api/v4/projects/42/merge_requests/7/notes');
      const answer = (status: number, value: unknown) =>
        response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(value));
      const own = notes.find((note) => String(note.id) === id && note.author.id === 1);
      if (headers['private-token'] !== 'glpat-token') answer(401, { message: '401 Unauthorized' });
      else if (method === 'GET' && url === '/api/v4/user') answer(200, { id: 1 });
      else if (method === 'GET' && isNotes) answer(200, notes);
      else if (method === 'POST' && isNotes) {
        const { body } = noteSchema.parse(JSON.parse(await readText(request)));
        notes.push({ id: notes.length + 1, body, author: { id: 1 } });
        answer(201, notes.at(-1));
      } else if (method === 'PUT' && own !== undefined) {
        own.body = noteSchema.parse(JSON.parse(await readText(request))).body;
        answer(200, own);
      } else {
        refused.push(`${method} ${url}`);
        answer(404, { message: '404 Not found' });
      }
    })();
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', () => listening()));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}/api/v4`,
    notes,
    refused,
    [Symbol.asyncDispose]: () => new Promise<void>((closed) => void server.close(() => closed())),
  };
}

describe('gitlab-ci.yml', () => {
  const kept = ['gl-code-quality-report.json', ...['junit.xml', 'report.html', 'report.json'].map(inReports)];

  it('keeps one note, the tests and the quality of a merge request up to date, green and red', async () => {
    await using workspace = await createRepository();
    await using api = await startGitLabApi();
    await copyExample(workspace, 'gitlab-note.mjs', 'ci/gitlab-note.mjs');
    const variables = {
      ...listVariables('GitLab, merge request'),
      CI_API_V4_URL: api.url,
      CI_PROJECT_ID: '42',
      GITLAB_TOKEN: 'glpat-token',
    };
    const runJob = () => runGitLabJob({ workspace, file: 'gitlab-ci.yml', variables });
    const readQuality = async () => JSON.parse(await workspace.read('gl-code-quality-report.json'));
    // A note of another user, who copies the marker of the job.
    api.notes.push({ id: 1, body: '<!-- mcp-eval-ci "evals" -->\nAll is well.', author: { id: 9 } });

    const green = await runJob();
    expect(green).toMatchObject({ exitCode: 0, artifacts: kept });
    expect(green.log).toContain('Posted a note on the merge request.');
    expect(api.notes[1]?.body).toMatch(/^<!-- mcp-eval-ci "evals" -->\n### ✅ Eval gate passed: `evals`/);
    expect(api.notes[1]?.body).toContain('[Job](<https://gitlab.example/your-org/your-server/-/jobs/9>)');
    expect(await readQuality()).toEqual([]);

    await workspace.write('evals/everything.evals.yaml', redEvals);
    const red = await runJob();
    expect(red).toMatchObject({ exitCode: 1, artifacts: kept });
    expect(red.log).toContain('Updated the note on the merge request.');
    expect(api.notes.map(({ body }) => body.split('\n')[1])).toEqual([
      'All is well.',
      '### ❌ Eval gate failed: `evals`',
    ]);
    expect(await readQuality()).toMatchObject([
      {
        description: expect.stringContaining('Echoes a message: 0 of 1 passed'),
        severity: 'major',
        location: { path: 'evals/everything.evals.yaml', lines: { begin: 3 } },
      },
    ]);
    expect(await workspace.read('mcp-eval-report/junit.xml')).toContain('failures="1"');

    const post = (own: Record<string, string>) =>
      runBash('node ci/gitlab-note.mjs note.md', { flags: [], cwd: workspace.path, env: { ...variables, ...own } });
    expect(await post({ GITLAB_TOKEN: '' })).toEqual({
      exitCode: 0,
      log: 'Posted no note: the variable GITLAB_TOKEN is not set.\n',
    });
    expect((await post({ CI_MERGE_REQUEST_IID: '' })).log).toContain('this is no merge request pipeline');
    const refused = await post({ GITLAB_TOKEN: 'other' });
    expect([refused.exitCode, refused.log]).toEqual([
      1,
      expect.stringContaining('GitLab answered GET /user with 401.'),
    ]);
    expect([api.notes.length, api.refused]).toEqual([2, []]);
  });
});

describe('buildkite.yml', () => {
  it('adds an annotation whose style is the verdict, and ends with the exit code of the gate', async () => {
    await using workspace = await createRepository({
      'buildkite-agent': 'echo "$*" > annotation.args\ncat > annotation.md\nexit "${ANNOTATE_EXIT:-0}"',
    });
    const variables = listVariables('Buildkite, pull request');
    const runStep = (own = {}) =>
      runBuildkiteStep({ workspace, file: 'buildkite.yml', variables: { ...variables, ...own } });
    const readAnnotation = async () => [
      (await workspace.read('annotation.args')).trim(),
      (await workspace.read('annotation.md')).split('\n')[0],
    ];
    const artifacts = ['junit.xml', 'report.html', 'report.json'].map(inReports);

    expect(await runStep()).toMatchObject({ exitCode: 0, artifacts });
    expect(await readAnnotation()).toEqual(['annotate --context evals --style success', '## ✅ Eval gate passed']);

    await workspace.write('evals/everything.evals.yaml', redEvals);
    expect(await runStep({ ANNOTATE_EXIT: '1' })).toMatchObject({ exitCode: 1, artifacts });
    expect(await readAnnotation()).toEqual(['annotate --context evals --style error', '## ❌ Eval gate failed']);

    await workspace.write('build/index.js', 'process.exit(1);\n');
    expect((await runStep()).exitCode).toBe(3);
    expect(await readAnnotation()).toEqual([
      'annotate --context evals --style warning',
      '## ⚠️ Eval gate is inconclusive',
    ]);
  });
});

describe('circleci.yml', () => {
  it('stores the test results of a gate that passed and of one that failed', async () => {
    await using workspace = await createRepository();
    const variables = listVariables('CircleCI, pull request');
    const runJob = () => runCircleJob({ workspace, file: 'circleci.yml', variables });
    const artifacts = ['junit.xml', 'report.html', 'report.json'].map(inReports);

    expect(await runJob()).toMatchObject({ exitCode: 0, artifacts });
    await workspace.write('evals/everything.evals.yaml', redEvals);
    expect(await runJob()).toMatchObject({ exitCode: 1, artifacts });
    expect(await workspace.read('mcp-eval-report/junit.xml')).toContain('failures="1"');
  });
});

function inReports(file: string): string {
  return `mcp-eval-report/${file}`;
}
