import { isAnswered } from '../answers.ts';
import type { ObservedStep } from '../exploration.ts';
import type { ExploredRequest } from '../../model/explored-request.ts';
import type { ListedTool } from '../inventory.ts';
import type { WorkingCall } from '../knowledge.ts';
import { rateSimilarity, readThing, splitName } from '../vocabulary/names.ts';
import { buildArguments, callTool, type PhaseContext } from './phase.ts';

/** The most readers that follow one call. */
const maxReaders = 3;

/** Lists requests of readers with the values of the call; null if the requests are used up. */
export async function listReads(
  tool: ListedTool,
  call: WorkingCall,
  { lab, knowledge, tools }: PhaseContext,
): Promise<ExploredRequest[] | null> {
  const readers = tools
    .filter((other) => other !== tool && lab.isHarmless(other.name) && lab.explainStop(other.name) === null)
    .filter(({ name }) => knowledge.working.has(name))
    .map((reader) => ({
      reader,
      rate: rateOverlap(tool, reader) + (reader.parameters.some(({ isRequired }) => isRequired) ? 0 : 0.75),
    }))
    .toSorted((a, b) => b.rate - a.rate)
    .slice(0, tool.isReadOnly ? 1 : maxReaders)
    .map(({ reader }) => reader);
  if (readers.length === 0) return [];
  const start = 'new';
  const done = await lab.run([...call.setup, callTool(tool, call.arguments)], { phase: 'chains', start });
  if (done === null) return null;
  return readers.map((reader) => {
    const own = knowledge.working.get(reader.name)?.arguments ?? {};
    const related = relate(reader, { steps: done.steps, setup: call.setup.length }, knowledge);
    return callTool(reader, { ...own, ...related });
  });
}

/** Finds arguments of a reader among the values of earlier steps, of which the first ones are the setup. */
function relate(
  reader: ListedTool,
  { steps, setup }: { steps: readonly ObservedStep[]; setup: number },
  knowledge: PhaseContext['knowledge'],
): object {
  if (!steps.some(({ observation }) => isAnswered(observation))) return {};
  return buildArguments(reader, knowledge, {
    // The reader is asked before the call, too, when a reference to its result has no value.
    before: steps.map((step, index) => (index < setup ? step : { ...step, observation: hideResult(step.observation) })),
  });
}

const hideResult = (observation: ObservedStep['observation']): ObservedStep['observation'] => ({
  ...observation,
  outcome: { kind: 'result', isError: false, result: {} },
});

/** Rates how much two tools have to do with each other, by the words of their names and the names of their parameters. */
export function rateOverlap(left: ListedTool, right: ListedTool): number {
  const words = new Set(readThing(left.name));
  const shared = readThing(right.name).filter((word) => words.has(word)).length;
  const names = right.parameters.map(({ name }) => splitName(name));
  const alike = left.parameters.filter(({ name }) =>
    names.some((other) => rateSimilarity(splitName(name), other) > 0.5),
  );
  return shared + alike.length / 2;
}
