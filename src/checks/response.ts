import { z } from 'zod';
import { endSentence } from '../base/text.ts';
import { defineCheck } from './define-check.ts';
import { decide, failUnmeasured, type Judgement, leaveUnmeasured, refuse } from './judgement.ts';
import { printValue } from './reasons.ts';

/** The API's limit for the messages that it searches and compares, in characters. */
const longestMessage = 100_000;

/** The API's limit for the work of a comparison: the product of the lengths of both texts, in characters. */
const maxComparisons = 4_000_000;

/** Matches a quantified group with a quantifier inside; backtracking engines can take exponential time for this shape. */
export const nestedQuantifier = /[+*}]\??\)[+*{]/;

/** Checks of the last message of a model, and of the tokens and turns it took. */
export const responseChecks = [
  defineCheck({
    name: 'responseContains',
    docs: 'the final message contains this text; the comparison ignores case unless `caseSensitive: true`',
    service: 'contract',
    schema: ({ text, caseSensitive }) => ({
      needle: text.meta({ description: "Text that the model's last message contains." }),
      caseSensitive,
    }),
    sample: { needle: 'a' },
    judge: ({ needle, caseSensitive }, { finalAssistantMessage: message }) => {
      const contains =
        caseSensitive === true ? message.includes(needle) : message.toLowerCase().includes(needle.toLowerCase());
      return decide(
        contains,
        `${describeMessage(message)} and ${contains ? 'contains' : 'does not contain'} ${printValue(needle)}.`,
      );
    },
    trace: 'response',
  }),
  defineCheck({
    name: 'responseMatches',
    docs: 'the final message matches this regular expression',
    service: 'contract',
    schema: ({ pattern }) => ({
      pattern: pattern.meta({ description: "Regular expression that the model's last message matches." }),
    }),
    sample: { pattern: 'a' },
    judge: ({ pattern }, { finalAssistantMessage }) => judgeMatches(pattern, finalAssistantMessage),
    trace: 'response',
  }),
  defineCheck({
    name: 'responseCloseTo',
    docs: 'the final message is at most `maxDistance` from this text: the characters to insert, delete or replace, as a share of the longer text',
    service: 'newer',
    schema: ({ text, caseSensitive }) => ({
      reference: text.meta({ description: "Text that the model's last message resembles." }),
      maxDistance: z.number().min(0).max(1).meta({
        description: 'Characters to change, as a share of the longer text: 0 for the same text, 1 for any.',
      }),
      caseSensitive,
      normalizeWhitespace: z.boolean().exactOptional(),
    }),
    sample: { reference: 'a', maxDistance: 0 },
    judge: (fields, { finalAssistantMessage }) => judgeCloseTo(fields, finalAssistantMessage),
    trace: 'response',
  }),
  defineCheck({
    name: 'finalAssistantMessageNonEmpty',
    docs: 'the final message is not empty',
    service: 'contract',
    schema: () => ({}),
    sample: {},
    judge: (_, { finalAssistantMessage: message }) => decide(message.trim() !== '', `${describeMessage(message)}.`),
    trace: 'response',
  }),
  defineCheck({
    name: 'tokenBudgetUnder',
    docs: 'the model used fewer tokens',
    service: 'contract',
    schema: ({ count }) => ({ tokens: count }),
    sample: { tokens: 1 },
    judge: ({ tokens }, { tokensUsed }) =>
      tokensUsed === null
        ? failUnmeasured(`no tokens were measured, so nothing is known to be under ${tokens}.`)
        : decide(tokensUsed < tokens, `${tokensUsed} tokens were used; the budget is under ${tokens}.`),
    // Tokens may still be measured later. No trace contains all of them.
    final: (_, { tokensUsed }) => (tokensUsed === null ? 'none' : 'failed'),
  }),
  defineCheck({
    name: 'turnCountUnder',
    docs: 'the user took fewer turns',
    service: 'contract',
    schema: ({ count }) => ({ turns: count }),
    sample: { turns: 1 },
    judge: ({ turns }, { userMessages }) =>
      decide(
        userMessages < turns,
        `the user took ${userMessages === 1 ? '1 turn' : `${userMessages} turns`}; the limit is under ${turns}.`,
      ),
    final: 'failed',
    trace: 'response',
  }),
  defineCheck({
    name: 'modelRefused',
    docs: 'the provider says that the model refused the latest prompt, or that it withheld the answer',
    expectsRefusal: true,
    schema: () => ({}),
    sample: {},
    judge: (_, { refusal }) =>
      decide(
        refusal !== null,
        refusal === null ? 'the provider reports no refusal of the latest answer.' : endSentence(refusal),
      ),
    // No state is final, because another answer may follow. Services do not record refusals in a common format.
  }),
];

function judgeMatches(pattern: string, message: string): Judgement {
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

interface Closeness {
  reference: string;
  maxDistance: number;
  caseSensitive?: boolean;
  normalizeWhitespace?: boolean;
}

function judgeCloseTo(
  { reference, maxDistance, caseSensitive = false, normalizeWhitespace = false }: Closeness,
  message: string,
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

/** Computes the Levenshtein distance: the fewest characters to insert, delete or replace. */
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
