import { isFrame } from '../../base/stack-traces.ts';
import { formatCount } from '../../base/text.ts';
import type { Report } from '../../model/report.ts';
import type { VerdictOutcome } from '../../model/verdict.ts';
import { adviseInconclusive, describePart, describeVerdict, nameReasons } from '../wording.ts';
import { sourceLabel } from '../failures.ts';
import { describeRepeatOfFailed } from '../repeat.ts';
import {
  asName,
  asPlace,
  asProse,
  type Block,
  type BlockOf,
  briefly,
  heading,
  type Line,
  list,
  text,
} from './block.ts';

const shortTitles: Record<VerdictOutcome, string> = {
  passed: 'Passed',
  failed: 'Failed',
  inconclusive: 'Inconclusive',
};

/** Composes the verdict, its reasons, the number of missing results, and what to do about an inconclusive verdict. */
export function composeVerdict(report: Report, job: string | null): Block[] {
  const { verdict, shard } = report;
  const { outcome } = verdict;
  const [why = null, ...others] = listReasons(report);
  const hidden = Math.max(0, others.length - maxOthers);
  const { output = [], source } = verdict.reasons.find(({ output: lines = [] }) => lines.length > 0) ?? {};
  const title = composeTitle(outcome, describeVerdict(report), shard === null ? shortTitles[outcome] : undefined);
  return [
    { ...title, upTo: 'title' },
    { ...title, from: 'brief', job: job === null ? null : asName(job), part: describePart(report), why },
    ...composeOutput(output),
    ...(source === undefined ? [] : [text('brief', `${sourceLabel} `, asPlace(source))]),
    {
      kind: 'list',
      from: 'screen',
      items: others.slice(0, maxOthers).map((line) => [line]),
      by: 'reasons',
      noun: 'reason',
    },
    ...(hidden === 0 ? [] : [text('screen', `and ${formatCount(hidden, 'more reason')}, below.`)]),
    ...composeUnread(report),
    ...composeRepeat(report),
    ...(outcome === 'inconclusive' ? [text('brief', asProse(adviseInconclusive(verdict)))] : []),
  ];
}

/** The number of reasons that the verdict shows in addition to the decisive one: more are not read. */
const maxOthers = 2;

function listReasons(report: Report): Line[] {
  return nameReasons(report, report.verdict.reasons).map(({ suiteName, message }) => [
    ...(suiteName === null ? [] : [asName(suiteName), ': ']),
    asProse(message),
  ]);
}

/** Composes the reasons that the verdict only counts. A comment has the worst cases before all but the decisive one. */
export function composeMoreReasons(report: Report): Block[] {
  const [, ...others] = listReasons(report);
  const more = others.slice(maxOthers);
  // If the verdict passed, the other reasons repeat the line of each suite.
  const isBrief = report.verdict.outcome !== 'passed' && others.length > 0;
  return [
    ...(isBrief
      ? [briefly({ kind: 'list', from: 'brief', items: others.map((line) => [line]), by: 'reasons', noun: 'reason' })]
      : []),
    ...(more.length === 0 ? [] : [heading('screen', ['More reasons']), list('screen', more, { noun: 'reason' })]),
  ];
}

/** Composes what the server wrote last, which often names the cause. A comment has the end of it, without the frames of stack traces. */
function composeOutput(lines: readonly string[]): Block[] {
  if (lines.length === 0) return [];
  const words = lines.filter((line) => line.trim() !== '' && !isFrame(line));
  const said = words.length === 0 ? lines : words;
  const output = { kind: 'output', title: 'The last lines that the server wrote' } as const;
  return [
    briefly({ ...output, from: 'brief', lines: said.slice(-maxBriefOutput) }),
    { ...output, from: 'screen', lines },
  ];
}

const maxBriefOutput = 5;

/** Composes a title without a reason. */
export function composeTitle(outcome: VerdictOutcome, title: string, short = title): BlockOf<'verdict'> {
  return { kind: 'verdict', from: 'title', outcome, title, short, job: null, part: null, why: null };
}

/** Composes the command that runs again what failed. A comment has it below its cases. */
function composeRepeat(report: Report): Block[] {
  const repeat = report.verdict.outcome === 'passed' ? null : describeRepeatOfFailed(report);
  return repeat === null ? [] : [{ kind: 'repeat', from: 'screen', ...repeat }];
}

/** Composes what the verdict lacks, as counts only: a rate of a part would look like a result. */
function composeUnread({ cases }: Report): Block[] {
  const planned = cases.reduce((sum, testCase) => sum + Math.max(testCase.planned, testCase.total), 0);
  const missing = planned - cases.reduce((sum, { total }) => sum + total, 0);
  const counts = ` ${missing} of ${formatCount(planned, 'iteration')} have no result.`;
  return missing > 0 ? [text('brief', { kind: 'strong', text: 'Not read:' }, counts)] : [];
}

/** Composes what a reader should know in addition to the verdict. */
export function composeNotes({ notes }: Report): Block[] {
  return [{ kind: 'notes', from: 'brief', items: notes.map((note) => [asProse(note)]), by: 'notes', noun: 'note' }];
}
