import { cutTrace } from '../base/stack-traces.ts';
import { clipLines, readFirstLine } from '../base/text.ts';
import type { CaseReport, IterationFailure } from '../model/case-report.ts';
import type { Difference } from '../model/difference.ts';
import type { SourceFrame } from '../model/source-frame.ts';
import { lastLinesHeading } from '../model/process-end.ts';
import { listDifferences, signs, signsLabel } from './differences.ts';
import { truncateText } from './truncate.ts';
import { describeToolCall } from './wording.ts';

/** The iterations of one case that failed in the same way, listed once. */
export interface FailureGroup {
  /** `Iteration 2, step 3 (assert)`, or `Iterations 1, 2, 4`. */
  heading: string;
  /** The failure, then the calls of a case without expected calls; lines of foreign text, not escaped. */
  lines: string[];
  /** What the server wrote last, as foreign text; empty if it is not known, or printed already. */
  output: string[];
  /** What differs, as foreign text. */
  differences: Difference[];
  /** The line of the server that its stack trace names, as foreign text; null if none does. */
  source: SourceFrame | null;
}

/** Introduces the line of the server's code. */
export const sourceLabel = 'The server failed at';

/** Lists the lines of code around a line of the server, each with its number, the line itself marked. */
export function listCode({ line, first, code }: SourceFrame): string[] {
  const width = String(first + code.length - 1).length;
  return code.map((text, index) => {
    const number = first + index;
    return `${number === line ? '>' : ' '} ${String(number).padStart(width)} | ${text}`.trimEnd();
  });
}

const maxReasons = 5;
const maxReasonLength = 1000;
const maxTitleLength = 120;
/** Limits the lines below a reason: the last output of a server has at most so many characters. */
const maxOutputLength = 4200;
const maxToolCallLength = 300;
const maxToolCalls = 5;

/** The output of server processes that a text shows already, each with its location. Two that differ in numbers only have one key. */
export type PrintedOutput = Map<string, { output: string; place: string }>;

/** Notes that a text shows an output at a location. Returns the location at which the text has it already; null if it has not. */
export function notePrinted(printed: PrintedOutput, lines: readonly string[], place: string): string | null {
  const output = lines.join('\n');
  // The ids of processes, ports and times are others in each crash.
  const key = output.replaceAll(/\d+/g, '0');
  const known = printed.get(key);
  if (known === undefined) {
    printed.set(key, { output, place });
    return null;
  }
  return known.output === output ? known.place : `${known.place}, but for numbers`;
}

/**
 * Groups the kept failures of a case by the failed step and the reasons, in order of appearance. Shows the last output of a process only in
 * the first group, unless `printed` has it; adds it there, and other groups name its location.
 */
export function groupFailures(
  { failures, title }: Pick<CaseReport, 'failures' | 'title'>,
  printed: PrintedOutput = new Map(),
): FailureGroup[] {
  const place = `under ${JSON.stringify(truncateText(title, maxTitleLength))}`;
  const groups = Map.groupBy(failures, ({ step, reasons, result }) => JSON.stringify([step, reasons, result]));
  return [...groups.values()].flatMap((members) => {
    const [example] = members;
    if (example === undefined) return [];
    const { reasons, output } = listReasons(example, { printed, place });
    const lines = [...reasons, ...listToolCalls(example)];
    const { source = null } = example;
    const differences = listDifferences(example);
    return [{ heading: describeMembers(members, example), lines, output, differences, source }];
  });
}

/** Describes the kept failures of a case as text, each below its heading. */
export function describeFailures(testCase: Pick<CaseReport, 'failures' | 'title'>): string {
  return groupFailures(testCase)
    .flatMap(({ heading, lines, output, differences, source }) => [
      heading,
      ...[
        ...lines,
        ...(output.length === 0 ? [] : [lastLinesHeading, ...output]),
        ...describeSource(source),
        ...differences.flatMap(describeDifference),
      ].map((line) => `  ${line}`),
    ])
    .join('\n');
}

function describeSource(source: SourceFrame | null): string[] {
  return source === null ? [] : [`${sourceLabel} ${source.file}:${source.line}`, ...listCode(source)];
}

function describeDifference({ what, lines }: Difference): string[] {
  return [`${what} (${signsLabel}):`, ...lines.map(({ side, text }) => `${signs[side]} ${text}`)];
}

/** Counts the failed iterations of the case without kept evidence. */
export function countOmittedFailures({ failed, failures }: CaseReport): number {
  return Math.max(0, failed - failures.length);
}

function describeMembers(members: readonly IterationFailure[], { step }: IterationFailure): string {
  const names = members.map(({ iterationNumber, iterationId }) => String(iterationNumber ?? iterationId));
  const iterations = `Iteration${names.length === 1 ? '' : 's'} ${names.join(', ')}`;
  const heading = step === null ? iterations : `${iterations}, step ${step.index + 1} (${step.kind})`;
  return truncateText(heading, maxReasonLength);
}

function listReasons(
  { reasons, source }: IterationFailure,
  { printed, place }: { printed: PrintedOutput; place: string },
): { reasons: string[]; output: string[] } {
  const all = reasons.slice(0, maxReasons).map((reason) => {
    const { words, output } = splitReason(reason);
    // The line of the server says what the quoted part of its trace would.
    const first = source === undefined ? readFirstLine(words) : cutTrace(readFirstLine(words));
    const others = splitLines(words).slice(1);
    const known = output.length === 0 ? null : notePrinted(printed, output, place);
    return {
      lines: [
        truncateText(first, maxReasonLength, { keepsEnd: true }),
        ...clipLines(others, maxOutputLength),
        ...(known === null ? [] : [`Its last lines on stderr are those above, ${known}.`]),
      ],
      // Its end matters most.
      output: known === null ? clipLines(output, maxOutputLength) : [],
    };
  });
  return { reasons: all.flatMap(({ lines }) => lines), output: all.flatMap(({ output }) => output) };
}

/** Splits a reason into its words and the last output of a process below them. */
export function splitReason(reason: string): { words: string; output: string[] } {
  const lines = splitLines(reason);
  const at = lines.indexOf(lastLinesHeading, 1);
  return at === -1
    ? { words: reason, output: [] }
    : { words: lines.slice(0, at).join('\n'), output: lines.slice(at + 1) };
}

const splitLines = (text: string) => text.split(/\r\n|\r|\n/);

/** Lists the actual calls. Those of a prompt with expected calls are in a comparison, unless they are as expected. */
function listToolCalls(failure: IterationFailure): string[] {
  const { expectedToolCalls: expected, actualToolCalls: calls, result } = failure;
  if (calls.length === 0) return expected.length > 0 && result !== 'unscored' ? ['called    nothing'] : [];
  if (expected.length > 0 && result !== 'unscored') return [];
  return [
    ...calls
      .slice(0, maxToolCalls)
      .map((call) => `called    ${truncateText(describeToolCall(call), maxToolCallLength)}`),
    ...(calls.length > maxToolCalls ? [`called    and ${calls.length - maxToolCalls} more`] : []),
  ];
}
