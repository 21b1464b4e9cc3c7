import { isAnswered, isRefused } from './answers.ts';
import type { Counted, Exploration, ObservedStep, SessionRun, ToolCoverage } from './exploration.ts';
import type { Inventory, ListedTool } from './inventory.ts';
import type { Knowledge } from './knowledge.ts';
import { type ErrorKind, errorKinds, listWrongCalls } from './phases/errors.ts';
import { isGiven } from './schema/parameters.ts';
import { explainRefusalByWorld } from './world/refused-by-world.ts';

/**
 * Counts what sessions have reached: tools that answered, parameters of answered calls, and error paths. An error path is one kind of wrong
 * call of one tool (`missing`, `type`, `limit`, `unknown`) that its schema offers; it is reached if the tool refuses such a call.
 */
export function countCoverage(
  runs: readonly SessionRun[],
  inventory: Inventory,
  knowledge: Pick<Knowledge, 'working'>,
): Exploration['coverage'] {
  const steps = runs.flatMap((run) => run.steps.map((step) => ({ step, phase: run.phase })));
  const byTool = inventory.tools.map((tool) => countTool(tool, steps, knowledge));
  const parameters = byTool.map((each) => each.parameters);
  const errorPaths = byTool.map((each) => each.errorPaths);
  return {
    tools: { reached: byTool.filter(({ isAnswered: reached }) => reached).length, of: byTool.length },
    parameters: sum(parameters),
    errorPaths: sum(errorPaths),
    byTool,
  };
}

function sum(lists: ReadonlyArray<{ reached: readonly string[]; missed: readonly string[] }>): Counted {
  const reached = lists.reduce((total, list) => total + list.reached.length, 0);
  return { reached, of: lists.reduce((total, list) => total + list.missed.length, reached) };
}

function countTool(
  tool: ListedTool,
  steps: ReadonlyArray<{ step: ObservedStep; phase: SessionRun['phase'] }>,
  { working }: Pick<Knowledge, 'working'>,
): ToolCoverage {
  const own = steps.flatMap(({ step, phase }) =>
    step.request.kind === 'tool' && step.request.tool === tool.name
      ? [{ ...step, args: step.request.arguments, phase }]
      : [],
  );
  const answered = own.filter(({ observation, isValid }) => isAnswered(observation) && isValid !== false);
  const names = tool.parameters.map(({ name }) => name);
  const reachedNames = tool.parameters
    .filter((parameter) => answered.some(({ args }) => isGiven(parameter, args)))
    .map(({ name }) => name);
  const args = working.get(tool.name)?.arguments;
  const offered = args === undefined ? [] : listWrongCalls(tool, args);
  const refused = own.filter(
    ({ observation }) => isRefused(observation) && explainRefusalByWorld(observation) === null,
  );
  const isRefusedCall = (kind: ErrorKind) =>
    offered.some(
      (call) =>
        call.kind === kind && refused.some((step) => JSON.stringify(step.args) === JSON.stringify(call.arguments)),
    );
  // Without a call that works, any refusal is at least one path of the tool.
  const kinds = errorKinds.filter((kind) => offered.some((call) => call.kind === kind));
  const reachedKinds = kinds.filter(isRefusedCall);
  return {
    tool: tool.name,
    isAnswered: answered.length > 0,
    parameters: {
      reached: reachedNames,
      missed: names.filter((name) => !reachedNames.includes(name)),
      required: tool.parameters.filter(({ isRequired }) => isRequired).map(({ name }) => name),
    },
    errorPaths: { reached: reachedKinds, missed: kinds.filter((kind) => !reachedKinds.includes(kind)) },
  };
}
