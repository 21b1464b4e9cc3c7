import { z } from 'zod';
import { isTooDeep } from '../../../../src/base/json.ts';
import type { Step } from '../../../../src/cases/step.ts';
import { renderFirstIssue } from '../request.ts';

const toolCall = z.strictObject({
  toolName: z.string().min(1).describe('The exact name of a tool.'),
  arguments: z
    .record(z.string(), z.unknown())
    .default({})
    .describe(
      'The arguments that matter. A value such as "string", "number" or "any" stands for every value of its type.',
    ),
});

const turn = z.strictObject({
  prompt: z.string().trim().min(1).max(8000).describe("The user's message."),
  expectedToolCalls: z
    .array(toolCall)
    .max(20)
    .default([])
    .describe('The calls that the assistant must make in this turn.'),
});

/** A case as a model drafts it: turns of a conversation, without the shapes of steps and assertions, in which models make mistakes. */
export const draftSchema = z.strictObject({
  title: z.string().trim().min(1).max(200).describe('A short, unique name.'),
  scenario: z.string().max(2000).optional().describe('The situation that the user is in.'),
  turns: z.array(turn).min(1).max(10),
  expectedOutput: z.string().max(4000).optional().describe('The content of a good final answer.'),
  isNegative: z.boolean().default(false).describe('True for a request that none of the tools is for.'),
});

export type Draft = z.infer<typeof draftSchema>;

/** A draft, or the reason why the value is invalid. */
export type ReadDraft = { draft: Draft } | { title: string; error: string };

const longestTitle = 200;

/** Reads a value that a model wrote as one case. Does not check its tools. */
export function readDraft(value: unknown): ReadDraft {
  const title = readTitle(value);
  if (isTooDeep(value)) return { title, error: 'The case nests deeper than a case may.' };
  const parsed = draftSchema.safeParse(value);
  return parsed.success ? { draft: parsed.data } : { title, error: renderFirstIssue(parsed.error) };
}

function readTitle(value: unknown): string {
  const named = z.looseObject({ title: z.string() }).safeParse(value);
  return named.success ? named.data.title.slice(0, longestTitle).toWellFormed() : '';
}

/**
 * Explains why a draft tests nothing or cannot pass; null if it is valid. A case must expect calls of existing tools, and a negative case
 * must expect none. Without `toolNames`, any tool name is accepted.
 */
export function findDraftProblem({ turns, isNegative }: Draft, toolNames: ReadonlySet<string> | null): string | null {
  const calls = turns.flatMap(({ expectedToolCalls }) => expectedToolCalls);
  if (isNegative) return calls.length === 0 ? null : 'A negative case expects no tool calls, and this one does.';
  if (calls.length === 0) return 'The case expects no tool call, so that it would pass whatever the model does.';
  const unknown = calls.find(({ toolName }) => toolNames?.has(toolName) === false);
  return unknown === undefined ? null : `No server has the tool ${JSON.stringify(unknown.toolName.slice(0, 200))}.`;
}

/** Returns the fields that cases and inline tests have in common. */
export function toCaseFields({ title, scenario, turns, expectedOutput }: Draft) {
  return {
    title,
    steps: turns.flatMap(toSteps),
    ...(scenario === undefined ? {} : { scenario }),
    ...(expectedOutput === undefined ? {} : { expectedOutput }),
  };
}

function toSteps({ prompt, expectedToolCalls }: Draft['turns'][number], index: number): Step[] {
  const id = `turn-${index + 1}`;
  return [
    { id, kind: 'prompt', prompt },
    ...expectedToolCalls.map(({ toolName, arguments: args }, position): Step => {
      const assertion = { type: 'toolCalledWith' as const, toolName, args: { args } };
      return { id: `${id}-call-${position + 1}`, kind: 'assert', assertion };
    }),
  ];
}
