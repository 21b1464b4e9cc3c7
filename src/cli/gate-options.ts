import { type Command, Option } from 'commander';
import { type OptionDescription, toOptionKey } from '../gate/options/define-option.ts';
import { gateOptions } from '../gate/options/schema.ts';

/** Adds options of the gate to a command, as flags with the same names. */
export function addGateOptions(command: Command, options: readonly OptionDescription[]): void {
  for (const described of options) {
    const { group, isList, runnerDefault } = described;
    const option = createFlag(described)
      // A repeated list flag adds a line, as in the action's inputs. The last value of any other flag applies.
      .argParser((value: string, earlier: string | undefined) =>
        isList !== true || earlier === undefined ? value : `${earlier}\n${value}`,
      )
      .helpGroup(`${group}:`);
    // Hides options that the runner fills in, because people need not set them.
    command.addOption(option.hideHelp(runnerDefault !== undefined));
  }
}

/** Creates the flag of an option: its help, with the default and the variables for secrets. */
export function createFlag({ name, hint, brief, isList, variables, default: fallback }: OptionDescription): Option {
  const text = [
    variables === undefined ? brief : `${brief.slice(0, -1)}; better given in the variable ${variables.join(' or ')}.`,
    ...(isList === true ? ['May be given again.'] : []),
    ...(fallback === '' ? [] : [`[${fallback}]`]),
  ];
  return new Option(`--${name} ${hint}`, text.join(' '));
}

/**
 * Reads the flags of a command into the texts of the gate's options. Absent flags are empty. Variables give secrets, also to options that
 * the command does not have as flags.
 */
export function readGateFlags(
  flags: Readonly<Record<string, unknown>>,
  environment: Readonly<Record<string, string | undefined>>,
  options: readonly OptionDescription[],
  known: readonly OptionDescription[] = gateOptions.options,
): Record<string, string> {
  const texts = Object.fromEntries(
    options.map(({ name }) => {
      const value = flags[toOptionKey(name)];
      return [name, typeof value === 'string' ? value : ''];
    }),
  );
  for (const { name, variables = [] } of known) {
    if (variables.length === 0) continue;
    texts[name] ||= variables.map((variable) => environment[variable]).find((value) => value) ?? '';
  }
  return texts;
}
