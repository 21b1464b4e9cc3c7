import { z } from 'zod';
import { ConfigurationError, type ConfigurationIssue } from '../../base/errors.ts';
import {
  type CommandName,
  describeOptions,
  type OptionDefinitions,
  type OptionDescription,
  type OptionValues,
  toOptionName,
} from './define-option.ts';
import { findBrokenRules } from './rules.ts';

/** Contradictions that are no rules of an option, by the option that they are about. */
export type OptionChecks<Definitions extends OptionDefinitions> = {
  [Key in keyof Definitions]?: (values: OptionValues<Definitions>) => ConfigurationIssue[];
};

export interface OptionTable<Definitions extends OptionDefinitions> {
  definitions: Definitions;
  checks: OptionChecks<Definitions>;
  /** In the order of the documentation. */
  options: readonly OptionDescription[];
}

export function createOptionTable<Definitions extends OptionDefinitions>(
  definitions: Definitions,
  checks: OptionChecks<Definitions> = {},
): OptionTable<Definitions> {
  return { definitions, checks, options: describeOptions(definitions) };
}

/** Parses texts by the names of options. An absent or blank text means the default. */
export function readValues<Definitions extends OptionDefinitions>(
  { definitions }: OptionTable<Definitions>,
  texts: Readonly<Record<string, string | undefined>>,
): { values: OptionValues<Definitions> | null; issues: ConfigurationIssue[] } {
  const issues: ConfigurationIssue[] = [];
  const entries = Object.entries(definitions).map(([key, { schema, default: fallback = '', implied }]) => {
    const input = toOptionName(key);
    const given = texts[input] ?? '';
    const parsed = schema.safeParse(given.trim() === '' ? (implied?.(texts) ?? fallback) : given);
    for (const { message } of parsed.error?.issues ?? []) issues.push({ input, code: `bad-${input}`, message });
    return [key, parsed.data];
  });
  if (issues.length > 0) return { values: null, issues };
  return { values: z.custom<OptionValues<Definitions>>().parse(Object.fromEntries(entries)), issues };
}

/**
 * Reads the options of a command, and finds those that contradict each other.
 *
 * @throws {ConfigurationError} with every problem of every option.
 */
export function parseOptions<Definitions extends OptionDefinitions>(
  table: OptionTable<Definitions>,
  texts: Readonly<Record<string, string | undefined>>,
  chooseCommand: (values: OptionValues<Definitions>) => CommandName,
): OptionValues<Definitions> {
  const { values, issues } = readValues(table, texts);
  if (values === null) throw new ConfigurationError(issues);
  const found = findContradictions(table, values, chooseCommand(values));
  if (found.length > 0) throw new ConfigurationError(found);
  return values;
}

function findContradictions<Definitions extends OptionDefinitions>(
  { definitions, checks }: OptionTable<Definitions>,
  values: OptionValues<Definitions>,
  command: CommandName,
): ConfigurationIssue[] {
  return Object.entries(definitions).flatMap(([key, { commands = ['run'] }]) => {
    // An option that the gate does not have says which reports to read, and is checked with every command.
    if (!commands.includes(command) && commands.includes('run')) return [];
    return [...findBrokenRules(key, { definitions, values, command }), ...(checks[key]?.(values) ?? [])];
  });
}
