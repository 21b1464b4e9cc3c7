import type { ConfigurationIssue } from '../../base/errors.ts';
import { linkPage } from '../../base/version.ts';
import type { CommandName, OptionDescription } from './define-option.ts';
import { gateOptions } from './schema.ts';

/** The actions, and the commands with the same names. */
export type Surface = 'run' | 'merge' | 'publish';

/** Describes every option, in the order of the documentation. */
export function listOptions(): OptionDescription[] {
  return [...gateOptions.options];
}

/** Lists the options that a command has as flags. `merge` and `publish` take the reports as arguments. */
export function listFlags(command: CommandName, options = gateOptions.options): OptionDescription[] {
  return options.filter(({ commands }) => commands.includes(command));
}

/** Lists the options that an action has as inputs. The reports of `merge` and `publish` have other input names. */
export function listInputs(action: Surface, options = gateOptions.options): OptionDescription[] {
  return listFlags(action, options).filter(({ isFlagOnly }) => isFlagOnly !== true);
}

/** The input that replaces the option `merge` or `publish` in the action of that name. */
export const reportInputs = { merge: 'reports', publish: 'report' } as const;

/** Lists the flags of the command `run` that are not inputs of the action. */
export function listCommandFlags(options = gateOptions.options): OptionDescription[] {
  return listFlags('run', options).filter(({ isFlagOnly }) => isFlagOnly === true);
}

/** Finds inputs of the action `run` that only the command has as flags, and says where to set them. */
export function findCommandFlags(
  texts: Readonly<Record<string, string>>,
  options = gateOptions.options,
): ConfigurationIssue[] {
  return listCommandFlags(options).flatMap(({ name, isEvalsKey }) => {
    if ((texts[name] ?? '').trim() === '') return [];
    const key = isEvalsKey === true ? `write the key \`${name}\` in the evals file, or ` : '';
    const advice = `${key}run the command with \`--${name}\` (${linkPage('inputs.md#flags-of-the-command')})`;
    return [{ input: name, code: commandFlagCode, message: `is no input of the action; ${advice}` }];
  });
}

/** The code of an issue after which the other options are still checked. */
export const commandFlagCode = 'command-flag';
