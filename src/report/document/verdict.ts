import { formatCount } from '../../base/text.ts';
import type { Report } from '../../model/report.ts';
import type { VerdictOutcome } from '../../model/verdict.ts';
import { adviseInconclusive, describePart, describeVerdict, nameReasons } from '../wording.ts';
import { asName, asProse, type Block, type Line, text } from './block.ts';

const shortTitles: Record<VerdictOutcome, string> = {
  passed: 'Passed',
  failed: 'Failed',
  inconclusive: 'Inconclusive',
};

/** Composes the verdict, its reasons, the number of missing results, and what to do about an inconclusive verdict. */
export function composeVerdict(report: Report, job: string | null): Block[] {
  const { verdict, shard } = report;
  const { outcome } = verdict;
  const named = nameReasons(report, verdict.reasons);
  const [why = null, ...others] = named.map(({ suiteName, message }): Line => [
    ...(suiteName === null ? [] : [asName(suiteName), ': ']),
    asProse(message),
  ]);
  const output = named.find((reason) => reason.output.length > 0)?.output ?? [];
  return [
    {
      kind: 'verdict',
      level: 'title',
      outcome,
      title: describeVerdict(report),
      short: shard === null ? shortTitles[outcome] : describeVerdict(report),
      job,
      part: describePart(report),
      why,
    },
    ...(output.length === 0
      ? []
      : [
          {
            kind: 'output' as const,
            level: 'screen' as const,
            title: 'The last lines that the server wrote',
            lines: output,
          },
        ]),
    {
      kind: 'list',
      // If the verdict passed, the other reasons repeat the line of each suite.
      level: outcome === 'passed' ? 'screen' : 'brief',
      items: others.map((line) => [line]),
      cut: { by: 'reasons', rest: (hidden) => `and ${formatCount(hidden, 'more reason')}` },
    },
    ...composeUnread(report),
    ...(outcome === 'inconclusive' ? [text('brief', asProse(adviseInconclusive(verdict)))] : []),
  ];
}

/** Composes what the verdict lacks, as counts only: a rate of a part would look like a result. */
function composeUnread({ cases }: Report): Block[] {
  const planned = cases.reduce((sum, testCase) => sum + Math.max(testCase.planned, testCase.total), 0);
  const missing = planned - cases.reduce((sum, { total }) => sum + total, 0);
  if (missing <= 0) return [];
  return [
    text(
      'brief',
      { kind: 'strong', text: 'Not read:' },
      ` ${missing} of ${formatCount(planned, 'iteration')} have no result.`,
    ),
  ];
}

/** Composes what a reader should know in addition to the verdict. */
export function composeNotes({ notes }: Report): Block[] {
  return [
    {
      kind: 'notes',
      level: 'brief',
      items: notes.map((note) => [asProse(note)]),
      cut: { by: 'notes', rest: (hidden) => `and ${formatCount(hidden, 'more note')}` },
    },
  ];
}
