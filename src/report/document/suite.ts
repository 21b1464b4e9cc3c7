import { formatCount } from '../../base/text.ts';
import { formatDuration } from '../../base/time.ts';
import { formatPassRate } from '../../model/rate.ts';
import type { CaseReport } from '../../model/case-report.ts';
import type { Report, RequirementReport, SuiteReport } from '../../model/report.ts';
import type { VerdictOutcome } from '../../model/verdict.ts';
import { countOmittedFailures } from '../failures.ts';
import type { MarkIterations } from '../iteration-marks.ts';
import { describeRepeats, describeRoundsDecision, findRates, listRoundNotes } from '../rounds.ts';
import {
  chooseMark,
  describeCaseCounts,
  describeConcurrency,
  describeSuiteRate,
  formatPassed,
  listFlags,
  nameRequirement,
} from '../wording.ts';
import {
  asCode,
  asMark,
  asName,
  asProse,
  type Block,
  type CaseItem,
  fineText,
  heading,
  type Line,
  table,
  text,
} from './block.ts';

/** Folds further failing cases, so that a phone shows the worst ones and the end of the page. */
const maxOpenCases = 5;
const maxRequirements = 50;
const maxOpenRequirements = 10;

/** Composes a suite: its rate against its minimum, how it ran, its cases worst first, its requirements. */
export function composeSuite(suite: SuiteReport, report: Report, markIterations: MarkIterations): Block[] {
  const cases = report.cases.filter(({ suiteId }) => suiteId === suite.id);
  const decision = describeRoundsDecision(suite, report.models?.currency ?? '');
  const { outcome } = suite.verdict;
  return [
    heading(
      'brief',
      [asMark(outcome), ' ', asName(suite.name)],
      [
        [describeSuiteRate(suite)],
        ...(suite.repeats === null ? [] : [describeRepeats(suite.repeats)]),
        ...(suite.run?.url == null ? [] : [[{ kind: 'link' as const, label: 'Open the run', url: suite.run.url }]]),
      ],
      { isLine: true },
    ),
    ...(decision === null ? [] : [text('brief', asProse(decision))]),
    ...listRoundNotes(suite, cases).map((note) => text('screen', asProse(note))),
    ...(suite.concurrency === null ? [] : [fineText('screen', asProse(describeConcurrency(suite.concurrency)))]),
    composeCases(cases, { markIterations, outcome }),
    ...composeRepeats(suite, cases),
    ...composeRequirements(suite),
  ];
}

function composeCases(
  cases: readonly CaseReport[],
  { markIterations, outcome }: { markIterations: MarkIterations; outcome: VerdictOutcome },
): Block {
  const items = cases.map((testCase) => describeCase(testCase, markIterations));
  const passed = items.filter(({ isPassed }) => isPassed);
  return {
    kind: 'cases',
    level: 'brief',
    failed: items.filter(({ isPassed }) => !isPassed),
    hidden: 0,
    passed,
    passedCount: passed.length,
    details: Infinity,
    // In a suite that passed, the minimum tolerates the failures, so they are not the first thing to see.
    open: outcome === 'passed' ? 0 : maxOpenCases,
  };
}

/** Describes a case in the words that every renderer uses. */
export function describeCase(testCase: CaseReport, markIterations: MarkIterations = () => null): CaseItem {
  const { title, failures, outcome, location, durationMs } = testCase;
  return {
    title,
    failures,
    mark: chooseMark(testCase),
    isPassed: outcome === 'passed',
    flags: listFlags(testCase),
    passed: formatPassed(testCase),
    counts: describeCaseCounts(testCase),
    iterations: markIterations(testCase),
    duration: durationMs === null ? null : formatDuration(durationMs),
    place: location,
    omitted: countOmittedFailures(testCase),
  };
}

/** Composes the repeat rates of the cases that passed sometimes: for the others, every rate is 100% or 0%. */
function composeRepeats({ repeats }: SuiteReport, cases: readonly CaseReport[]): Block[] {
  if (repeats === null) return [];
  const ks = repeats.k === 2 ? [2] : [2, repeats.k];
  const rows = cases
    .filter(({ passed, failed, quarantine }) => passed > 0 && failed > 0 && quarantine === null)
    .map((testCase): Line[] => {
      const rates = ks.map((k) => findRates(testCase, k)).flatMap((each) => [each?.passAtK, each?.passHatK]);
      return [[asName(testCase.title)], ...rates.map((rate) => [formatPassRate(rate ?? null)])];
    });
  if (rows.length === 0) return [];
  const head = ['Case', ...ks.flatMap((k) => [asCode(`pass@${k}`), asCode(`pass^${k}`)])];
  const rest = (hidden: number) => `${formatCount(hidden, 'more case')} passed sometimes; the report lists them.`;
  const summary = `${formatCount(rows.length, 'case')} passed sometimes`;
  return [{ kind: 'fold', level: 'full', summary, blocks: table('full', { head, rows, cut: { by: 'rows', rest } }) }];
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
  const list = table('screen', {
    head: ['', 'Of', 'Requirement', 'From'],
    rows: requirements.map((requirement) => [
      [asMark(isWarning(requirement) ? 'inconclusive' : requirementMarks[requirement.state])],
      ...[nameRequirement(requirement), requirement.requirement, requirement.source].map((part) => [asName(part)]),
    ]),
    cut: {
      by: 'rows',
      max: maxRequirements,
      rest: (hidden) => `${formatCount(hidden, 'more requirement')}; the report lists them.`,
    },
  });
  const summary = formatCount(requirements.length, 'requirement');
  return [
    ...requirements
      .filter(isWarning)
      .slice(0, maxRequirements)
      .map(({ finding }) => text('screen', asMark('inconclusive'), ' ', asProse(finding))),
    ...(requirements.length <= maxOpenRequirements
      ? list
      : [{ kind: 'fold' as const, level: 'screen' as const, summary, blocks: list }]),
  ];
}
