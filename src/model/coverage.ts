import { meetsMinimumPassRate } from './rate.ts';
import type { CoverageItem, CoverageKind, CoverageReport } from './coverage-report.ts';

/** What texts call the kinds, in the order of tables. */
export const coverageNames: Readonly<Record<CoverageKind, string>> = {
  tools: 'tools',
  parameters: 'parameters',
  values: 'enum values',
  errors: 'error paths',
  prompts: 'prompts',
  resources: 'resources',
  templates: 'resource templates',
};

/** Kinds of which only a trace says whether they are covered. */
const tracedKinds: ReadonlySet<CoverageKind> = new Set(['errors', 'prompts', 'resources', 'templates']);

/** How many items of a kind there are, and the names of those that no case uses. */
export interface CoverageCount {
  kind: CoverageKind;
  covered: number;
  total: number;
  missing: string[];
}

/** Counts the items of each kind that the surface has. */
export function countCoverage({ items }: Pick<CoverageReport, 'items'>): CoverageCount[] {
  const order = Object.keys(coverageNames);
  return [...Map.groupBy(items, ({ kind }) => kind)]
    .toSorted(([a], [b]) => order.indexOf(a) - order.indexOf(b))
    .map(([kind, own]) => {
      const missing = own.filter(({ isCovered }) => !isCovered).map(({ path }) => path.join('.'));
      return { kind, covered: own.length - missing.length, total: own.length, missing };
    });
}

/** Whether a minimum is met: `unknown` where more may be covered than was read, and `unjudged` where only a part of the cases ran. */
export type MinimumState = 'met' | 'not-met' | 'unknown' | 'unjudged';

/** Judges a kind by its minimum, from 0 to 1. `isComplete` says that no run was interrupted. */
export function judgeMinimum(
  { kind, covered, total }: CoverageCount,
  minimum: number,
  { isPartial, unreadTraces, isComplete }: Pick<CoverageReport, 'isPartial' | 'unreadTraces'> & { isComplete: boolean },
): MinimumState {
  if (isPartial) return 'unjudged';
  if (meetsMinimumPassRate(covered, total, minimum)) return 'met';
  return !isComplete || (tracedKinds.has(kind) && unreadTraces > 0) ? 'unknown' : 'not-met';
}

/** Adds up what parts of a gate covered; undefined where none measured it. The whole is partial no more. */
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
