import { posix } from 'node:path';
import {
  type Assertion,
  type Check,
  type InnerCheck,
  isCombination,
  type NegatableCheck,
} from '../checks/assertion.ts';
import type { Step } from '../cases/step.ts';

/**
 * Whether the gate may write a snapshot to a path: inside the folder that it starts from, in portable characters, and where no other
 * program reads its files, which is below a directory `snapshots` or under a name that ends in `.snap`. Never into a directory that
 * begins with a dot, or into packages.
 */
export function isSnapshotPath(path: string): boolean {
  const parts = path.split('/');
  const isPlain = (part: string) => /^[^\\:*?"<>|{}]+$/.test(part) && !part.startsWith('.') && part !== 'node_modules';
  return parts.every(isPlain) && (parts.slice(0, -1).includes('snapshots') || path.endsWith('.snap'));
}

/** Lists the snapshots that an assertion, or a part of it, names. */
export function listSnapshotFiles(assertion: Assertion): string[] {
  if (!('type' in assertion)) return [];
  if (assertion.type === 'not') return listSnapshotFiles(assertion.assertion);
  if (isCombination(assertion)) return assertion.assertions.flatMap(listSnapshotFiles);
  return assertion.type === 'toMatchFile' ? [assertion.file] : [];
}

/** Gives the snapshots of a check other paths. */
export function mapSnapshots(check: Check, map: (file: string) => string): Check {
  const mapNegatable = (part: NegatableCheck): NegatableCheck => {
    if (isCombination(part)) return { ...part, assertions: part.assertions.map(mapPart) };
    return part.type === 'toMatchFile' ? { ...part, file: map(part.file) } : part;
  };
  const mapPart = (part: InnerCheck): InnerCheck =>
    part.type === 'not' ? { ...part, assertion: mapNegatable(part.assertion) } : mapNegatable(part);
  if (check.type === 'not') return { ...check, assertion: mapNegatable(check.assertion) };
  if (isCombination(check)) return { ...check, assertions: check.assertions.map(mapPart) };
  return check.type === 'toMatchFile' ? { ...check, file: map(check.file) } : check;
}

/** The same for the assertion of a step. */
export function mapSnapshotsOfStep(step: Step, map: (file: string) => string): Step {
  if (step.kind !== 'assert' || !('type' in step.assertion)) return step;
  return { ...step, assertion: mapSnapshots(step.assertion, map) };
}

/** Gives a snapshot a path from the working directory, as that of the evals file is. */
export function placeSnapshot(file: string, evalsFile: string): string {
  return posix.join(posix.dirname(evalsFile), file);
}
