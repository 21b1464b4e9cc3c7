import { isJsonEqual, tryParseJson } from '../../base/json.ts';
import type { Redactor } from '../../base/redaction.ts';
import type { Snapshots } from '../../checks/judgement.ts';
import type { PlannedSnapshots } from '../plan/plan-snapshots.ts';
import { toPlainJson } from '../../models/recordings/plain-json.ts';

/** A snapshot to write. */
export interface TakenSnapshot {
  /** A path relative to the working directory. */
  file: string;
  text: string;
  isNew: boolean;
}

/** The snapshots while the evals run. */
export interface JobSnapshots extends Snapshots {
  /** Lists the snapshots that differ from their files. */
  listChanged(): TakenSnapshot[];
}

export function openSnapshots({ texts, isUpdating }: PlannedSnapshots, redactor: Redactor): JobSnapshots {
  const taken = new Map<string, string>();
  const take = (file: string, text: string): string => {
    const earlier = taken.get(file);
    if (earlier === undefined) taken.set(file, text);
    return earlier ?? text;
  };
  return {
    read: (file) => texts.get(file) ?? null,
    update: isUpdating ? take : null,
    redact: (value) => toPlainJson(value, redactor),
    listChanged: () =>
      [...taken]
        .filter(([file, text]) => !isSame(texts.get(file), text))
        .map(([file, text]) => ({ file, text, isNew: !texts.has(file) })),
  };
}

/** Compares JSON by value: a formatter may have changed its white space. */
function isSame(before: string | undefined, after: string): boolean {
  if (before === undefined) return false;
  const [one, other] = [tryParseJson(before), tryParseJson(after)];
  return before === after || (one !== undefined && other !== undefined && isJsonEqual(one, other));
}

/** Lists the snapshots that a gate took, because they say nothing about the change. */
export function noteSnapshots(snapshots: readonly TakenSnapshot[]): string[] {
  if (snapshots.length === 0) return [];
  const names = snapshots.map(({ file, isNew }) => `${file} (${isNew ? 'new' : 'changed'})`).join(', ');
  return [`The gate took these snapshots from the results instead of comparing with them: ${names}.`];
}
