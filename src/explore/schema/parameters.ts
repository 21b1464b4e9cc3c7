import { isRecord, type JsonObject } from '../../base/json.ts';
import { splitName } from '../vocabulary/names.ts';
import { listBranches, readType, resolveSchema } from './resolve.ts';

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

export const namesId = (name: string): boolean => splitName(name).at(-1) === 'id';

/** Checks if a call needs the id of something. */
export const isNeededId = ({ name, isRequired }: Pick<Parameter, 'name' | 'isRequired'>) => isRequired && namesId(name);

/** Checks if a schema says which texts it allows. */
export function isFixed({ enum: members, const: constant, format, pattern }: JsonObject): boolean {
  return [members, constant, format, pattern].some((keyword) => keyword !== undefined);
}

/** Checks if a parameter takes a text, and its schema does not say which ones. */
export const isOpenText = ({ schema }: Pick<Parameter, 'schema'>, root: JsonObject): boolean =>
  !isFixed(schema) && listBranches(schema, root).some((branch) => readType(branch) === 'string');

/** Checks if a parameter takes a list of texts, and its schema does not say which ones. */
export const isOpenList = ({ schema }: Pick<Parameter, 'schema'>, root: JsonObject): boolean =>
  listBranches(schema, root).some(
    ({ items }) => isRecord(items) && isOpenText({ schema: resolveSchema(items, root) }, root),
  );

const firstOfTwo = /^(?:from|source|src|base|input|in)\b/;
const secondOfTwo = /^(?:to|target|dst|dest|quote|output|out)\b/;

/** Finds the two texts of a conversion, such as `from_unit` and `to_unit`; null if a call has none. */
export function findTwins(parameters: readonly Parameter[]): readonly [Parameter, Parameter] | null {
  const read = ({ name }: Parameter) => splitName(name).join(' ');
  const isText = ({ schema }: Parameter) => readType(schema) === 'string' && !isFixed(schema);
  const first = parameters.find((each) => firstOfTwo.test(read(each)) && isText(each));
  const second = parameters.find((each) => secondOfTwo.test(read(each)) && isText(each));
  if (first === undefined || second === undefined) return null;
  const [left, right] = [read(first).replace(firstOfTwo, ''), read(second).replace(secondOfTwo, '')];
  return left === right && left !== '' ? [first, second] : null;
}

/** Writes a word of small letters that is the default in capitals; undefined for any other. */
export function writeInCapitals({ default: fallback, enum: members }: JsonObject): string | undefined {
  const isWord = typeof fallback === 'string' && members === undefined && /^[a-z][a-z\d-]+$/.test(fallback);
  return isWord ? fallback.toUpperCase() : undefined;
}
