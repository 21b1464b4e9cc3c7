import { describe, expect, it } from 'vitest';
import { startDeadline } from '../../../src/base/time.ts';
import { silentLogger } from '../../../src/base/logger.ts';
import { createRedactor, Secret } from '../../../src/base/redaction.ts';
import type { PageLinks } from '../../../src/gate/plan/plan-github.ts';
import { postCheck } from '../../../src/gate/publish/post-check.ts';
import { openGitHub } from '../../../src/github/github-client.ts';
import type { Report } from '../../../src/model/report.ts';
import { type GitHubApi, startGitHubApi } from '../../support/github/github-api.ts';
import { hostileTexts } from '../../support/text/hostile-text.ts';
import { listActiveNodes } from '../../support/text/markdown-tree.ts';
import {
  createGreenReport,
  createHostileReport,
  createInconclusiveReport,
  createRedReport,
  createReport,
} from '../../support/factories/report-factory.ts';
import { createCaseResults, createFailure, createSuiteResults } from '../../support/factories/results-factory.ts';
import { VirtualClock } from '../../support/clocks/virtual-clock.ts';

const revision = { commit: '1'.repeat(40), branch: 'main' };
const page: PageLinks = {
  job: 'evals / test',
  run: { label: 'Run 12', url: 'https://github.com/your-org/your-server/actions/runs/41/attempts/1' },
  repositoryUrl: 'https://github.com/your-org/your-server',
  directory: '',
};

async function post(api: GitHubApi, report: Report, secrets: Secret[] = []) {
  const clock = new VirtualClock();
  const deadline = startDeadline(clock, 120_000, 'Asking GitHub');
  const token = new Secret('ghs_canaryCanaryCanary');
  await using client = openGitHub({ apiUrl: api.url, token, clock, deadline, logger: silentLogger });
  const redactor = createRedactor(secrets);
  return await postCheck(client, report, { repository: { owner: 'your-org', repo: 'your-server' }, page, redactor });
}

interface Output {
  title: string;
  summary: string;
  annotations: Array<{ path: string; start_line: number; annotation_level: string; title: string; message: string }>;
}
const readOutput = (api: GitHubApi) => api.checks.at(-1)?.['output'] as Output;

describe('postCheck', () => {
  it('adds a check with the summary, and the failing cases at their lines', async () => {
    await using api = await startGitHubApi();
    const check = await post(api, { ...createRedReport(), revision });
    expect(check).toEqual({ url: 'https://github.com/your-org/your-server/runs/1' });
    expect(api.checks).toEqual([
      {
        name: 'Eval gate: evals / test',
        head_sha: '1'.repeat(40),
        status: 'completed',
        conclusion: 'failure',
        details_url: 'https://github.com/your-org/your-server/actions/runs/41/attempts/1',
        output: expect.objectContaining({
          title: '7 of 11 iterations passed (63.6%), the minimum is 90% (from evals/math.evals.yaml:4)',
          summary: expect.stringMatching(/^## ❌ Eval gate failed\n/),
        }),
      },
    ]);
    const { annotations } = readOutput(api);
    expect(annotations.map(({ path, start_line: line, annotation_level: level }) => [path, line, level])).toEqual([
      ['evals/math.evals.yaml', 7, 'failure'],
      // The line of the server that the failure names.
      ['src/weather.ts', 3, 'failure'],
    ]);
  });

  it.each([
    ['a passed one', createGreenReport(), true, 'success'],
    ['a failed one', createRedReport(), true, 'failure'],
    ['a failed one that only reports', createRedReport(), false, 'neutral'],
    ['one that established nothing', createInconclusiveReport(), true, 'failure'],
    ['one that may establish nothing', createInconclusiveReport(), false, 'neutral'],
  ])('concludes of %s what a required check must', async (_, report, stopsJob, conclusion) => {
    await using api = await startGitHubApi();
    await post(api, { ...report, revision, stopsJob });
    expect(api.checks[0]?.['conclusion']).toBe(conclusion);
  });

  it('keeps within what a request takes', async () => {
    await using api = await startGitHubApi();
    const cases = Array.from({ length: 500 }, (_, index) =>
      createCaseResults({
        id: `bad-${index}`,
        title: `Case ${index}`,
        passed: 0,
        failed: 1,
        failures: [createFailure({ reasons: ['because '.repeat(500)] })],
      }),
    );
    await post(api, createReport({ revision, suites: [createSuiteResults({ cases })] }));
    const { annotations, summary } = readOutput(api);
    expect(annotations).toHaveLength(49);
    expect(Buffer.byteLength(summary)).toBeLessThanOrEqual(60_000);
  });

  it('holds nothing that acts, names no path outside of the repository, and none of our secrets', async () => {
    await using api = await startGitHubApi();
    for (const text of [...hostileTexts, '../../etc/passwd', 'leaks a-secret-0123456789']) {
      await post(api, { ...createHostileReport(text), revision }, [new Secret('a-secret-0123456789')]);
      const output = readOutput(api);
      expect(listActiveNodes(output.summary)).toEqual([]);
      expect(output.annotations.filter(({ path }) => /^[/\\]|\.\.|\p{Cc}/u.test(path))).toEqual([]);
      expect(JSON.stringify(output)).not.toContain('a-secret');
    }
  });

  it('adds none where no commit is known', async () => {
    await using api = await startGitHubApi();
    expect(await post(api, { ...createRedReport(), revision: null })).toBeNull();
    expect(api.checks).toEqual([]);
  });
});
