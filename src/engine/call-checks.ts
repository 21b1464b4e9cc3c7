import { isJsonEqual } from '../base/json.ts';
import { formatCount } from '../base/text.ts';
import type { CheckByType } from '../checks/assertion.ts';
import type { ToolCall } from '../model/run.ts';
import { decide, type Evidence, fail, type Judgement, type Judgements, pass } from './evidence.ts';
import { matchesArguments } from './match.ts';
import { joinWithin, maxListLength, printValue } from '../checks/reasons.ts';

/** Checks of which tools were called, how often, with what and in which order. */
export const callJudgements: Judgements<
  | 'toolCalledWith'
  | 'toolCalledAtLeastOnce'
  | 'toolNeverCalled'
  | 'firstToolWas'
  | 'toolCalledBefore'
  | 'toolCallCountUnder'
  | 'onlyToolsCalled'
  | 'noToolErrors'
  | 'noRepeatedIdenticalCall'
> = {
  toolCalledWith: judgeCalledWith,
  toolCalledAtLeastOnce: ({ toolName }, evidence) => {
    const count = listCalls(evidence, toolName).length;
    return decide(count > 0, `${toolName} was ${formatTimes(count)}; ${listCalled(evidence)}.`);
  },
  toolNeverCalled: ({ toolName }, evidence) => {
    const count = listCalls(evidence, toolName).length;
    return decide(count === 0, `${toolName} was ${formatTimes(count)}.`);
  },
  firstToolWas: ({ toolName }, { toolCalls: [first] }) =>
    first === undefined
      ? fail(`no tool was called, so ${toolName} was not the first.`)
      : decide(first.toolName === toolName, `the first tool was ${first.toolName}, expected ${toolName}.`),
  toolCalledBefore: judgeCalledBefore,
  toolCallCountUnder: ({ count, toolName }, evidence) => {
    const called = listCalls(evidence, toolName).length;
    const calls = `${formatCount(called, 'call')}${toolName === undefined ? '' : ` of ${toolName}`}`;
    return decide(called < count, `the transcript has ${calls}; the limit is under ${count}.`);
  },
  onlyToolsCalled: ({ toolNames }, { toolCalls }) => {
    const others = [...new Set(toolCalls.map(({ toolName }) => toolName))].filter((name) => !toolNames.includes(name));
    const allowed = toolNames.length === 0 ? 'no tool' : `only ${joinWithin(toolNames, maxListLength, ', ')}`;
    return others.length === 0
      ? pass(`${allowed} was called, as expected.`)
      : fail(`${joinWithin(others, maxListLength, ', ')} was called, expected ${allowed}.`);
  },
  noToolErrors: (_, { toolResults }) => {
    const errors = toolResults.flatMap((result) => result.toolError ?? []);
    if (errors.length === 0) return pass('no tool answered with an error.');
    const sentences = errors.map((error) => error.replace(/\.$/, ''));
    return fail(`${joinWithin(sentences, maxListLength)}.`);
  },
  noRepeatedIdenticalCall: judgeRepeated,
};

/** The calls of a tool, or all of them. */
export function listCalls({ toolCalls }: Evidence, toolName: string | undefined): readonly ToolCall[] {
  return toolName === undefined ? toolCalls : toolCalls.filter((call) => call.toolName === toolName);
}

function judgeCalledWith(fields: CheckByType['toolCalledWith'], evidence: Evidence): Judgement {
  const { toolName, args, minCount = 1 } = fields;
  const calls = listCalls(evidence, toolName);
  const fitting = calls.filter((call) =>
    matchesArguments(args.args, call.arguments, args.argumentMatching ?? 'partial'),
  );
  const wanted = `${toolName} with ${printValue(args.args)}${minCount === 1 ? '' : ` at least ${minCount} times`}`;
  if (fitting.length >= minCount) return pass(`called ${wanted}.`);
  const latest = calls.findLast((call) => !fitting.includes(call));
  const actual =
    latest === undefined ? listCalled(evidence) : `the latest other call had ${printValue(latest.arguments)}`;
  return fail(`expected a call of ${wanted}, found ${fitting.length}; ${actual}.`);
}

function judgeCalledBefore(
  { toolName, beforeToolName }: CheckByType['toolCalledBefore'],
  { toolCalls }: Evidence,
): Judgement {
  const before = toolCalls.findIndex((call) => call.toolName === beforeToolName);
  if (before === -1) return pass(`${beforeToolName} was never called, so nothing had to come before it.`);
  const isPreceded = toolCalls.slice(0, before).some((call) => call.toolName === toolName);
  return decide(isPreceded, `${beforeToolName} was called ${isPreceded ? 'after' : 'before any call of'} ${toolName}.`);
}

/** Of the calls as they followed each other; `toolName` selects which repetitions count, and takes no call out from between two. */
function judgeRepeated({ toolName }: CheckByType['noRepeatedIdenticalCall'], { toolCalls }: Evidence): Judgement {
  const repeated = toolCalls.find((call, index) => {
    const previous = toolCalls[index - 1];
    const isMeant = toolName === undefined || call.toolName === toolName;
    return isMeant && previous?.toolName === call.toolName && isJsonEqual(previous.arguments, call.arguments);
  });
  return repeated === undefined
    ? pass('no call repeated the one before it.')
    : fail(`${repeated.toolName} was called with ${printValue(repeated.arguments)} twice in a row.`);
}

function formatTimes(count: number): string {
  if (count === 0) return 'never called';
  return count === 1 ? 'called once' : `called ${count} times`;
}

function listCalled(evidence: Evidence): string {
  const names = [...new Set(evidence.toolCalls.map((call) => call.toolName))];
  return names.length === 0 ? 'no tool was called' : `tools called: ${names.join(', ')}`;
}
