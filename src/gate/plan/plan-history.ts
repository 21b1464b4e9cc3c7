import { resolve } from 'node:path';
import { formatCount } from '../../base/count.ts';
import { type ConfigurationIssue, describeError } from '../../base/errors.ts';
import type { HistoryRecord } from '../../model/history.ts';
import { parseHistory } from '../../report/history.ts';
import { readHistoryText } from './history-file.ts';

/** Where this gate's record will be added, and those that are there. */
export interface PlannedHistory {
  /** Absolute, and as the user wrote it. */
  path: string;
  label: string;
  /** Oldest first. */
  records: HistoryRecord[];
}

/** Reads the history. One that is not there yet is empty; one that cannot be read is an issue. */
export async function planHistory(
  label: string,
  { cwd, notes }: { cwd: string; notes: string[] },
  issues: ConfigurationIssue[],
): Promise<PlannedHistory | null> {
  const path = resolve(cwd, label);
  try {
    const { records, skipped } = parseHistory(await readHistoryText(path));
    if (skipped > 0) {
      notes.push(`${label}: ${formatCount(skipped, 'line')} ${skipped === 1 ? 'is' : 'are'} no record and left out.`);
    }
    return { path, label, records };
  } catch (error) {
    const message = `cannot be read: ${describeError(error)}; name a file, which is made when it is missing`;
    issues.push({ input: 'history-path', code: 'bad-history-path', message });
    return null;
  }
}
