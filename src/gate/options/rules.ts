import type { ConfigurationIssue } from '../../base/errors.ts';
import { isRecord } from '../../base/json.ts';
import {
  type CommandName,
  type OptionDefinition,
  type OptionRule,
  toOptionKey,
  toOptionName,
} from './define-option.ts';

type Values = Readonly<Record<string, unknown>>;

/** Finds the rules of an option that its value breaks. */
export function findBrokenRules(
  key: string,
  {
    definitions,
    values,
    command,
  }: { definitions: Readonly<Record<string, OptionDefinition>>; values: Values; command: CommandName },
): ConfigurationIssue[] {
  const isGiven = (each: string) => {
    const { schema, default: fallback = '' } = definitions[each] ?? {};
    return isSet(values[each], schema?.safeParse(fallback).data);
  };
  const holds = (condition: string) => {
    const [name = '', word] = condition.split(': ');
    const each = toOptionKey(name);
    return word === undefined ? isGiven(each) : hasWord(values[each], word);
  };
  const isBroken = ({ needs, excludes, isRequired, is, when, unless, commands }: OptionRule) => {
    const isOther = commands !== undefined && !commands.includes(command);
    if (isOther || when?.some(holds) === false || unless?.some(holds) === true) return false;
    if (isRequired === true) return !isGiven(key);
    if (is === undefined ? !isGiven(key) : values[key] !== is) return false;
    return needs?.some(holds) === false || excludes?.some(holds) === true;
  };
  const write = ({ message, excludes = [] }: OptionRule) =>
    message.replaceAll(/\{([a-z-]+)\}/g, (_, name: string) =>
      name === 'found' ? listNames(excludes.filter(holds)) : String(values[toOptionKey(name)]),
    );
  const { rules = [] } = definitions[key] ?? {};
  return rules.filter(isBroken).map((rule) => ({ input: toOptionName(key), code: rule.code, message: write(rule) }));
}

/** Checks if a value was given: it is not empty, and not the default. */
function isSet(value: unknown, fallback: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0;
  if (value instanceof Map) return value.size > 0;
  return value !== null && value !== undefined && value !== fallback;
}

/** Checks if a value is this word, or an object in which the field of the word is set: `isGit` of `git`, `checkRun` of `check-run`. */
function hasWord(value: unknown, word: string): boolean {
  if (!isRecord(value)) return String(value) === word;
  const field = toOptionKey(word);
  return value[field] === true || value[toOptionKey(`is-${word}`)] === true;
}

function listNames(conditions: readonly string[]): string {
  return conditions.map((condition) => `\`${condition}\``).join(', ');
}
