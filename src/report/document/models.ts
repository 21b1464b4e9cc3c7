import { formatCount, formatMoney } from '../../base/text.ts';
import { formatHostedModel } from '../../model/format-host.ts';
import { computePassRate, formatPassRate, formatUpperRate } from '../../model/rate.ts';
import type { CaseReport } from '../../model/case-report.ts';
import type { JudgeSpending } from '../../model/cost.ts';
import type { ModelsReport, ModelSummary, Report } from '../../model/report.ts';
import type { ModelUsage } from '../../model/usage.ts';
import { asName, asProse, type Block, heading, joinLines, type Line, table, text } from './block.ts';

/** More columns are hard to compare. */
const maxColumns = 8;
const maxGaps = 3;

/** Counts the answers by source: `12 live, 8 recorded`. */
export function describeCalls({ modelCalls, replayedCalls }: ModelUsage): string {
  const parts = [
    ...(modelCalls > 0 ? [`${modelCalls} live`] : []),
    ...(replayedCalls > 0 ? [`${replayedCalls} recorded`] : []),
  ];
  return parts.length === 0 ? 'none' : parts.join(', ');
}

/** Describes the usage of live calls: `12000 in (3000 cached, 800 written to the cache), 900 out`. */
export function describeTokens(usage: ModelUsage): string {
  const { inputTokens, cachedInputTokens, cacheWriteTokens = 0, outputTokens, unmeasuredCalls } = usage;
  const parts = [
    ...(cachedInputTokens > 0 ? [`${cachedInputTokens} cached`] : []),
    ...(cacheWriteTokens > 0 ? [`${cacheWriteTokens} written to the cache`] : []),
  ];
  const cached = parts.length === 0 ? '' : ` (${parts.join(', ')})`;
  const unmeasured = unmeasuredCalls > 0 ? `, ${formatCount(unmeasuredCalls, 'call')} not measured` : '';
  const isNothing = inputTokens + outputTokens + unmeasuredCalls === 0;
  return isNothing ? 'none' : `${inputTokens} in${cached}, ${outputTokens} out${unmeasured}`;
}

export function describeCost(cost: number | null, { currency }: Pick<ModelsReport, 'currency'>): string {
  return cost === null ? 'not known' : formatMoney(cost, currency);
}

/** Describes the usage and the cost of a judge: `calls 3 live; tokens 1200 in, 90 out; cost 0.01 USD`. */
export function describeJudge({ usage, cost }: JudgeSpending, models: Pick<ModelsReport, 'currency'>): string {
  return `calls ${describeCalls(usage)}; tokens ${describeTokens(usage)}; cost ${describeCost(cost, models)}`;
}

/** Describes the usage and the cost of a gate's models, a sentence each; `models` is the report's part about them. */
export function listSpending(models: ModelsReport): string[] {
  const { judges, costGaps } = models;
  const sum = (key: keyof ModelUsage) => [models, ...judges].reduce((total, part) => total + (part.usage[key] ?? 0), 0);
  // Adds up here: the page includes this file, and an import of `addUsage` would add the schemas next to it.
  const usage: ModelUsage = {
    modelCalls: sum('modelCalls'),
    replayedCalls: sum('replayedCalls'),
    inputTokens: sum('inputTokens'),
    cachedInputTokens: sum('cachedInputTokens'),
    cacheWriteTokens: sum('cacheWriteTokens'),
    outputTokens: sum('outputTokens'),
    unmeasuredCalls: sum('unmeasuredCalls'),
  };
  const costs = [models, ...judges].map((part) => part.cost);
  const cost = costs.every((part) => part !== null) ? costs.reduce((sum, part) => sum + part, 0) : null;
  const spent = cost === null ? '' : `; cost ${describeCost(cost, models)}`;
  const used = `In all: calls ${describeCalls(usage)}; tokens ${describeTokens(usage)}${spent}.`;
  const hidden = costGaps.length - maxGaps;
  const gaps = costGaps.slice(0, maxGaps);
  return [
    ...judges.map((judge) => `Judge ${judge.model}: ${describeJudge(judge, models)}.`),
    used,
    ...(usage.replayedCalls > 0 ? ['Recorded answers cost nothing.'] : []),
    ...(costGaps.length === 0
      ? []
      : [`The cost is not known: ${[...gaps, ...(hidden > 0 ? [`and ${hidden} more`] : [])].join('; ')}.`]),
  ];
}

/**
 * Counts the iterations of a model that passed: `14 of 20 (70%)`. Without a rate if the verdict is inconclusive: the rate of a part would
 * look like a result.
 */
export function describeModelRate({ passed, total }: ModelSummary, { verdict }: Pick<Report, 'verdict'>): string {
  const rate =
    verdict.outcome === 'inconclusive' || total === 0 ? '' : ` (${formatPassRate(computePassRate(passed, total))})`;
  return `${passed} of ${total}${rate}`;
}

/** Formats the 95% range of the rate of live iterations, `48.1% to 85.5%`; null without a range, and if nothing was established. */
export function describeModelRange({ range }: ModelSummary, { verdict }: Pick<Report, 'verdict'>): string | null {
  if (range === null || verdict.outcome === 'inconclusive') return null;
  return `${formatPassRate(range.lower)} to ${formatUpperRate(range.upper)}`;
}

/** A case of the file, and its results with each model. */
export interface MatrixRow {
  suiteId: string;
  title: string;
  /** The cells in the order of the report's models; null if the case does not run with the model. */
  cells: Array<CaseReport | null>;
}

/** Lists the cases that run with models, worst first; empty if no case runs with several. */
export function listMatrixRows({ models, cases }: Pick<Report, 'models' | 'cases'>): MatrixRow[] {
  const columns = new Map((models?.models ?? []).map((summary, index) => [formatHostedModel(summary), index]));
  const rows = new Map<string, MatrixRow>();
  for (const testCase of cases) {
    const column = testCase.model === null ? undefined : columns.get(nameColumn(testCase, testCase.model));
    if (column === undefined) continue;
    const { suiteId, location } = testCase;
    const title = removeVariant(testCase);
    const key = JSON.stringify([suiteId, title, location]);
    const row = rows.get(key) ?? { suiteId, title, cells: Array.from({ length: columns.size }, () => null) };
    row.cells[column] ??= testCase;
    rows.set(key, row);
  }
  const all = [...rows.values()];
  return all.some(({ cells }) => cells.filter((cell) => cell !== null).length > 1) ? all : [];
}

function nameColumn({ host }: CaseReport, model: string): string {
  return formatHostedModel({ model, ...(host !== undefined && { host }) });
}

/** The id of the gate's own loop, in titles of cases that run in several hosts. */
const genericHost = 'generic';

/** Removes the host and the model from a title: a case with several of them has one title for each. */
function removeVariant({ title, model, host }: CaseReport): string {
  const suffixes = [` (${host?.id ?? genericHost})`, ` (${model})`];
  return suffixes.reduce((text, suffix) => (text.endsWith(suffix) ? text.slice(0, -suffix.length) : text), title);
}

/** Formats a cell: `4 of 5`, or a dash if the case does not run with the model. */
export function formatCell(cell: CaseReport | null): string {
  return cell === null ? '–' : `${cell.passed} of ${Math.max(cell.planned, cell.total)}`;
}

/** Composes how the models fared, by case if cases run with several models, and what they cost; empty if no model took part. */
export function composeModels(report: Pick<Report, 'models' | 'cases' | 'verdict'>): Block[] {
  const { models } = report;
  if (models === null) return [];
  const columns = models.models.slice(0, maxColumns);
  const hidden = models.models.length - columns.length;
  const row = (label: Line, cells: readonly string[]): Line[] => [label, ...cells.map((cell) => [cell])];
  const ranges = columns.map((model) => describeModelRange(model, report));
  const rates = columns.map((model) => describeModelRate(model, report));
  const foot = [
    row(['Passed'], rates),
    ...(ranges.every((range) => range === null)
      ? []
      : [
          row(
            ['95% range, live'],
            ranges.map((range) => range ?? '–'),
          ),
        ]),
    row(
      ['Calls'],
      columns.map(({ usage }) => describeCalls(usage)),
    ),
    row(
      ['Tokens'],
      columns.map(({ usage }) => describeTokens(usage)),
    ),
    row(
      ['Cost'],
      columns.map(({ cost }) => describeCost(cost, models)),
    ),
  ];
  return [
    heading('brief', ['Models']),
    table(
      'brief',
      ['', ...columns.map((summary) => asName(formatHostedModel(summary)))],
      listMatrixRows(report).map(({ title, cells }) =>
        row([asName(title)], cells.slice(0, columns.length).map(formatCell)),
      ),
      { noun: 'case', foot: columns.length === 0 ? [] : foot },
    ),
    ...(hidden > 0 ? [text('brief', `${formatCount(hidden, 'more model')}; the report lists them.`)] : []),
    text(
      'brief',
      ...joinLines(
        listSpending(models).map((sentence) => [asProse(sentence)]),
        ' ',
      ),
    ),
  ];
}
