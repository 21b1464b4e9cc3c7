import { join } from 'node:path';
import { describeError, GateError, readErrorCode } from '../../base/errors.ts';
import { readTextFile } from '../../base/files.ts';
import type { Report } from '../../model/report.ts';
import { parseReport } from '../../report/report-json.ts';
import { listContradictions } from './check-report.ts';

/** A report, or why there is none: `missing` if the path does not exist. */
export type ReadReport = { kind: 'report'; report: Report } | { kind: 'missing' } | { kind: 'bad'; why: string };

/** Deeper than the arguments of any tool call, and far less than recursion can handle. */
const maxDepth = 200;

const maxShownContradictions = 3;

/** Reads a report.json; the path may also name only its directory. A report that contradicts itself is bad. */
export async function readReport(path: string): Promise<ReadReport> {
  try {
    const text = await readReportText(path);
    return text === null ? { kind: 'missing' } : parseReportText(text);
  } catch (error) {
    return { kind: 'bad', why: error instanceof GateError ? error.message : describeError(error) };
  }
}

/** Reads the text of a report.json; the path may also name only its directory. Null if the path does not exist. */
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
 * Parses a report.
 *
 * @throws if it is no JSON, or no report of this version
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

/** Checks level by level: recursion would overflow on exactly the values that it searches for. */
function isDeeperThan(value: unknown, depth: number): boolean {
  let level = [value];
  for (let left = depth; level.length > 0; left -= 1) {
    if (left < 0) return true;
    level = level.flatMap((each) => (typeof each === 'object' && each !== null ? Object.values(each) : []));
  }
  return false;
}
