import { readdir } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { describeError } from '../../base/errors.ts';
import { isDirectory, leadsOutOfCheckout, linkOutMessage, readTextFile } from '../../base/files.ts';
import type { Findings } from '../../base/findings.ts';
import type { Suite } from '../../cases/suite.ts';
import type { MatchSettings } from '../../upstream/describe-request.ts';
import { nameRecording, readRecording, type Recording } from '../../upstream/recording.ts';

/** The recorded answers of the APIs that the server of a suite uses. */
export interface PlannedUpstream {
  /** The directory, relative to the working directory. */
  shown: string;
  settings: MatchSettings;
  /** Further names of headers, parameters and members that hold secrets. */
  secrets: readonly string[];
  block: readonly string[];
  /** By the ids of cases; null while they are recorded. */
  recordings: ReadonlyMap<string, Recording> | null;
}

/** Larger than the bodies of a thousand usual answers. */
const maxFileBytes = 32 * 1024 * 1024;

/** Reads the recordings of a suite; null if it has none, or one of them cannot be used. */
export async function planUpstream(
  suite: Suite,
  { cwd, isRecording, findings }: { cwd: string; isRecording: boolean; findings: Findings },
): Promise<PlannedUpstream | null> {
  const { upstream } = suite;
  if (upstream === null) return null;
  const { path, headers, ignore, secrets, block, location } = upstream;
  const shown = join(dirname(suite.location.file), path);
  const planned = { shown, settings: { headers, ignore }, secrets, block };
  const refuse = (code: string, message: string) => {
    findings.add({ ...location, code, message });
    return null;
  };
  if (await leadsOutOfCheckout(shown, cwd)) return refuse('link-out-of-checkout', linkOutMessage);
  if (isRecording) return { ...planned, recordings: null };
  const directory = resolve(cwd, shown);
  if (!(await isDirectory(directory))) {
    return refuse(
      'no-upstream-recordings',
      `${JSON.stringify(shown)} is not a directory; record the answers of the API with \`mcp-eval-ci record-upstream\`, or check the path`,
    );
  }
  const files = new Set(await readdir(directory));
  const recordings = new Map<string, Recording>();
  for (const { id } of suite.cases) {
    const name = nameRecording(id);
    if (!files.has(name)) continue;
    const file = join(shown, name);
    if (await leadsOutOfCheckout(file, cwd)) return refuse('link-out-of-checkout', `${file}: ${linkOutMessage}`);
    try {
      const read = readRecording(await readTextFile(resolve(cwd, file), { maxBytes: maxFileBytes }));
      if ('problem' in read) refuse('bad-upstream-recording', `${file} ${read.problem}`);
      else recordings.set(id, read);
    } catch (error) {
      refuse('bad-upstream-recording', `${file} cannot be read: ${describeError(error)}`);
    }
  }
  return { ...planned, recordings };
}

/** Prints what decides the results of a suite with these recordings, for the key of a cache. */
export function printUpstream({ settings, block, recordings }: PlannedUpstream): string {
  return JSON.stringify([settings, block, [...(recordings ?? [])]]);
}
