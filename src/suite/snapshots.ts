import { posix } from 'node:path';
import { type Assertion, type Check, type InnerCheck, isCombination, type NegatableCheck } from '../model/assertion.ts';
import type { Step } from '../model/step.ts';

/** Whether a path leads into the folder that it starts from, in portable characters, so that the file works on every machine. */
export function isSnapshotPath(path: string): boolean {
  return path.split('/').every((part) => /^[^\\:*?"<>|{}]+$/.test(part) && !/^\.+$/.test(part));
}

/** Lists the snapshots that an assertion, or a part of it, names. */
export function listSnapshotFiles(assertion: Assertion): string[] {
  if (!('type' in assertion)) return [];
  if (assertion.type === 'not') return listSnapshotFiles(assertion.assertion);
  if (isCombination(assertion)) return assertion.assertions.flatMap(listSnapshotFiles);
  return assertion.type === 'toMatchFile' ? [assertion.file] : [];
}

/** Gives the snapshots of a check paths from the working directory, as that of the evals file is. */
export function placeSnapshots(check: Check, evalsFile: string): Check {
  const placeNegatable = (part: NegatableCheck): NegatableCheck => {
    if (isCombination(part)) return { ...part, assertions: part.assertions.map(placePart) };
    return part.type === 'toMatchFile' ? { ...part, file: posix.join(posix.dirname(evalsFile), part.file) } : part;
  };
  const placePart = (part: InnerCheck): InnerCheck =>
    part.type === 'not' ? { ...part, assertion: placeNegatable(part.assertion) } : placeNegatable(part);
  if (check.type === 'not') return { ...check, assertion: placeNegatable(check.assertion) };
  if (isCombination(check)) return { ...check, assertions: check.assertions.map(placePart) };
  return check.type === 'toMatchFile' ? { ...check, file: posix.join(posix.dirname(evalsFile), check.file) } : check;
}

/** The same for the assertion of a step. */
export function placeSnapshotsOfStep(step: Step, evalsFile: string): Step {
  if (step.kind !== 'assert' || !('type' in step.assertion)) return step;
  return { ...step, assertion: placeSnapshots(step.assertion, evalsFile) };
}
