import { formatCount } from '../base/text.ts';
import { formatDuration } from '../base/time.ts';
import { describeSmallestFall, formatMinimumPassRate } from '../model/rate.ts';
import { outlineSuite } from '../suite/manifest.ts';
import { listExpected } from '../verdict/compare-baseline.ts';
import { computeSmallestFall } from '../verdict/smallest-fall.ts';
import type { GatePlan } from './plan/plan.ts';
import type { FileSuite, PlannedSuite } from './plan/plan-suites.ts';
import type { PlannedServer } from './plan/plan-server.ts';
import { describeModels, describeOffer } from './preview-models.ts';
import { describeRuns } from './preview-runs.ts';
import type { PreviewCalls } from './preview-service.ts';
import { nameServer } from './run/test-servers.ts';

/**
 * Describes what the gate would run, and what it would change in a hosted service, one line each. Reads from the service, and starts,
 * creates and changes nothing.
 *
 * @throws {ConfigurationError} if the key, the address, the project or a suite of the service is wrong
 */
export async function previewGate(plan: GatePlan, context: PreviewCalls): Promise<string[]> {
  for (const secret of plan.secrets) context.redactor.add(secret);
  const lines = [
    describeServer(plan),
    ...plan.suites.flatMap((planned) => [
      ...describeSuite(planned),
      ...describeRetries(planned),
      ...describeRuns(planned, { ...plan, nowMs: context.clock.now() }),
      ...describeFall(planned, plan),
      ...(planned.kind === 'file' ? describeModels(planned, { models: plan.models, nowMs: context.clock.now() }) : []),
    ]),
    ...(plan.models === null ? [] : describeOffer(plan.suites.filter(isFile), plan.surface?.configurations ?? {})),
    ...describePublishing(plan),
    ...plan.notes,
    ...plan.remarks,
  ];
  if (plan.upload === null && plan.service.hosted === null) return lines;
  // Loaded only if the plan has a service: the descriptions of its operations take longer to load than all that is shown above.
  const { previewService } = await import('./preview-service.ts');
  return [...lines, ...(await previewService(plan, context))];
}

/** The cases that a plan would run. */
export interface ListedJob {
  cases: Array<{ suite: string; id: string; title: string; file: string; line: number; tags: string[] }>;
  /** The suites of a service, of which the plan does not know the cases. */
  storedSuites: string[];
}

/** Lists the cases of a plan. */
export function listPlan({ suites }: Pick<GatePlan, 'suites'>): ListedJob {
  return {
    cases: suites.filter(isFile).flatMap(({ suite }) =>
      suite.cases.map(({ id, title, tags, location: { file, line } }) => ({
        suite: suite.name,
        id,
        title,
        file,
        line,
        tags: [...tags],
      })),
    ),
    storedSuites: suites.flatMap((planned) => (planned.kind === 'stored' ? [planned.suite] : [])),
  };
}

function isFile(planned: PlannedSuite): planned is FileSuite {
  return planned.kind === 'file';
}

function describeServer({ servers, service, timeoutMs }: GatePlan): string {
  const what = servers.length === 0 ? 'the servers saved in the suite' : servers.map(describeStart).join(' and ');
  const names = servers.map((server) => nameServer(server, { servers, service }).recordName);
  const through = names.length > 1 ? 'tunnels' : 'a tunnel';
  const how = service.isTunnelled && names.length > 0 ? `, through ${through} as ${names.join(' and ')}` : '';
  return `Would test ${what} with the service ${service.profile.name}${how}, within ${formatDuration(timeoutMs)}.`;
}

function describeStart({ name, command, url, access }: PlannedServer): string {
  const what = command ?? `the server that runs already at ${name === null ? 'server-url' : new URL(url ?? '').origin}`;
  const named = name === null ? what : `${name} (${what})`;
  const carried = [
    ...[...(access?.headers.keys() ?? [])].map((header) => `the header ${header}`),
    ...(access?.oauth == null ? [] : [`a token of ${access.oauth.issuer}`]),
  ];
  return carried.length === 0 ? named : `${named}, with ${carried.join(', ')}`;
}

/** Describes what the gate would post outside of the job. */
function describePublishing({ github, collector }: GatePlan): string[] {
  const { comment = null, hasCheckRun = false, issueParts = null } = github ?? {};
  return [
    ...(comment === null ? [] : [`Would comment on pull request ${comment.pullNumber} (${comment.mode}).`]),
    ...(hasCheckRun ? ['Would add a check to the commit.'] : []),
    ...(issueParts === null ? [] : ['Would keep an issue open for every suite that fails.']),
    ...(collector === null ? [] : [`Would send the traces to ${collector.url.host}.`]),
  ];
}

function describeRetries(planned: PlannedSuite): string[] {
  const { value, source } = planned.requirements.retryFailed;
  if (value === 0) return [];
  const name = planned.kind === 'file' ? planned.suite.name : planned.suite;
  return [`${name}: cases that fail would be run again, in up to ${formatCount(value, 'round')} (${source}).`];
}

/**
 * Says how small a fall below the baseline the gate would find. Skips a baseline that the service keeps, because it is read only when the
 * gate runs.
 */
function describeFall(planned: PlannedSuite, { baseline, limits: { maximumRateDrop } }: GatePlan): string[] {
  if (planned.kind === 'stored' || maximumRateDrop === null || baseline?.baseline == null) return [];
  const expected = listExpected(baseline.baseline, outlineSuite(planned.suite, planned.whole));
  const isOverTasks = planned.requirements.confidenceOver?.value === 'tasks';
  const fall = computeSmallestFall(expected, { maximumRateDrop: maximumRateDrop.value, isOverTasks });
  const compared = `${formatCount(expected.length, 'case')} of the baseline ${baseline.source}`;
  return [`${planned.suite.name}, over ${compared}: ${describeSmallestFall(fall, maximumRateDrop.value)}.`];
}

function describeSuite(planned: PlannedSuite): string[] {
  if (planned.kind === 'stored') return [`Suite ${planned.suite} of the service, as it stands.`];
  const { suite, requirements } = planned;
  const { value: minimum, source } = requirements.minimumPassRate;
  const iterations = suite.cases.reduce((sum, { runs }) => sum + runs, 0);
  const isRange = suite.cases.some(({ maxRuns }) => maxRuns !== undefined);
  const least = isRange ? 'at least ' : '';
  return [
    `${suite.name} (${suite.location.file}): ${formatCount(suite.cases.length, 'case')}, ${least}${formatCount(iterations, 'iteration')}, minimum ${formatMinimumPassRate(minimum)} (${source}).`,
    ...suite.cases.map(({ title, runs, maxRuns = runs }) => {
      const range = maxRuns === runs ? runs : `${runs} to ${maxRuns}`;
      return `  ${title}${range === 1 ? '' : ` × ${range}`}`;
    }),
  ];
}
