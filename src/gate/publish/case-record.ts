import { createHash } from 'node:crypto';
import { formatCount } from '../../base/text.ts';
import type { Disposition } from '../../model/disposition.ts';
import type { Report } from '../../model/report.ts';

/** The cases of a comment that did not pass, hidden from readers, so that the comment that replaces it says what changed. */
export interface CaseRecord {
  /** The first characters of the commit; null if it is not known. */
  commit: string | null;
  failed: readonly string[];
  unscored: readonly string[];
}

type Judged = Pick<Report, 'cases' | 'revision'>;

/** Of both kinds together. A list that lacks some would call the others new or fixed. */
const maxNames = 500;

/** Renders the record as a line that GitHub does not show. It names each case by a hash, so that it holds no foreign text. Null if there are too many. */
export function renderRecord(report: Judged): string | null {
  const [failed, unscored] = (['failed', 'unscored'] as const).map((disposition) => [
    ...listNames(report, disposition),
  ]);
  if (failed === undefined || unscored === undefined || failed.length + unscored.length > maxNames) return null;
  const commit = shortenCommit(report) ?? '-';
  return `<!-- mcp-eval-ci commit=${commit} failed=${failed.join(',')} unscored=${unscored.join(',')} -->`;
}

const names = '((?:[0-9a-f]{10}(?:,[0-9a-f]{10}){0,499})?)';
const pattern = new RegExp(`^<!-- mcp-eval-ci commit=([0-9a-f]{7}|-) failed=${names} unscored=${names} -->$`);

/** Reads the record in the second line of a comment, below its marker; null if there is none. Anywhere else it is a quotation. */
export function parseRecord(body: string): CaseRecord | null {
  const [, line = ''] = body.split(/\r?\n/, 2);
  const [, commit, failed, unscored] = pattern.exec(line) ?? [];
  if (commit === undefined || failed === undefined || unscored === undefined) return null;
  const list = (text: string) => (text === '' ? [] : text.split(','));
  return { commit: commit === '-' ? null : commit, failed: list(failed), unscored: list(unscored) };
}

/** Counts what changed since the comment with this record: `Since commit 1a2b3c4: 2 fixed, 1 new, 3 cases still fail.` Null if no case failed, then or now. */
export function describeSince({ commit, ...before }: CaseRecord, report: Judged): string | null {
  const [failed, passed] = [listNames(report, 'failed'), listNames(report, 'passed')];
  const known = new Set([...before.failed, ...before.unscored]);
  const counts = [
    [before.failed.filter((name) => passed.has(name)).length, 'fixed'],
    [[...failed].filter((name) => !known.has(name)).length, 'new'],
  ] as const;
  const still = before.failed.filter((name) => failed.has(name)).length;
  const parts = [
    ...counts.flatMap(([count, what]) => (count === 0 ? [] : [`${count} ${what}`])),
    ...(still === 0 ? [] : [`${formatCount(still, 'case')} still ${still === 1 ? 'fails' : 'fail'}`]),
  ];
  if (parts.length === 0) return null;
  const isSame = commit === shortenCommit(report);
  const since = commit === null ? 'the last comment' : isSame ? 'the last run' : `commit ${commit}`;
  return `Since ${since}: ${parts.join(', ')}.`;
}

function listNames({ cases }: Judged, disposition: Disposition): Set<string> {
  const chosen = cases.filter((testCase) => testCase.disposition === disposition);
  return new Set(chosen.map(({ suiteId, id }) => nameCase(suiteId, id)));
}

function nameCase(suiteId: string, id: string): string {
  return createHash('sha256')
    .update(JSON.stringify([suiteId, id]))
    .digest('hex')
    .slice(0, 10);
}

function shortenCommit({ revision }: Judged): string | null {
  const commit = revision?.commit ?? '';
  return /^[0-9a-f]{7,64}$/.test(commit) ? commit.slice(0, 7) : null;
}
