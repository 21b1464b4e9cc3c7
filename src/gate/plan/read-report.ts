import { join } from 'node:path';
import { describeError, GateError, readErrorCode } from '../../base/errors.ts';
import { readTextFile } from '../../base/files.ts';
import type { Report } from '../../model/report.ts';
import { parseReport } from '../../report/json.ts';
import { listContradictions } from './check-report.ts';

/** A report, or why there is none: `missing` where nothing is at the path. */
export type ReadReport = { kind: 'report'; report: Report } | { kind: 'missing' } | { kind: 'bad'; why: string };

/** Deeper than the arguments of any tool call, and far from what recursion bears. */
const maxDepth = 200;

const maxShownContradictions = 3;

/** Reads a report.json, also where only its directory is named. One that contradicts itself is bad. */
export async function readReport(path: string): Promise<ReadReport> {
  try {
    const text = await readReportText(path);
    return text === null ? { kind: 'missing' } : parseReportText(text);
  } catch (error) {
    return { kind: 'bad', why: error instanceof GateError ? error.message : describeError(error) };
  }
}

/** Reads the text of a report.json, also where only its directory is named; null where nothing is at the path. */
export async function readReportText(path: string): Promise<string | null> {
  try {
    return await readTextFile(path);
  } catch (error) {
    const code = readErrorCode(error);
    if (code === 'EISDIR') return await readReportText(join(path, 'report.json'));
    if (code === 'ENOENT') return null;
    throw error;
  }
}

/**
 * Reads a report out of its text.
 *
 * @throws where it is no JSON, or no report of this version
 */
export function parseReportText(text: string): ReadReport {
  const value: unknown = JSON.parse(text);
  if (isDeeperThan(value, maxDepth)) return { kind: 'bad', why: `it is nested deeper than ${maxDepth} levels` };
  const report = parseReport(value);
  const contradictions = listContradictions(report);
  if (contradictions.length === 0) return { kind: 'report', report };
  const shown = contradictions.slice(0, maxShownContradictions).join('; ');
  const rest = contradictions.length - maxShownContradictions;
  return { kind: 'bad', why: `the report contradicts itself: ${shown}${rest > 0 ? `; and ${rest} more` : ''}` };
}

/** Walks level by level: recursion would break on exactly the values that are sought. */
function isDeeperThan(value: unknown, depth: number): boolean {
  let level = [value];
  for (let left = depth; level.length > 0; left -= 1) {
    if (left < 0) return true;
    level = level.flatMap((each) => (typeof each === 'object' && each !== null ? Object.values(each) : []));
  }
  return false;
}
