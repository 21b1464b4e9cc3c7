import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ConfigurationError } from '../../src/base/errors.ts';
import { createFindings } from '../../src/base/findings.ts';
import { silentLogger } from '../../src/base/logger.ts';
import { createRedactor } from '../../src/base/redaction.ts';
import { judgeShards, rejudgeReport } from '../../src/gate/judge/rejudge.ts';
import { parseGateOptions } from '../../src/gate/options.ts';
import { parseMarker } from '../../src/gate/plan/marker.ts';
import { planMerge } from '../../src/gate/plan/plan-merge.ts';
import { publishReport } from '../../src/gate/publish/publish-report.ts';
import type { FlakyEffect } from '../../src/model/policy.ts';
import type { Report } from '../../src/model/report.ts';
import { joinShards } from '../../src/verdict/merge.ts';
import { renderReportJson } from '../../src/report/report-json.ts';
import { damage, gateReports, listPlaces, plannedSuites } from '../support/gate/damaged-report.ts';
import { type GitHubApi, startGitHubApi } from '../support/github/github-api.ts';
import { createGitHubJob, jobToken } from '../support/runner/github-job.ts';
import { createPolicy, ofPolicy } from '../support/factories/policy-factory.ts';
import { createWorkflowRunEvent } from '../support/runner/events.ts';
import { countDraws } from '../support/property-runs.ts';
import { createShardReports } from '../support/factories/shard-factory.ts';
import { VirtualClock } from '../support/clocks/virtual-clock.ts';
import { createWorkspace, type Workspace } from '../support/workspace.ts';

const numRuns = countDraws(1000);
const headSha = '1'.repeat(40);

/** `refused` if nothing was judged. */
type Judged = Report['verdict']['outcome'] | 'refused';

function damageSomewhere(report: Report, where: number, how: number): { text: string; place: string } {
  const written: unknown = JSON.parse(renderReportJson(report));
  const places = listPlaces(written);
  const place = places[where % places.length] ?? [];
  return { text: JSON.stringify(damage(written, place, how)), place: place.join('.') };
}

async function judgeMerged(workspace: Workspace, texts: readonly string[]): Promise<Judged> {
  for (const [index, text] of texts.entries()) {
    await mkdir(join(workspace.path, `shards/${index}`), { recursive: true });
    await writeFile(join(workspace.path, `shards/${index}/report.json`), text);
  }
  const findings = createFindings();
  const merge = await planMerge(
    { merge: ['shards'], minPassRate: null, policy: null },
    { cwd: workspace.path },
    findings,
  );
  if (merge === null || findings.issues.length > 0) return 'refused';
  return judgeShards(merge, mergingPlan).report.verdict.outcome;
}

async function judgePublished(
  { api, workspace, environment }: { api: GitHubApi; workspace: Workspace; environment: Record<string, string> },
  text: string,
  texts: Record<string, string>,
): Promise<Judged> {
  await writeFile(join(workspace.path, 'report.json'), text);
  api.comments.length = 0;
  api.requests.length = 0;
  await publishReport(parseGateOptions({ publish: 'report.json', 'github-token': jobToken, ...texts }), {
    cwd: workspace.path,
    environment,
    clock: new VirtualClock(),
    logger: silentLogger,
    redactor: createRedactor(),
    signal: new AbortController().signal,
  }).catch((error: unknown) => (error instanceof ConfigurationError ? undefined : Promise.reject(error)));
  return parseMarker(api.comments[0]?.body ?? '', 'your-org/your-server#7')?.outcome ?? 'refused';
}

const mergingPlan = { baseline: null, history: null, protectionFindings: [], policyNotes: [] };

/** Judges undamaged shard reports like `merge`. */
function judgeSoundShards(shards: readonly Report[]): Judged {
  const members = shards.map((report, index) => ({ label: String(index), report }));
  const { joined, problems } = joinShards(members, { isJudgedAnew: false });
  expect(problems).toEqual([]);
  const rules = { minimumPassRate: null, policy: null };
  const merge = { ...joined, revision: shards[0]?.revision ?? null, selection: undefined, rules };
  return judgeShards(merge, mergingPlan).report.verdict.outcome;
}

/** Judges an undamaged report like `publish`. */
function judgeSound(report: Report, minPassRate: string): Judged {
  if (minPassRate === '') return report.verdict.outcome;
  const { minPassRate: minimumPassRate } = parseGateOptions({ publish: 'x', 'min-pass-rate': minPassRate });
  return rejudgeReport(report, { baseline: null, policy: null, minimumPassRate }).report.verdict.outcome;
}

function countSeen(seen: readonly Judged[]): Record<Judged, number> {
  const count = (judged: Judged) => seen.filter((each) => each === judged).length;
  return {
    passed: count('passed'),
    failed: count('failed'),
    inconclusive: count('inconclusive'),
    refused: count('refused'),
  };
}

/** Damaged reports must have every verdict, and must be refused often but not always, because much of a report decides nothing. */
const isVaried = ({ passed, failed, inconclusive, refused }: Record<Judged, number>) =>
  Math.min(passed, failed, inconclusive) > numRuns / 200 && refused > numRuns / 10 && refused < 0.95 * numRuns;

describe('a report that is damaged in one field', () => {
  it('is refused when it is merged, or comes to the same verdict', async () => {
    await using workspace = await createWorkspace();
    const seen: Judged[] = [];
    const cut = fc.array(fc.integer({ min: 1, max: 2 }), { minLength: 5, maxLength: 5 });
    const flaky = fc.constantFrom<FlakyEffect>('fail', 'pass', 'report');
    await fc.assert(
      fc.asyncProperty(plannedSuites, cut, flaky, fc.nat(), fc.nat(), async (suites, picks, effect, where, how) => {
        const policy = createPolicy({ flaky: ofPolicy(effect) });
        const shards = createShardReports(suites, 2, (caseIndex) => picks[caseIndex] ?? 1, policy);
        const sound = judgeSoundShards(shards);
        // Files take time, so that only some of the undamaged reports are merged from them.
        if (where % 10 === 0) expect(await judgeMerged(workspace, shards.map(renderReportJson))).toBe(sound);
        const [first, ...others] = shards;
        if (first === undefined) return;
        const { text, place } = damageSomewhere(first, where, how);
        const found = await judgeMerged(workspace, [text, ...others.map(renderReportJson)]);
        seen.push(sound, ...(found === 'refused' ? [found] : []));
        expect([place, found === 'refused' ? sound : found]).toEqual([place, sound]);
      }),
      { numRuns },
    );
    expect([countSeen(seen), isVaried(countSeen(seen))]).toEqual([expect.anything(), true]);
  });

  it('is refused when it is published, or comes to the same verdict', async () => {
    await using api = await startGitHubApi();
    api.pulls.clear();
    api.pulls.set(7, { sha: headSha, owner: 'someone', branch: 'change' });
    await using workspace = await createWorkspace();
    const event = createWorkflowRunEvent({ isFork: true });
    const environment = await createGitHubJob(workspace, api.url, { event, run: 900, variables: {} });
    const seen: Judged[] = [];
    const minimum = fc.constantFrom('', '', '50%');
    await fc.assert(
      fc.asyncProperty(gateReports, minimum, fc.nat(), fc.nat(), async (drawn, minPassRate, where, how) => {
        const report = { ...drawn, revision: { commit: headSha, branch: 'PR 7' } };
        const publish = (text: string) =>
          judgePublished({ api, workspace, environment }, text, { 'min-pass-rate': minPassRate });
        const sound = judgeSound(report, minPassRate);
        // Requests take time, so that only some of the undamaged reports are published.
        if (where % 10 === 0) expect(await publish(renderReportJson(report))).toBe(sound);
        const { text, place } = damageSomewhere(report, where, how);
        const found = await publish(text);
        seen.push(sound, ...(found === 'refused' ? [found] : []));
        expect([place, found === 'refused' ? sound : found]).toEqual([place, sound]);
      }),
      { numRuns },
    );
    expect([countSeen(seen), isVaried(countSeen(seen))]).toEqual([expect.anything(), true]);
  });
});
