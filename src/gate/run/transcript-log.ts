import type { Logger } from '../../base/logger.ts';
import { redactDeep, type Redactor } from '../../base/redaction.ts';
import { tapeCase } from '../../mutate/taped-case.ts';
import { describeTranscript, transcriptsName } from '../../mutate/transcripts.ts';
import { escapeJson } from '../../report/escape/json.ts';
import type { RunCase } from '../../runner/runner.ts';
import type { GatePlan } from '../plan/plan.ts';
import { openLineLog } from './trace-log.ts';

/** Writes what the servers and the models of each iteration answered to disk, so that `mutate` can judge the iteration again. */
export interface TranscriptLog extends AsyncDisposable {
  /** Runs an iteration as the engine does, and adds its transcript. */
  runCase: RunCase;
}

/** Starts the log in the report directory, replacing an earlier one. Null, with a warning, if no transcript can be kept. */
export async function openTranscriptLog(
  { reportDir, service, base }: Pick<GatePlan, 'reportDir' | 'service' | 'base'>,
  context: { logger: Logger; redactor: Redactor },
): Promise<TranscriptLog | null> {
  const reason =
    service.hosted !== null
      ? 'a hosted service returns no answers of servers'
      : base !== null
        ? 'the answers of the base and of the change would be in one file'
        : null;
  const lines = await openLineLog(reportDir, transcriptsName, context);
  if (reason !== null) {
    context.logger.warning(`No transcripts are written: ${reason}.`);
    return null;
  }
  return {
    runCase: async (...run) => {
      const taped = await tapeCase(...run);
      const transcript = redactDeep(describeTranscript(taped), context.redactor);
      await lines.write(`${escapeJson(JSON.stringify(transcript))}\n`);
      return taped.outcome;
    },
    [Symbol.asyncDispose]: async () => await lines[Symbol.asyncDispose](),
  };
}
