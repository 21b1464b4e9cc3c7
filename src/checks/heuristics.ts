import { isJsonEqual, isRecord, type JsonObject } from '../base/json.ts';
import { defineCheck } from './define-check.ts';
import type { ToolResult } from './evidence.ts';
import { fail, leaveUnmeasured, pass } from './judgement.ts';
import { printValue } from './reasons.ts';
import { readDocument } from './result-documents.ts';
import { judgeCalled, noList } from './tool-definitions.ts';

/** The heuristics of the API; they are advisory only. */
export const heuristicChecks = [
  defineCheck({
    name: 'noEndingQuestion',
    docs: 'the last line of the final message does not end with a question mark',
    weight: 'heuristic',
    schema: () => ({}),
    sample: { role: 'advisory' },
    judge: (_, { finalAssistantMessage: message }) => {
      const lastLine = message.trim().split('\n').at(-1) ?? '';
      return lastLine.endsWith('?')
        ? fail(`the final assistant message ends with the question ${printValue(lastLine)}.`)
        : pass('the final assistant message does not end with a question.');
    },
  }),
  defineCheck({
    name: 'noRepeatedIdenticalCall',
    docs: 'no call, of `toolName` or of any tool, repeated the call right before it',
    weight: 'heuristic',
    schema: ({ ofTool }) => ({ toolName: ofTool }),
    sample: { toolName: 'a', role: 'advisory' },
    // Compares each call with the call directly before it. `toolName` selects the reported repetitions; it does not remove calls in
    // between.
    judge: ({ toolName }, { toolCalls }) => {
      const repeated = toolCalls.find((call, index) => {
        const previous = toolCalls[index - 1];
        const isMeant = toolName === undefined || call.toolName === toolName;
        return isMeant && previous?.toolName === call.toolName && isJsonEqual(previous.arguments, call.arguments);
      });
      return repeated === undefined
        ? pass('no call repeated the one before it.')
        : fail(`${repeated.toolName} was called with ${printValue(repeated.arguments)} twice in a row.`);
    },
    final: 'failed',
  }),
  defineCheck({
    name: 'noDeprecatedToolCalled',
    docs: 'no tool was called that describes itself as deprecated',
    weight: 'heuristic',
    schema: () => ({}),
    sample: { role: 'advisory' },
    judge: (_, evidence) =>
      judgeCalled(evidence, ({ description }) => description !== null && isDeprecated(description), {
        found: 'which describes itself as deprecated',
        none: 'no tool was called that describes itself as deprecated.',
      }),
    final: 'failed',
  }),
  defineCheck({
    name: 'toolErrorNamesInput',
    docs: 'every error of a tool names a parameter of the tool or a value of its call',
    weight: 'heuristic',
    schema: ({ ofTool }) => ({ toolName: ofTool }),
    sample: { toolName: 'a', role: 'advisory' },
    judge: ({ toolName }, { toolResults, tools }) => {
      const errors = toolResults.filter(
        (result) => result.isError && (toolName === undefined || result.toolName === toolName),
      );
      if (errors.length === 0) return pass('no tool answered with an error.');
      if (tools === null) return leaveUnmeasured(noList);
      const silent = errors.find((error) => !namesInput(error, tools.get(error.toolName)?.inputSchema ?? null));
      if (silent === undefined) return pass('every error names a parameter or a value of its call.');
      const { text } = silent;
      return fail(`the error of ${silent.toolName} names no parameter and no value of its call: ${printValue(text)}.`);
    },
    final: 'failed',
  }),
  defineCheck({
    name: 'fullPageHasContinuation',
    docs: 'every result with as many items as its call asked for has a cursor or another member that says whether there are more',
    weight: 'heuristic',
    schema: ({ ofTool }) => ({ toolName: ofTool }),
    sample: { toolName: 'a', role: 'advisory' },
    judge: ({ toolName }, { toolResults }) => {
      const page = toolResults.find(
        (result) => (toolName === undefined || result.toolName === toolName) && isFullWithoutContinuation(result),
      );
      return page === undefined
        ? pass('every full page says whether there is another one.')
        : fail(`a full page of ${page.toolName} does not say whether there is another one.`);
    },
    final: 'failed',
  }),
];

/** Checks if a description says that its own tool is deprecated, not another tool that it replaces. */
function isDeprecated(description: string): boolean {
  const text = description.toLowerCase();
  const saysItIs = /\bthis (?:tool|method|function|endpoint|operation) (?:is|has been|was) (?:now )?deprecated\b/;
  return /^\W*deprecated\b/.test(text) || saysItIs.test(text) || /\bdeprecated[:.]/.test(text);
}

/** Ignores shorter values, because they occur in any message. */
const minNamedLength = 3;

function namesInput({ text, arguments: args }: ToolResult, schema: JsonObject | null): boolean {
  const message = text.toLowerCase();
  const properties = schema?.['properties'];
  const keys = [...Object.keys(isRecord(properties) ? properties : {}), ...Object.keys(args ?? {})];
  const values = Object.values(args ?? {}).flatMap((value) => {
    if (typeof value === 'number') return String(value);
    return typeof value === 'string' && value.length >= minNamedLength ? value : [];
  });
  return [...keys, ...values].some((name) => message.includes(name.toLowerCase()));
}

/** Parameters that limit the length of a page, in lower case and without separators. */
const limitNames: ReadonlySet<string> = new Set([
  'limit',
  'pagesize',
  'perpage',
  'maxresults',
  'maxitems',
  'first',
  'top',
]);

/** Members of a result that give the next page or say if there is one, in lower case and without separators. */
const continuationNames: ReadonlySet<string> = new Set([
  'cursor',
  'nextcursor',
  'next',
  'nextpage',
  'nextpagetoken',
  'nexttoken',
  'hasmore',
  'hasnextpage',
  'pageinfo',
  'truncated',
]);

function isFullWithoutContinuation(result: ToolResult): boolean {
  const limit = Object.entries(result.arguments ?? {}).find(([key]) => limitNames.has(simplify(key)))?.[1];
  const document = readDocument(result);
  if (typeof limit !== 'number' || limit < 1 || document === undefined) return false;
  const { value } = document;
  const members = isRecord(value) ? Object.entries(value) : [];
  const lists = [value, ...members.map(([, member]) => member)].filter(Array.isArray);
  const longest = Math.max(0, ...lists.map(({ length }) => length));
  return longest === limit && !members.some(([key]) => continuationNames.has(simplify(key)));
}

function simplify(key: string): string {
  return key.replaceAll(/[-_]/g, '').toLowerCase();
}
