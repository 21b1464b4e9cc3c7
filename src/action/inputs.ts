import { basename } from 'node:path';
import { getInput } from '@actions/core';
import { ConfigurationError, type ConfigurationIssue } from '../base/errors.ts';
import { findCommandFlags, listCommandFlags, listInputs, reportInputs, type Surface } from '../gate/options/list.ts';

/** The inputs that the workflow gives an action. */
export interface ActionInputs {
  /** The options by name, as they were written. */
  texts: Record<string, string>;
  /** The problems that are found before any option is read. */
  issues: ConfigurationIssue[];
}

/** Reads which of the three actions this is from the name of the file that the runner starts. */
export function readActionName(script = process.argv[1] ?? ''): Surface {
  const name = basename(script).replace(/\.[jt]s$/, '');
  return name === 'merge' || name === 'publish' ? name : 'run';
}

/** Reads every input of an action. The runner also passes undeclared inputs, so that inputs that were moved can be reported. */
export function readInputs(action: Surface): ActionInputs {
  const texts = Object.fromEntries(listInputs(action).map(({ name }) => [name, readInput(name)]));
  if (action === 'run') {
    const foreign = Object.fromEntries(listCommandFlags().map(({ name }) => [name, readInput(name)]));
    return { texts, issues: findCommandFlags(foreign) };
  }
  const input = reportInputs[action];
  const reports = readInput(input);
  if (reports.trim() !== '') return { texts: { ...texts, [action]: reports }, issues: [] };
  const what = action === 'merge' ? 'the directory that holds those of all shards' : 'a report.json, or its directory';
  return { texts, issues: [{ input, code: `missing-${input}`, message: `names no reports; give ${what}` }] };
}

/** Replaces the names of options in an error by the names of the action's inputs. */
export function nameInputs(error: ConfigurationError): ConfigurationError {
  const named: Readonly<Record<string, string>> = reportInputs;
  const issues = error.issues.map((issue) =>
    issue.input === undefined ? issue : { ...issue, input: named[issue.input] ?? issue.input },
  );
  return new ConfigurationError(issues, { cause: error });
}

function readInput(name: string): string {
  return getInput(name, { trimWhitespace: false });
}
