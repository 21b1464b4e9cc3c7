import { cutMark, formatCount, readFirstLine } from '../../base/text.ts';
import { cutTrace, isFrame } from '../../base/stack-traces.ts';
import { formatDuration } from '../../base/time.ts';
import { formatPassRate } from '../../model/rate.ts';
import type { CaseReport, IterationFailure } from '../../model/case-report.ts';
import type { Report, RequirementReport, SuiteReport } from '../../model/report.ts';
import type { VerdictOutcome } from '../../model/verdict.ts';
import { listDifferences, type ShownLine, signs } from '../differences.ts';
import { countOmittedFailures, sourceLabel } from '../failures.ts';
import type { MarkIterations } from '../iteration-marks.ts';
import type { DescribeRepeat } from '../repeat.ts';
import { truncateText } from '../truncate.ts';
import { describeRepeats, describeRoundsDecision, findRates, listRoundNotes } from '../rounds.ts';
import {
  chooseMark,
  describeAllowed,
  describeCaseCounts,
  describeConcurrency,
  describeSuiteRate,
  formatPassed,
  hasNotRun,
  listFlags,
  nameRequirement,
} from '../wording.ts';
import {
  asCode,
  asCommand,
  asMark,
  asName,
  asPlace,
  asProse,
  type Block,
  briefly,
  type CaseItem,
  heading,
  type Line,
  list,
  repeatLabel,
  table,
  text,
} from './block.ts';

/** Folds further failing cases, so that a phone shows the worst ones and the end of the page. */
const maxOpenCases = 5;
/** As many as the first screen of a phone has below the verdict. */
const maxBriefCases = 3;

/** What a case has that its own part of the report does not say. */
interface CaseWords {
  markIterations: MarkIterations;
  describeRepeat: DescribeRepeat;
  /** Returns the command that makes the first call of the case with the MCP Inspector; null if there is none. */
  inspect: (testCase: Pick<CaseReport, 'failures'>) => string | null;
}

/** Composes a suite: its rate against its minimum, how it ran, its cases worst first, its requirements. */
export function composeSuite(suite: SuiteReport, report: Report, words: CaseWords): Block[] {
  const cases = report.cases.filter(({ suiteId }) => suiteId === suite.id);
  const { verdict, repeats, run, concurrency } = suite;
  const decision = describeRoundsDecision(suite, report.models?.currency ?? '');
  const title = [asMark(verdict.outcome), ' ', asName(suite.name)];
  const rate = describeSuiteRate(suite);
  const allowed = describeAllowed(suite);
  return [
    heading('screen', title, [
      [rate],
      ...(repeats === null ? [] : [describeRepeats(repeats)]),
      ...(run?.url == null ? [] : [[{ kind: 'link' as const, label: 'Open the run', url: run.url }]]),
    ]),
    briefly(text('brief', ...title, `: ${rate}`)),
    ...(allowed === null ? [] : [text('brief', allowed)]),
    ...(decision === null ? [] : [text('brief', asProse(decision))]),
    ...listRoundNotes(suite, cases).map((note) => text('screen', asProse(note))),
    ...(concurrency === null ? [] : [{ ...text('screen', asProse(describeConcurrency(concurrency))), isFine: true }]),
    ...composeCases(
      cases.map((testCase) => describeCase(testCase, words)),
      verdict.outcome,
    ),
    ...composeRepeats(suite, cases),
    ...composeRequirements(suite),
  ];
}

function composeCases(cases: readonly CaseItem[], outcome: VerdictOutcome): Block[] {
  const [passed, others] = [true, false].map((isPassed) => cases.filter((item) => item.isPassed === isPassed));
  const ran = (others ?? []).filter(({ hasRun }) => hasRun);
  const unrun = cases.filter(({ hasRun }) => !hasRun).length;
  const notPassed = {
    from: 'brief' as const,
    by: 'cases' as const,
    noun: 'case',
    what: ' did not pass',
    // In a suite that passed, the minimum tolerates the failures, so they are not the first thing to see.
    open: outcome === 'passed' ? 0 : maxOpenCases,
  };
  const passedCases: Block = {
    kind: 'passed',
    from: 'screen',
    items: passed ?? [],
    by: 'passed',
    noun: 'case',
    what: ' passed',
    open: outcome === 'passed' ? 0 : 15,
  };
  return [
    // What failed does not come first where it stops nothing.
    ...(outcome === 'passed' ? [passedCases] : []),
    briefly({
      kind: 'list',
      ...notPassed,
      open: Math.min(notPassed.open, maxBriefCases),
      items: ran.map((item) => describeBriefly(item, ran.length === 1)),
    }),
    ...(ran.length > 1 ? [briefly(composeCommands(ran))] : []),
    ...(unrun > 0 ? [briefly(text('brief', `${formatCount(unrun, 'case')} did not run.`))] : []),
    { kind: 'cases', ...notPassed, from: 'screen', items: others ?? [] },
    ...(outcome === 'passed' ? [] : [passedCases]),
  ];
}

function describeCase(testCase: CaseReport, { markIterations, describeRepeat, inspect }: CaseWords): CaseItem {
  const { title, failures, outcome, location, durationMs } = testCase;
  // What did not run cannot be repeated: the verdict says what to do first.
  const isDone = outcome === 'passed' || hasNotRun(testCase);
  return {
    title,
    failures,
    mark: chooseMark(testCase),
    isPassed: outcome === 'passed',
    hasRun: !hasNotRun(testCase),
    flags: listFlags(testCase),
    passed: formatPassed(testCase),
    counts: describeCaseCounts(testCase),
    iterations: markIterations(testCase),
    duration: durationMs === null ? null : formatDuration(durationMs),
    place: location === null ? null : asPlace(location),
    omitted: countOmittedFailures(testCase),
    repeat: isDone ? null : describeRepeat(testCase),
    inspection: isDone ? null : inspect(testCase),
  };
}

/** Lists, folded, how to run single cases again: one line would be three lines of a phone below each case. */
function composeCommands(items: readonly CaseItem[]): Block {
  const commands = items.flatMap(({ title, repeat }): Line[] =>
    repeat === null ? [] : [[asName(title), ': ', asCommand(repeat)]],
  );
  return list('brief', commands.slice(0, maxCommands), { noun: 'command', what: ' to run a case again', open: 0 });
}

/** Enough for the cases that a reader looks into. */
const maxCommands = 10;

/** Describes a case with its first reason, for a reader who wants no more. Several cases share the first screen of a phone. */
function describeBriefly({ mark, title, flags, counts, place, failures, repeat }: CaseItem, isOnly: boolean): Line[] {
  const reason = failures[0]?.reasons[0];
  const difference = describeDifference(failures[0], isOnly ? maxBriefLines : maxSharedLines);
  const maxReason = isOnly ? Infinity : difference.length > 0 ? maxSharedReason : maxLoneReason;
  const source = failures.find((failure) => failure.source !== undefined)?.source;
  const name = [asMark(mark), ' ', asName(title), ...(flags.length === 0 ? [] : [` (${flags.join('; ')})`])];
  return [
    [...name, `: ${counts}`, ...(place === null ? [] : [' · ', place])],
    ...(reason === undefined
      ? []
      : [[asCode(truncateText(cutTrace(readFirstLine(reason)), maxReason, { keepsEnd: true }))]]),
    ...(source === undefined ? [] : [[`${sourceLabel} `, asPlace(source)]]),
    ...difference,
    ...(repeat === null || !isOnly ? [] : [[`${repeatLabel}: `, asCommand(repeat)]]),
  ];
}

const maxBriefLines = 4;
const maxSharedLines = 2;
const maxBriefLine = 120;
/** What differs says it again. */
const maxSharedReason = 90;
const maxLoneReason = 160;

/** Shows the first lines that differ, of both sides if both have some. */
function describeDifference(failure: IterationFailure | undefined, maxLines: number): Line[] {
  const [difference] = failure === undefined ? [] : listDifferences(failure);
  const lines = (difference?.lines ?? []).filter(
    // A frame names a path of the job's machine.
    ({ side, text }) => side === 'expected' || (side === 'actual' && !isFrame(text)),
  );
  const [expected, actual] = (['expected', 'actual'] as const).map((wanted) =>
    lines.filter(({ side }) => side === wanted),
  );
  const half = Math.ceil(maxLines / 2);
  const first = expected?.slice(0, Math.max(half, maxLines - (actual?.length ?? 0))) ?? [];
  const shown = new Set([...first, ...(actual?.slice(0, maxLines - first.length) ?? [])]);
  return lines
    .filter((line) => shown.has(line))
    .map((line) => [asCode(`${signs[line.side]} ${cutAroundMark(line, maxBriefLine)}`)]);
}

/** Cuts a long line so that what differs stays in it. */
function cutAroundMark({ text, marks = [] }: ShownLine, maxLength: number): string {
  const [start = 0] = marks[0] ?? [];
  const from = text.length <= maxLength ? 0 : Math.max(0, start - maxLength / 4);
  return truncateText(`${from > 0 ? cutMark : ''}${text.slice(from).toWellFormed().trim()}`, maxLength);
}

/** Composes the repeat rates of the cases that passed sometimes: for the others, every rate is 100% or 0%. */
function composeRepeats({ repeats }: SuiteReport, cases: readonly CaseReport[]): Block[] {
  if (repeats === null) return [];
  const ks = repeats.k === 2 ? [2] : [2, repeats.k];
  const rows = cases
    .filter(({ passed, failed, quarantine }) => passed > 0 && failed > 0 && quarantine === null)
    .map((testCase) => {
      const rates = ks.map((k) => findRates(testCase, k)).flatMap((each) => [each?.passAtK, each?.passHatK]);
      return [[asName(testCase.title)], ...rates.map((rate) => [formatPassRate(rate ?? null)])];
    });
  const head = ['Case', ...ks.flatMap((k) => [asCode(`pass@${k}`), asCode(`pass^${k}`)])];
  return [table('full', head, rows, { noun: 'case', what: ' passed sometimes', open: 0 })];
}

const requirementMarks: Record<RequirementReport['state'], VerdictOutcome> = {
  met: 'passed',
  'not-met': 'failed',
  unknown: 'inconclusive',
};

/** Composes the requirements. Omits a suite's only requirement, its own minimum, which the heading shows. */
function composeRequirements({ requirements }: SuiteReport): Block[] {
  if (requirements.length < 2) return [];
  const isWarning = ({ state, isDecisive }: RequirementReport) => state === 'not-met' && !isDecisive;
  const warnings = requirements.filter(isWarning);
  const rows = requirements.map((requirement) => [
    [asMark(isWarning(requirement) ? 'inconclusive' : requirementMarks[requirement.state])],
    ...[nameRequirement(requirement), requirement.requirement, requirement.source].map((part) => [asName(part)]),
  ]);
  return [
    list(
      'screen',
      warnings.map(({ finding }) => [asMark('inconclusive'), ' ', asProse(finding)]),
      { noun: 'warning' },
    ),
    table('screen', ['', 'Of', 'Requirement', 'From'], rows, { noun: 'requirement', open: 10 }),
  ];
}
