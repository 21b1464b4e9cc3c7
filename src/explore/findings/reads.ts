import { isAnswered } from '../answers.ts';
import { isJsonEqual } from '../../base/json.ts';
import type { ObservedStep } from '../exploration.ts';
import type { ExploredRequest } from '../../model/explored-request.ts';
import { printMasked } from '../stability/texts.ts';

/** A call between two requests of the same reader. */
export interface Between {
  /** The number of the step in between. */
  step: number;
  before: ObservedStep;
  after: ObservedStep;
}

/** Finds each answered call with an equal request of a reader before and after it, and no other change in between. */
export function listBetween(
  steps: readonly ObservedStep[],
  isReader: (request: ExploredRequest) => boolean,
): Between[] {
  return steps.flatMap((own, step) => {
    if (own.request.kind !== 'tool' || !isAnswered(own.observation)) return [];
    const isOther = ({ request }: ObservedStep) => !isReader(request) && !isJsonEqual(request, own.request);
    const from = steps.findLastIndex((other, index) => index < step && isChange(other, index));
    const until = steps.findIndex((other, index) => index > step && isChange(other, index));
    function isChange(other: ObservedStep, index: number): boolean {
      return index !== step && (isOther(other) || isJsonEqual(other.request, own.request));
    }
    const [earlier, later] = [steps.slice(from + 1, step), steps.slice(step + 1, until === -1 ? undefined : until)];
    return earlier.flatMap((before) => {
      const after = later.find(({ request }) => isJsonEqual(request, before.request));
      return after === undefined || !isReader(before.request) || isJsonEqual(before.request, own.request)
        ? []
        : [{ step, before, after }];
    });
  });
}

/** Checks if a reader saw something else, apart from times, ids and the like. */
export function hasChanged({ before, after }: Between): boolean {
  return (
    isAnswered(before.observation) && printMasked(before.observation.outcome) !== printMasked(after.observation.outcome)
  );
}
