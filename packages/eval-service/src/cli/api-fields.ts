import { ConfigurationError, type ConfigurationIssue, describeError } from '../../../../src/base/errors.ts';
import { readTextFile } from '../../../../src/base/files.ts';
import { isRecord } from '../../../../src/base/json.ts';
import { nameFlag } from '../../../../src/cli/field-flag.ts';
import { listFields, listTypes, nameType, type OperationField } from '../../../../src/service/operations/fields.ts';
import type { Operation } from '../../../../src/service/operations/operation.ts';
import { findNearest } from '../../../../src/suite/findings.ts';

/** Reads the text of a file that a field names. */
type ReadFile = (path: string) => Promise<string>;

/**
 * Reads the words after an operation as its fields: `--name value`, `--name=value`, or `--name` alone for true. A list takes its flag once
 * per item. A value other than text, number or boolean is JSON, or `@file` for a file with JSON. `--body` sets several fields of the
 * body at once; flags take precedence.
 *
 * @throws {ConfigurationError} with every wrong word, and the nearest known field for an unknown one
 */
export async function readFields(
  operation: Operation,
  words: readonly string[],
  { preset = {}, read = readTextFile }: { preset?: Record<string, unknown>; read?: ReadFile } = {},
): Promise<Record<string, unknown>> {
  const known = listFields(operation);
  const issues: ConfigurationIssue[] = [];
  const fields: Record<string, unknown> = {};
  let whole: Record<string, unknown> = {};
  for (const { flag, text } of splitWords(words, known, issues)) {
    const field = findField(known, flag);
    try {
      if (field !== undefined)
        fields[field.name] = addValue(fields[field.name], await readValue(field, text, read), field);
      else if (flag === '--body') whole = requireObject(await readJson(text ?? '', read));
      else issues.push(refuseFlag(operation, flag, known));
    } catch (error) {
      issues.push({ input: flag, code: 'bad-value', message: describeError(error) });
    }
  }
  const given = { ...preset, ...whole, ...fields };
  // If some words are wrong, a missing field may be among them.
  const isWrong = issues.length > 0;
  for (const { name, isRequired } of known) {
    if (isWrong || !isRequired || given[name] !== undefined) continue;
    issues.push({ input: nameFlag(name), code: 'missing-field', message: `is required for ${operation.name}` });
  }
  if (issues.length > 0) throw new ConfigurationError(issues);
  return given;
}

interface Flag {
  flag: string;
  /** Undefined if no word follows the flag. */
  text: string | undefined;
}

/** Splits the words into flags with their values. A boolean flag takes the next word only if it is true or false. */
function splitWords(words: readonly string[], known: readonly OperationField[], issues: ConfigurationIssue[]): Flag[] {
  const flags: Flag[] = [];
  for (let index = 0; index < words.length; index += 1) {
    const word = words[index] ?? '';
    const next = words[index + 1];
    if (!word.startsWith('--')) {
      issues.push({ input: JSON.stringify(word), code: 'stray-word', message: 'is behind no flag' });
    } else if (word.includes('=')) {
      const at = word.indexOf('=');
      flags.push({ flag: word.slice(0, at), text: word.slice(at + 1) });
    } else {
      const field = findField(known, word);
      const isSwitch = field !== undefined && nameType(field.schema) === 'true|false';
      const takesNext = next !== undefined && (isSwitch ? /^(?:true|false)$/.test(next) : !next.startsWith('--'));
      flags.push({ flag: word, text: takesNext ? next : undefined });
      if (takesNext) index += 1;
    }
  }
  return flags;
}

/** Finds a field by its flag. The API's own spelling of the name is also accepted. */
function findField(known: readonly OperationField[], flag: string): OperationField | undefined {
  return known.find(({ name }) => flag === nameFlag(name) || flag === `--${name}`);
}

function refuseFlag({ name }: Operation, flag: string, known: readonly OperationField[]): ConfigurationIssue {
  const flags = known.map((field) => nameFlag(field.name));
  const nearest = findNearest(flag, flags);
  const list = flags.length === 0 ? `${name} has no fields` : `its fields are ${flags.join(', ')}`;
  const remedy = nearest === undefined ? list : `did you mean ${nearest}?`;
  return { input: flag, code: 'unknown-field', message: `is no field of ${name}; ${remedy}` };
}

async function readValue({ schema }: OperationField, text: string | undefined, read: ReadFile): Promise<unknown> {
  const types = listTypes(schema);
  if (text === undefined) {
    if (types.includes('boolean')) return true;
    throw new Error('needs a value');
  }
  if (text === 'null' && types.includes('null')) return null;
  const [type, ...others] = types.filter((each) => each !== 'null');
  if (type === 'string' && others.length === 0) return text;
  if (type === 'boolean' && others.length === 0) {
    if (text === 'true' || text === 'false') return text === 'true';
    throw new Error('is true or false');
  }
  if ((type === 'number' || type === 'integer') && others.length === 0) {
    const value = Number(text);
    if (text.trim() !== '' && Number.isFinite(value)) return value;
    throw new Error(`is a number, not ${JSON.stringify(text)}`);
  }
  if (nameType(schema) === 'list of text' && !text.startsWith('[') && !text.startsWith('@')) return text;
  const mayBeText = types.length === 0 || types.includes('string');
  return mayBeText && !/^[@[{"\d-]|^(?:true|false|null)$/.test(text) ? text : await readJson(text, read);
}

/** Adds the value of a flag to the list so far: one item, or several. */
function addValue(before: unknown, value: unknown, { schema }: OperationField): unknown {
  if (value === null || !listTypes(schema).includes('array')) return value;
  const isItem = !Array.isArray(value);
  // If the field takes a string or a list, a string is the whole value.
  if (isItem && typeof value !== 'object' && nameType(schema) === 'JSON') return value;
  return [...(Array.isArray(before) ? before : []), ...(isItem ? [value] : value)];
}

async function readJson(text: string, read: ReadFile): Promise<unknown> {
  const source = text.startsWith('@') ? await read(text.slice(1)) : text;
  try {
    return JSON.parse(source);
  } catch (error) {
    const where = text.startsWith('@')
      ? `the file ${text.slice(1)} holds no JSON`
      : 'is JSON, or @file with JSON in it';
    throw new Error(`${where}: ${describeError(error)}`, { cause: error });
  }
}

function requireObject(value: unknown): Record<string, unknown> {
  if (isRecord(value)) return { ...value };
  throw new Error('is a JSON object');
}
