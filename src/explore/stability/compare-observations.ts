import { isJsonEqual } from '../../base/json.ts';
import type { Observation } from '../exploration.ts';
import { printMasked } from './texts.ts';

/** Checks if a request was observed again, apart from times, ids and other volatile forms. */
export function isLike(observation: Observation, other: Observation | undefined): boolean {
  return (
    other !== undefined &&
    isJsonEqual([observation.files, observation.noise], [other.files, other.noise]) &&
    nameAsked(observation) === nameAsked(other) &&
    printMasked(observation.outcome) === printMasked(other.outcome)
  );
}

/** Names the requests of the server to its client, apart from those for roots: a server may ask for these at any time. */
export function nameAsked(observation: Observation | undefined): string {
  const abilities = (observation?.asked ?? []).map(({ ability }) => ability);
  return abilities.filter((ability) => ability !== 'roots').join();
}
