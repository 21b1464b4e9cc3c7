import type { z } from 'zod';
import { readForm, type ValueForm } from './values.ts';

/** The commands that have options of the gate as flags. Three of them are also actions. */
export type CommandName =
  | 'run'
  | 'merge'
  | 'publish'
  | 'judge'
  | 'plan-runs'
  | 'init'
  | 'doctor'
  | 'tools'
  | 'surface'
  | 'hosts'
  | 'explore'
  | 'tunnel'
  | 'api'
  | 'sync';

/** The commands that start or reach servers, and the gate. */
export const serverCommands = ['run', 'init', 'doctor', 'tools', 'surface', 'hosts', 'explore', 'tunnel'] as const;

/** The commands that call a hosted service, and the gate. `pull` has the flags of `sync`. */
export const serviceCommands = ['run', 'tunnel', 'api', 'sync'] as const;

/**
 * A contradiction between an option and others. A condition is the name of an option, which holds if that is given, or `name: value`. Every
 * rule names one of `needs`, `excludes` and `isRequired`.
 */
export interface OptionRule {
  /** One of these has to hold if the option is given. */
  needs?: readonly string[];
  /** None of these may hold if the option is given. */
  excludes?: readonly string[];
  /** True if the option has to be given. */
  isRequired?: true;
  /** The value to which the rule applies. Default: every value that is not the default. */
  is?: string;
  /** The rule applies only if one of these holds. */
  when?: readonly string[];
  /** The rule does not apply if one of these holds. */
  unless?: readonly string[];
  /** The commands whose options are checked so. Default: all that have the option. */
  commands?: readonly CommandName[];
  code: string;
  /** Ends the sentence that the name of the option begins. `{found}` lists what it excludes; `{name}` is the value of that option. */
  message: string;
}

type OptionGroup =
  | 'What runs'
  | 'The server under test'
  | 'The eval service'
  | 'The verdict'
  | 'Baseline and history'
  | 'Reports'
  | 'GitHub';

/** Everything about an option. Flags, inputs, help, docs, secrets and contradictions are derived from it. */
export interface OptionDefinition<Schema extends z.ZodType = z.ZodType> {
  /** Parses the text of an input or a flag. It also knows if the option is a list or a secret. */
  schema: Schema;
  group: OptionGroup;
  /** The form of the value in the command's help, such as `<glob>`. Absent if the schema has one. */
  hint?: string;
  /**
   * Full sentences. The first is the help of the flag, and action.yml and the docs have all of them. Other options, and words of this one,
   * are in backticks.
   */
  text: string;
  /** The default text. Absent if absence has its own meaning. */
  default?: string;
  /** Finds the default among the texts of the other options. */
  implied?: (texts: Readonly<Record<string, string | undefined>>) => string;
  /** The expression that the runner fills in if the workflow sets nothing. The help leaves such an option out. */
  runnerDefault?: string;
  /** The variables that hold the value if no flag does. Every user of the machine can see flags. */
  variables?: readonly string[];
  /** The commands that have it as a flag, and the actions of the same names that have it as an input. Default: `run`. */
  commands?: readonly CommandName[];
  /** True if no action has it as an input. */
  isFlagOnly?: true;
  /** True if evals files have a key of the same name. */
  isEvalsKey?: true;
  /**
   * True if it decides how a case runs: the command that runs a case again has it. Options that choose cases, judge or report are not
   * repeated, and neither are secrets, which the variables of the options hold.
   */
  isRepeated?: true;
  /** The contradictions with other options. Those that do not fit are functions next to the options of the group. */
  rules?: readonly OptionRule[];
}

export type OptionDefinitions = Readonly<Record<string, OptionDefinition>>;

/** The values of options, by camel-case name. */
export type OptionValues<Definitions extends OptionDefinitions> = {
  -readonly [Key in keyof Definitions]: z.output<Definitions[Key]['schema']>;
};

/** An option as the command, the action and the docs show it. */
export interface OptionDescription extends Omit<OptionDefinition, 'text' | 'schema' | 'rules' | 'implied'> {
  /** The kebab-case name of the action's input and, after two dashes, of the command's flag. */
  name: string;
  /** The form of the value in the command's help: `<glob>`, or `[bool]` for a flag that is true without a value. */
  hint: string;
  /** One sentence for the command's help. */
  brief: string;
  /** Full sentences: effect, format, default and excluded options. */
  description: string;
  /** Empty if absence has its own meaning. */
  default: string;
  commands: readonly CommandName[];
  /** True if the value is a list. A repeated flag then adds a line. */
  isList?: true;
  /** True if the value is a secret, or a list of named secrets. */
  isSecret?: true;
  /** The location of the secret in the value, or in each line of it. */
  secret?: NonNullable<ValueForm['secret']>;
}

/** Returns `defineOption`, which defines an option of this group. */
export function openGroup(group: OptionGroup) {
  return <Schema extends z.ZodType>(definition: Omit<OptionDefinition<Schema>, 'group'>): OptionDefinition<Schema> => ({
    ...definition,
    group,
  });
}

/** Describes options, in the order of their definitions. */
export function describeOptions(definitions: OptionDefinitions): OptionDescription[] {
  const names = new Set(Object.keys(definitions).map(toOptionName));
  return Object.entries(definitions).map(([key, { schema, text, rules: _rules, implied: _implied, ...definition }]) => {
    const { unit: _unit, write: _write, ...form } = readForm(schema);
    const hint = definition.hint ?? form.hint;
    if (hint === undefined) throw new Error(`The option ${key} has no hint.`);
    return {
      default: '',
      commands: ['run'],
      ...definition,
      ...form,
      ...(form.secret !== undefined && { isSecret: true }),
      name: toOptionName(key),
      hint,
      brief: nameFlags(/^(?:`[^`]*`|[^`])*?\.(?=\s|$)/.exec(text)?.[0] ?? text, names, hint),
      description: text,
    };
  });
}

/** Writes options in a sentence as flags: `sandbox: off` becomes --sandbox off. A word of the option itself stays a word. */
function nameFlags(sentence: string, names: ReadonlySet<string>, hint: string): string {
  const words = new Set(hint.split(/[<>|]/));
  return sentence.replaceAll(/`([^`]*)`/g, (_, code: string) => {
    const [name = '', value] = code.split(': ');
    if (!names.has(name) || words.has(name)) return code;
    return value === undefined ? `--${name}` : `--${name} ${value}`;
  });
}

export function toOptionName(key: string): string {
  return key.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

export function toOptionKey(name: string): string {
  return name.replaceAll(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
