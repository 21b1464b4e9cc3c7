import { join, resolve } from 'node:path';
import { type ConfigurationIssue, describeError, GateError } from '../../base/errors.ts';
import type { Findings } from '../../base/findings.ts';
import { findOutputRoot } from '../../base/output-files.ts';
import { formatCount } from '../../base/text.ts';
import { readHistoryText } from '../../history/file.ts';
import { findInHistory, historySource } from '../../history/lookup.ts';
import { parseHistory } from '../../history/history-record.ts';
import type { Baseline } from '../../model/comparison.ts';
import type { HistoryRecord } from '../../model/history.ts';
import { outlineSuite } from '../../suite/manifest.ts';
import { listOnProbation } from '../../verdict/probation.ts';
import { readServiceBaseline } from '../options/baseline.ts';
import type { GateOptions } from '../options/schema.ts';
import type { ProtectedBase } from './base-policy.ts';
import { type BaselineReading, parseBaselineReport } from './baseline-report.ts';
import type { PlannedSuite } from './plan-suites.ts';
import { readReportText } from './read-report.ts';
import { findLinkIssues } from './report-dir.ts';

/** The baseline that the results are compared with. */
export interface PlannedBaseline {
  /** The option's value, as the user wrote it. */
  source: string;
  /** Null if the service keeps it: then it is read before the gate runs anything. */
  baseline: Baseline | null;
  /** The id of the service's run; null for the newest completed run of each suite's `baselineName`. */
  runId: string | null;
}

interface PastSources {
  cwd: string;
  /** The base, whose files replace those that are checked out; null if the policy protects none. */
  base: ProtectedBase | null;
}

/** Reads the baseline. A missing file is only noted, since every first run lacks it; an unreadable one is an issue. */
async function planBaseline(
  source: string,
  { history, ...sources }: PastSources & { history: PlannedHistory | null },
  findings: Findings,
): Promise<PlannedBaseline | null> {
  if (historySource.test(source)) {
    const baseline = findInHistory(history?.records ?? [], source);
    if (baseline !== undefined) return { source, baseline, runId: null };
    findings.note(explainMissingRecord(source, history));
    return null;
  }
  const read = await readBaselineReport(source, sources, findings);
  if (read.kind === 'report') {
    const { isStoppedEarly, ...report } = read.report;
    if (!isStoppedEarly) return { source, baseline: { source, ...report }, runId: null };
    findings.note(
      `The gate of the baseline ${source} was stopped early, so nothing is compared; its rates are biased.`,
    );
    return null;
  }
  if (read.kind === 'missing') {
    findings.note(`The baseline ${source} does not exist, so nothing is compared; a first run has none.`);
  } else {
    const message = `${JSON.stringify(source)} cannot be read as a report: ${read.why}; give the report.json of an earlier gate`;
    findings.add({ input: 'baseline', code: 'bad-baseline', message });
  }
  return null;
}

/** Reads the report, or the base's version if there is a base. `source` may also name only its directory. */
async function readBaselineReport(
  source: string,
  { cwd, base }: PastSources,
  findings: Findings,
): Promise<BaselineReading | { kind: 'missing' }> {
  try {
    const own = await readReportText(resolve(cwd, source));
    const text = base === null ? own : await readBaseText(source, own, { cwd, base, findings });
    return text === null ? { kind: 'missing' } : parseBaselineReport(text);
  } catch (error) {
    return { kind: 'bad', why: error instanceof GateError ? error.message : describeError(error) };
  }
}

/** The context of `readProtectedFile`. */
type ProtectedSources = PastSources & { base: ProtectedBase } & { findings: Findings };

async function readBaseText(source: string, own: string | null, context: ProtectedSources): Promise<string | null> {
  const inside = join(source, 'report.json');
  const isDirectory = context.base.tree.list([inside]).length > 0;
  const path = isDirectory ? inside : source;
  const { listBaselineLosses, readProtectedFile } = await import('./protect-past.ts');
  const { text } = await readProtectedFile({ path, own, listLosses: listBaselineLosses }, context);
  return text;
}

const maxBranchesShown = 10;

/** Says what the history has instead: a branch that is never compared would let every regression pass. */
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

/** The file that this gate's record will be added to, and the records in it. */
interface PlannedHistory {
  /** The absolute path; `label` is as the user wrote it. */
  path: string;
  label: string;
  /** The directory that no link may lead out of when the file is written; null if the file is outside of the checkout. */
  root: string | null;
  /** The oldest first. */
  records: HistoryRecord[];
}

async function chooseHistory(label: string, own: string, context: ProtectedSources): Promise<string> {
  const { listHistoryLosses, readProtectedFile } = await import('./protect-past.ts');
  const { text } = await readProtectedFile({ path: label, own, listLosses: listHistoryLosses }, context);
  return text ?? '';
}

/** Reads the history. A missing file is empty; an unreadable one is an issue. */
async function planHistory(
  label: string,
  { cwd, base }: PastSources,
  findings: Findings,
): Promise<PlannedHistory | null> {
  const path = resolve(cwd, label);
  const root = findOutputRoot(path, cwd);
  const links = findLinkIssues('history-path', path, root);
  if (links.length > 0) {
    findings.addAll(links);
    return null;
  }
  try {
    const own = await readHistoryText(path);
    const text = base === null ? own : await chooseHistory(label, own, { base, cwd, findings });
    const { records, skipped } = parseHistory(text);
    if (skipped > 0) {
      findings.note(
        `${label}: ${formatCount(skipped, 'line')} ${skipped === 1 ? 'is' : 'are'} no record and left out.`,
      );
    }
    return { path, label, root, records };
  } catch (error) {
    const message = `cannot be read: ${describeError(error)}; name a file, which is made when it is missing`;
    findings.add({ input: 'history-path', code: 'bad-history-path', message });
    return null;
  }
}

/** The results of earlier gates that a gate uses. */
export interface PlannedPast {
  /** Null if nothing is compared. */
  baseline: PlannedBaseline | null;
  /** Null if no history is kept. */
  history: PlannedHistory | null;
}

/** Reads the history and the baseline. Loads nothing for the many gates that use neither. */
export async function planPast(options: GateOptions, sources: PastSources, findings: Findings): Promise<PlannedPast> {
  const { historyPath, baseline: source } = options;
  const history = historyPath === null ? null : await planHistory(historyPath, sources, findings);
  if (source === null) return { history, baseline: null };
  const inService = readServiceBaseline(options);
  if (inService !== null) return { history, baseline: { source, baseline: null, runId: inService.runId } };
  return { history, baseline: await planBaseline(source, { ...sources, history }, findings) };
}

/** Puts cases on probation that the history does not show to be stable yet. A case that a policy requires is never on probation. */
export function markProbation(
  suites: readonly PlannedSuite[],
  { neededGates, records }: { neededGates: number; records: readonly HistoryRecord[] },
): PlannedSuite[] {
  return suites.map((planned) => {
    if (planned.kind === 'stored') return planned;
    const { id: suiteId, cases } = outlineSuite(planned.suite, planned.whole);
    const required = new Set(planned.requirements.required.map(({ name }) => name));
    const probation = listOnProbation(
      { suiteId, cases: cases.filter(({ id }) => !required.has(id)) },
      records,
      neededGates,
    );
    return { ...planned, requirements: { ...planned.requirements, probation } };
  });
}

/** Finds a baseline that names one run of the service for several suites. */
export function findSharedBaseline(
  baseline: PlannedBaseline | null,
  suites: readonly PlannedSuite[],
): ConfigurationIssue[] {
  if (baseline === null || baseline.runId === null || suites.length < 2) return [];
  const message = `names one run, and this gate has ${suites.length} suites, each with runs of its own; name a branch`;
  return [{ input: 'baseline', code: 'one-run-for-several', message }];
}
