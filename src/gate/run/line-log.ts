import { mkdir, open, rm, type FileHandle } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { describeError } from '../../base/errors.ts';
import type { Logger } from '../../base/logger.ts';
import type { Redactor } from '../../base/redaction.ts';

/** A file of the report directory that grows by lines while results stream by. */
export interface LineLog extends AsyncDisposable {
  /** Adds whole lines, each with its line break. Never throws: what cannot be written is warned about once. */
  write(lines: string): Promise<void>;
  /** Where the file is, absolute; null while nothing was written, and once something could not be. */
  path(): string | null;
}

/** Takes away an earlier file of that name; the new one is made with the first lines. */
export async function openLineLog(
  reportDir: { path: string; label: string },
  name: string,
  { logger, redactor }: { logger: Logger; redactor: Redactor },
): Promise<LineLog> {
  const path = resolve(reportDir.path, name);
  let file: FileHandle | null = null;
  let isBroken = false;
  const attempt = async (write: () => Promise<unknown>) => {
    if (isBroken) return;
    try {
      await write();
    } catch (error) {
      isBroken = true;
      const label = join(reportDir.label, name);
      logger.warning(`Could not write ${label} to its end: ${describeError(error)}. The verdict stands.`);
    }
  };
  const openFile = async () => {
    await mkdir(reportDir.path, { recursive: true });
    return await open(path, 'w');
  };
  await attempt(async () => await rm(path, { force: true }));
  return {
    write: async (lines) => {
      if (lines === '') return;
      await attempt(async () => {
        file ??= await openFile();
        await file.write(redactor.redact(lines));
      });
    },
    path: () => (file === null || isBroken ? null : path),
    [Symbol.asyncDispose]: async () => {
      await file?.close();
    },
  };
}
