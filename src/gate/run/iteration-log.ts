import type { Logger } from '../../base/logger.ts';
import type { Redactor } from '../../base/redaction.ts';
import type { Iteration } from '../../model/run.ts';
import { openLineLog } from './line-log.ts';

/** Every iteration that was read, on disk, one JSON document a line. */
export interface IterationLog extends AsyncDisposable {
  /** Adds those that are not there yet, with the round in which they were run again. Never throws. */
  add(suiteId: string, iterations: readonly Iteration[], retry?: number): Promise<void>;
}

/** For a gate without a full report. */
export const noIterationLog: IterationLog = { add: async () => {}, [Symbol.asyncDispose]: async () => {} };

/** Starts the log in the report directory, replacing an earlier one. */
export async function openIterationLog(
  reportDir: { path: string; label: string },
  context: { logger: Logger; redactor: Redactor },
): Promise<IterationLog> {
  const writtenIds = new Set<string>();
  const lines = await openLineLog(reportDir, 'iterations.jsonl', context);
  return {
    add: async (suiteId, iterations, retry) => {
      const fresh = iterations.filter(({ id }) => !writtenIds.has(id));
      for (const { id } of fresh) writtenIds.add(id);
      await lines.write(fresh.map((iteration) => `${JSON.stringify({ suiteId, retry, ...iteration })}\n`).join(''));
    },
    [Symbol.asyncDispose]: async () => await lines[Symbol.asyncDispose](),
  };
}
