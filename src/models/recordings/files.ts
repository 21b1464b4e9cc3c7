import { stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { ConfigurationError, describeError, readErrorCode } from '../../base/errors.ts';
import { leadsOutOfCheckout, linkOutMessage, readTextFile } from '../../base/files.ts';
import { replaceOutput } from '../../base/output-files.ts';
import { tryParseJson } from '../../base/json.ts';
import type { Redactor } from '../../base/redaction.ts';
import type { ModelName } from '../language-model.ts';
import { parseRecording, printRecording, type Recording } from './format.ts';
import { fingerprintText, redactMembers } from './plain-json.ts';

const maxMebibytes = 32;
const maxBytes = maxMebibytes * 1024 * 1024;

/** File systems allow 255 bytes, and the id of a case has up to 128. */
const longestModel = 100;

/**
 * Returns the path of the recording of a case and model, next to its evals file: `recordings/<suite>/<case>.<provider>-<model>.jsonl`.
 * Characters that are invalid in a file name become `_`, with a hash of the name, so that two models never share a file.
 */
export function locateRecording(
  evalsFile: string,
  { suiteId, caseId, model }: { suiteId: string; caseId: string; model: ModelName },
): string {
  const name = `${model.provider}-${model.name}`;
  const safe = name.replaceAll(/[^\w.-]/g, '_').slice(0, longestModel);
  const suffix = safe === name ? safe : `${safe}-${fingerprintText(JSON.stringify(model)).slice(0, 8)}`;
  return join(dirname(evalsFile), 'recordings', suiteId, `${caseId}.${suffix}.jsonl`);
}

/**
 * Reads a recording; null if there is none.
 *
 * @param path relative to `cwd`, as messages show it
 * @throws {ConfigurationError} with file and line if it is damaged, too large, or a link out of the checkout
 */
export async function readRecording(path: string, cwd: string): Promise<Recording | null> {
  const fail = (code: string, message: string, hint: string) =>
    new ConfigurationError([{ code, message, file: path, line: 1, column: 1 }], { hint });
  const absolute = resolve(cwd, path);
  try {
    const { size } = await stat(absolute);
    if (size > maxBytes) {
      const found = `${Math.ceil(size / 1024 / 1024)} MiB`;
      throw fail(
        'recording-too-large',
        `The recording has ${found}, and the gate reads at most ${maxMebibytes} MiB`,
        'Lower `runs` of the case, or shorten what its tools return, and record it again with `mcp-eval-ci record`.',
      );
    }
    if (await leadsOutOfCheckout(path, cwd)) {
      throw fail('link-out-of-checkout', linkOutMessage, 'Replace the link by the file.');
    }
    return parseRecording(await readTextFile(absolute), path);
  } catch (error) {
    if (readErrorCode(error) === 'ENOENT') return null;
    if (error instanceof ConfigurationError) throw error;
    throw fail(
      'unreadable-file',
      `The recording cannot be read: ${describeError(error)}`,
      'Check the rights of the file.',
    );
  }
}

/**
 * Writes a recording so that a reader finds either the old file or the new one. Only the owner may read it. No link may lead out of `root`,
 * which `findOutputRoot` finds.
 *
 * @throws {ConfigurationError} instead of writing if the file would contain a known secret
 */
export async function writeRecording(
  { path, root }: { path: string; root: string | null },
  recording: Recording,
  redactor: Redactor,
): Promise<void> {
  const text = redactLines(printRecording(recording), redactor);
  if (redactor.redact(text) !== text || !isReadable(text)) {
    const message = 'The recording has a part that is a known secret, so the gate did not write it';
    const hint = 'Change the case or the server so that neither sends the secret to the model, and record again.';
    throw new ConfigurationError([{ code: 'secret-in-recording', message, file: path }], { hint });
  }
  replaceOutput(path, text, root);
}

/** Checks if the file can be read back: redaction can remove a required part of a line, such as a number. */
function isReadable(text: string): boolean {
  try {
    parseRecording(text, '');
    return true;
  } catch {
    return false;
  }
}

/** Redacts again, because secrets can become known after a call was recorded. */
function redactLines(text: string, redactor: Redactor): string {
  const lines = text.split('\n').map((line) => {
    return redactor.redact(line) === line ? line : JSON.stringify(redactMembers(tryParseJson(line), redactor));
  });
  return lines.join('\n');
}
