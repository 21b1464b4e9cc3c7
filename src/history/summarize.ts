import type { HistoryCase, HistoryRecord } from '../model/history.ts';
import { computePassRate } from '../model/rate.ts';
import { computeMedian } from '../report/build.ts';
import { computeClusteredWilsonInterval } from '../verdict/statistics/clustered.ts';
import type { RateInterval } from '../verdict/statistics/wilson.ts';

/** The confidence of the intervals that a page of the history shows. */
export const historyConfidence = 0.95;

/** What the gates of one branch measured over time. */
export interface HistorySummary {
  branch: string | null;
  /** Oldest first. */
  gates: readonly HistoryRecord[];
  suites: SuiteHistory[];
  /** What changed from one conclusive gate to the next; newest first, gates without a change left out. */
  changes: GateChanges[];
}

export interface SuiteHistory {
  id: string;
  /** One for each gate that ran the suite, oldest first. */
  points: SuitePoint[];
  /** What needs a look first: cases that failed in the newest gate, then flaky ones. */
  cases: CaseHistory[];
}

export interface SuitePoint {
  gate: HistoryRecord;
  passed: number;
  total: number;
  /** Null without a scored iteration. */
  interval: RateInterval | null;
  /** The median of the medians of its cases; null if no case has one. */
  durationMs: number | null;
  /** Null if no case has a cost. */
  cost: number | null;
}

export interface CaseHistory {
  id: string;
  /** In all gates that ran it, oldest first. */
  points: Array<{ gate: HistoryRecord; result: HistoryCase }>;
  /** Over the gates that ran its present definition. */
  passed: number;
  total: number;
  interval: RateInterval | null;
  /** How many gates of its present definition had both passed and failed iterations. */
  mixedGates: number;
  /** How often it passed in one gate of its present definition and not in the next, or the reverse. */
  flips: number;
  isFlaky: boolean;
  /** True if the newest gate of the branch ran it. */
  isCurrent: boolean;
}

/** What differs between two conclusive gates. */
export interface GateChanges {
  before: HistoryRecord;
  gate: HistoryRecord;
  broken: string[];
  fixed: string[];
  added: string[];
  removed: string[];
  redefined: string[];
  /** The tools whose size in the surface changed. */
  tools: Array<{ name: string; before: number | null; after: number | null }>;
}

/** Summarizes the gates of a branch. */
export function summarizeHistory(records: readonly HistoryRecord[], branch: string | null): HistorySummary {
  const gates = records.filter((record) => record.branch === branch);
  const suiteIds = new Set(gates.toReversed().flatMap(({ cases }) => cases.map(({ suiteId }) => suiteId)));
  return {
    branch,
    gates,
    suites: [...suiteIds].map((id) => summarizeSuite(id, gates)),
    changes: listChanges(gates.filter(({ outcome }) => outcome !== 'inconclusive')),
  };
}

function summarizeSuite(id: string, gates: readonly HistoryRecord[]): SuiteHistory {
  const runs = gates.flatMap((gate) => {
    const cases = gate.cases.filter(({ suiteId }) => suiteId === id);
    return cases.length === 0 ? [] : [{ gate, cases }];
  });
  const results = runs.flatMap(({ gate, cases }) => cases.map((result) => ({ gate, result })));
  const newest = gates.at(-1);
  return {
    id,
    points: runs.map(({ gate, cases }) => measureSuite(gate, cases)),
    cases: [...Map.groupBy(results, ({ result }) => result.id)]
      .map(([caseId, points]) => summarizeCase(caseId, points, newest))
      .toSorted((a, b) => rankCase(a) - rankCase(b)),
  };
}

function measureSuite(gate: HistoryRecord, cases: readonly HistoryCase[]): SuitePoint {
  const costs = cases.flatMap(({ cost }) => (cost == null ? [] : [cost]));
  return {
    gate,
    passed: cases.reduce((sum, { passed }) => sum + passed, 0),
    total: cases.reduce((sum, { total }) => sum + total, 0),
    interval: computeClusteredWilsonInterval(cases, historyConfidence),
    durationMs: computeMedian(cases.flatMap(({ durationMs }) => durationMs ?? [])),
    cost: costs.length === 0 ? null : costs.reduce((sum, cost) => sum + cost, 0),
  };
}

function summarizeCase(id: string, points: CaseHistory['points'], newest: HistoryRecord | undefined): CaseHistory {
  const definition = points.at(-1)?.result.definitionHash ?? null;
  const present = points.map(({ result }) => result).filter(({ definitionHash }) => definitionHash === definition);
  const scored = present.filter(({ total }) => total > 0);
  const mixedGates = scored.filter(({ passed, total }) => passed > 0 && passed < total).length;
  const flips = scored.filter((result, index) => {
    const before = scored[index - 1];
    return before !== undefined && hasPassed(before) !== hasPassed(result);
  }).length;
  const passed = present.reduce((sum, each) => sum + each.passed, 0);
  const total = present.reduce((sum, each) => sum + each.total, 0);
  return {
    id,
    points,
    passed,
    total,
    // Each gate is a cluster: what made one iteration of a night fail made the others of that night fail.
    interval: computeClusteredWilsonInterval(scored, historyConfidence),
    mixedGates,
    flips,
    // A single change is a regression or its repair.
    isFlaky: mixedGates > 0 || flips > 1,
    isCurrent: points.at(-1)?.gate === newest,
  };
}

function rankCase({ points, isFlaky, isCurrent }: CaseHistory): number {
  if (!isCurrent) return 3;
  const last = points.at(-1)?.result;
  return last !== undefined && last.total > 0 && !hasPassed(last) ? 0 : isFlaky ? 1 : 2;
}

function listChanges(gates: readonly HistoryRecord[]): GateChanges[] {
  return gates
    .flatMap((gate, index) => {
      const before = gates[index - 1];
      return before === undefined ? [] : [compareGates(before, gate)];
    })
    .filter(({ broken, fixed, added, removed, redefined, tools }) =>
      [broken, fixed, added, removed, redefined, tools].some(({ length }) => length > 0),
    )
    .toReversed();
}

function compareGates(before: HistoryRecord, gate: HistoryRecord): GateChanges {
  const suites = new Set([before, gate].flatMap(({ cases }) => cases.map(({ suiteId }) => suiteId)));
  const name = ({ suiteId, id }: HistoryCase) => (suites.size === 1 ? id : `${suiteId}: ${id}`);
  const [earlier, later] = [before, gate].map(({ cases }) => new Map(cases.map((each) => [name(each), each])));
  const both = [...(later ?? [])].flatMap(([id, now]) => {
    const old = earlier?.get(id);
    return old === undefined ? [] : [{ id, old, now }];
  });
  const scored = both.filter(({ old, now }) => old.total > 0 && now.total > 0);
  const missing = (from: typeof earlier, other: typeof earlier) =>
    [...(from?.keys() ?? [])].filter((id) => other?.has(id) !== true);
  return {
    before,
    gate,
    broken: scored.filter(({ old, now }) => hasPassed(old) && !hasPassed(now)).map(({ id }) => id),
    fixed: scored.filter(({ old, now }) => !hasPassed(old) && hasPassed(now)).map(({ id }) => id),
    added: missing(later, earlier),
    removed: missing(earlier, later),
    redefined: both.filter(({ old, now }) => old.definitionHash !== now.definitionHash).map(({ id }) => id),
    tools: compareTools(before.toolBytes, gate.toolBytes),
  };
}

/** Empty if one of the gates did not read the surface. */
function compareTools(before: HistoryRecord['toolBytes'], after: HistoryRecord['toolBytes']): GateChanges['tools'] {
  if (before === undefined || after === undefined) return [];
  const [then, now] = [new Map(Object.entries(before)), new Map(Object.entries(after))];
  return [...new Set([...then.keys(), ...now.keys()])]
    .map((name) => ({ name, before: then.get(name) ?? null, after: now.get(name) ?? null }))
    .filter((tool) => tool.before !== tool.after);
}

/** True if every scored iteration passed. */
function hasPassed({ passed, total }: HistoryCase): boolean {
  return passed === total;
}

/** The pass rate of a point; null if its gate was inconclusive or scored nothing. */
export function ratePoint({ gate, passed, total }: SuitePoint): number | null {
  return gate.outcome === 'inconclusive' || total === 0 ? null : computePassRate(passed, total);
}
