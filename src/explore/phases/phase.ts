import type { JsonObject } from '../../base/json.ts';
import type { ObservedStep } from '../exploration.ts';
import type { ToolRequest } from '../../model/explored-request.ts';
import type { ListedTool } from '../inventory.ts';
import type { Knowledge } from '../knowledge.ts';
import type { Lab } from '../lab.ts';
import { chooseDistinct, findPathRole } from '../vocabulary/vocabulary.ts';

/** The means of a phase. */
export interface PhaseContext {
  lab: Lab;
  knowledge: Knowledge;
  /** The tools that may be called, in the order of the server. */
  tools: readonly ListedTool[];
  /** Draws numbers from 0 to below 1, the same for one seed. */
  random: () => number;
}

/** Makes a call of a tool. */
export function callTool({ name, needsTask }: Pick<ListedTool, 'name' | 'needsTask'>, args: JsonObject): ToolRequest {
  return { kind: 'tool', tool: name, arguments: args, ...(needsTask && { asTask: true }) };
}

/** Builds arguments with the first value of each required parameter. Parameters without any value are left out. */
export function buildArguments(
  tool: ListedTool,
  knowledge: Knowledge,
  {
    before = [],
    isTaken = ({ isRequired }) => isRequired,
  }: {
    before?: readonly ObservedStep[];
    isTaken?: (parameter: ListedTool['parameters'][number]) => boolean;
  } = {},
): JsonObject {
  const members = tool.parameters
    .filter(isTaken)
    .map((parameter) => ({ name: parameter.name, values: knowledge.listValues(tool, parameter, before) }))
    .filter(({ values }) => values[0] !== undefined);
  // What a call reads is there already, and what it makes gets another name.
  const makes = ({ name }: { name: string }) => Number(findPathRole({ name, tool })?.isMade ?? false);
  const chosen = chooseDistinct(members.toSorted((a, b) => makes(a) - makes(b)));
  return Object.fromEntries(members.map(({ name }) => [name, chosen[name]]));
}

/** Puts a list in an order that the seed decides. */
export function shuffle<Item>(items: readonly Item[], random: () => number): Item[] {
  return items
    .map((item) => ({ item, at: random() }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ item }) => item);
}
