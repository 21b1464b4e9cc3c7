import { resolve } from 'node:path';
import { findOutputRoot } from '../../base/output-files.ts';
import type { Redactor } from '../../base/redaction.ts';
import { openRecordings, writeRecording } from '../../models/recordings/files.ts';
import type { MadeRecording } from './open-models.ts';

/**
 * Writes a recording next to its evals file, where it replaces the earlier one.
 *
 * @throws {ConfigurationError} instead of writing if the file would contain a known secret
 */
export async function saveRecording(
  { path, recording }: Pick<MadeRecording, 'path' | 'recording'>,
  { cwd, redactor }: { cwd: string; redactor: Redactor },
): Promise<void> {
  const place = { path: resolve(cwd, path), root: findOutputRoot(path, cwd) };
  await writeRecording(place, recording, redactor, await openRecordings(cwd).readTools(path));
}
