import { isCopyable, quoteShellWord } from '../base/shell.ts';
import type { CaseReport } from '../model/case-report.ts';
import type { Report } from '../model/report.ts';

/** The name that the report has for evals that came as text and not in a file. */
const inlineFile = 'tests';

/** Returns the command that runs only this case, as it ran; null if no line can say it. */
export type DescribeRepeat = (testCase: Pick<CaseReport, 'suiteId' | 'id' | 'title'>) => string | null;

/** Prepares the commands that run single cases of a report: each is one line for a POSIX shell. */
export function createRepeats({ repeat, suites, cases }: Pick<Report, 'repeat' | 'suites' | 'cases'>): DescribeRepeat {
  const files = new Map(suites.map(({ id, file }) => [id, file]));
  const namesakes = Map.groupBy(cases, ({ suiteId, title }) => JSON.stringify([suiteId, title]));
  return ({ suiteId, id, title }) => {
    const file = files.get(suiteId) ?? null;
    if (repeat === undefined || (file !== null && !isFileName(file))) return null;
    const isOnly = namesakes.get(JSON.stringify([suiteId, title]))?.length === 1;
    const name = [...(isOnly ? [title] : []), id].find(isSelectable);
    if (name === undefined) return null;
    const evals = file === null ? '' : ` --evals ${quoteShellWord(file)}`;
    return `${repeat}${evals} --cases ${quoteShellWord(name)}`;
  };
}

/** Checks if `--evals` finds this file and no other. */
function isFileName(file: string): boolean {
  return file !== inlineFile && !/^-|[*?[\]{}!]/.test(file) && isCopyable(file);
}

/** Checks if `--cases` selects this name and no other: it separates names by commas, and a star stands for any text. */
function isSelectable(name: string): boolean {
  return name !== '' && name === name.trim() && !/^-|[,*]/.test(name) && isCopyable(name);
}

/** Returns the command that makes the first call of a failed case again with the MCP Inspector; null if no line can say it. */
export function describeInspection(
  { failures }: Pick<CaseReport, 'failures'>,
  { inspection }: Pick<Report, 'inspection'>,
): string | null {
  const call = failures.find(({ actualToolCalls }) => actualToolCalls.length > 0)?.actualToolCalls[0];
  if (inspection === undefined) return null;
  if (call === undefined) return `${inspection} --method tools/list`;
  const values = Object.entries(call.arguments ?? {}).map(
    ([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
  );
  const words = [call.toolName, ...values];
  if (!words.every((word) => isCopyable(word) && !word.startsWith('-'))) return null;
  const args = values.map((value) => ` --tool-arg ${quoteShellWord(value)}`).join('');
  const command = `${inspection} --method tools/call --tool-name ${quoteShellWord(call.toolName)}${args}`;
  return command.length > maxInspection ? null : command;
}

/** Longer lines help no one. */
const maxInspection = 1000;
