import { randomBytes } from 'node:crypto';

/** Makes an id that cannot be guessed or clash: the prefix shows people what it names; no code reads it. */
export function createId(
  prefix:
    | 'prj'
    | 'srv'
    | 'ste'
    | 'case'
    | 'c'
    | 'run'
    | 'iter'
    | 'act'
    | 'art'
    | 'chat'
    | 'env'
    | 'hst'
    | 'hcf'
    | 'att'
    | 'oat'
    | 'img'
    | 'bld'
    | 'cmp'
    | 'grp',
): string {
  return `${prefix}_${randomBytes(12).toString('hex')}`;
}
