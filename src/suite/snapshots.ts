import { posix } from 'node:path';
import {
  type Assertion,
  type Check,
  type InnerCheck,
  isCombination,
  listParts,
  type NegatableCheck,
} from '../checks/assertion.ts';
import type { Step } from '../cases/step.ts';

/**
 * Checks if the gate may write a snapshot to a path. The path must be inside of its folder, in portable characters, and below a directory
 * `snapshots` or with a name that ends in `.snap`, so that no other program reads the file. Directories that begin with a dot and
 * `node_modules` are refused.
 */
export function isSnapshotPath(path: string): boolean {
  const parts = path.split('/');
  const isPlain = (part: string) => /^[^\\:*?"<>|{}]+$/.test(part) && !part.startsWith('.') && part !== 'node_modules';
  return parts.every(isPlain) && (parts.slice(0, -1).includes('snapshots') || path.endsWith('.snap'));
}

/** Lists the snapshots that an assertion, or a part of it, names. */
export function listSnapshotFiles(assertion: Assertion): string[] {
  return listParts(assertion).flatMap(({ check }) => (check.type === 'toMatchFile' ? [check.file] : []));
}

/** Maps the paths of the snapshots of a check. */
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

/** Maps the paths of the snapshots of an `assert` step. */
export function mapSnapshotsOfStep(step: Step, map: (file: string) => string): Step {
  if (step.kind !== 'assert' || !('type' in step.assertion)) return step;
  return { ...step, assertion: mapSnapshots(step.assertion, map) };
}

/** Turns the path of a snapshot into one from the working directory, like that of the evals file. */
export function placeSnapshot(file: string, evalsFile: string): string {
  return posix.join(posix.dirname(evalsFile), file);
}
