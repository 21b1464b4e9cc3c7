import type { JsonObject } from '../../base/json.ts';
import type { ListedTool } from '../inventory.ts';
import type { Parameter } from '../schema/parameters.ts';
import { readType } from '../schema/resolve.ts';
import { readVerb, splitName } from '../vocabulary/names.ts';
import { largeNumber, unknownValues } from '../vocabulary/typical-values.ts';
import { excludeDirectory, findPathRole, readLimits } from '../vocabulary/vocabulary.ts';
import { listUnknown } from './errors.ts';

/** Names of numbers that limit how much an answer has. */
const namesOfAmounts = /\b(?:head|tail|line|limit|top|count)\b/;

/**
 * Makes other values from arguments that work: a search that leaves a directory of `files` out, a list of which one part is missing, a path
 * below a directory that is missing, and more than there is. Each stands for one that the call had, in its form.
 */
export function listVariants(tool: ListedTool, working: JsonObject, files: readonly string[] = []): JsonObject[] {
  const excluding = excludeDirectory(tool, files);
  const ofParameters = tool.parameters.flatMap((parameter) =>
    [
      mixList(parameter, tool, working[parameter.name]),
      putBelow(parameter, tool, working[parameter.name]),
      exceed(parameter, tool),
    ].flatMap((value) => (value === undefined ? [] : [{ [parameter.name]: value }])),
  );
  return [...(excluding === undefined ? [] : [excluding]), ...ofParameters];
}

function mixList(parameter: Parameter, tool: ListedTool, sent: unknown): unknown[] | undefined {
  if (!Array.isArray(sent) || sent.length === 0 || parameter.schema['maxItems'] === 1) return undefined;
  const role = findPathRole({ name: parameter.name, tool });
  if (role?.isMade === true) return undefined;
  const [unknown] = listUnknown(parameter, tool, sent);
  return Array.isArray(unknown) ? [sent[0], ...(unknown as unknown[])] : undefined;
}

function putBelow({ name }: Parameter, tool: ListedTool, sent: unknown): string | undefined {
  if (typeof sent !== 'string' || findPathRole({ name, tool })?.isMade !== true) return undefined;
  const parts = sent.split('/');
  return [...parts.slice(0, -1), unknownValues.directory, ...parts.slice(-1)].join('/');
}

function exceed({ name, schema }: Parameter, tool: ListedTool): number | undefined {
  const type = readType(schema);
  const isAmount = namesOfAmounts.test(splitName(name).join(' ')) && (type === 'integer' || type === 'number');
  if (!isAmount || readVerb(tool.name) !== 'read') return undefined;
  return readLimits(schema, type === 'integer').allows(largeNumber) ? largeNumber : undefined;
}
