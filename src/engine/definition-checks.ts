import { isRecord, type JsonObject } from '../base/json.ts';
import { formatCount } from '../base/text.ts';
import type { CheckByType } from '../checks/assertion.ts';
import type { ToolCall } from '../model/run.ts';
import { listCalls } from './call-checks.ts';
import {
  type Evidence,
  fail,
  type Judgement,
  type Judgements,
  leaveUnmeasured,
  pass,
  type ToolDefinition,
  type ToolResult,
} from './evidence.ts';
import { joinWithin, maxListLength, printValue } from '../checks/reasons.ts';
import { checkSchema, type SchemaBudget } from './schema-check.ts';

/** Checks that compare calls with what the server declares about its tools. */
export const definitionJudgements: Judgements<
  'argumentsMatchToolSchema' | 'noDestructiveToolCalled' | 'noDeprecatedToolCalled' | 'toolErrorNamesInput'
> = {
  argumentsMatchToolSchema: judgeArguments,
  noDestructiveToolCalled: (_, evidence) => {
    const { tools } = evidence;
    if (tools === null) return leaveUnmeasured(noList);
    if (tools.values().every(({ annotations }) => annotations === null)) {
      return leaveUnmeasured('no tool carries annotations, so the server does not say which tools are destructive.');
    }
    return judgeCalled(evidence, ({ annotations }) => annotations?.['destructiveHint'] === true, {
      found: 'which the server declares as destructive',
      none: 'no tool was called that the server declares as destructive.',
    });
  },
  noDeprecatedToolCalled: (_, evidence) =>
    judgeCalled(evidence, ({ description }) => description !== null && isDeprecated(description), {
      found: 'which describes itself as deprecated',
      none: 'no tool was called that describes itself as deprecated.',
    }),
  toolErrorNamesInput: judgeErrors,
};

const noList = 'the list of tools was not captured.';

/** Judges each tool that was called by its declaration. A tool without one was not measured, which a found one outweighs. */
function judgeCalled(
  { toolCalls, tools }: Evidence,
  isMeant: (tool: ToolDefinition) => boolean,
  say: { found: string; none: string },
): Judgement {
  if (tools === null) return leaveUnmeasured(noList);
  const called = [...new Set(toolCalls.map(({ toolName }) => toolName))];
  const found = called.find((name) => {
    const tool = tools.get(name);
    return tool !== undefined && isMeant(tool);
  });
  if (found !== undefined) return fail(`${found} was called, ${say.found}.`);
  const unlisted = called.find((name) => !tools.has(name));
  return unlisted === undefined
    ? pass(say.none)
    : leaveUnmeasured(`${unlisted} was called, which the server does not list.`);
}

async function judgeArguments(
  { toolName }: CheckByType['argumentsMatchToolSchema'],
  evidence: Evidence,
  schemas: SchemaBudget | undefined,
): Promise<Judgement> {
  if (evidence.tools === null) return leaveUnmeasured(noList);
  const calls = listCalls(evidence, toolName);
  const violations: string[] = [];
  let unmeasured: string | null = null;
  for (const call of calls) {
    const checked = await checkArguments(call, evidence.tools.get(call.toolName)?.inputSchema ?? null, schemas);
    if (checked.kind === 'violated') violations.push(checked.reason);
    if (checked.kind === 'unmeasured') unmeasured ??= checked.reason;
  }
  if (violations.length > 0) return fail(`${joinWithin(violations, maxListLength)}.`);
  if (unmeasured !== null) return leaveUnmeasured(`${unmeasured}.`);
  return pass(`the arguments of ${formatCount(calls.length, 'call')} fit the inputSchema of the tool.`);
}

type CheckedArguments = { kind: 'fits' } | { kind: 'violated' | 'unmeasured'; reason: string };

async function checkArguments(
  { toolName, arguments: args }: ToolCall,
  schema: JsonObject | null,
  schemas: SchemaBudget | undefined,
): Promise<CheckedArguments> {
  if (schema === null) return { kind: 'unmeasured', reason: `the server lists no inputSchema of ${toolName}` };
  const check = await checkSchema(schema, args, {
    namesClasses: true,
    ...(schemas !== undefined && { budget: schemas }),
  });
  if (check.kind === 'valid') return { kind: 'fits' };
  if (check.kind === 'invalid') {
    const list = joinWithin(check.mismatches, maxListLength, ', ');
    return { kind: 'violated', reason: `${toolName} was called against its inputSchema: ${list}` };
  }
  return { kind: 'unmeasured', reason: `the inputSchema of ${toolName} cannot be used: ${check.reason}` };
}

/** A description that says so of its own tool, and not of another one that the tool replaces. */
function isDeprecated(description: string): boolean {
  const text = description.toLowerCase();
  const saysItIs = /\bthis (?:tool|method|function|endpoint|operation) (?:is|has been|was) (?:now )?deprecated\b/;
  return /^\W*deprecated\b/.test(text) || saysItIs.test(text) || /\bdeprecated[:.]/.test(text);
}

/** Names of parameters and values shorter than this occur in any message. */
const minNamedLength = 3;

function judgeErrors({ toolName }: CheckByType['toolErrorNamesInput'], { toolResults, tools }: Evidence): Judgement {
  const errors = toolResults.filter(
    (result) => result.isError && (toolName === undefined || result.toolName === toolName),
  );
  if (errors.length === 0) return pass('no tool answered with an error.');
  if (tools === null) return leaveUnmeasured(noList);
  const silent = errors.find((error) => !namesInput(error, tools.get(error.toolName)?.inputSchema ?? null));
  return silent === undefined
    ? pass('every error names a parameter or a value of its call.')
    : fail(`the error of ${silent.toolName} names no parameter and no value of its call: ${printValue(silent.text)}.`);
}

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
