import { isDeepStrictEqual } from 'node:util';
import { formatCount } from '../base/text.ts';
import { appendAll, findGreatest, findSmallest, firstOfEach } from '../base/lists.ts';
import { joinCoverage } from '../model/coverage.ts';
import type { CoverageReport } from '../model/coverage-report.ts';
import {
  applyLimitDefaults,
  applyPricingDefaults,
  type GatePolicy,
  noGateRules,
  type Pricing,
} from '../model/policy.ts';
import type { Report, ServerReport, ShardReport } from '../model/report.ts';
import type { BehaviourReport } from '../model/behaviour.ts';
import type { HostsComparison } from '../model/hosts-comparison.ts';
import type { SurfaceReport } from '../model/surface-report.ts';
import { readResults, type ReportedResults, type SuiteResults } from '../model/results.ts';
import { digestReports } from './shard-digest.ts';

/** A report of a shard, and its label in messages. */
export interface LabelledReport {
  label: string;
  report: Report;
}

/** The results of all shards and their policy, as if one gate had run them. */
export interface JoinedShards {
  results: SuiteResults[];
  /** With the suites in the order in which they first occur. */
  policy: GatePolicy;
  /** The start of the first shard; the duration is until the end of the last. */
  startedAt: string;
  durationMs: number;
  server: ServerReport | null;
  otherServers: ServerReport[];
  /** The surface of the first shard that read it; undefined if none compares it. */
  surface: SurfaceReport | undefined;
  /** The findings of hosts of the first shard that read the surface. */
  hosts: HostsComparison | undefined;
  /** The behaviour of the first shard that compared it. */
  behaviour: BehaviourReport | undefined;
  /** The coverage of all shards together; undefined if none measures it. */
  coverage: CoverageReport | undefined;
}

type SuitePart = GatePolicy['suites'][number];

/**
 * Joins the reports of shards. Everything that makes the joined gate differ from the original one is a problem, in one sentence: a shard
 * that is missing or present twice, shards with other cases, definitions, requirements, commits, servers or versions, and a case in two of
 * them. Use `joined` only if there are no problems. With `isJudgedAnew`, other requirements replace those of the shards.
 */
export function joinShards(
  members: readonly LabelledReport[],
  { isJudgedAnew = false } = {},
): { joined: JoinedShards; problems: string[] } {
  const problems = [...findForeign(members), ...findGaps(members), ...findDifferences(members, { isJudgedAnew })];
  const seen = new Map<string, SeenSuite>();
  for (const { label, report } of members) {
    for (const results of report.results) {
      const requirements = report.policy.suites.find(({ suiteId }) => suiteId === results.suiteId);
      if (requirements === undefined) continue;
      const earlier = seen.get(results.suiteId);
      if (earlier !== undefined) {
        appendAll(problems, findClashes(earlier, { label, results, requirements, isJudgedAnew }));
        for (const { id } of results.cases) earlier.caseIds.add(id);
        earlier.requirements = joinRequirements(earlier.requirements, requirements);
      } else {
        const { name, file, cases } = results;
        seen.set(results.suiteId, { name, file, caseIds: new Set(cases.map(({ id }) => id)), requirements });
      }
    }
  }
  const policy = joinPolicies(
    members,
    [...seen.values()].map(({ requirements }) => requirements),
  );
  const results = members.flatMap(({ report }) => readResults(report));
  const surfaces = members.flatMap(({ report }) => report.surface ?? []);
  const surface = surfaces.find(({ unread }) => unread === null) ?? surfaces[0];
  const hosted = members.flatMap(({ report }) => report.hosts ?? []);
  const hosts = hosted.find(({ unread }) => unread === null) ?? hosted[0];
  const behaviours = members.flatMap(({ report }) => report.behaviour ?? []);
  const behaviour = behaviours.find(({ problem }) => problem === null) ?? behaviours[0];
  const coverage = joinCoverage(members.flatMap(({ report }) => report.coverage ?? []));
  const joined = {
    results,
    policy,
    surface,
    hosts,
    behaviour,
    coverage,
    ...joinTimes(members),
    ...findServers(members),
  };
  return { joined, problems };
}

/** The part of a suite that the shards so far contain. */
interface SeenSuite {
  name: string;
  file: string | null;
  caseIds: Set<string>;
  requirements: SuitePart;
}

function findForeign(members: readonly LabelledReport[]): string[] {
  return members.flatMap(({ label, report }) =>
    report.shard === null ? [`${label} is the report of a whole gate, not of a shard`] : [],
  );
}

/** Finds shards that are missing, too many, or of another cut. */
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

/** Checks the cut when all shards are present: their cases must be those that were cut. */
function findOtherCut(
  members: readonly LabelledReport[],
  { shard, label }: { shard: ShardReport; label: string },
): string[] {
  if (digestReports(members.map(({ report }) => report)) === shard.digest) return [];
  return [
    `the cases of the reports are not those that were cut (digest ${shard.digest} in ${label} and the others): one was added, removed or changed since; run the shards again`,
  ];
}

/** Finds differences in what must be the same in every shard, beyond what its digest covers. */
function findDifferences(members: readonly LabelledReport[], { isJudgedAnew }: { isJudgedAnew: boolean }): string[] {
  const [first] = members;
  if (first === undefined) return [];
  const servers = findServers(members);
  const base = members.find(({ report }) => comparesWithBase(report))?.report.baseComparison?.commit;
  return members.flatMap(({ label, report }) => {
    const differs = (what: string) => `${label} has another ${what} than ${first.label}`;
    const pickLimits = ({ policy: { maximumRegressions, maximumRateDrop } }: Report) => [
      maximumRegressions,
      maximumRateDrop,
    ];
    const hasOtherLimits = !isJudgedAnew && !isDeepStrictEqual(pickLimits(report), pickLimits(first.report));
    const hasOtherPrices =
      !isJudgedAnew && !isDeepStrictEqual(pickPricing(report.policy), pickPricing(first.report.policy));
    const isOtherServer = report.server !== null && !isDeepStrictEqual(pickServers(report), servers);
    return [
      ...(isDeepStrictEqual(report.generator, first.report.generator) ? [] : [differs('version of mcp-eval-ci')]),
      ...(isDeepStrictEqual(report.revision, first.report.revision) ? [] : [differs('commit or branch')]),
      ...(isOtherServer ? [differs('server')] : []),
      ...(comparesWithBase(report) && report.baseComparison?.commit !== base ? [differs('base')] : []),
      ...(isDeepStrictEqual(report.shard?.selection, first.report.shard?.selection)
        ? []
        : [differs('selection of evals files and cases')]),
      ...(hasOtherLimits ? [differs('limit of regressions')] : []),
      ...(hasOtherPrices ? [differs('table of prices')] : []),
    ];
  });
}

/** Checks if a report has a comparison with a base. A base with a problem has no further data. */
function comparesWithBase({ baseComparison }: Report): boolean {
  return baseComparison?.problem === null;
}

function pickServers({ server, otherServers }: Report): Pick<Report, 'server' | 'otherServers'> {
  return { server, otherServers };
}

function pickPricing({ prices, currency }: Pricing): Pricing {
  return { prices, currency };
}

/** The rules on single cases; each shard keeps those on its own cases. */
const caseRules = ['cases', 'required', 'quarantine', 'probation'] as const;

function findClashes(
  earlier: SeenSuite,
  {
    label,
    results: { suiteId, name, file, cases },
    requirements,
    isJudgedAnew,
  }: { label: string; results: ReportedResults; requirements: SuitePart; isJudgedAnew: boolean },
): string[] {
  const twice = cases.filter(({ id }) => earlier.caseIds.has(id)).map(({ id }) => id);
  const others = listOtherRules(earlier.requirements, requirements).filter(
    (rule) => !isJudgedAnew || rule === 'minimumPassRate',
  );
  const about = `${suiteId} than the shards before it`;
  return [
    ...(name === earlier.name && file === earlier.file
      ? []
      : [`${label} has another name or file of the suite ${about}`]),
    ...(others.length === 0 ? [] : [`${label} has another policy of the suite ${about}: ${others.join(', ')}`]),
    ...(twice.length === 0 ? [] : [`${label} has cases of ${suiteId} that another shard has: ${twice.join(', ')}`]),
  ];
}

/** Names the rules in which two parts of a suite's policy contradict each other. */
function listOtherRules(earlier: SuitePart, later: SuitePart): string[] {
  const { cases, required, quarantine, probation, ...single } = later;
  const entries = { cases, required, quarantine, probation };
  return [
    ...Object.entries(single).flatMap(([rule, value]) =>
      isDeepStrictEqual(new Map(Object.entries(earlier)).get(rule), value) ? [] : [rule],
    ),
    ...caseRules.filter((rule) => {
      const known = new Map(earlier[rule].map((entry) => [nameOf(entry), entry]));
      return entries[rule].some((entry) => {
        const other = known.get(nameOf(entry));
        return other !== undefined && !isDeepStrictEqual(other, entry);
      });
    }),
  ];
}

function nameOf(entry: { name: string } | { case: string }): string {
  return 'name' in entry ? entry.name : entry.case;
}

function joinRequirements(first: SuitePart, second: SuitePart): SuitePart {
  return {
    ...first,
    cases: firstOfEach([...first.cases, ...second.cases], nameOf),
    required: firstOfEach([...first.required, ...second.required], nameOf),
    quarantine: firstOfEach([...first.quarantine, ...second.quarantine], nameOf),
    probation: firstOfEach([...first.probation, ...second.probation], nameOf),
  };
}

/** Joins the policies. No shard has a baseline. Every shard finds all that the change lowers; the day is that of the first start. */
function joinPolicies(members: readonly LabelledReport[], suites: SuitePart[]): GatePolicy {
  const policies = members.map(({ report }) => report.policy);
  const lowered = policies.flatMap((policy) => policy.lowered);
  const surface = policies.find((policy) => policy.surface !== undefined)?.surface;
  const hosts = policies.find((policy) => policy.hosts !== undefined)?.hosts;
  const compared = policies.find((policy) => policy.behaviour !== undefined);
  const minimumCoverage = policies.find((policy) => policy.minimumCoverage !== undefined)?.minimumCoverage;
  return {
    today: policies.map(({ today }) => today).toSorted()[0] ?? '',
    suites,
    ...applyLimitDefaults(noGateRules, policies[0]),
    ...applyPricingDefaults(noGateRules, policies[0]),
    baseline: null,
    ...(surface !== undefined && { surface }),
    ...(hosts !== undefined && { hosts }),
    ...(compared?.behaviour !== undefined && { behaviour: compared.behaviour }),
    ...(compared?.acceptingLabel !== undefined && { acceptingLabel: compared.acceptingLabel }),
    ...(minimumCoverage !== undefined && { minimumCoverage }),
    lowered: firstOfEach(lowered, ({ code, message }) => `${code} ${message}`),
  };
}

function joinTimes(members: readonly LabelledReport[]): { startedAt: string; durationMs: number } {
  const starts = members.map(({ report }) => Date.parse(report.startedAt)).filter((time) => !Number.isNaN(time));
  const ends = members.map(({ report }) => Date.parse(report.startedAt) + report.durationMs);
  const startMs = findSmallest(starts);
  if (!Number.isFinite(startMs)) return { startedAt: members[0]?.report.startedAt ?? '', durationMs: 0 };
  const endMs = findGreatest(ends.filter((time) => !Number.isNaN(time)));
  return { startedAt: new Date(startMs).toISOString(), durationMs: endMs - startMs };
}

/** Finds the servers. If the server of a shard did not start, its report has none. */
function findServers(members: readonly LabelledReport[]): Pick<Report, 'server' | 'otherServers'> {
  const { server, otherServers } = members.find(({ report }) => report.server !== null)?.report ?? noServers;
  return { server, otherServers };
}

const noServers = { server: null, otherServers: [] };
