import { isRecord, type JsonObject } from '../../base/json.ts';
import { splitName } from '../vocabulary/names.ts';
import { readType, resolveSchema } from './resolve.ts';

/** A property of the arguments of a tool. */
export interface Parameter {
  name: string;
  isRequired: boolean;
  schema: JsonObject;
  description: string;
}

/** Lists the properties that an input schema names, in its order. */
export function listParameters(inputSchema: JsonObject): Parameter[] {
  return listProperties(resolveSchema(inputSchema, inputSchema), inputSchema);
}

/** Lists the properties of a resolved schema of an object; `root` resolves their references. */
export function listProperties(schema: JsonObject, root: JsonObject): Parameter[] {
  const properties = isRecord(schema['properties']) ? schema['properties'] : {};
  const required: unknown[] = Array.isArray(schema['required']) ? schema['required'] : [];
  return Object.entries(properties).map(([name, written]) => {
    const property = resolveSchema(written, root);
    const { description } = property;
    return {
      name,
      isRequired: required.includes(name),
      schema: property,
      description: typeof description === 'string' ? description : '',
    };
  });
}

/** Checks if arguments give a parameter a value. Null for an optional one says the same as nothing. */
export const isGiven = ({ name, isRequired }: Pick<Parameter, 'name' | 'isRequired'>, args: JsonObject): boolean =>
  Object.hasOwn(args, name) && (isRequired || args[name] !== null);

/** With fewer tools, a parameter that most of them need may be what each is about. */
const leastTools = 4;

/** Names of what holds the things that tools are about. */
const namesOfPlaces = /\b(?:repo|repository|root|cwd|workdir|directory|dir|folder|project|workspace|db|database)\b/;

/** Names the parameters that nearly all tools need to find what holds their things, such as the path of a repository. */
export function listPlaces(tools: ReadonlyArray<{ parameters: readonly Parameter[] }>): Set<string> {
  const needed = tools.flatMap(({ parameters }) =>
    parameters.filter(({ isRequired }) => isRequired).map(({ name }) => name),
  );
  const isPlace = (name: string) =>
    namesOfPlaces.test(splitName(name).join(' ')) &&
    needed.filter((other) => other === name).length >= 0.75 * tools.length;
  return new Set(tools.length < leastTools ? [] : needed.filter(isPlace));
}

/** Names the optional parameters that turn something on. */
export function listSwitches(parameters: readonly Parameter[]): string[] {
  return parameters
    .filter(({ isRequired, schema }) => !isRequired && readType(schema) === 'boolean')
    .map(({ name }) => name);
}

/** Checks if a call needs the id of something. */
export const isNeededId = ({ name, isRequired }: Pick<Parameter, 'name' | 'isRequired'>) =>
  isRequired && splitName(name).at(-1) === 'id';
