import { describe, expect, it } from 'vitest';
import { renderReportJson } from '../../src/report/report-json.ts';
import { runCommand } from '../support/process/command.ts';
import { runProgramInTest } from '../support/process/program.ts';
import { type GitHubApi, refusals, startGitHubApi } from '../support/github/github-api.ts';
import { jobToken } from '../support/runner/github-job.ts';
import { createRedReport } from '../support/factories/report-factory.ts';
import { createWorkspace } from '../support/workspace.ts';

async function publish(
  api: GitHubApi,
  options: { commit?: string; args?: string[]; env?: Record<string, string>; run?: typeof runCommand } = {},
) {
  const report = { ...createRedReport(), revision: { commit: options.commit ?? '1'.repeat(40), branch: null } };
  await using workspace = await createWorkspace({ 'report.json': renderReportJson(report) });
  const env = {
    GITHUB_API_URL: api.url,
    GITHUB_REPOSITORY: 'your-org/your-server',
    GITHUB_TOKEN: jobToken,
    ...options.env,
  };
  const { run = runProgramInTest } = options;
  return await run(['publish', 'report.json', ...(options.args ?? ['--pull-number', '7'])], {
    cwd: workspace.path,
    env,
  });
}

describe('mcp-eval-ci publish', () => {
  it('comments on a pull request by hand, with the token of the environment', async () => {
    await using api = await startGitHubApi();
    expect(await publish(api)).toEqual({
      exitCode: 0,
      stdout: '',
      stderr: 'Commented on pull request 7: https://github.com/your-org/your-server/pull/7#issuecomment-1001\n',
    });
    expect(api.requests.at(-2)?.headers.authorization).toBe(`token ${jobToken}`);
    expect(await publish(api, { env: { GITHUB_TOKEN: '', GH_TOKEN: jobToken } })).toMatchObject({ exitCode: 0 });
    expect(api.comments).toHaveLength(1);
  });

  it('ends with 2 where it cannot know what to do', async () => {
    await using api = await startGitHubApi();
    const without = await publish(api, { args: [] });
    expect(without).toMatchObject({ exitCode: 2, stdout: '' });
    expect(without.stderr).toContain('pull-number: is missing');
    expect(await publish(api, { env: { GITHUB_TOKEN: '' } })).toMatchObject({ exitCode: 2 });
    expect(api.comments).toEqual([]);
  });

  it('ends with 3 if GitHub rejects the comment', async () => {
    await using api = await startGitHubApi();
    api.trouble.push({ request: 'POST issues', answer: refusals.forbidden });
    const { exitCode, stderr } = await publish(api, { run: runCommand });
    expect(exitCode).toBe(3);
    expect(stderr).toMatch(/^Warning: Could not comment on pull request 7: .*`pull-requests: write`/);
  });

  it('posts nothing of a commit that is not the newest', async () => {
    await using api = await startGitHubApi();
    const { exitCode, stderr } = await publish(api, { commit: '2'.repeat(40), run: runCommand });
    expect(exitCode).toBe(0);
    expect(stderr).toContain('Nothing is posted');
    expect(api.comments).toEqual([]);
  });
});
