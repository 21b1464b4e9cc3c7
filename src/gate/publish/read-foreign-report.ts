import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { ConfigurationError, readErrorCode } from '../../base/errors.ts';
import type { Report } from '../../model/report.ts';
import { readReport } from '../plan/read-report.ts';

/** What fits into a comment needs no more; what is larger was not written by us. */
const maxReportBytes = 32 * 2 ** 20;

/**
 * Reads an untrusted report, also where only its directory is named.
 *
 * @throws {ConfigurationError} unless it is a file of its own, of bearable size, and a report of this version
 */
export async function readForeignReport(path: string): Promise<Report> {
  const entry = await findEntry(path);
  // A link would publish another file of this machine.
  if (!entry.isFile) throw refuse('is no file; name a report.json, or the directory that holds it');
  if (entry.size > maxReportBytes) throw refuse(`has ${entry.size} bytes, more than any report`);
  const read = await readReport(entry.path);
  if (read.kind === 'report') return read.report;
  throw refuse(read.kind === 'bad' ? read.why : missing);
}

const missing = 'is not there; did the other workflow upload its report?';

function refuse(message: string): ConfigurationError {
  return new ConfigurationError([{ input: 'publish', code: 'bad-report', message }]);
}

async function findEntry(path: string): Promise<{ path: string; isFile: boolean; size: number }> {
  try {
    const stats = await lstat(path);
    return stats.isDirectory()
      ? await findEntry(join(path, 'report.json'))
      : { path, isFile: stats.isFile(), size: stats.size };
  } catch (error) {
    throw readErrorCode(error) === 'ENOENT' ? refuse(missing) : error;
  }
}
