import { join, resolve } from 'node:path';
import { formatCount } from '../../base/text.ts';
import { type ConfigurationIssue, describeError, GateError } from '../../base/errors.ts';
import type { Baseline } from '../../model/comparison.ts';
import { findInHistory, historySource } from '../../history/lookup.ts';
import type { PlannedHistory } from './plan-history.ts';
import type { ProtectedBase } from './protection.ts';
import { type BaselineReading, parseBaselineReport } from './baseline-report.ts';
import { readReportText } from './read-report.ts';
import { readProtectedFile, listBaselineLosses } from './protect-past.ts';

/** What the results are compared with. */
export interface PlannedBaseline {
  /** As the user named it. */
  source: string;
  /** Null where the service keeps it: it is read before anything is run. */
  baseline: Baseline | null;
  /** Which of the service's runs it is; null for the newest completed one of each suite's `baselineName`. */
  runId: string | null;
}

interface BaselineContext {
  cwd: string;
  history: PlannedHistory | null;
  /** Takes why nothing will be compared. */
  notes: string[];
  /** The ref whose baseline replaces the one that is checked out; null if none does. */
  base?: ProtectedBase | null;
}

/** Reads the baseline. One that is not there is a note, since every first run lacks it; one that cannot be read is an issue. */
export async function planBaseline(
  source: string,
  { cwd, history, notes, base = null }: BaselineContext,
  issues: ConfigurationIssue[],
): Promise<PlannedBaseline | null> {
  if (historySource.test(source)) {
    const baseline = findInHistory(history?.records ?? [], source);
    if (baseline !== undefined) return { source, baseline, runId: null };
    notes.push(explainMissingRecord(source, history));
    return null;
  }
  const read = await readBaselineReport(source, { base, cwd, notes, issues });
  if (read.kind === 'report') {
    const { isStoppedEarly, ...report } = read.report;
    if (!isStoppedEarly) return { source, baseline: { source, ...report }, runId: null };
    notes.push(`The gate of the baseline ${source} was stopped early, so nothing is compared; its rates are biased.`);
    return null;
  }
  if (read.kind === 'missing') {
    notes.push(`The baseline ${source} does not exist, so nothing is compared; a first run has none.`);
  } else {
    const message = `${JSON.stringify(source)} cannot be read as a report: ${read.why}; give the report.json of an earlier gate`;
    issues.push({ input: 'baseline', code: 'bad-baseline', message });
  }
  return null;
}

/** The report, or that of the base where there is one; also where only its directory is named. */
async function readBaselineReport(
  source: string,
  context: { base: ProtectedBase | null; cwd: string; notes: string[]; issues: ConfigurationIssue[] },
): Promise<BaselineReading | { kind: 'missing' }> {
  try {
    const own = await readReportText(resolve(context.cwd, source));
    const text = context.base === null ? own : await readBaseText(source, own, { ...context, base: context.base });
    return text === null ? { kind: 'missing' } : parseBaselineReport(text);
  } catch (error) {
    return { kind: 'bad', why: error instanceof GateError ? error.message : describeError(error) };
  }
}

async function readBaseText(
  source: string,
  own: string | null,
  context: { base: ProtectedBase; cwd: string; notes: string[]; issues: ConfigurationIssue[] },
): Promise<string | null> {
  const inside = join(source, 'report.json');
  const isDirectory = context.base.tree.list([inside]).length > 0;
  const path = isDirectory ? inside : source;
  const { text } = await readProtectedFile({ path, own, listLosses: listBaselineLosses }, context);
  return text;
}

const maxBranchesShown = 10;

/** Says what the history has instead: a branch that never compares would let every regression pass. */
function explainMissingRecord(source: string, history: PlannedHistory | null): string {
  const { label = 'history-path', records = [] } = history ?? {};
  const [, kind, name] = historySource.exec(source) ?? [];
  const skipped = 'so the gate skips the comparison';
  if (records.length === 0) return `${label} has no gates yet, ${skipped} with ${source}.`;
  const gates = formatCount(records.length, 'gate');
  if (kind !== 'branch') return `None of the ${gates} in ${label} is conclusive and of ${source}, ${skipped}.`;
  const counts = new Map<string | null, number>();
  for (const { branch } of records) counts.set(branch, (counts.get(branch) ?? 0) + 1);
  const own = counts.get(name ?? null);
  if (own !== undefined) {
    return `${label} has ${formatCount(own, 'gate')} of the branch ${name}, none of them conclusive, ${skipped}.`;
  }
  const named = [...counts].flatMap(([branch, count]) => (branch === null ? [] : [`${branch} (${count})`]));
  const unnamed = counts.get(null);
  const has = [
    ...named.slice(0, maxBranchesShown),
    ...(named.length > maxBranchesShown ? [`${named.length - maxBranchesShown} more`] : []),
    ...(unnamed === undefined ? [] : [`no branch (${unnamed})`]),
  ].join(', ');
  return `${label} has no gate of the branch ${name}, ${skipped}. It has gates of: ${has}. Correct \`baseline\`, or name the branch of each gate with \`branch\`.`;
}
