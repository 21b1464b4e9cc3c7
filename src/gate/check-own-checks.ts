import type { ConfigurationIssue } from '../base/errors.ts';
import { createFindings } from '../base/findings.ts';
import { systemClock } from '../base/time.ts';
import type { Suite } from '../cases/suite.ts';
import { readCiJob } from './plan/ci-job.ts';
import { planCheckModules } from './plan/plan-check-modules.ts';
import { findUseIssues } from './plan/plan-checks.ts';
import { openCheckModules } from './run/open-check-modules.ts';

/** The codes of issues after which the code of a change must not run here. */
const mustNotRun: ReadonlySet<string> = new Set(['no-check-sandbox', 'pull-request-target']);

/**
 * Loads the modules of suites, each in a process of its own, and checks how the suites use their checks. Where the modules must not run, a
 * warning says so. Nothing of a check is called.
 */
export async function checkOwnChecks(
  suites: readonly Suite[],
  {
    cwd,
    environment,
    signal,
  }: { cwd: string; environment: Readonly<Record<string, string | undefined>>; signal: AbortSignal },
): Promise<{ issues: readonly ConfigurationIssue[]; warnings: readonly string[] }> {
  const using = suites.filter(({ checkModules }) => checkModules !== undefined);
  const findings = createFindings();
  const options = {
    allowUnsandboxedChecks: false,
    allowPullRequestTarget: false,
    enableSandbox: false,
    dryRun: false,
  };
  const ci = await readCiJob(
    { branch: null, commit: null, baseRef: null, commentId: null, shard: null },
    { cwd, environment },
  );
  const context = { cwd, environment, ci, suites: using, policy: { base: null, notes: [] } };
  const planned = await planCheckModules(options, context, findings);
  const refused = findings.issues.find(({ code }) => mustNotRun.has(code));
  if (refused !== undefined) {
    const { file, line, message } = refused;
    return { issues: [], warnings: [`${file}:${line}: The checks of its modules are not validated here. ${message}.`] };
  }
  if (planned === null || findings.issues.length > 0) return { issues: findings.issues, warnings: findings.notes };
  await using opened = await openCheckModules(planned, null, { cwd, environment, clock: systemClock, signal });
  const { problems, missing, checks } = opened;
  findings.addAll(problems.map(({ location, message }) => ({ ...location, code: 'bad-check-module', message })));
  if (problems.length === 0) {
    const known = new Map([...checks].filter(([name]) => !missing.has(name)));
    for (const used of using.flatMap(({ ownChecks = [] }) => ownChecks)) {
      findings.addAll(await findUseIssues(used, known));
    }
  }
  return { issues: findings.issues, warnings: findings.notes };
}
