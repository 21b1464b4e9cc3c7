import type { z } from 'zod';
import { describeError } from '../base/errors.ts';
import { isRecord } from '../base/json.ts';
import { type ApiType, type Check, type CheckByType, checkSchemas, noBrowserReason } from '../model/assertion.ts';
import { limitToFinal } from './cut-evidence.ts';
import { decide, type Evidence, fail, type Judgement, type Judgements, pass } from './evidence.ts';
import { matchesArguments } from './match.ts';
import { clipReason, joinWithin, maxListLength, printValue } from './reasons.ts';
import type { SchemaBudget } from './schema-check.ts';
import { toolResultJudgements } from './tool-result-checks.ts';

/** The API's own limit on what `responseMatches` searches, in characters. */
const longestSearchedMessage = 100_000;

/** A quantified group that is quantified again: the shape that makes a backtracking matcher take for ever. */
const nestedQuantifier = /[+*}]\??\)[+*{]/;

/** The API's predicates. Every one fails when what it asks about was not measured. */
const apiJudgements: Judgements<ApiType> = {
  toolCalledWith: judgeCalledWith,
  toolCalledAtLeastOnce: ({ toolName }, evidence) => {
    const count = countCalls(evidence, toolName);
    return decide(count > 0, `${toolName} was ${formatTimes(count)}; ${listCalled(evidence)}.`);
  },
  toolNeverCalled: ({ toolName }, evidence) => {
    const count = countCalls(evidence, toolName);
    return decide(count === 0, `${toolName} was ${formatTimes(count)}.`);
  },
  firstToolWas: ({ toolName }, { toolCalls: [first] }) =>
    first === undefined
      ? fail(`no tool was called, so ${toolName} was not the first.`)
      : decide(first.toolName === toolName, `the first tool was ${first.toolName}, expected ${toolName}.`),
  responseContains: ({ needle, caseSensitive }, { finalAssistantMessage: message }) => {
    const passed =
      caseSensitive === true ? message.includes(needle) : message.toLowerCase().includes(needle.toLowerCase());
    return decide(
      passed,
      `${describeMessage(message)} and ${passed ? 'contains' : 'does not contain'} ${printValue(needle)}.`,
    );
  },
  responseMatches: judgeResponseMatches,
  noToolErrors: (_, { toolResults }) => {
    const errors = toolResults.flatMap((result) => result.toolError ?? []);
    if (errors.length === 0) return pass('no tool answered with an error.');
    const sentences = errors.map((error) => error.replace(/\.$/, ''));
    return fail(`${joinWithin(sentences, maxListLength)}.`);
  },
  finalAssistantMessageNonEmpty: (_, { finalAssistantMessage: message }) =>
    decide(message.trim() !== '', `${describeMessage(message)}.`),
  tokenBudgetUnder: ({ tokens }, { tokensUsed }) =>
    tokensUsed === null
      ? fail(`no tokens were measured, so nothing is known to be under ${tokens}.`)
      : decide(tokensUsed < tokens, `${tokensUsed} tokens were used; the budget is under ${tokens}.`),
  turnCountUnder: ({ turns }, { userMessages }) =>
    decide(
      userMessages < turns,
      `the user took ${userMessages === 1 ? '1 turn' : `${userMessages} turns`}; the limit is under ${turns}.`,
    ),
  widgetRendered: judgeNothingRendered,
  widgetRenderLatencyUnder: judgeNothingRendered,
  widgetNoConsoleErrors: judgeNothingRendered,
};

const judgements: Judgements = { ...apiJudgements, ...toolResultJudgements };
const readers: { [Type in Check['type']]: z.ZodType<CheckByType[Type]> } = checkSchemas;

/**
 * Judges one predicate on the transcript so far. Fails closed: an unknown type, a malformed field and even a fault in
 * here are a failed predicate with a reason, never an exception and never a skip. Where the check asks about something that was not
 * captured, or that what follows a cut could change, it is unmeasured.
 *
 * @throws the reason of the limit's signal alone, once it aborts.
 */
export async function judgePredicate(
  predicate: unknown,
  evidence: Evidence,
  schemas?: SchemaBudget,
): Promise<Judgement> {
  const type = isRecord(predicate) ? predicate['type'] : undefined;
  if (!isJudged(type)) {
    return fail(`unknown predicate type ${printValue(type)}: nothing can be judged by it.`);
  }
  try {
    const judgement = await judgeType(type, predicate, { evidence, schemas });
    return { ...judgement, reason: clipReason(`${type}: ${judgement.reason}`) };
  } catch (error) {
    schemas?.limit?.signal.throwIfAborted();
    return fail(clipReason(`${type}: malformed predicate: ${describeError(error)}`));
  }
}

function isJudged(type: unknown): type is Check['type'] {
  return typeof type === 'string' && Object.hasOwn(judgements, type);
}

/** Reads the fields first, and fails what does not have them. Unknown fields are ignored. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- ties what one table reads to what the other judges
async function judgeType<Type extends Check['type']>(
  type: Type,
  predicate: unknown,
  { evidence, schemas }: { evidence: Evidence; schemas: SchemaBudget | undefined },
): Promise<Judgement> {
  const parsed = readers[type].safeParse(predicate);
  if (parsed.success) {
    const judgement = await judgements[type](parsed.data, evidence, schemas);
    return limitToFinal(judgement, { type, fields: parsed.data, evidence });
  }
  const [issue] = parsed.error.issues;
  const field = issue === undefined || issue.path.length === 0 ? '' : `${issue.path.join('.')}: `;
  return fail(`the predicate is malformed: ${field}${issue?.message ?? 'it is not an object'}.`);
}

function judgeCalledWith(fields: CheckByType['toolCalledWith'], evidence: Evidence): Judgement {
  const { toolName, args, minCount = 1 } = fields;
  const calls = evidence.toolCalls.filter((call) => call.toolName === toolName);
  const fitting = calls.filter((call) =>
    matchesArguments(args.args, call.arguments, args.argumentMatching ?? 'partial'),
  );
  const passed = fitting.length >= minCount;
  const wanted = `${toolName} with ${printValue(args.args)}${minCount === 1 ? '' : ` at least ${minCount} times`}`;
  if (passed) return pass(`called ${wanted}.`);
  const latest = calls.findLast((call) => !fitting.includes(call));
  const actual =
    latest === undefined ? listCalled(evidence) : `the latest other call had ${printValue(latest.arguments)}`;
  return fail(`expected a call of ${wanted}, found ${fitting.length}; ${actual}.`);
}

function judgeResponseMatches(
  { pattern }: CheckByType['responseMatches'],
  { finalAssistantMessage: message }: Evidence,
): Judgement {
  if (nestedQuantifier.test(pattern)) {
    return fail(`the pattern ${printValue(pattern)} nests quantifiers, which can take for ever.`);
  }
  if (message.length > longestSearchedMessage) {
    return fail(`the final assistant message is longer than ${longestSearchedMessage} characters.`);
  }
  let regExp: RegExp;
  try {
    regExp = new RegExp(pattern);
  } catch {
    return fail(`the pattern ${printValue(pattern)} is not a regular expression.`);
  }
  const passed = regExp.test(message);
  return decide(
    passed,
    `${describeMessage(message)} and ${passed ? 'matches' : 'does not match'} ${printValue(pattern)}.`,
  );
}

function judgeNothingRendered(): Judgement {
  return fail(noBrowserReason);
}

function countCalls(evidence: Evidence, toolName: string): number {
  return evidence.toolCalls.filter((call) => call.toolName === toolName).length;
}

function formatTimes(count: number): string {
  if (count === 0) return 'never called';
  return count === 1 ? 'called once' : `called ${count} times`;
}

function listCalled(evidence: Evidence): string {
  const names = [...new Set(evidence.toolCalls.map((call) => call.toolName))];
  return names.length === 0 ? 'no tool was called' : `tools called: ${names.join(', ')}`;
}

function describeMessage(message: string): string {
  return message === ''
    ? 'the final assistant message is empty'
    : `the final assistant message is ${printValue(message)}`;
}
