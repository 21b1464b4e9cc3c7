import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describeError, GateError, readErrorCode } from '../../base/errors.ts';
import type { Report } from '../../model/report.ts';
import { parseReport } from '../../report/schema.ts';

/** A report, or why there is none: `missing` where nothing is at the path. */
export type ReadReport = { kind: 'report'; report: Report } | { kind: 'missing' } | { kind: 'bad'; why: string };

/** Reads a report.json, also where only its directory is named. */
export async function readReport(path: string): Promise<ReadReport> {
  try {
    const text = await readReportText(path);
    return text === null ? { kind: 'missing' } : { kind: 'report', report: parseReport(JSON.parse(text)) };
  } catch (error) {
    return { kind: 'bad', why: error instanceof GateError ? error.message : describeError(error) };
  }
}

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
