import type { ConfigurationIssue } from '../../base/errors.ts';

/** Who reads options: one of the three actions, or a command of the same name. */
export type Surface = 'run' | 'merge' | 'publish';

/** Flags of the command that the actions do not take as inputs. */
const flagsOnly: ReadonlySet<string> = new Set([
  'base-ref',
  'base-server-cwd',
  'branch',
  'cases',
  'commit',
  'concurrency',
  'dry-run',
  'environment',
  'protocol',
  'queue-timeout',
  'server-name',
  'suite-scope',
  'tunnel',
]);

/** What joins reports takes, in the action `merge` and the command `merge`. */
const mergeOptions: ReadonlySet<string> = new Set([
  'min-pass-rate',
  'policy',
  'policy-ref',
  'baseline',
  'history-path',
  'report-dir',
  'report-formats',
  'report-to',
  'comment-id',
  'github-token',
]);

/** What comments on a report takes, in the action `publish` and the command `publish`. */
const publishOptions: ReadonlySet<string> = new Set([
  'pull-number',
  'min-pass-rate',
  'policy',
  'report-to',
  'comment-id',
  'github-token',
]);

/** Options whose values are reports to read; a command takes them as arguments. */
const readers: ReadonlySet<string> = new Set(['merge', 'publish', 'pull-number']);

/** Whether a command has the option as a flag. */
export function isFlagOf(command: Surface, name: string): boolean {
  if (command === 'merge') return mergeOptions.has(name);
  if (command === 'publish') return publishOptions.has(name);
  return !readers.has(name);
}

/** Whether an action has the option as an input. The reports that `merge` and `publish` read have inputs of their own. */
export function isInputOf(action: Surface, name: string): boolean {
  return isFlagOf(action, name) && !flagsOnly.has(name);
}

/** The input of an action that takes the value of `merge` or `publish`. */
export const reportInputs = { merge: 'reports', publish: 'report' } as const;

const suiteKeys: Readonly<Record<string, string>> = {
  concurrency: 'write the key `concurrency` in the evals file, or ',
  protocol: 'write the key `protocol` in the evals file, or ',
};

/** Lists the flags of the command `run` that are no inputs of the action. */
export function listCommandFlags(): string[] {
  return [...flagsOnly];
}

/** Finds inputs of the action `run` that are flags of the command alone, and says where each belongs. */
export function findCommandFlags(texts: Readonly<Record<string, string>>): ConfigurationIssue[] {
  return listCommandFlags().flatMap((name) => {
    if ((texts[name] ?? '').trim() === '') return [];
    const advice = `${suiteKeys[name] ?? ''}run the command with \`--${name}\` (docs/inputs.md#flags-of-the-command)`;
    return [{ input: name, code: commandFlagCode, message: `is no input of the action; ${advice}` }];
  });
}

/** The code of an issue next to which the other options are still worth reading. */
export const commandFlagCode = 'command-flag';
