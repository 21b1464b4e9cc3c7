import { readdir, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { ConfigurationError, describeError, readErrorCode } from '../../base/errors.ts';
import { leadsOutOfCheckout, linkOutMessage, readTextFile } from '../../base/files.ts';
import { replaceOutput } from '../../base/output-files.ts';
import { tryParseJson } from '../../base/json.ts';
import type { Redactor } from '../../base/redaction.ts';
import type { HostIdentity } from '../../model/host-identity.ts';
import type { ModelName } from '../language-model.ts';
import { findUsable, parseRecording, printRecording, type ReadRecording, type Recording } from './format.ts';
import { fingerprintText, redactMembers } from './plain-json.ts';
import {
  createListNames,
  parseToolFile,
  printToolFile,
  readTool,
  type StoredTool,
  type ToolLists,
} from './tool-file.ts';

const maxMebibytes = 32;
const maxBytes = maxMebibytes * 1024 * 1024;

/** File systems allow 255 bytes, and the id of a case has up to 128. */
const longestModel = 100;

/**
 * Returns the path of the recording of a case and model, next to its evals file: `recordings/<suite>/<case>.<provider>-<model>.jsonl`, or
 * `….<provider>-<model>@<host>.jsonl` unless the host is the gate's own, and `…@<host>.program.jsonl` for its program.
 * Characters that are invalid in a file name become `_`, with a hash of the name, so that two models never share a file.
 */
export function locateRecording(
  evalsFile: string,
  {
    suiteId,
    caseId,
    model,
    host = null,
  }: { suiteId: string; caseId: string; model: ModelName; host?: HostIdentity | null },
): string {
  const name = `${model.provider}-${model.name}`;
  const safe = name.replaceAll(/[^\w.-]/g, '_').slice(0, longestModel);
  const suffix = safe === name ? safe : `${safe}-${fingerprintText(JSON.stringify(model)).slice(0, 8)}`;
  const of = host === null ? '' : `@${host.id}${host.program === true ? '.program' : ''}`;
  return join(dirname(evalsFile), 'recordings', suiteId, `${caseId}.${suffix}${of}.jsonl`);
}

/** The recordings of a checkout, and the tools of their suites, each of which is read once. */
export interface RecordingFiles {
  /**
   * Reads a recording; null if there is none.
   *
   * @param path relative to the checkout, as messages show it
   * @throws {ConfigurationError} with file and line if it is damaged, too large, or a link out of the checkout
   */
  read(path: string): Promise<ReadRecording | null>;
  /** Returns the tools of the suite whose recording has this path. */
  readTools(path: string): Promise<ToolLists>;
}

export function openRecordings(cwd: string): RecordingFiles {
  const directories = new Map<string, Promise<ToolLists>>();
  const readTools = async (path: string): Promise<ToolLists> => {
    const file = locateTools(path);
    const lists = directories.get(file) ?? readChecked(file, cwd).then((text) => parseToolFile(text ?? ''));
    directories.set(file, lists);
    return await lists;
  };
  return {
    readTools,
    read: async (path) => {
      const text = await readChecked(path, cwd);
      return text === null ? null : parseRecording(text, path, await readTools(path));
    },
  };
}

const toolFile = 'tools.jsonl';

/** Returns the path of the file with the tools of the suite that a recording belongs to. */
export function locateTools(path: string): string {
  return join(dirname(path), toolFile);
}

/** Reads a file of the checkout; null if there is none. */
async function readChecked(path: string, cwd: string): Promise<string | null> {
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
    return await readTextFile(absolute);
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
 * Writes a recording, and its tools into the tool file of its suite, so that a reader finds either the old files or the new ones. Only the
 * owner may read them. No link may lead out of `root`, which `findOutputRoot` finds.
 *
 * @param known tools that other recordings of the suite name, next to those of the file
 * @throws {ConfigurationError} instead of writing if the file would contain a known secret
 */
export async function writeRecording(
  { path, root }: { path: string; root: string | null },
  recording: Recording,
  redactor: Redactor,
  known: ToolLists = new Map(),
): Promise<void> {
  const clean = redactTools(recording, redactor);
  const own = listTools(clean);
  const text = redactLines(printRecording(clean), redactor);
  if (redactor.redact(text) !== text || !isReadable(text, own)) {
    const message = 'The recording has a part that is a known secret, so the gate did not write it';
    const hint = 'Change the case or the server so that neither sends the secret to the model, and record again.';
    throw new ConfigurationError([{ code: 'secret-in-recording', message, file: path }], { hint });
  }
  const tools = locateTools(path);
  // A secret can become known after tools were written. Recordings with such tools are stale from then on.
  const kept = [...known, ...(await readTools(tools))].filter(([, list]) => {
    const printed = JSON.stringify(list);
    return redactor.redact(printed) === printed;
  });
  const lists = new Map([...kept, ...own]);
  if (lists.size > 0) replaceOutput(tools, printToolFile(lists.values()), root);
  replaceOutput(path, text, root);
}

/** Reads a tool file; none if there is no such file. */
async function readTools(file: string): Promise<ToolLists> {
  const text = await readTextFile(file).catch((error: unknown) => {
    if (readErrorCode(error) === 'ENOENT') return '';
    throw error;
  });
  return parseToolFile(text);
}

/** Leaves only those tools in the tool file of a directory that one of its recordings names. */
export async function tidyTools({ path, root }: { path: string; root: string | null }): Promise<void> {
  const tools = join(path, toolFile);
  const names = (await readdir(path)).filter((name) => name.endsWith('.jsonl') && name !== toolFile);
  const texts = await Promise.all(names.map(async (name) => await readTextFile(join(path, name))));
  const lists = await readTools(tools);
  const used = [...lists].filter(([id]) => texts.some((text) => text.includes(id)));
  if (used.length < lists.size) replaceOutput(tools, printToolFile(used.map(([, list]) => list)), root);
}

/** Returns the tools that the calls of a recording were offered, by the name of the list. */
export function listTools({ iterations }: Pick<Recording, 'iterations'>): ToolLists {
  const name = createListNames();
  const calls = [...iterations.values()].flatMap((iteration) => iteration.calls);
  return new Map(calls.map(({ sent: { tools } }) => [name(tools).id, tools]));
}

/** Redacts the tools again, because secrets can become known after a call was recorded. */
function redactTools(recording: Recording, redactor: Redactor): Recording {
  const known = new Map<StoredTool, StoredTool>();
  const redactTool = (tool: StoredTool): StoredTool => {
    const clean = known.get(tool) ?? readTool(redactMembers(tool, redactor));
    known.set(tool, clean);
    return clean;
  };
  const iterations = [...recording.iterations].map(([number, iteration]) => {
    const calls = iteration.calls.map(({ sent, answer }) => ({
      sent: { ...sent, tools: sent.tools.map(redactTool) },
      answer,
    }));
    return [number, { ...iteration, calls }] as const;
  });
  return { ...recording, iterations: new Map(iterations) };
}

/** Checks if the file can be read back: redaction can remove a required part of a line, such as a number. */
function isReadable(text: string, lists: ToolLists): boolean {
  try {
    return findUsable(parseRecording(text, '', lists)) !== null;
  } catch {
    return false;
  }
}

/** Redacts the content of calls again, for the same reason. */
function redactLines(text: string, redactor: Redactor): string {
  const lines = text.split('\n').map((line) => {
    return redactor.redact(line) === line ? line : JSON.stringify(redactMembers(tryParseJson(line), redactor));
  });
  return lines.join('\n');
}
