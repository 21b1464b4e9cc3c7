import { z } from 'zod';
import { isRecord, type JsonObject } from '../base/json.ts';
import { formatCount } from '../base/text.ts';
import { defineCheck } from './define-check.ts';
import { type Evidence, listCalls } from './evidence.ts';
import { decide, fail, pass } from './judgement.ts';
import { matchesArguments } from './match-arguments.ts';
import { argumentMatching } from './parts.ts';
import { joinWithin, maxListLength, printValue } from './reasons.ts';

const matching = argumentMatching.meta({
  description: '`partial` compares only the keys given here; `exact` all of them; `ignore` none.',
});

/** Checks of tool calls: their tools, number, arguments and order. */
export const callChecks = [
  defineCheck({
    name: 'toolCalledWith',
    docs: 'the tool was called with `arguments`, at least `minCount` times; `argumentMatching` is `partial` (the default: only the given keys), `exact` or `ignore`',
    service: 'contract',
    requiresCall: true,
    // The API defines the doubled `args.args`.
    schema: ({ toolName, part, arguments: args, count }) => ({
      toolName,
      args: part({ args, argumentMatching: matching.exactOptional() }),
      minCount: count.exactOptional(),
    }),
    shortForm: {
      fields: ({ toolName, arguments: args, count }) => ({
        toolCalledWith: toolName,
        arguments: args.exactOptional(),
        argumentMatching: matching.exactOptional(),
        minCount: count.exactOptional(),
      }),
      expand: ({ toolCalledWith, arguments: args = {}, argumentMatching: how, ...others }) => ({
        toolName: toolCalledWith,
        args: { args, ...(how !== undefined && { argumentMatching: how }) },
        ...others,
      }),
      shorten: ({ toolName, args, ...others }) => {
        const { args: values, ...how } = isRecord(args) ? args : {};
        return { toolCalledWith: toolName, arguments: values, ...how, ...others };
      },
    },
    sample: { toolName: 'a', args: { args: { b: 1 } } },
    judge: ({ toolName, args, minCount = 1 }, evidence) => {
      const calls = listCalls(evidence, toolName);
      const fitting = calls.filter((call) =>
        matchesArguments(args.args, call.arguments, args.argumentMatching ?? 'partial'),
      );
      const wanted = `${toolName} with ${printValue(args.args)}${minCount === 1 ? '' : ` at least ${minCount} times`}`;
      if (fitting.length >= minCount) return pass(`called ${wanted}.`);
      const latest = calls.findLast((call) => !fitting.includes(call));
      const actual =
        latest === undefined ? listCalled(evidence) : `the latest other call had ${printValue(latest.arguments)}`;
      const how = args.argumentMatching ?? 'partial';
      const given =
        latest === undefined ? undefined : how === 'partial' ? pick(latest.arguments, args.args) : latest.arguments;
      return fail(
        `expected a call of ${wanted}, found ${fitting.length}; ${actual}.`,
        given === undefined
          ? undefined
          : { kind: 'values', what: `the arguments of ${toolName}`, expected: args.args, actual: given, path: '' },
      );
    },
    final: 'passed',
    trace: 'calls',
  }),
  defineCheck({
    name: 'toolCalledAtLeastOnce',
    docs: 'the tool was called',
    service: 'contract',
    requiresCall: true,
    schema: ({ toolName }) => ({ toolName }),
    sample: { toolName: 'a' },
    judge: ({ toolName }, evidence) => {
      const count = listCalls(evidence, toolName).length;
      return decide(count > 0, `${toolName} was ${formatTimes(count)}; ${listCalled(evidence)}.`);
    },
    final: 'passed',
    trace: 'calls',
  }),
  defineCheck({
    name: 'toolNeverCalled',
    docs: 'the tool was not called',
    service: 'contract',
    schema: ({ toolName }) => ({ toolName }),
    sample: { toolName: 'a' },
    judge: ({ toolName }, evidence) => {
      const count = listCalls(evidence, toolName).length;
      return decide(count === 0, `${toolName} was ${formatTimes(count)}.`);
    },
    final: 'failed',
    trace: 'calls',
  }),
  defineCheck({
    name: 'firstToolWas',
    docs: 'the first call was to this tool',
    service: 'contract',
    requiresCall: true,
    schema: ({ toolName }) => ({ toolName }),
    sample: { toolName: 'a' },
    judge: ({ toolName }, { toolCalls: [first] }) =>
      first === undefined
        ? fail(`no tool was called, so ${toolName} was not the first.`)
        : decide(first.toolName === toolName, `the first tool was ${first.toolName}, expected ${toolName}.`),
    final: (_, { toolCalls }) => (toolCalls.length > 0 ? 'both' : 'none'),
    trace: 'calls',
  }),
  defineCheck({
    name: 'toolCalledBefore',
    docs: 'every call of `beforeToolName` came after a call of this tool; passes if `beforeToolName` was not called',
    service: 'newer',
    schema: ({ toolName }) => ({
      toolName,
      beforeToolName: toolName.meta({ description: 'The tool whose calls need an earlier call of `toolName`.' }),
    }),
    sample: { toolName: 'a', beforeToolName: 'b' },
    judge: ({ toolName, beforeToolName }, { toolCalls }) => {
      const before = toolCalls.findIndex((call) => call.toolName === beforeToolName);
      if (before === -1) return pass(`${beforeToolName} was never called, so nothing had to come before it.`);
      const isPreceded = toolCalls.slice(0, before).some((call) => call.toolName === toolName);
      return decide(
        isPreceded,
        `${beforeToolName} was called ${isPreceded ? 'after' : 'before any call of'} ${toolName}.`,
      );
    },
    // After a call of the earlier tool, no later call can change the result.
    final: ({ toolName }, { toolCalls }) => (toolCalls.some((call) => call.toolName === toolName) ? 'both' : 'failed'),
    trace: 'calls',
  }),
  defineCheck({
    name: 'toolCallCountUnder',
    docs: 'there were fewer calls, of `toolName` or of all tools',
    service: 'newer',
    schema: ({ count, ofTool }) => ({ count, toolName: ofTool }),
    sample: { count: 1 },
    judge: ({ count, toolName }, evidence) => {
      const called = listCalls(evidence, toolName).length;
      const calls = `${formatCount(called, 'call')}${toolName === undefined ? '' : ` of ${toolName}`}`;
      return decide(called < count, `the transcript has ${calls}; the limit is under ${count}.`);
    },
    final: 'failed',
    trace: 'calls',
  }),
  defineCheck({
    name: 'onlyToolsCalled',
    docs: 'no tool outside this list was called; the list may be empty',
    service: 'newer',
    schema: ({ toolName }) => ({
      toolNames: z.array(toolName).meta({ description: 'The tools that may be called; none for an empty list.' }),
    }),
    sample: { toolNames: ['a'] },
    judge: ({ toolNames }, { toolCalls }) => {
      const called = new Set(toolCalls.map(({ toolName }) => toolName));
      const others = [...called].filter((name) => !toolNames.includes(name));
      const allowed = toolNames.length === 0 ? 'no tool' : `only ${joinWithin(toolNames, maxListLength, ', ')}`;
      return others.length === 0
        ? pass(`${allowed} was called, as expected.`)
        : fail(`${joinWithin(others, maxListLength, ', ')} was called, expected ${allowed}.`);
    },
    final: 'failed',
    trace: 'calls',
  }),
];

/** Keeps the members of a call that the expected arguments have, too. */
function pick(actual: JsonObject, expected: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(actual).filter(([key]) => Object.hasOwn(expected, key)));
}

function formatTimes(count: number): string {
  if (count === 0) return 'never called';
  return count === 1 ? 'called once' : `called ${count} times`;
}

function listCalled({ toolCalls }: Evidence): string {
  const names = [...new Set(toolCalls.map((call) => call.toolName))];
  return names.length === 0 ? 'no tool was called' : `tools called: ${names.join(', ')}`;
}
