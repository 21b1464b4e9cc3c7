import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { startGitHubApi } from '../support/github/github-api.ts';
import { jobToken } from '../support/runner/github-job.ts';
import { runAction } from '../support/runner/run-action.ts';
import { addingServerPath, createWorkspace, plainServer } from '../support/workspace.ts';

/** Runs a passing gate that adds a check to the commit, with these variables of the job. */
async function addCheck(variables: Record<string, string>) {
  await using workspace = await createWorkspace({ 'damaged.json': '{"ref":' });
  await using api = await startGitHubApi();
  const run = await runAction({
    workspace: workspace.path,
    inputs: {
      ...plainServer,
      'server-command': `node ${addingServerPath}`,
      tests: '- title: adds\n  steps:\n    - toolCall: get-sum\n      arguments: { a: 1, b: 2 }\n',
      'report-to': 'check-run',
      'github-token': jobToken,
    },
    env: {
      GITHUB_API_URL: api.url,
      ...variables,
      ...(variables['GITHUB_EVENT_PATH'] && {
        GITHUB_EVENT_PATH: join(workspace.path, variables['GITHUB_EVENT_PATH']),
      }),
    },
    secrets: [jobToken],
  });
  return { run, checks: api.checks, report: await workspace.read('mcp-eval-report/report.json') };
}

// `@actions/github` reads the event file and the proxies of the environment when it is imported, before a gate can handle its errors.

describe('a job that posts on GitHub', () => {
  it('has a verdict and a report with a damaged event file, and a warning', async () => {
    const { run, checks, report } = await addCheck({ GITHUB_EVENT_PATH: 'damaged.json' });
    expect(run).toMatchObject({ exitCode: 0, outputs: { verdict: 'passed' }, problems: [], leftovers: [] });
    expect(run.annotations).toMatchObject([{ level: 'warning' }]);
    expect(run.annotations[0]?.message).toMatch(/^Could not tell the verdict on GitHub: GitHub's client does not load/);
    expect(report).toContain('"passed"');
    expect(checks).toEqual([]);
  });

  it('posts past a proxy that cannot reach this machine', async () => {
    const proxy = 'http://user:canaryPassword@proxy.invalid:3128';
    const { run, checks } = await addCheck({ HTTP_PROXY: proxy, https_proxy: proxy });
    expect(run).toMatchObject({ exitCode: 0, outputs: { verdict: 'passed' }, annotations: [], leftovers: [] });
    expect(checks).toHaveLength(1);
    expect(run.log.replaceAll(/^::add-mask::.*$/gm, '')).not.toContain('canaryPassword');
  });
});
