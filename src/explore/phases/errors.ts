import { isRecord, type JsonObject } from '../../base/json.ts';
import type { ListedTool } from '../inventory.ts';
import type { Parameter } from '../schema/parameters.ts';
import { readType } from '../schema/resolve.ts';
import { readVerb, splitName } from '../vocabulary/names.ts';
import { namesOfAddresses, localUrl, pathNames, unknownValues } from '../vocabulary/typical-values.ts';
import { findPathRole, namesNewThing, readLimits } from '../vocabulary/vocabulary.ts';
import { fileCanary } from '../world/canary.ts';
import { buildArguments, callTool, type PhaseContext } from './phase.ts';

/** The kinds of wrong calls: a required argument is missing, a value has another type, crosses a limit, or names something unknown. */
export const errorKinds = ['missing', 'type', 'limit', 'unknown'] as const;
export type ErrorKind = (typeof errorKinds)[number];

export interface WrongCall {
  kind: ErrorKind;
  arguments: JsonObject;
}

/** The most wrong calls of one kind that a tool gets. */
const maxOfKind = 3;

/** Calls each tool in each wrong way that its schema and the names of its parameters offer. */
export async function provokeErrors({ lab, knowledge, tools }: PhaseContext): Promise<void> {
  const queues = tools.map((tool) => {
    const working = knowledge.working.get(tool.name);
    const args = working?.arguments ?? buildArguments(tool, knowledge);
    const setup = working?.setup ?? [];
    // Something unknown is only known as such where the rest of the call works.
    const wrong = listWrongCalls(tool, args).map((call) => ({ ...call, before: call.kind === 'unknown' ? setup : [] }));
    const own = [...listOwnAddresses(tool, args), ...listOtherKinds(tool, args, knowledge.files)];
    return { tool, calls: [...wrong, ...own.map((changed) => ({ arguments: changed, before: setup }))] };
  });
  for (let round = 0; queues.some(({ calls }) => round < calls.length); round += 1) {
    for (const { tool, calls } of queues) {
      const call = calls[round];
      if (call === undefined) continue;
      const start = call.before.length === 0 ? 'used' : 'new';
      await lab.run([...call.before, callTool(tool, call.arguments)], { phase: 'errors', start });
    }
  }
}

/** Lists the wrong calls of a tool, made from arguments that work, one of each kind first. */
export function listWrongCalls(tool: ListedTool, args: JsonObject): WrongCall[] {
  const { parameters } = tool;
  const replace = (kind: ErrorKind, { name }: Parameter, value: unknown): WrongCall => ({
    kind,
    arguments: { ...args, [name]: value },
  });
  const sent = parameters.filter(({ name }) => Object.hasOwn(args, name));
  const lists: Record<ErrorKind, WrongCall[]> = {
    missing: sent
      .filter(({ isRequired }) => isRequired)
      .map(({ name }) => ({
        kind: 'missing' as const,
        arguments: Object.fromEntries(Object.entries(args).filter(([key]) => key !== name)),
      })),
    type: parameters.flatMap((parameter) => {
      const wrong = findWrongType(parameter.schema);
      return wrong === undefined ? [] : [replace('type', parameter, wrong)];
    }),
    limit: parameters.flatMap((parameter) =>
      listCrossings(parameter.schema).map((value) => replace('limit', parameter, value)),
    ),
    unknown: sent.flatMap((parameter) =>
      listUnknown(parameter, tool, args[parameter.name]).map((value) => replace('unknown', parameter, value)),
    ),
  };
  const rounds = Array.from({ length: maxOfKind }, (_, index) =>
    errorKinds.flatMap((kind) => lists[kind].slice(index, index + 1)),
  );
  return rounds.flat();
}

/** Lists calls that lead a server which fetches what it is asked for to its own machine: a careful one refuses them. */
function listOwnAddresses({ parameters }: ListedTool, args: JsonObject): JsonObject[] {
  return parameters
    .filter(({ name }) => typeof args[name] === 'string' && namesOfAddresses.test(splitName(name).join(' ')))
    .map(({ name }) => ({ ...args, [name]: localUrl }));
}

/** Lists calls with a file where a directory worked, and the other way round. */
function listOtherKinds(tool: ListedTool, args: JsonObject, files: readonly string[]): JsonObject[] {
  const [file] = files;
  return tool.parameters.flatMap(({ name }) => {
    const sent = args[name];
    const role = findPathRole({ name, tool });
    if (file === undefined || typeof sent !== 'string' || role === null || role.isMade) return [];
    const start = sent.startsWith('{{workspace}}') ? '{{workspace}}/' : '';
    const other = role.isDirectory ? file : file.includes('/') ? file.slice(0, file.indexOf('/')) : '.';
    return [{ ...args, [name]: other === '.' && start !== '' ? '{{workspace}}' : `${start}${other}` }];
  });
}

/** Finds a value of a type that the schema does not allow; undefined if it allows any. */
function findWrongType(schema: JsonObject): unknown {
  const type = readType(schema);
  if (type === 'number' || type === 'integer' || type === 'boolean') return 'not-a-number';
  if (type === 'string') return 12;
  if (type === 'array') return 'not-a-list';
  return type === 'object' ? 'not-an-object' : undefined;
}

/** Lists values just beyond the limits of a schema. */
function listCrossings(schema: JsonObject): unknown[] {
  const { enum: members, minLength, maxLength, minItems, maxItems, pattern, format } = schema;
  if (Array.isArray(members)) return [unknownValues.text];
  const type = readType(schema);
  if (type === 'number' || type === 'integer') {
    const { least, most } = readLimits(schema, type === 'integer');
    return [
      ...(Number.isFinite(most) && most < 2 ** 53 - 1 ? [most + 1] : []),
      ...(Number.isFinite(least) && least > -(2 ** 53) + 1 ? [least - 1] : []),
    ];
  }
  if (type === 'string') {
    return [
      ...(typeof minLength === 'number' && minLength > 0 ? [''.padEnd(minLength - 1, 'a')] : []),
      ...(typeof maxLength === 'number' && maxLength < 10_000 ? [''.padEnd(maxLength + 1, 'a')] : []),
      ...(typeof pattern === 'string' || typeof format === 'string' ? ['\u00A7 no match'] : []),
    ];
  }
  if (type !== 'array') return [];
  const items = isRecord(schema['items']) ? schema['items'] : {};
  return [
    ...(typeof minItems === 'number' && minItems > 0 ? [[]] : []),
    ...(typeof maxItems === 'number' && maxItems < 100 ? [Array.from({ length: maxItems + 1 }, () => 'alpha')] : []),
    ...(Array.isArray(items['enum']) ? [[unknownValues.text]] : []),
  ];
}

const namesOfThings =
  /\b(?:id|identifier|key|slug|uuid|name|hash|branch|commit|revision|ref|table|entity|node|uri|timezone|zone|symbol)$/;

/** Lists values that name nothing: for a path, also one that leads out of the workspace. */
export function listUnknown(parameter: Parameter, tool: ListedTool, sent: unknown): unknown[] {
  const words = splitName(parameter.name).join(' ');
  const isPath = pathNames.test(words) || (typeof sent === 'string' && sent.startsWith('{{workspace}}'));
  const verb = readVerb(tool.name);
  if (isPath) {
    const isAbsolute = JSON.stringify(sent).includes('{{workspace}}');
    const outside = isAbsolute ? `{{outside}}/${fileCanary.name}` : `../outside/${fileCanary.name}`;
    const missing = isAbsolute ? `{{workspace}}/${unknownValues.path}` : unknownValues.path;
    // A path that a call makes need not be there.
    const isMade = findPathRole({ name: parameter.name, tool })?.isMade === true;
    return [...(isMade ? [] : [missing]), outside].map((path) => (Array.isArray(sent) ? [path] : path));
  }
  if (isRecord(sent) || (Array.isArray(sent) && isRecord(sent[0]))) {
    const replaced = replaceReference(sent, parameter.name, tool);
    return replaced === undefined ? [] : [replaced];
  }
  if (verb === 'create' || !namesOfThings.test(words) || Array.isArray(parameter.schema['enum'])) return [];
  if (typeof sent === 'number') return [unknownValues.number];
  if (typeof sent === 'string') return [unknownValues.text];
  return Array.isArray(sent) && typeof sent[0] === 'string' ? [[unknownValues.text]] : [];
}

/** Lets the first reference to another thing in an object, or in the first one of a list, name nothing; undefined if there is none. */
function replaceReference(sent: unknown, name: string, tool: ListedTool): unknown {
  if (Array.isArray(sent)) {
    const first = replaceReference(sent[0], name, tool);
    return first === undefined ? undefined : [first, ...(sent.slice(1) as unknown[])];
  }
  if (!isRecord(sent)) return undefined;
  const found = Object.entries(sent).find(([key, value]) => {
    const slot = { name: `${name} ${key}`, tool };
    return typeof value === 'string' && namesOfThings.test(splitName(key).join(' ')) && !namesNewThing(slot);
  });
  return found === undefined ? undefined : { ...sent, [found[0]]: unknownValues.text };
}
