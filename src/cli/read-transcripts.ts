import { existsSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { ConfigurationError, describeError } from '../base/errors.ts';
import { readTextFile } from '../base/files.ts';
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
  const reading = readTextFile(resolve(cwd, file), { maxBytes: maxFileBytes });
  const transcripts = parseTranscripts(await reading.catch((error: unknown) => fail(describeError(error))));
  if ('line' in transcripts) {
    return fail('expected a transcript of `mcp-eval-ci run`, version 1', transcripts.line);
  }
  return transcripts.length === 0 ? fail('has no transcript: no case ran') : transcripts;
}

function locate(path: string, cwd: string): string {
  if (path.endsWith('.jsonl')) return path;
  const isDirectory = statSync(resolve(cwd, path), { throwIfNoEntry: false })?.isDirectory() === true;
  return join(isDirectory ? path : dirname(path), transcriptsName);
}
