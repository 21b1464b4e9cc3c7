import type { Disposition } from '../src/model/disposition.ts';
import type { CaseReport } from '../src/model/case-report.ts';
import type { Report } from '../src/model/report.ts';

/** How the list groups cases: by how they count for the verdict. */
export type CaseGroup = 'failed' | 'inconclusive' | 'set-aside' | 'passed';

export const caseGroups: readonly CaseGroup[] = ['failed', 'inconclusive', 'set-aside', 'passed'];

/** What the reader wants to see; null and the empty text want everything. */
export interface CaseFilter {
  group: CaseGroup | null;
  tag: string | null;
  suiteId: string | null;
  text: string;
}

/** A case of the list, with everything that a search looks at. */
export interface ListedCase {
  member: CaseReport;
  /** Where it stands in the report. */
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
  tolerated: 'failed',
  excluded: 'set-aside',
  unscored: 'inconclusive',
};

/** Whether a case is what the reader wants to see: every word of the text occurs in it, whatever its case. */
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
