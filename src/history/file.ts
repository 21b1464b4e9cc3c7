import { readErrorCode } from '../base/errors.ts';
import { readTextFile } from '../base/files.ts';
import { replaceOutput, writeOutput } from '../base/output-files.ts';

/** A quarter of a year of nightly gates. */
const maxRecords = 100;
/** Small enough for any cache or artifact; a record of a thousand cases has about 0.1 MB. */
const maxBytes = 16 * 1024 * 1024;

/** Reads a history file; empty if there is none yet. */
export async function readHistoryText(path: string): Promise<string> {
  try {
    return await readTextFile(path);
  } catch (error) {
    if (readErrorCode(error) === 'ENOENT') return '';
    throw error;
  }
}

/**
 * Adds a line to a history file in one write, and drops the oldest lines if there are more than `limits` allow. The incomplete line of a job
 * that was killed while it wrote stays a separate line, which readers skip. `root` is the directory that no link may lead out of, as
 * `findOutputRoot` returns it.
 */
export async function appendHistoryLine(
  path: string,
  line: string,
  { root = null, ...own }: { root?: string | null; maxRecords?: number; maxBytes?: number } = {},
): Promise<void> {
  const limits = { maxRecords, maxBytes, ...own };
  const text = await readHistoryText(path);
  const kept = keepNewest([...text.split('\n').filter((each) => each.trim() !== ''), line], limits);
  if (kept.isAll) {
    const separator = text === '' || text.endsWith('\n') ? '' : '\n';
    writeOutput(path, `${separator}${line}\n`, { root, mode: 'append' });
    return;
  }
  // A concurrent reader finds the old file or the new one, and never a part.
  replaceOutput(path, kept.lines.map((each) => `${each}\n`).join(''), root);
}

function keepNewest(
  lines: readonly string[],
  limits: { maxRecords: number; maxBytes: number },
): { lines: string[]; isAll: boolean } {
  let bytes = 0;
  const newest = lines.slice(-limits.maxRecords).toReversed();
  const tooMany = newest.findIndex((line, index) => {
    bytes += Buffer.byteLength(line) + 1;
    return index > 0 && bytes > limits.maxBytes;
  });
  const kept = (tooMany === -1 ? newest : newest.slice(0, tooMany)).toReversed();
  return { lines: kept, isAll: kept.length === lines.length };
}
