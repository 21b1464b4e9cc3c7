import { rmSync } from 'node:fs';
import { resolve } from 'node:path';
import { describeError } from '../../base/errors.ts';
import type { Logger } from '../../base/logger.ts';
import { findOutputRoot, replaceOutput } from '../../base/output-files.ts';
import type { Redactor } from '../../base/redaction.ts';
import { formatCount } from '../../base/text.ts';
import { linkPage } from '../../base/version.ts';
import { printRecording, type WrittenExchange } from '../../upstream/recording.ts';
import { nameRequest } from '../../upstream/replay.ts';
import type { MadeUpstream } from '../run/job-upstream.ts';

const maxShownStatuses = 10;

/**
 * Writes the recordings of APIs next to the evals files and logs each. Returns true if everything that the server sent is in them, and it
 * sent something.
 */
export async function publishUpstream(
  made: readonly MadeUpstream[],
  { cwd, logger, redactor }: { cwd: string; logger: Logger; redactor: Redactor },
): Promise<boolean> {
  const written: string[] = [];
  let isComplete = true;
  const fail = (message: string) => {
    isComplete = false;
    logger.warning(message);
  };
  for (const { path, title, recording, problems } of made) {
    for (const problem of problems) fail(`Case ${JSON.stringify(title)}: ${problem}`);
    try {
      if (recording === null) {
        // What an earlier version of the server sent would only mislead.
        rmSync(resolve(cwd, path), { force: true });
        continue;
      }
      const text = printRecording(recording);
      if (redactor.redact(text) !== text) {
        fail(`The recording ${path} has a part that is a known secret, so it was not written.`);
        continue;
      }
      replaceOutput(resolve(cwd, path), text, findOutputRoot(path, cwd));
      const exchanges = recording.sessions.flatMap((session) => session.exchanges);
      written.push(`${path}: ${formatCount(exchanges.length, 'request')}`);
      warnOfStatuses(exchanges, logger);
    } catch (error) {
      fail(`Could not write the recording ${path}: ${describeError(error)}`);
    }
  }
  if (written.length > 0) {
    logger.group(`Wrote ${formatCount(written.length, 'recording')} of upstream answers`, written);
    return isComplete;
  }
  // Each of those requests has a warning of its own.
  if (made.some(({ problems }) => problems.length > 0)) return false;
  logger.warning(
    `Nothing was recorded: no request of the server came through the recorder. Either the evals called no tool that asks an API, or its HTTP library ignores HTTP_PROXY and HTTPS_PROXY; for libraries and remedies see ${linkPage('upstream.md')}`,
  );
  return false;
}

/** A recording of a refusal is rarely meant. */
function warnOfStatuses(exchanges: readonly WrittenExchange[], logger: Logger): void {
  const refused = exchanges.filter(({ response: { status } }) => [401, 403, 429].includes(status) || status >= 500);
  const shown = new Set(refused.map(({ request, response }) => `${nameRequest(request)} answered ${response.status}`));
  for (const text of [...shown].slice(0, maxShownStatuses)) {
    logger.warning(`${text}, which is recorded. Check the credentials and the limits of the API, then record again.`);
  }
}
