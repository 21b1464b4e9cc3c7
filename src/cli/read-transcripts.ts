import { isUtf8 } from 'node:buffer';
import { existsSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { ConfigurationError, describeError } from '../base/errors.ts';
import { readInput } from '../base/files.ts';
import { parseTranscripts, type Transcript, transcriptsName } from '../mutate/transcripts.ts';

/** Reports are limited by the disk; this is what fits into memory. */
const maxFileBytes = 512 * 1024 * 1024;

/**
 * Reads the transcripts of a report: of a report directory, of its report.json, or of the file itself.
 *
 * @throws {ConfigurationError} if the report has none, with the line of a file that is none
 */
export async function readTranscripts(path: string, cwd: string): Promise<readonly Transcript[]> {
  const file = locate(path, cwd);
  const fail = (message: string, line?: number): never => {
    const at = line === undefined ? {} : { line, column: 1 };
    throw new ConfigurationError([{ file, ...at, code: 'no-transcripts', message }]);
  };
  if (!existsSync(resolve(cwd, file))) {
    const why = 'Hosted runs and comparisons with a base have none.';
    return fail(`does not exist. Run the evals with \`--report-formats transcripts --runs 2\`. ${why}`);
  }
  const reading = readInput(resolve(cwd, file), { maxBytes: maxFileBytes });
  const bytes = await reading.catch((error: unknown) => fail(describeError(error)));
  const broken = findBrokenLine(bytes);
  if (broken !== null) return fail('is not UTF-8 text, as it was written', broken);
  const transcripts = parseTranscripts(bytes.toString('utf8'));
  if ('line' in transcripts) {
    return fail('expected a transcript of `mcp-eval-ci run`, version 1', transcripts.line);
  }
  if (transcripts.length > 0) return transcripts;
  return fail(bytes.length === 0 ? 'has no transcript: no case ran' : 'has no whole transcript: its only line is cut');
}

/** Finds the first line that is not UTF-8, but not in a last line that was cut. */
function findBrokenLine(bytes: Buffer): number | null {
  const lineEnd = 0x0a;
  for (let line = 1, start = 0, end = bytes.indexOf(lineEnd); end !== -1; line += 1) {
    if (!isUtf8(bytes.subarray(start, end))) return line;
    start = end + 1;
    end = bytes.indexOf(lineEnd, start);
  }
  return null;
}

function locate(path: string, cwd: string): string {
  if (path.endsWith('.jsonl')) return path;
  const isFile = path.endsWith('.json') || statSync(resolve(cwd, path), { throwIfNoEntry: false })?.isFile() === true;
  return join(isFile ? dirname(path) : path, transcriptsName);
}
