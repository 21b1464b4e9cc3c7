import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { type ConfigurationIssue, describeError, GateError, readErrorCode } from '../base/errors.ts';
import type { Baseline } from '../model/comparison.ts';
import { findInHistory, historySource } from '../report/history.ts';
import { parseReport } from '../report/schema.ts';
import type { PlannedHistory } from './plan-history.ts';

/** What the results are compared with, and how many cases may be worse than there. */
export interface PlannedBaseline {
  baseline: Baseline;
  maximumRegressions: number;
}

interface BaselineContext {
  cwd: string;
  history: PlannedHistory | null;
  /** Takes why nothing will be compared. */
  notes: string[];
}

/** Reads the baseline. One that is not there is a note, since every first run lacks it; one that cannot be read is an issue. */
export async function planBaseline(
  { source, maximumRegressions }: { source: string; maximumRegressions: number },
  { cwd, history, notes }: BaselineContext,
  issues: ConfigurationIssue[],
): Promise<PlannedBaseline | null> {
  if (historySource.test(source)) {
    const baseline = findInHistory(history?.records ?? [], source);
    if (baseline !== undefined) return { baseline, maximumRegressions };
    notes.push(`The history has no conclusive gate of ${source}, so nothing is compared; a first run has none.`);
    return null;
  }
  try {
    const text = await readReportText(resolve(cwd, source));
    if (text !== null) return { baseline: parseBaseline(source, text), maximumRegressions };
    notes.push(`The baseline ${source} does not exist, so nothing is compared; a first run has none.`);
  } catch (error) {
    const why = error instanceof GateError ? error.message : describeError(error);
    const message = `${JSON.stringify(source)} cannot be read as a report: ${why}; give the report.json of an earlier gate`;
    issues.push({ input: 'baseline', code: 'bad-baseline', message });
  }
  return null;
}

/** Reads `report.json`, also where only its directory is named; null where there is nothing. */
async function readReportText(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    const code = readErrorCode(error);
    if (code === 'EISDIR') return await readReportText(join(path, 'report.json'));
    if (code === 'ENOENT') return null;
    throw error;
  }
}

function parseBaseline(source: string, text: string): Baseline {
  const { startedAt, revision, cases } = parseReport(JSON.parse(text));
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
