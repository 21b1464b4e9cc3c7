import { printCanonicalJson, tryParseJson } from '../../base/json.ts';
import type { RecordedIteration, Recording } from './format.ts';

/** An iteration in which the model called other tools than in an earlier recording, or with other arguments. */
export interface BehaviourChange {
  iteration: number;
  /** The calls in their order, each as the tool and its arguments. */
  before: readonly string[];
  now: readonly string[];
}

/**
 * Compares what a model did in the iterations that both recordings have. Its words are not compared: they differ each time, and the
 * evals judge them.
 */
export function compareBehaviour(earlier: Recording, later: Recording): BehaviourChange[] {
  return [...later.iterations].flatMap(([iteration, made]) => {
    const known = earlier.iterations.get(iteration);
    if (known === undefined) return [];
    const [before, now] = [listToolCalls(known), listToolCalls(made)];
    return before.join('\n') === now.join('\n') ? [] : [{ iteration, before, now }];
  });
}

function listToolCalls({ calls }: RecordedIteration): string[] {
  return calls.flatMap(({ answer }) =>
    answer.content.flatMap((part) => {
      if (part.type !== 'tool-call') return [];
      const input = tryParseJson(part.input);
      return [`${part.toolName} ${input === undefined ? part.input : printCanonicalJson(input)}`];
    }),
  );
}
