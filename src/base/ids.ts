import { randomBytes } from 'node:crypto';

/** Makes an id that cannot be guessed and is unique. The prefix shows people what the id names; no code reads it. */
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
