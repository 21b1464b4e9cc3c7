import { meetsMinimumPassRate } from './rate.ts';
import type { CoverageItem, CoverageKind, CoverageReport } from './coverage-report.ts';

/** The name of each kind in texts, in the order of tables. */
export const coverageNames: Readonly<Record<CoverageKind, string>> = {
  tools: 'tools',
  parameters: 'parameters',
  values: 'enum values',
  errors: 'error paths',
  prompts: 'prompts',
  resources: 'resources',
  templates: 'resource templates',
};

/** Kinds that need a trace to know if they are covered. */
const tracedKinds: ReadonlySet<CoverageKind> = new Set(['errors', 'prompts', 'resources', 'templates']);

/** The number of items of a kind, and the names of those that no case uses. */
export interface CoverageCount {
  kind: CoverageKind;
  covered: number;
  total: number;
  missing: string[];
}

/** Counts the items of each kind that occurs in the surface. */
export function countCoverage({ items }: Pick<CoverageReport, 'items'>): CoverageCount[] {
  const order = Object.keys(coverageNames);
  return [...Map.groupBy(items, ({ kind }) => kind)]
    .toSorted(([a], [b]) => order.indexOf(a) - order.indexOf(b))
    .map(([kind, own]) => {
      const missing = own.filter(({ isCovered }) => !isCovered).map(({ path }) => path.join('.'));
      return { kind, covered: own.length - missing.length, total: own.length, missing };
    });
}

/**
 * The state of a minimum. `unknown`: a run was interrupted or traces are missing, so more may be covered. `unjudged`: only a part of the
 * cases ran.
 */
export type MinimumState = 'met' | 'not-met' | 'unknown' | 'unjudged';

/** Compares the coverage of a kind with its minimum, from 0 to 1. `isComplete` is true if no run was interrupted. */
export function judgeMinimum(
  { kind, covered, total }: CoverageCount,
  minimum: number,
  { isPartial, unreadTraces, isComplete }: Pick<CoverageReport, 'isPartial' | 'unreadTraces'> & { isComplete: boolean },
): MinimumState {
  if (isPartial) return 'unjudged';
  if (meetsMinimumPassRate(covered, total, minimum)) return 'met';
  return !isComplete || (tracedKinds.has(kind) && unreadTraces > 0) ? 'unknown' : 'not-met';
}

/** Merges the coverage of parts of a gate; undefined if no part measured it. The merged report is never partial. */
export function joinCoverage(parts: readonly CoverageReport[]): CoverageReport | undefined {
  if (parts.length === 0) return undefined;
  const items = new Map<string, CoverageItem>();
  for (const item of parts.flatMap((part) => part.items)) {
    const key = JSON.stringify([item.kind, ...item.path]);
    items.set(key, { ...item, isCovered: item.isCovered || items.get(key)?.isCovered === true });
  }
  return {
    unread: parts.find(({ unread }) => unread !== null)?.unread ?? null,
    isPartial: false,
    unreadTraces: parts.reduce((total, { unreadTraces }) => total + unreadTraces, 0),
    items: [...items.values()],
  };
}
