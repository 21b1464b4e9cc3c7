import type { JsonObject } from '../base/json.ts';
import { countByClass, countByTool } from './count-changes.ts';
import type { Strength } from './measure-strength.ts';

/** Checks to add after a step of a file, and the lines of the assertions that they replace. */
interface PrintedSuggestion {
  file: string;
  line: number;
  title: string;
  add: readonly JsonObject[];
  removedLines: readonly number[];
}

/** A step to add before and after a step of a file, because no case reads what it changes. */
interface PrintedReading {
  file: string;
  line: number;
  title: string;
  step: JsonObject;
}

/** Prints a strength as JSON, with the counts by tool and class, and the checks that raise it. */
export function printStrengthJson(
  { harmful, harmless, unknown, cases, leftOut, changes }: Strength,
  { suggestions, readings }: { suggestions: readonly PrintedSuggestion[]; readings: readonly PrintedReading[] },
): string {
  const value = {
    version: 1,
    harmful,
    harmless,
    unknown,
    cases,
    tools: countByTool(changes),
    classes: countByClass(changes),
    leftOut,
    suggestions,
    readings,
    changes: changes.map(({ observation: _observation, answers: _answers, ...change }) => change),
  };
  return `${JSON.stringify(value, null, 2)}\n`;
}
