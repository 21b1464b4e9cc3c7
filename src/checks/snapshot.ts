import { sortKeys, tryParseJson } from '../base/json.ts';
import { formatCount } from '../base/text.ts';
import { describeDifferences } from './equality.ts';
import type { ToolResult } from './evidence.ts';
import { type CheckContext, fail, type Judgement, leaveUnmeasured, pass, refuse } from './judgement.ts';
import { JsonComparison } from './json-comparison.ts';
import { printValue } from './reasons.ts';
import { nameSubject, readDocument, readPart, type ResultScope } from './result-documents.ts';

/** Keeps snapshots small: people read them, and they are part of a repository. */
export const maxSnapshotBytes = 256 * 1024;

const remedy = 'If the change is meant, run the command with --update-snapshots.';

/** Compares the part of a result at `path` with a snapshot file, or records it as the new content of the file. */
export function judgeSnapshot(
  { file, path = '', ignore = [] }: ResultScope & { file: string; path?: string; ignore?: readonly string[] },
  result: ToolResult,
  { snapshots, exclude }: CheckContext,
): Judgement {
  if (snapshots === null) return leaveUnmeasured(`the snapshot ${file} is not known to this service.`);
  const part =
    path === ''
      ? { kind: 'found' as const, value: readDocument(result)?.value ?? result.text }
      : readPart(result, path);
  if (part.kind !== 'found') return fail(`${part.reason}.`);
  const actual = exclude(snapshots.redact(part.value), ignore);
  const text = printSnapshot(actual);
  const subject = nameSubject(result, path);
  const bytes = Buffer.byteLength(text);
  if (bytes > maxSnapshotBytes) {
    return fail(
      `${subject} has ${formatCount(bytes, 'byte')}, and a snapshot at most ${maxSnapshotBytes}; compare a part of it with \`path\`.`,
    );
  }
  if (snapshots.update !== null && result.toolError !== null) {
    return fail(`${result.toolName} answered with an error, which is not written to ${file}.`);
  }
  const kept = snapshots.update === null ? snapshots.read(file) : snapshots.update(file, text);
  if (kept === null) return refuse(`the snapshot ${file} does not exist. Run the command with --update-snapshots.`);
  const clean = (value: unknown) => exclude(value, ignore);
  const difference = findDifference(kept, actual, { path, clean });
  if (difference === null) return pass(`${subject} is as in ${file}.`);
  const parsed = typeof actual === 'string' ? undefined : tryParseJson(kept);
  return fail(`${subject} ${difference} (${file}). ${snapshots.update === null ? remedy : earlierResult}`, {
    kind: 'values',
    what: `${subject}, compared with ${file}`,
    expected: clean(parsed ?? dropFinalLineEnds(kept)),
    actual,
    path,
  });
}

const earlierResult = 'An earlier result of this run is the snapshot; exclude what varies with `ignore`.';

/** Prints text unchanged but for a line end after its last line, and other JSON with sorted keys, one member per line. */
export function printSnapshot(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(sortKeys(value), null, 2);
  return text.endsWith('\n') ? text : `${text}\n`;
}

/** Completes a sentence about the value; null if it equals the content of the file. Ignores white space in JSON and line ends. */
function findDifference(
  kept: string,
  actual: unknown,
  { path, clean }: { path: string; clean: (value: unknown) => unknown },
): string | null {
  if (typeof actual === 'string') {
    const [expected, found] = [clean(kept), actual].map((text) => splitLines(String(text)));
    const index = found?.findIndex((line, at) => line !== expected?.[at]) ?? 0;
    const line = index === -1 ? (found?.length ?? 0) : index;
    if (found?.[line] === expected?.[line]) return null;
    const isOnly = found?.length === 1 && expected?.length === 1;
    if (isOnly) return describeDifferences({ expected: expected[0], actual: found[0] }, path);
    return `differs in line ${line + 1}: it is ${printValue(found?.[line])}, expected ${printValue(expected?.[line])}`;
  }
  const parsed = tryParseJson(kept);
  if (parsed === undefined) return 'is JSON, and the snapshot is text';
  const expected = clean(parsed);
  if (new JsonComparison({}).isEqual(expected, actual)) return null;
  return describeDifferences({ expected, actual }, path);
}

function splitLines(text: string): string[] {
  return dropFinalLineEnds(text).split(/\r?\n/);
}

/** Drops the line ends at the end of a text, which a formatter of the file may have cut. */
function dropFinalLineEnds(text: string): string {
  let end = text.length;
  while (end > 0 && (text[end - 1] === '\n' || text[end - 1] === '\r')) end -= 1;
  return text.slice(0, end);
}
