import type { Shape, Transport } from './expected-outcomes.ts';

/** Required outcomes that are not met yet, and why. A test asserts that they still differ, so that this list shrinks. */
const unmetOutcomes: Partial<Record<Shape['fault'], Partial<Record<Transport, string>>>> = {
  'http-session-lost': { HTTP: 'the iteration is given up with its session' },
};

/** Why a required outcome is not met yet; null where it is. */
export function findUnmet({ fault }: Shape, transport: Transport): string | null {
  return unmetOutcomes[fault]?.[transport] ?? null;
}
