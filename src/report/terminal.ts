import { styleText } from 'node:util';
import { formatCount } from '../base/text.ts';
import { formatDuration } from '../base/time.ts';
import type { Comparison } from '../model/comparison.ts';
import type { CaseReport } from '../model/case-report.ts';
import type { Report, SuiteReport } from '../model/report.ts';
import type { VerdictOutcome } from '../model/verdict.ts';
import { describeBase, describeChange, describePairs, listDifferent } from './base-comparison.ts';
import {
  describeBaseline,
  describeChanges,
  describeRateChanges,
  describeRates,
  describeSmallestFalls,
  formatCounts,
  formatCurrent,
} from './comparison.ts';
import { escapeTerminalText } from './escape/log.ts';
import { countOmittedFailures, groupFailures, type PrintedOutput } from './failures.ts';
import {
  chooseMark,
  describeCaseCounts,
  describeConcurrency,
  describePart,
  describeServer,
  describeSuiteRate,
  describeTotals,
  describeVerdict,
  nameRequirement,
  nameReasons,
  listServers,
} from './wording.ts';
import {
  describeCalls,
  describeCost,
  describeModelRange,
  describeModelRate,
  describeTokens,
  listSpending,
} from './models.ts';
import { describeCoverage } from './coverage.ts';
import { describeFlaky, describeRepeats, describeProbation, listRoundNotes } from './rounds.ts';
import { renderSurfaceText } from './surface.ts';
import { listTrendRuns, nameTrend, renderSparkline } from './trend.ts';
import { truncateReason, truncateText } from './truncate.ts';

const marks: Record<VerdictOutcome, string> = { passed: '✓', failed: '✗', inconclusive: '!' };
const colors = { passed: 'green', failed: 'red', inconclusive: 'yellow' } as const;
const titles: Record<VerdictOutcome, string> = { passed: 'Passed', failed: 'Failed', inconclusive: 'Inconclusive' };

const maxReasons = 10;
const maxReasonLength = 1000;
const maxTitleLength = 120;
/** More than a screen or two of cases is unreadable; the others are only counted here, and are in the files. */
const maxDetailedCases = 25;
const maxPassedCases = 20;
const maxRequirements = 20;
const maxModels = 20;
const requirementOutcomes = { met: 'passed', 'not-met': 'failed', unknown: 'inconclusive' } as const;

type Paint = (format: Parameters<typeof styleText>[0], text: string) => string;

/**
 * Renders the result for a person at a terminal: the verdict and its reason, the failing cases in detail, the passing cases in brief, the
 * totals. Escapes foreign text for terminals and for the runner's log.
 */
export function renderTerminal(report: Report, options: { color: boolean; columns?: number }): string {
  const columns = Math.max(40, options.columns ?? 120);
  const paint: Paint = (format, text) => (options.color ? styleText(format, text, { validateStream: false }) : text);
  const printed: PrintedOutput = new Map();
  const lines = [
    ...listReasons(report, { columns, paint }),
    ...report.notes
      .slice(0, maxReasons)
      .flatMap((note) => wrapText(truncateText(note, maxReasonLength), { columns, indent: '  ' })),
    ...report.suites.flatMap((suite) => ['', ...listSuite(report, suite, { columns, paint, printed })]),
    ...listModels(report, { columns, paint }),
    ...listBase(report, { columns, paint }),
    ...(report.comparison === null ? [] : ['', ...listComparison(report.comparison, { columns, paint })]),
    ...(report.surface === undefined ? [] : ['', renderSurfaceText(report.surface, options).trimEnd()]),
    ...(report.coverage === undefined ? [] : ['', describeCoverage(report.coverage)]),
    ...listTrend(report, { columns, paint }),
    '',
    describeTotals(report),
    ...listServers(report).map((server) => escapeTerminalText(truncateText(describeServer(server), maxReasonLength))),
  ];
  return `${lines.join('\n')}\n`;
}

interface Page {
  columns: number;
  paint: Paint;
}

interface CasePage extends Page {
  printed: PrintedOutput;
}

function listReasons(report: Report, { columns, paint }: Page): string[] {
  const { outcome, reasons } = report.verdict;
  const texts = nameReasons(report, reasons.slice(0, maxReasons)).map(({ suiteName, message }) =>
    escapeTerminalText(truncateReason(suiteName === null ? message : `${suiteName}: ${message}`, maxReasonLength)),
  );
  const [headline, ...others] = [
    ...texts,
    ...(reasons.length > maxReasons ? [`and ${formatCount(reasons.length - maxReasons, 'more reason')}`] : []),
  ];
  const words = report.shard === null ? titles[outcome] : describeVerdict(report);
  const part = describePart(report);
  const title = paint(['bold', colors[outcome]], `${marks[outcome]} ${words}`);
  return [
    headline === undefined ? title : `${title}: ${headline}`,
    ...[...others, ...(part === null ? [] : [part])].flatMap((text) => wrapText(text, { columns, indent: '  ' })),
  ];
}

function listSuite(report: Report, suite: SuiteReport, page: CasePage): string[] {
  const { paint } = page;
  const cases = report.cases.filter(({ suiteId }) => suiteId === suite.id);
  const notPassed = cases.filter(({ outcome }) => outcome !== 'passed');
  const passed = cases.filter(({ outcome }) => outcome === 'passed');
  const hidden = notPassed.length - maxDetailedCases;
  return [
    [paint('bold', escapeTerminalText(truncateText(suite.name, maxTitleLength))), describeSuiteRate(suite)].join('  '),
    ...(suite.repeats === null ? [] : [`  ${paint('dim', describeRepeats(suite.repeats))}`]),
    ...listRoundNotes(suite, { cases, models: report.models }).flatMap((text) =>
      wrapText(truncateText(text, maxReasonLength), { ...page, indent: '  ' }),
    ),
    ...listConcurrency(suite, page),
    ...(suite.run?.url == null ? [] : [`  ${paint('dim', escapeTerminalText(suite.run.url))}`]),
    ...notPassed.slice(0, maxDetailedCases).flatMap((testCase) => listCase(testCase, page)),
    ...(hidden > 0 ? [`  and ${formatCount(hidden, 'more case')} that did not pass`] : []),
    ...(passed.length > maxPassedCases
      ? [`  ${paint('green', marks.passed)} ${formatCount(passed.length, 'case')} passed`]
      : passed.map((testCase) => describeCase(testCase, paint))),
    ...listRequirements(suite, page),
  ];
}

function listConcurrency({ concurrency }: SuiteReport, { columns, paint }: Page): string[] {
  if (concurrency === null) return [];
  const text = truncateText(describeConcurrency(concurrency), maxReasonLength);
  return wrapText(text, { columns, indent: '  ' }).map((line) => paint('dim', line));
}

/** Lists the requirements other than the suite's own minimum, which the headline shows. */
function listRequirements({ requirements }: SuiteReport, { columns, paint }: Page): string[] {
  const further = requirements.slice(1);
  const hidden = further.length - maxRequirements;
  return [
    ...further.slice(0, maxRequirements).flatMap((requirement) => {
      const { state, isDecisive, finding, source } = requirement;
      const outcome = requirementOutcomes[state === 'not-met' && !isDecisive ? 'unknown' : state];
      const text =
        state === 'not-met' && !isDecisive
          ? finding
          : `${nameRequirement(requirement)}: ${requirement.requirement} (${source})`;
      const [first = '', ...rest] = wrapText(truncateText(text, maxReasonLength), { columns, indent: '    ' });
      return [`  ${paint(colors[outcome], marks[outcome])} ${paint('dim', first.trimStart())}`, ...rest];
    }),
    ...(hidden > 0 ? [`  and ${formatCount(hidden, 'more requirement')}`] : []),
  ];
}

function describeCase(testCase: CaseReport, paint: Paint): string {
  const { outcome, title, required, location, durationMs, quarantine } = testCase;
  const flaky = describeFlaky(testCase);
  const mark = chooseMark(testCase);
  const notes = [
    ...(required ? ['required'] : []),
    ...(quarantine === null ? [] : ['in quarantine']),
    ...[describeProbation(testCase) ?? []].flat(),
    ...(flaky === null ? [] : [flaky]),
    ...(outcome !== 'passed' && location !== null
      ? [escapeTerminalText(truncateText(`${location.file}:${location.line}`, maxReasonLength))]
      : []),
    ...(outcome === 'passed' && durationMs !== null ? [formatDuration(durationMs)] : []),
  ];
  const name = escapeTerminalText(truncateText(title, maxTitleLength));
  return [
    `  ${paint(colors[mark], marks[mark])} ${name}`,
    describeCaseCounts(testCase),
    ...notes.map((note) => paint('dim', note)),
  ].join('  ');
}

function listCase(testCase: CaseReport, page: CasePage): string[] {
  const omitted = countOmittedFailures(testCase);
  return [
    describeCase(testCase, page.paint),
    ...groupFailures(testCase, page.printed).flatMap(({ heading, lines }) => [
      `      ${page.paint('dim', escapeTerminalText(heading))}`,
      ...lines.flatMap((line) => wrapText(line, { columns: page.columns, indent: '        ' })),
    ]),
    ...(omitted > 0 ? [`      and ${formatCount(omitted, 'more failed iteration')}`] : []),
  ];
}

function listModels(report: Report, { columns, paint }: Page): string[] {
  const { models } = report;
  if (models === null) return [];
  const hidden = models.models.length - maxModels;
  return [
    '',
    paint('bold', 'Models'),
    ...models.models.slice(0, maxModels).flatMap((summary) => {
      const range = describeModelRange(summary, report);
      const parts = [
        `${describeModelRate(summary, report)} passed${range === null ? '' : `, ${range} with 95% confidence`}`,
        `calls ${describeCalls(summary.usage)}`,
        `tokens ${describeTokens(summary.usage)}`,
        `cost ${describeCost(summary.cost, models)}`,
      ];
      const name = truncateText(summary.model, maxTitleLength);
      return wrapText(`${name}: ${parts.join('; ')}`, { columns, indent: '  ' });
    }),
    ...(hidden > 0 ? [`  and ${formatCount(hidden, 'more model')}`] : []),
    ...listSpending(models).flatMap((text) => wrapText(text, { columns, indent: '  ' })),
  ];
}

function listBase({ baseComparison }: Report, { columns, paint }: Page): string[] {
  if (baseComparison === null) return [];
  const sentence = describeBase(baseComparison, { name: (text) => text, prose: (text) => text });
  const pairs = describePairs(baseComparison);
  return [
    '',
    paint('bold', 'Against the base'),
    ...[sentence, ...(pairs === null ? [] : [pairs])].flatMap((text) => wrapText(text, { columns, indent: '  ' })),
    ...listDifferent(baseComparison)
      .slice(0, maxDetailedCases)
      .map((item) => {
        const name = escapeTerminalText(truncateText(item.title, maxTitleLength));
        const result = paint(item.isWorse ? 'red' : 'dim', describeChange(item));
        return `  ${result} ${name}  ${formatCounts(item.base)} in the base, ${formatCounts(item.head)} in the change`;
      }),
  ];
}

function listComparison(comparison: Comparison, { paint }: Page): string[] {
  const { source, rest } = describeBaseline(comparison);
  const rates = describeRates(comparison);
  const shown = comparison.cases.filter(({ change }) => change === 'regressed' || change === 'fixed');
  return [
    `${paint('bold', 'Against the baseline')}  ${escapeTerminalText(source)}${rest}: ${describeChanges(comparison)}`,
    ...(rates === null ? [] : [`  ${rates}`]),
    ...[
      ...describeRateChanges(comparison, escapeTerminalText),
      ...describeSmallestFalls(comparison, escapeTerminalText),
    ]
      .slice(0, maxDetailedCases)
      .map((line) => `  ${line}`),
    ...shown.slice(0, maxDetailedCases).map(({ change, title, baseline, ...now }) => {
      const name = escapeTerminalText(truncateText(title, maxTitleLength));
      return `  ${paint(change === 'fixed' ? 'green' : 'red', change)} ${name}  ${formatCounts(baseline)} then, ${formatCurrent(now)} now`;
    }),
  ];
}

function listTrend(report: Report, { paint }: Page): string[] {
  const runs = listTrendRuns(report);
  if (runs === null || report.trend === null) return [];
  const name = escapeTerminalText(nameTrend(report.trend));
  return [
    '',
    `${paint('bold', 'Trend')}  ${renderSparkline(runs)}  ${formatCount(runs.length, 'gate')} on ${name}, this one last`,
  ];
}

/** Wraps a text. Escapes it again after wrapping, which may have moved the middle of a text to the start of a line. */
function wrapText(text: string, options: { columns: number; indent: string }): string[] {
  return wrapLine(escapeTerminalText(text), options).map(escapeTerminalText);
}

/**
 * Breaks a line at spaces so that each part, including its indentation, is at most `columns` wide if the words allow it. Parts after the
 * first are indented by two more.
 */
export function wrapLine(line: string, options: { columns: number; indent: string }): string[] {
  const lines: string[] = [];
  let current = options.indent;
  let isEmpty = true;
  for (const word of line.split(' ')) {
    if (!isEmpty && current.length + 1 + word.length > options.columns) {
      lines.push(current);
      current = `${options.indent}  ${word}`;
    } else {
      current += isEmpty ? word : ` ${word}`;
    }
    isEmpty = false;
  }
  return [...lines, current];
}
