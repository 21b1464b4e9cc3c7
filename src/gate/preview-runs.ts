import { formatCount, formatMoney } from '../base/text.ts';
import type { HistoryRecord } from '../model/history.ts';
import { formatMinimumPassRate, formatPassRate } from '../model/rate.ts';
import type { CaseResults } from '../model/results.ts';
import type { RunRange } from '../model/rounds.ts';
import { readErrors } from '../verdict/confidence-family.ts';
import { countLeastRounds, estimateRounds, followRounds } from '../verdict/follow-rounds.ts';
import { countMinimums, listRateScopes, type RateScope } from '../verdict/plan-rounds.ts';
import type { ErrorRates } from '../verdict/statistics/errors.ts';
import { isSurelyAtLeast } from '../verdict/statistics/exact.ts';
import type { GatePlan } from './plan/plan.ts';
import { type FileSuite, findRunRange, type PlannedSuite } from './plan/plan-suites.ts';
import { describeUnrun } from './run/planned-results.ts';

/** The number of gates in the history that show how a case does now. */
const recentGates = 20;

interface Past {
  history: { records: readonly HistoryRecord[] } | null;
  limits: Pick<GatePlan['limits'], 'currency'>;
  nowMs: number;
  /** All suites of the gate. */
  suites: readonly PlannedSuite[];
}

/**
 * Describes how many iterations the confidence of a suite will probably need and what they will cost, from the recent gates of the history,
 * and which requirements can never be decided as they are written. One line each; empty if the count alone decides.
 */
export function describeRuns(planned: PlannedSuite, past: Past): string[] {
  const { confidence } = planned.requirements;
  if (confidence === null || planned.kind === 'stored') return [];
  const range = findRunRange(planned);
  const today = new Date(past.nowMs).toISOString().slice(0, 'YYYY-MM-DD'.length);
  const known = readPast(planned, past.history?.records ?? []);
  const { results, requirements } = describeUnrun(planned, null);
  const sharedMinimums = countMinimums(
    past.suites.map((suite) => describeUnrun(suite, null)),
    today,
  );
  const errors = readErrors({ ...requirements, sharedMinimums });
  const cases = results.cases.map((testCase): CaseResults => {
    if (testCase.isDeterministic !== true) return testCase;
    const { rate = 1 } = known.get(testCase.id) ?? {};
    return { ...testCase, byRound: rate < 0.5 ? 'f' : 'p' };
  });
  const scopes = listRateScopes({ ...results, cases }, { requirements, today });
  const sure = formatMinimumPassRate(confidence.value);
  const head = `${planned.suite.name}: ${describeRange(planned, range)}, with ${sure} confidence (${confidence.source}).`;
  const describe = (scope: RateScope) =>
    range === null
      ? describeFixed(scope, errors)
      : describeScope(scope, { range, errors, known, currency: past.limits.currency.value });
  return [head, ...scopes.map((scope) => `  ${nameScope(scope)}: ${describe(scope)}`)];
}

function describeRange({ suite }: FileSuite, range: RunRange | null): string {
  const cases = formatCount(suite.cases.length, 'case');
  if (range === null) return `a fixed number of runs of ${cases}, judged over tasks`;
  const { min, max } = range;
  return min === max ? `${formatCount(max, 'round')} of ${cases}` : `${min} to ${max} rounds of ${cases}`;
}

function nameScope({ scope, subject, minimum }: RateScope): string {
  const what = subject === null ? 'the suite' : `${scope} ${JSON.stringify(subject)}`;
  return `${what}, at least ${formatMinimumPassRate(minimum)}`;
}

interface ScopePlan {
  range: RunRange;
  errors: ErrorRates;
  known: ReadonlyMap<string, PastCase>;
  currency: string;
}

function describeScope({ cases, minimum }: RateScope, { range, errors, known, currency }: ScopePlan): string {
  // Only a started server shows what the iterations of a round share.
  const follow = (isShared: boolean) => followRounds(cases, { minimum, errors, min: range.min, isShared });
  const [followed, shared] = [follow(false), follow(true)];
  const { varying } = followed;
  if (varying === 0) return 'all cases are deterministic, so that the count decides';
  const most = Math.min(range.max, ...cases.flatMap(({ maxRuns }) => maxRuns ?? []));
  const toPass = countLeastRounds(followed, { decision: 'passed', errors });
  const toFail = countLeastRounds(followed, { decision: 'failed', errors });
  const sharedToPass = countLeastRounds(shared, { decision: 'passed', errors });
  const limits = [
    ...describeLeast({ toPass, sharedToPass, most }, range),
    ...(toPass === null || toPass > most
      ? [`can never pass as written: ${describeLack(toPass, most, 'failure')}`]
      : []),
    ...(toFail === null || toFail > most ? [`can never fail as written: ${describeLack(toFail, most, 'pass')}`] : []),
  ];
  const past = cases.flatMap(({ id, isDeterministic }) => (isDeterministic === true ? [] : (known.get(id) ?? [])));
  if (past.length < varying) {
    const missing = formatCount(varying - past.length, 'case');
    return [`no recent history of ${missing}, so that no estimate is possible`, ...limits].join('; ');
  }
  const rate = past.reduce((sum, each) => sum + each.rate, 0) / past.length;
  const estimated = estimateRounds(followed, { rate, errors });
  const at = `at the recent pass rate of ${formatPassRate(rate)}`;
  if (estimated === null) {
    return [`${at} the rate is so close to the minimum that no number of iterations settles it`, ...limits].join('; ');
  }
  const rounds = Math.max(range.min, estimated);
  const each = past.map(({ cost }) => cost);
  const perRound = each.every((cost) => cost !== null) ? each.reduce((sum, cost) => sum + cost, 0) : null;
  const spent = Math.min(rounds, most);
  const money = perRound === null || perRound === 0 ? '' : `, ${formatMoney(perRound * spent, currency)}`;
  const amount = `${formatCount(spent, 'round')}, ${formatCount(spent * varying, 'iteration')}${money}`;
  const estimate =
    rounds > most
      ? `${at} probably open after ${amount}; it would take about ${formatCount(rounds, 'round')}`
      : `${at} about ${amount}`;
  return [estimate, ...limits].join('; ');
}

/** Describes how many rounds without a failure are enough, depending on what the iterations of a round share. */
function describeLeast(
  { toPass, sharedToPass, most }: { toPass: number | null; sharedToPass: number | null; most: number },
  { min }: RunRange,
): string[] {
  if (toPass === null || toPass > most) return [];
  const alone = `passes after ${formatCount(Math.max(min, toPass), 'round')} without a failure`;
  return sharedToPass === null || sharedToPass > most
    ? [
        alone,
        `where the iterations of a round share a process, it can never pass as written: ${describeLack(sharedToPass, most, 'failure')}`,
      ]
    : [`${alone}, or after ${Math.max(min, sharedToPass)} where its iterations share a process`];
}

function describeLack(needed: number | null, most: number, what: string): string {
  const enough = needed === null ? 'no number of them would' : `${needed} would`;
  return `${formatCount(most, 'round')} without a ${what} ${most === 1 ? 'does' : 'do'} not show it, ${enough}`;
}

/** Describes a suite with a fixed number of runs: over tasks, the number of cases limits what can be shown. */
function describeFixed({ cases, minimum }: RateScope, { passing }: ErrorRates): string {
  const total = cases.length === 1 ? (cases[0]?.planned ?? 1) : cases.length;
  const isReachable = (count: number) => isSurelyAtLeast(minimum, { passed: count, total: count }, passing);
  const what = cases.length === 1 ? 'iteration' : 'case';
  if (isReachable(total)) return `${formatCount(total, what)} that pass can show it; repetition alone cannot decide`;
  let needed = total;
  while (needed < 10_000 && !isReachable(needed)) needed += 1;
  return `can never pass as written: ${formatCount(total, what)} that always pass ${total === 1 ? 'does' : 'do'} not show it, ${needed} would`;
}

interface PastCase {
  rate: number;
  /** The cost of one iteration; null if it is not known. */
  cost: number | null;
}

/** Reads how each case of a suite did in recent gates, with its present definition and without recorded answers. */
function readPast(planned: FileSuite, records: readonly HistoryRecord[]): Map<string, PastCase> {
  const { results } = describeUnrun(planned, null);
  return new Map(
    results.cases.flatMap(({ id, definitionHash, usage, model }): Array<[string, PastCase]> => {
      const found = records
        .slice(-recentGates)
        .flatMap(({ cases }) => cases)
        .filter(
          (past) =>
            past.suiteId === results.suiteId &&
            past.id === id &&
            past.definitionHash === definitionHash &&
            past.replayed === 0,
        );
      const total = found.reduce((sum, past) => sum + past.total, 0);
      if (total === 0) return [];
      const passed = found.reduce((sum, past) => sum + past.passed, 0);
      const priced = found.filter(({ cost = null }) => cost !== null);
      const iterations = priced.reduce((sum, past) => sum + past.total, 0);
      const spent = priced.reduce((sum, { cost }) => sum + (cost ?? 0), 0);
      const isFree = model === null && usage === null;
      return [[id, { rate: passed / total, cost: iterations > 0 ? spent / iterations : isFree ? 0 : null }]];
    }),
  );
}
