import type { Shape, Transport } from './expected-outcomes.ts';

const crash = 'a process that ends under a call ends the run';
const ends = 'an exit after the last answer ends the run';
const unscored = 'an iteration without a result ends the run';
const listing = 'a process that ends under tools/list ends the run';

const everywhere = (why: string) => ({ stdio: why, 'stdio shared': why, HTTP: why });

/** Required outcomes that are not met yet, and why. A test asserts that they still differ, so that this list shrinks. */
const unmetOutcomes: Partial<Record<Shape['fault'], Partial<Record<Transport, string>>>> = {
  'exits-0-after-answer': everywhere(ends),
  'exits-mid-answer': everywhere(crash),
  'exits-1-under-call': everywhere(crash),
  'exits-0-under-call': everywhere(crash),
  'is-killed-under-call': everywhere(crash),
  'segfaults-under-call': everywhere(crash),
  'closes-its-output': { HTTP: unscored },
  'exits-in-tools-list': everywhere(listing),
  'http-500-under-call': { HTTP: unscored },
  'http-session-lost': { HTTP: 'the iteration is given up with its session' },
  'http-cut-event': { HTTP: unscored },
  'http-reset-under-call': { HTTP: unscored },
};

/** Reasons whose outcomes are met now and then. */
const varying: ReadonlySet<string> = new Set([ends, unscored]);

/** Why a required outcome is not met yet; null where it is. */
export function findUnmet({ fault }: Shape, transport: Transport): { why: string; varies: boolean } | null {
  const why = unmetOutcomes[fault]?.[transport];
  return why === undefined ? null : { why, varies: varying.has(why) };
}
