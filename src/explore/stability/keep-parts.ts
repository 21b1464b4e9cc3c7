import { createHash } from 'node:crypto';
import { listTexts } from '../../base/json.ts';
import type { ExploredRequest } from '../../model/explored-request.ts';
import { readFileTexts } from '../vocabulary/file-texts.ts';
import { readFileTimes, type Workspace } from '../../workspace/workspace.ts';
import type { KeepsPart } from './forms.ts';

const dayMs = 86_400_000;

/** Servers answer with the present date, and with dates that they count from there: when something expires, or a year later. */
const nearMs = 500 * dayMs;

const timeOfDay = /^\d{1,2}:\d{2}:\d{2}(?:\.\d+)?(?: ?[AP]M)?$/i;
const date =
  /^\d{4}[-/]\d|^\d{1,2}\/\d{1,2}\/\d{4}$|\b(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*\b.*\b\d{4}\b/;
const sinceEpoch = /^1\d{9}(?:\.\d+|\d{3}(?:\d{3})?)?$/;
const id = /\b(?:[0-9a-f]{12,64}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\b/gi;
const gitObject = /(?:^|\/)objects\/([0-9a-f]{2})\/([0-9a-f]{38,62})$/;

/**
 * Says which parts of answers stay where all replays have them: times far from `nowMs`, unless a file of the workspace was changed then, since
 * each checkout changes that; and ids that files of the workspace have, or that name an object of its repository.
 */
export async function createPartKeeper(workspace: Workspace, nowMs: number): Promise<KeepsPart> {
  const timesMs = await readFileTimes(workspace);
  const ids = await readIds(workspace);
  return (part) => {
    if (ids.has(part.toLowerCase())) return true;
    const timeMs = readTime(part);
    if (timeMs === null || Math.abs(timeMs - nowMs) <= nearMs) return false;
    return timesMs.every((fileMs) => Math.abs(timeMs - fileMs) > dayMs);
  };
}

/** Keeps a time of day with its seconds, too: it is another one in a later replay if it is the present time. */
export function keepTimesOfDay(keeps: KeepsPart): KeepsPart {
  return (part) => timeOfDay.test(part) || keeps(part);
}

const digests = ['md5', 'sha1', 'sha256'] as const;

/** Keeps a digest of a text that one of the requests has, too: it is the same on each machine. */
export function keepDigests(keeps: KeepsPart, requests: readonly ExploredRequest[]): KeepsPart {
  const texts = requests.flatMap((request) => [...listTexts(request)].map(({ text }) => text));
  const known = new Set(
    texts.flatMap((text) => digests.map((algorithm) => createHash(algorithm).update(text).digest('hex'))),
  );
  return (part) => known.has(part.toLowerCase()) || keeps(part);
}

async function readIds(workspace: Workspace): Promise<Set<string>> {
  const texts = await readFileTexts(workspace);
  const written = [...texts.values()].flatMap((text) => text.match(id) ?? []);
  const objects = workspace.files.flatMap((file) => {
    const [, start = '', rest = ''] = gitObject.exec(file) ?? [];
    return start === '' ? [] : [start + rest];
  });
  return new Set([...written, ...objects].map((each) => each.toLowerCase()));
}

function readTime(part: string): number | null {
  if (sinceEpoch.test(part)) {
    const [whole = ''] = part.split('.');
    return Number(whole.slice(0, 10)) * 1000;
  }
  const timeMs = date.test(part) ? Date.parse(part) : Number.NaN;
  return Number.isNaN(timeMs) ? null : timeMs;
}
