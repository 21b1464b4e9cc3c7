import { join, resolve } from 'node:path';
import { formatCount } from '../../base/text.ts';
import { type ConfigurationIssue, describeError } from '../../base/errors.ts';
import type { Baseline, RegressionLimits } from '../../model/comparison.ts';
import type { Report } from '../../model/report.ts';
import { findInHistory, historySource } from '../../history/lookup.ts';
import type { PlannedHistory } from './plan-history.ts';
import type { ProtectedBase } from './protection.ts';
import { parseReportText, readReport, type ReadReport, readReportText } from './read-report.ts';
import { readProtectedFile, listBaselineLosses } from './protect-past.ts';

/** What the results are compared with, and how much worse they may be. */
export interface PlannedBaseline {
  /** As the user named it. */
  source: string;
  /** Null where the service keeps it: it is read before anything is run. */
  baseline: Baseline | null;
  /** Which of the service's runs it is; null for the newest completed one of each suite's `baselineName`. */
  runId: string | null;
  limits: RegressionLimits;
}

interface BaselineSources {
  cwd: string;
  history: PlannedHistory | null;
  /** Takes why nothing will be compared. */
  notes: string[];
  /** The ref whose baseline replaces the one that is checked out; null if none does. */
  base?: ProtectedBase | null;
}

/** Reads the baseline. One that is not there is a note, since every first run lacks it; one that cannot be read is an issue. */
export async function planBaseline(
  { source, limits }: { source: string; limits: RegressionLimits },
  { cwd, history, notes, base = null }: BaselineSources,
  issues: ConfigurationIssue[],
): Promise<PlannedBaseline | null> {
  if (historySource.test(source)) {
    const baseline = findInHistory(history?.records ?? [], source);
    if (baseline !== undefined) return { source, baseline, runId: null, limits };
    notes.push(explainMissingRecord(source, history));
    return null;
  }
  const read =
    base === null ? await readReport(resolve(cwd, source)) : await readBaseReport(source, { base, cwd, notes, issues });
  if (read.kind === 'report') {
    if (read.report.suites.every(({ stoppedEarly }) => stoppedEarly === null)) {
      return { source, baseline: takeBaseline(source, read.report), runId: null, limits };
    }
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

/** The report of the base where it has one; also where only its directory is named. */
async function readBaseReport(
  source: string,
  context: { base: ProtectedBase; cwd: string; notes: string[]; issues: ConfigurationIssue[] },
): Promise<ReadReport> {
  try {
    const inside = join(source, 'report.json');
    const isDirectory = context.base.tree.list([inside]).length > 0;
    const path = isDirectory ? inside : source;
    const own = await readReportText(resolve(context.cwd, source));
    const { text } = await readProtectedFile({ path, own, listLosses: listBaselineLosses }, context);
    return text === null ? { kind: 'missing' } : parseReportText(text);
  } catch (error) {
    return { kind: 'bad', why: describeError(error) };
  }
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

function takeBaseline(source: string, { startedAt, revision, cases }: Report): Baseline {
  return {
    source,
    startedAt,
    commit: revision?.commit ?? null,
    branch: revision?.branch ?? null,
    cases: cases.map(({ suiteId, id, title, passed, total, definitionHash }) => {
      return { suiteId, id, title, passed, total, definitionHash };
    }),
  };
}
