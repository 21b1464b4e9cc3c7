import type { ToolResult } from './evidence.ts';
import { fail, type Judgement, leaveUnmeasured, pass } from './judgement.ts';
import { type ComparisonRules, JsonComparison } from './json-comparison.ts';
import { listDifferences } from './json-documents.ts';
import { joinWithin, maxListLength, printValue } from './reasons.ts';
import {
  describeText,
  nameSubject,
  printPart,
  readPart,
  type ResultPart,
  type ResultScope,
} from './result-documents.ts';

export interface EqualityFields extends ResultScope, ComparisonRules {
  value: unknown;
  path?: string;
}

/**
 * Checks if the part of a result at `path` equals a value. A text value also equals the same text of a result that is not JSON. Where lists may
 * have any order, the lines of a text may, too.
 */
export function judgeEquals({ value, path = '', ...rules }: EqualityFields, result: ToolResult): Judgement {
  const isText = typeof value === 'string' && path === '';
  if (isText && value === result.text) return pass(`${describeText(result)}, as expected.`);
  const read = readPart(result, path);
  const part: ResultPart = read.kind === 'no-document' && isText ? { kind: 'found', value: result.text } : read;
  if (part.kind === 'absent') return fail(`${part.reason}, expected ${printPart(value, path)}.`);
  if (part.kind === 'no-document') return fail(`${part.reason}.`);
  const subject = nameSubject(result, path);
  const comparison = new JsonComparison(rules);
  const found = isText && rules.unordered === true && value.includes('\n') ? result.text : part.value;
  const compared = splitLines({ expected: value, actual: found }, rules);
  const isEqual = comparison.isEqual(compared.expected, compared.actual);
  if (comparison.isExhausted) {
    return leaveUnmeasured(`${subject} is too large to be compared in any order. Compare a part of it with \`path\`.`);
  }
  if (isEqual) return pass(`${subject} is ${printPart(found, path)}, as expected.`);
  // The text `5` parses as a number. If the expected value is the text "6", print the actual value as a text too.
  const isReadAsOther = part.value === null || typeof part.value === 'number' || typeof part.value === 'boolean';
  const actual = isText && isReadAsOther && result.structuredContent === undefined ? result.text : found;
  const differing = compared.expected === value ? { expected: value, actual } : compared;
  return fail(`${subject} ${describeDifferences(differing, path, rules)}.`, {
    kind: 'values',
    what: subject,
    expected: value,
    actual,
    path,
  });
}

/** Makes lists of the lines of two texts whose lines may have any order; leaves others as they are. */
function splitLines(
  documents: { expected: unknown; actual: unknown },
  { unordered = false }: ComparisonRules,
): { expected: unknown; actual: unknown } {
  const { expected, actual } = documents;
  if (!unordered || typeof expected !== 'string' || typeof actual !== 'string') return documents;
  return { expected: expected.split('\n'), actual: actual.split('\n') };
}

/** Describes the differences of two documents, to complete a sentence whose subject is the actual document. */
export function describeDifferences(
  documents: { expected: unknown; actual: unknown },
  path: string,
  rules: ComparisonRules = {},
): string {
  const differences = listDifferences(documents, path, rules);
  const within = rules.tolerance === undefined ? '' : ` within ${printValue(rules.tolerance)}`;
  const [first] = differences;
  if (differences.length === 1 && first?.pointer === path) return `${first.description}${within}`;
  const parts = differences.map(({ pointer, description }) => `${pointer}${pointer === '' ? '' : ' '}${description}`);
  return `is not as expected${within}: ${joinWithin(parts, maxListLength)}`;
}
