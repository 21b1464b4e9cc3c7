import { mkdir, open, type FileHandle } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { describeError } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';
import type { Redactor } from '../base/redaction.ts';
import type { Iteration } from '../model/run.ts';

/** Every iteration that was read, on disk, one JSON document a line. */
export interface IterationLog extends AsyncDisposable {
  /**
   * Adds those that are not there yet, with the round in which they were run again. Never throws: what cannot be written is
   * warned about once.
   */
  add(suiteId: string, iterations: readonly Iteration[], retry?: number): Promise<void>;
}

const iterationLogName = 'iterations.jsonl';

/** For a gate of which nobody asked for a full report. */
export const noIterationLog: IterationLog = { add: async () => {}, [Symbol.asyncDispose]: async () => {} };

/** Starts the log in the report directory, in place of an earlier one. The file is made with the first iteration. */
export function openIterationLog(
  reportDir: { path: string; label: string },
  { logger, redactor }: { logger: Logger; redactor: Redactor },
): IterationLog {
  const writtenIds = new Set<string>();
  let file: FileHandle | null = null;
  let isBroken = false;
  const openFile = async () => {
    await mkdir(reportDir.path, { recursive: true });
    return await open(resolve(reportDir.path, iterationLogName), 'w');
  };
  return {
    add: async (suiteId, iterations, retry) => {
      if (isBroken) return;
      const fresh = iterations.filter(({ id }) => !writtenIds.has(id));
      for (const { id } of fresh) writtenIds.add(id);
      const lines = fresh.map((iteration) => `${JSON.stringify({ suiteId, retry, ...iteration })}\n`).join('');
      try {
        file ??= await openFile();
        await file.write(redactor.redact(lines));
      } catch (error) {
        isBroken = true;
        const path = join(reportDir.label, iterationLogName);
        logger.warning(`Could not write ${path} to its end: ${describeError(error)}. The verdict stands.`);
      }
    },
    [Symbol.asyncDispose]: async () => {
      await file?.close();
    },
  };
}
