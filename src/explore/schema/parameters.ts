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

/** Names the optional parameters that turn something on. */
export function listSwitches(parameters: readonly Parameter[]): string[] {
  return parameters
    .filter(({ isRequired, schema }) => !isRequired && readType(schema) === 'boolean')
    .map(({ name }) => name);
}

/** Checks if a call needs the id of something. */
export const isNeededId = ({ name, isRequired }: Pick<Parameter, 'name' | 'isRequired'>) =>
  isRequired && splitName(name).at(-1) === 'id';
