import { isDeepStrictEqual } from 'node:util';
import { formatCount } from '../base/text.ts';
import { appendAll, findGreatest, findSmallest } from '../base/lists.ts';
import type { Report, ServerReport, ShardReport } from '../model/report.ts';
import { classifyCase } from './flaky.ts';
import { isProtection } from './reason-rules.ts';
import { type RestoredSuite, restoreSuites } from './restore.ts';
import { digestReports } from './shard-digest.ts';

/** A report of a shard, and what to call it in messages. */
export interface LabelledReport {
  label: string;
  report: Report;
}

/** The results of all shards, as if one gate had found them. */
export interface JoinedShards {
  /** In the order in which they first occur. */
  suites: RestoredSuite[];
  /** From the start of the first shard to the end of the last. */
  startedAt: string;
  durationMs: number;
  server: ServerReport | null;
}

/**
 * Joins the reports of shards. Whatever would make the whole another one than that which was cut is a problem, in one
 * sentence: a shard that is missing or there twice, shards of other cases, definitions, minimums, commits, servers or
 * versions, and a case that is in two of them. `joined` is for use only where there is none. `isJudgedAnew` says that what
 * policies demanded of the parts is of no account.
 */
export function joinShards(
  members: readonly LabelledReport[],
  { isJudgedAnew = false } = {},
): { joined: JoinedShards; problems: string[] } {
  const problems = [
    ...findForeign(members),
    ...(isJudgedAnew ? [] : findPolicies(members)),
    ...findGaps(members),
    ...findDifferences(members),
  ];
  const suites = new Map<string, RestoredSuite>();
  for (const { label, report } of members) {
    for (const part of restoreSuites(report)) {
      const earlier = suites.get(part.results.suiteId);
      if (earlier !== undefined) appendAll(problems, findClashes(earlier, part, label));
      suites.set(part.results.suiteId, earlier === undefined ? part : joinSuite(earlier, part));
    }
  }
  return {
    joined: { suites: dropRepeated([...suites.values()]), ...joinTimes(members), server: findServer(members) },
    problems,
  };
}

function findForeign(members: readonly LabelledReport[]): string[] {
  return members.flatMap(({ label, report }) =>
    report.shard === null ? [`${label} is the report of a whole gate, not of a shard`] : [],
  );
}

/** What was demanded of a tag or spent by a suite is spread over the shards, of which none knows the others' part. */
function findPolicies(members: readonly LabelledReport[]): string[] {
  return members.flatMap(({ label, report }) => {
    const spread = report.suites
      .flatMap(({ demands }) => demands)
      .filter(({ kind, scope }) => kind === 'budget' || scope === 'tag');
    if (spread.length === 0) return [];
    const names = [
      ...new Set(spread.map(({ kind, subject }) => `the ${kind === 'budget' ? 'budget' : 'tag'} ${subject}`)),
    ];
    return [
      `${label} was judged by ${names.join(' and ')}, which cannot be judged in parts; give the policy where the shards are merged`,
    ];
  });
}

/** Which shards are missing, too many, or of another cut. */
function findGaps(members: readonly LabelledReport[]): string[] {
  const shards = members.flatMap(({ label, report: { shard } }) => (shard === null ? [] : [{ label, shard }]));
  const [first] = shards;
  if (first === undefined) return members.length === 0 ? ['there is no report to merge'] : [];
  const isOther = ({ total, digest }: ShardReport) => total !== first.shard.total || digest !== first.shard.digest;
  const strangers = shards.filter(({ shard }) => isOther(shard));
  if (strangers.length > 0) {
    const names = strangers.map(({ label }) => label).join(', ');
    return [
      `${names}: cut otherwise than ${first.label}; all shards need the same evals files, options and history, and the same number of parts`,
    ];
  }
  const byIndex = Map.groupBy(shards, ({ shard }) => shard.index);
  const expected = Array.from({ length: first.shard.total }, (_, index) => index + 1);
  const missing = expected.filter((index) => !byIndex.has(index));
  const doubled = [...byIndex].filter(([, same]) => same.length > 1);
  if (missing.length + doubled.length === 0) return findOtherCut(members, first);
  return [
    ...(missing.length === 0
      ? []
      : [`${formatCount(missing.length, 'shard')} of ${first.shard.total} missing: ${missing.join(', ')}`]),
    ...doubled.map(
      ([index, same]) => `shard ${index} is there more than once: ${same.map(({ label }) => label).join(', ')}`,
    ),
  ];
}

/** With all shards there, their cases must be those that were cut. */
function findOtherCut(
  members: readonly LabelledReport[],
  { shard, label }: { shard: ShardReport; label: string },
): string[] {
  if (digestReports(members.map(({ report }) => report)) === shard.digest) return [];
  return [
    `the cases of the reports are not those that were cut (digest ${shard.digest} in ${label} and the others): one was added, removed or changed since; run the shards again`,
  ];
}

/** What must be the same of every shard, beyond what its digest holds. */
function findDifferences(members: readonly LabelledReport[]): string[] {
  const [first] = members;
  if (first === undefined) return [];
  const server = findServer(members);
  return members.flatMap(({ label, report }) => {
    const differs = (what: string) => `${label} has another ${what} than ${first.label}`;
    const isOtherServer = report.server !== null && !isDeepStrictEqual(report.server, server);
    return [
      ...(isDeepStrictEqual(report.generator, first.report.generator) ? [] : [differs('version of mcp-eval-ci')]),
      ...(isDeepStrictEqual(report.revision, first.report.revision) ? [] : [differs('commit or branch')]),
      ...(isOtherServer ? [differs('server')] : []),
    ];
  });
}

function findClashes(earlier: RestoredSuite, part: RestoredSuite, label: string): string[] {
  const { suiteId, cases: earlierCases } = earlier.results;
  const describe = ({ results: { name, file }, policy }: RestoredSuite) => {
    return { name, file, minimum: policy.requirements.minimumPassRate };
  };
  const ids = new Set(earlierCases.map(({ id }) => id));
  const twice = part.results.cases.filter(({ id }) => ids.has(id)).map(({ id }) => id);
  const isOtherFlaky =
    hasFlaky(earlier) &&
    hasFlaky(part) &&
    earlier.policy.requirements.flaky.value !== part.policy.requirements.flaky.value;
  return [
    ...(isOtherFlaky ? [`${label} counts flaky cases of ${suiteId} otherwise than the shards before it`] : []),
    ...(isDeepStrictEqual(describe(earlier), describe(part))
      ? []
      : [`${label} has another name, file or minimum of the suite ${suiteId} than the shards before it`]),
    ...(twice.length === 0 ? [] : [`${label} has cases of ${suiteId} that another shard has: ${twice.join(', ')}`]),
  ];
}

function joinSuite(first: RestoredSuite, second: RestoredSuite): RestoredSuite {
  const { results: a } = first;
  const { results: b } = second;
  return {
    results: {
      ...a,
      run: a.run ?? b.run,
      runUrl: a.runUrl ?? b.runUrl,
      cases: [...a.cases, ...b.cases].toSorted((x, y) => (x.location?.line ?? 0) - (y.location?.line ?? 0)),
      iterationsRead: a.iterationsRead + b.iterationsRead,
      tunnelBreaks: a.tunnelBreaks + b.tunnelBreaks,
      retries: [...a.retries, ...b.retries],
      // Shards may have run by different rules, and none of them is that of the whole.
      concurrency: isDeepStrictEqual(a.concurrency, b.concurrency) ? a.concurrency : null,
    },
    gaps: [...first.gaps, ...second.gaps],
    areFailuresDoubtful: first.areFailuresDoubtful || second.areFailuresDoubtful,
    policy: {
      requirements: {
        ...first.policy.requirements,
        flaky: chooseFlaky(first, second),
        quarantine: [...first.policy.requirements.quarantine, ...second.policy.requirements.quarantine],
        trials: [...first.policy.requirements.trials, ...second.policy.requirements.trials],
      },
      today: first.policy.today,
    },
    findings: [...first.findings, ...second.findings],
  };
}

/** Every shard finds all that the change lowers, and gives it to a suite that it has. The first suite keeps it. */
function dropRepeated(suites: readonly RestoredSuite[]): RestoredSuite[] {
  const known = new Set<string>();
  return suites.map((suite) => ({
    ...suite,
    findings: suite.findings.filter(({ reason }) => {
      const isRepeated = isProtection(reason) && known.has(reason.message);
      known.add(reason.message);
      return !isRepeated;
    }),
  }));
}

/** A shard without a flaky case does not tell how such a case counts. */
function chooseFlaky(first: RestoredSuite, second: RestoredSuite): RestoredSuite['policy']['requirements']['flaky'] {
  return (hasFlaky(first) ? first : second).policy.requirements.flaky;
}

function hasFlaky({ results }: RestoredSuite): boolean {
  return results.cases.some((member) => classifyCase(member) === 'flaky');
}

function joinTimes(members: readonly LabelledReport[]): { startedAt: string; durationMs: number } {
  const starts = members.map(({ report }) => Date.parse(report.startedAt)).filter((time) => !Number.isNaN(time));
  const ends = members.map(({ report }) => Date.parse(report.startedAt) + report.durationMs);
  const startMs = findSmallest(starts);
  if (!Number.isFinite(startMs)) return { startedAt: members[0]?.report.startedAt ?? '', durationMs: 0 };
  const endMs = findGreatest(ends.filter((time) => !Number.isNaN(time)));
  return { startedAt: new Date(startMs).toISOString(), durationMs: endMs - startMs };
}

/** A shard whose server did not start knows of none. */
function findServer(members: readonly LabelledReport[]): ServerReport | null {
  return members.find(({ report }) => report.server !== null)?.report.server ?? null;
}
