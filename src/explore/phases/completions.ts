import type { ExploredRequest } from '../../model/explored-request.ts';
import { listCompleted } from '../answers.ts';
import type { PhaseContext } from './phase.ts';

type Completion = Extract<ExploredRequest, { kind: 'completion' }>;

/**
 * Completes the arguments of a prompt or of a template: each from nothing, and from the start of one of its values, with the first values of
 * the arguments before it. Returns the first value of each.
 */
export async function completeArguments(
  subject: Pick<Completion, 'of' | 'name'>,
  names: readonly string[],
  { lab }: Pick<PhaseContext, 'lab'>,
): Promise<ReadonlyMap<string, string>> {
  const chosen = new Map<string, string>();
  if (!lab.inventory.completes) return chosen;
  for (const argument of names) {
    const others = Object.fromEntries(chosen);
    const complete = async (value: string) => {
      const request: Completion = { kind: 'completion', ...subject, argument, value, arguments: others };
      const run = await lab.run([request], { phase: 'examples' });
      const [step] = run?.steps ?? [];
      return step === undefined ? [] : listCompleted(step.observation.outcome);
    };
    const values = await complete('');
    const [first] = values;
    if (first === undefined) continue;
    chosen.set(argument, first);
    await complete(findStart(values));
  }
  return chosen;
}

/** Finds the shortest start of the last value that another one does not have; its first letter if all have each. */
function findStart(values: readonly string[]): string {
  const letters = Array.from(values.at(-1) ?? '');
  const starts = letters.map((_, index) => letters.slice(0, index + 1).join(''));
  return starts.find((start) => values.some((value) => !value.startsWith(start))) ?? starts[0] ?? '';
}
