import { isCopyable, quoteShellWord } from '../base/shell.ts';
import { formatCount } from '../base/text.ts';
import type { CaseReport } from '../model/case-report.ts';
import type { Report } from '../model/report.ts';
import { repeatLabel } from './document/block.ts';
import { hasNotRun } from './wording.ts';

/** The name that the report has for evals that came as text and not in a file. */
const inlineFile = 'tests';

type RepeatedCase = Pick<CaseReport, 'suiteId' | 'id' | 'title'>;

/** Returns the command that runs only these cases, as they ran; null if no line can say it. */
export type DescribeRepeat = (...cases: readonly RepeatedCase[]) => string | null;

/** Prepares the commands that run cases of a report again: each is one line for a POSIX shell. */
export function createRepeats({ repeat, suites, cases }: Pick<Report, 'repeat' | 'suites' | 'cases'>): DescribeRepeat {
  const files = new Map(suites.map(({ id, file }) => [id, file]));
  const namesakes = Map.groupBy(cases, ({ suiteId, title }) => JSON.stringify([suiteId, title]));
  const name = ({ suiteId, id, title }: RepeatedCase) => {
    const isOnly = namesakes.get(JSON.stringify([suiteId, title]))?.length === 1;
    return [...(isOnly ? [title] : []), id].find(isSelectable) ?? null;
  };
  return (...wanted) => {
    const names = wanted.map(name);
    const evals = [...new Set(wanted.map(({ suiteId }) => files.get(suiteId) ?? null))];
    if (repeat === undefined || names.includes(null) || !evals.every((file) => file === null || isFileName(file))) {
      return null;
    }
    const inputs = evals.map((file) => (file === null ? '' : ` --evals ${quoteShellWord(file)}`)).join('');
    return `${repeat}${inputs} --cases ${quoteShellWord([...new Set(names)].join())}`;
  };
}

/** Describes how to run again what failed: all of it, or the worst cases if there are many. Null if no line can say it. */
export function describeRepeatOfFailed(
  report: Pick<Report, 'repeat' | 'suites' | 'cases'>,
): { label: string; command: string } | null {
  const failed = report.cases.filter((testCase) => testCase.outcome !== 'passed' && !hasNotRun(testCase));
  const worst = failed.slice(0, maxRepeated);
  const command = worst.length === 0 ? null : createRepeats(report)(...worst);
  if (command === null) return null;
  if (failed.length === 1) return { label: repeatLabel, command };
  const isAll = failed.length === worst.length;
  return { label: isAll ? 'Run them again' : `Run the first ${formatCount(worst.length, 'case')} again`, command };
}

/** As many as a reader looks into. */
const maxRepeated = 5;

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
