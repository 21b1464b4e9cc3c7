import { isRecord, type JsonObject } from '../../base/json.ts';
import type { ListedTool } from '../inventory.ts';
import type { WorkingCall } from '../knowledge.ts';
import type { Parameter } from '../schema/parameters.ts';
import { listBranches, readType } from '../schema/resolve.ts';
import { placeBound } from '../vocabulary/statements.ts';
import { namesTime } from '../vocabulary/typical-values.ts';
import { readLimits } from '../vocabulary/vocabulary.ts';
import { type PhaseContext, shuffle } from './phase.ts';
import { tryCall } from './try-call.ts';
import { choosePlace, listVariants } from './variants.ts';

/** The most values of one parameter that are no members of an enum, and the most pairs of optional parameters of one tool. */
const maxOtherValues = 3;
const maxPairs = 6;

/** Calls each tool that works with each optional parameter, each value of an enum, values at its limits, and pairs of optional ones. */
export async function coverParameters(context: PhaseContext): Promise<void> {
  const working = context.tools.flatMap((tool) => {
    const call = context.knowledge.working.get(tool.name);
    return call === undefined ? [] : [{ tool, call }];
  });
  // Takes turns over the tools, so that a tool with many parameters does not use up the requests of the others.
  const queues = working.map(({ tool, call }) => ({ tool, call, plans: planCalls(tool, call, context) }));
  for (let round = 0; queues.some(({ plans }) => round < plans.length); round += 1) {
    for (const { tool, call, plans } of queues) {
      const plan = plans[round];
      if (plan === undefined) continue;
      const args = { ...call.arguments, ...plan.added };
      await tryCall(tool, args, context, {
        phase: 'coverage',
        setup: call.setup,
        mayChange: ({ name }) => Object.hasOwn(plan.added, name),
        changes: plan.changes,
      });
    }
  }
}

interface PlannedCall {
  added: JsonObject;
  /** How often a refused value is changed. */
  changes: number;
}

function planCalls(tool: ListedTool, call: WorkingCall, context: PhaseContext): PlannedCall[] {
  const { knowledge } = context;
  const optional = tool.parameters.filter(({ name }) => !Object.hasOwn(call.arguments, name));
  const values = new Map(tool.parameters.map((parameter) => [parameter.name, listCovering(tool, parameter, context)]));
  const single = (parameter: Parameter, from: number): PlannedCall[] =>
    (values.get(parameter.name) ?? []).slice(from).map((value, index) => ({
      added: {
        ...choosePlace(tool, parameter, { working: call.arguments, knowledge }),
        ...placeBound(call.arguments, parameter.name, value),
        [parameter.name]: value,
      },
      changes: index === 0 ? 3 : 0,
    }));
  const first = optional.flatMap((parameter) => single(parameter, 0).slice(0, 1));
  const others = [
    ...optional.flatMap((parameter) => single(parameter, 1)),
    ...tool.parameters
      // A longer time makes a call take longer, and shows little.
      .filter(({ name }) => Object.hasOwn(call.arguments, name) && !namesTime(name))
      .flatMap((parameter) => single(parameter, 0))
      .filter(({ added }) => Object.entries(added).some(([name, value]) => !isSame(value, call.arguments[name]))),
  ];
  const pairs = optional.flatMap((left, index) =>
    optional.slice(index + 1).flatMap((right) => {
      const [a, b] = [values.get(left.name)?.[0], values.get(right.name)?.[0]];
      return a === undefined || b === undefined ? [] : [{ added: { [left.name]: a, [right.name]: b }, changes: 0 }];
    }),
  );
  const variants = listVariants(tool, call.arguments, knowledge).map((added): PlannedCall => ({
    added,
    changes: 0,
  }));
  return [...first, ...variants, ...others, ...shuffle(pairs, context.random).slice(0, maxPairs)];
}

const isSame = (left: unknown, right: unknown) => JSON.stringify(left) === JSON.stringify(right);

/** Lists the values that cover a parameter: all members of an enum, one of each branch, those at its limits, and a few others. */
function listCovering(tool: ListedTool, parameter: Parameter, { knowledge }: PhaseContext): unknown[] {
  const { schema } = parameter;
  const isDefault = (value: unknown) => Object.hasOwn(schema, 'default') && isSame(value, schema['default']);
  const listed = knowledge.listValues(tool, parameter).filter((value) => value !== null || parameter.isRequired);
  // A call without the parameter shows its default already.
  const known = [...listed.filter((value) => !isDefault(value)), ...listed.filter(isDefault)];
  if (Array.isArray(schema['enum']) || readType(schema) === 'boolean') return known;
  const branches = listBranches(schema, tool.inputSchema);
  if (branches.length > 1) {
    const ofBranches = branches
      .flatMap((branch) => knowledge.listValues(tool, { ...parameter, schema: branch }).slice(0, 1))
      .filter((value) => value !== null || parameter.isRequired);
    return [...new Set([...known.slice(0, 1), ...ofBranches])];
  }
  const isEnumList = isRecord(schema['items']) && Array.isArray(schema['items']['enum']);
  return [...new Set([...known.slice(0, isEnumList ? 12 : maxOtherValues), ...listLimits(schema)])];
}

function listLimits(schema: JsonObject): unknown[] {
  const type = readType(schema);
  if (type !== 'number' && type !== 'integer') return [];
  const { least, most, allows } = readLimits(schema, type === 'integer');
  return [least, most].filter((value) => Number.isFinite(value) && Math.abs(value) < 10_000 && allows(value));
}
