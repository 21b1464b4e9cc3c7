import { resolve } from 'node:path';
import { formatCount } from '../../base/text.ts';
import { type ConfigurationIssue, describeError } from '../../base/errors.ts';
import type { HistoryRecord } from '../../model/history.ts';
import { parseHistory } from '../../history/record.ts';
import { readHistoryText } from '../../history/file.ts';
import type { ProtectedBase } from './protection.ts';
import { readProtectedFile, listHistoryLosses } from './protect-past.ts';

/** Where this gate's record will be added, and those that are there. */
export interface PlannedHistory {
  /** Absolute, and as the user wrote it. */
  path: string;
  label: string;
  /** Oldest first. */
  records: HistoryRecord[];
}

async function chooseHistory(
  label: string,
  own: string,
  context: { base: ProtectedBase; cwd: string; notes: string[]; issues: ConfigurationIssue[] },
): Promise<string> {
  const { text } = await readProtectedFile({ path: label, own, listLosses: listHistoryLosses }, context);
  return text ?? '';
}

/** Reads the history. One that is not there yet is empty; one that cannot be read is an issue. */
export async function planHistory(
  label: string,
  { cwd, notes, base = null }: { cwd: string; notes: string[]; base?: ProtectedBase | null },
  issues: ConfigurationIssue[],
): Promise<PlannedHistory | null> {
  const path = resolve(cwd, label);
  try {
    const own = await readHistoryText(path);
    const { records, skipped } = parseHistory(
      base === null ? own : await chooseHistory(label, own, { base, cwd, notes, issues }),
    );
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
