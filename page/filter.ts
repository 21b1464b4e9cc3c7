import type { Disposition } from '../src/model/disposition.ts';
import type { CaseReport } from '../src/model/case-report.ts';
import type { Report } from '../src/model/report.ts';

/** The groups of the list: how cases count for the verdict. */
export type CaseGroup = 'failed' | 'inconclusive' | 'tolerated' | 'set-aside' | 'passed';

export const caseGroups: readonly CaseGroup[] = ['failed', 'inconclusive', 'tolerated', 'set-aside', 'passed'];

/** The filter of the reader; null and the empty text match everything. */
export interface CaseFilter {
  group: CaseGroup | null;
  tag: string | null;
  suiteId: string | null;
  text: string;
}

/** A case of the list, with all text that a search covers. */
export interface ListedCase {
  member: CaseReport;
  /** The position in the report. */
  index: number;
  group: CaseGroup;
  haystack: string;
}

/** Lists the cases worst first, over all suites. */
export function listCases({ cases, suites }: Pick<Report, 'cases' | 'suites'>): ListedCase[] {
  const names = new Map(suites.map(({ id, name }) => [id, name]));
  return cases
    .map((member, index) => ({
      member,
      index,
      group: groups[member.disposition],
      haystack: buildHaystack(member, names.get(member.suiteId) ?? ''),
    }))
    .toSorted((a, b) => rank(a) - rank(b));
}

const groups: Record<Disposition, CaseGroup> = {
  passed: 'passed',
  failed: 'failed',
  tolerated: 'tolerated',
  excluded: 'set-aside',
  unscored: 'inconclusive',
};

/** True if a case matches the filter: every word of the text occurs in it, in upper or lower case. */
export function matchesFilter(item: ListedCase, { group, tag, suiteId, text }: CaseFilter): boolean {
  if (group !== null && item.group !== group) return false;
  if (tag !== null && !item.member.tags.includes(tag)) return false;
  if (suiteId !== null && item.member.suiteId !== suiteId) return false;
  return text
    .toLowerCase()
    .split(/\s+/)
    .every((word) => item.haystack.includes(word));
}

function rank({ group, member }: ListedCase): number {
  return caseGroups.indexOf(group) * 2 + (member.required ? 0 : 1);
}

function buildHaystack(
  { id, title, tags, model, location, failures, quarantine }: CaseReport,
  suiteName: string,
): string {
  return [
    title,
    id,
    suiteName,
    ...tags,
    model ?? '',
    location === null ? '' : `${location.file}:${location.line}`,
    quarantine === null ? '' : `${quarantine.owner} ${quarantine.reason}`,
    ...failures.flatMap(({ reasons, expectedToolCalls, actualToolCalls }) => [
      ...reasons,
      ...[...expectedToolCalls, ...actualToolCalls].map(({ toolName }) => toolName),
    ]),
  ]
    .join('\n')
    .toLowerCase();
}
