import type { JsonObject } from '../base/json.ts';
import { formatCount } from '../base/text.ts';
import type { ToolCall } from '../model/run.ts';
import { defineCheck } from './define-check.ts';
import { type Evidence, listCalls, type ToolDefinition } from './evidence.ts';
import { type CheckContext, fail, type Judgement, leaveUnmeasured, pass } from './judgement.ts';
import { joinWithin, maxListLength } from './reasons.ts';

/** Checks of calls against the server's declarations of its tools. */
export const toolDefinitionChecks = [
  defineCheck({
    name: 'argumentsMatchToolSchema',
    docs: 'the arguments of every call fit the `inputSchema` that the server lists for the tool; with a name, of every call of this tool',
    service: 'newer',
    schema: ({ ofTool }) => ({ toolName: ofTool }),
    sample: { toolName: 'a' },
    judge: async ({ toolName }, evidence, { schemas }) => {
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
    },
    final: 'failed',
  }),
  defineCheck({
    name: 'noDestructiveToolCalled',
    docs: 'no tool was called whose annotations have `destructiveHint: true`; not measured if no tool of the server has annotations',
    service: 'newer',
    schema: () => ({}),
    sample: {},
    judge: (_, evidence) => {
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
    final: 'failed',
  }),
];

/** The reason if the list of tools is unknown. */
export const noList = 'the list of tools was not captured.';

/**
 * Judges each called tool by its declaration. If a called tool has no declaration, the check is unmeasured, unless another tool fails it.
 */
export function judgeCalled(
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

type CheckedArguments = { kind: 'fits' } | { kind: 'violated' | 'unmeasured'; reason: string };

async function checkArguments(
  { toolName, arguments: args }: ToolCall,
  schema: JsonObject | null,
  schemas: CheckContext['schemas'],
): Promise<CheckedArguments> {
  if (schema === null) return { kind: 'unmeasured', reason: `the server lists no inputSchema of ${toolName}` };
  const check = await schemas.fit(schema, args, { namesClasses: true });
  if (check.kind === 'valid') return { kind: 'fits' };
  if (check.kind === 'invalid') {
    const list = joinWithin(check.mismatches, maxListLength, ', ');
    return { kind: 'violated', reason: `${toolName} was called against its inputSchema: ${list}` };
  }
  return { kind: 'unmeasured', reason: `the inputSchema of ${toolName} cannot be used: ${check.reason}` };
}
