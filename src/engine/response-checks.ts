import { endSentence } from '../base/text.ts';
import type { CheckByType } from '../checks/assertion.ts';
import {
  decide,
  type Evidence,
  fail,
  failUnmeasured,
  type Judgement,
  type Judgements,
  leaveUnmeasured,
  pass,
  refuse,
} from './evidence.ts';
import { printValue } from '../checks/reasons.ts';

/** The API's own limit on the messages that it searches and compares, in characters. */
const longestMessage = 100_000;

/** The API's limit on the work of a comparison: characters of one text times characters of the other. */
const maxComparisons = 4_000_000;

/** A quantified group that is quantified again: the shape that makes a backtracking matcher take for ever. */
const nestedQuantifier = /[+*}]\??\)[+*{]/;

/** Checks of the last message of a model, and of how long it took to get there. */
export const responseJudgements: Judgements<
  | 'responseContains'
  | 'responseMatches'
  | 'responseCloseTo'
  | 'finalAssistantMessageNonEmpty'
  | 'modelRefused'
  | 'tokenBudgetUnder'
  | 'turnCountUnder'
  | 'noEndingQuestion'
> = {
  responseContains: ({ needle, caseSensitive }, { finalAssistantMessage: message }) => {
    const contains =
      caseSensitive === true ? message.includes(needle) : message.toLowerCase().includes(needle.toLowerCase());
    return decide(
      contains,
      `${describeMessage(message)} and ${contains ? 'contains' : 'does not contain'} ${printValue(needle)}.`,
    );
  },
  responseMatches: judgeMatches,
  responseCloseTo: judgeCloseTo,
  finalAssistantMessageNonEmpty: (_, { finalAssistantMessage: message }) =>
    decide(message.trim() !== '', `${describeMessage(message)}.`),
  modelRefused: (_, { refusal }) =>
    decide(
      refusal !== null,
      refusal === null ? 'the provider reports no refusal of the latest answer.' : endSentence(refusal),
    ),
  tokenBudgetUnder: ({ tokens }, { tokensUsed }) =>
    tokensUsed === null
      ? failUnmeasured(`no tokens were measured, so nothing is known to be under ${tokens}.`)
      : decide(tokensUsed < tokens, `${tokensUsed} tokens were used; the budget is under ${tokens}.`),
  turnCountUnder: ({ turns }, { userMessages }) =>
    decide(
      userMessages < turns,
      `the user took ${userMessages === 1 ? '1 turn' : `${userMessages} turns`}; the limit is under ${turns}.`,
    ),
  noEndingQuestion: (_, { finalAssistantMessage: message }) => {
    const lastLine = message.trim().split('\n').at(-1) ?? '';
    return lastLine.endsWith('?')
      ? fail(`the final assistant message ends with the question ${printValue(lastLine)}.`)
      : pass('the final assistant message does not end with a question.');
  },
};

function judgeMatches(
  { pattern }: CheckByType['responseMatches'],
  { finalAssistantMessage: message }: Evidence,
): Judgement {
  if (nestedQuantifier.test(pattern)) {
    return refuse(`the pattern ${printValue(pattern)} nests quantifiers, which can take for ever.`);
  }
  let regExp: RegExp;
  try {
    regExp = new RegExp(pattern);
  } catch {
    return refuse(`the pattern ${printValue(pattern)} is not a regular expression.`);
  }
  if (message.length > longestMessage) {
    return failUnmeasured(`the final assistant message is longer than ${longestMessage} characters.`);
  }
  const matches = regExp.test(message);
  return decide(
    matches,
    `${describeMessage(message)} and ${matches ? 'matches' : 'does not match'} ${printValue(pattern)}.`,
  );
}

function judgeCloseTo(
  { reference, maxDistance, caseSensitive = false, normalizeWhitespace = false }: CheckByType['responseCloseTo'],
  { finalAssistantMessage: message }: Evidence,
): Judgement {
  if (Math.max(message.length, reference.length) > longestMessage) {
    return leaveUnmeasured(`texts of more than ${longestMessage} characters are not compared.`);
  }
  const prepare = (text: string): string[] => {
    const cased = caseSensitive ? text : text.toLowerCase();
    return Array.from(normalizeWhitespace ? cased.replaceAll(/\s+/gu, ' ').trim() : cased);
  };
  const [actual, expected] = [prepare(message), prepare(reference)];
  if (expected.length === 0) return refuse('the reference is empty.');
  if (actual.length * expected.length > maxComparisons) {
    return leaveUnmeasured(
      `texts of ${actual.length} and ${expected.length} characters are too long to compare; the product may be ${maxComparisons}.`,
    );
  }
  const distance = countEdits(actual, expected) / Math.max(actual.length, expected.length);
  return decide(
    distance <= maxDistance,
    `${describeMessage(message)}, at a distance of ${Number(distance.toFixed(3))} from ${printValue(reference)}; the limit is ${maxDistance}.`,
  );
}

/** The Levenshtein distance: the fewest characters to insert, delete or replace. */
function countEdits(left: readonly string[], right: readonly string[]): number {
  let row = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (const [index, character] of left.entries()) {
    const next = [index + 1];
    for (const [column, other] of right.entries()) {
      const replaced = (row[column] ?? 0) + (character === other ? 0 : 1);
      next.push(Math.min(replaced, (row[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}

function describeMessage(message: string): string {
  return message === ''
    ? 'the final assistant message is empty'
    : `the final assistant message is ${printValue(message)}`;
}
