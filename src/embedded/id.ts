import { randomBytes } from 'node:crypto';

/** Makes an id that cannot be guessed or clash: the prefix tells people what it names, nothing reads it. */
export function createId(prefix: 'prj' | 'srv' | 'ste' | 'case' | 'c' | 'run' | 'iter'): string {
  return `${prefix}_${randomBytes(12).toString('hex')}`;
}
