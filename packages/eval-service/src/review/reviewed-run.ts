import { z } from 'zod';
import { tryParseJson } from '../../../../src/base/json.ts';
import { readParts } from '../../../../src/engine/model-judge.ts';
import type { TraceMessage } from '../../../../src/model/trace.ts';
import type { JudgedPart } from '../../../../src/models/judge-prompt.ts';
import type { Store } from '../store/open-store.ts';

/** An iteration with a result, in the form that a model reads. */
export interface ReviewedIteration {
  id: string;
  title: string;
  result: 'passed' | 'failed';
  error: string | null;
  /** Empty if there is no readable trace. */
  conversation: JudgedPart[];
}

export interface ReviewedCase {
  caseKey: string;
  expectedOutput: string | null;
  iterations: ReviewedIteration[];
}

/** Reads the iterations of a run, grouped by case in the order of the run. Skips iterations without a result. */
export function loadReviewedRun(store: Store, runId: string): ReviewedCase[] {
  const planned = store.plannedCases.list(runId);
  const cases = new Map<string, ReviewedCase>();
  for (const iteration of store.iterations.list(runId, -1, Number.MAX_SAFE_INTEGER)) {
    const { id, title, result, error } = iteration;
    if (result === null) continue;
    const caseKey = iteration.caseKey ?? iteration.caseId ?? title;
    const found = cases.get(caseKey) ?? {
      caseKey,
      expectedOutput: planned.get(caseKey)?.expectedOutput ?? null,
      iterations: [],
    };
    const conversation = readConversation(store.iterations.getTrace(runId, id));
    found.iterations.push({ id, title, result, error, conversation });
    cases.set(caseKey, found);
  }
  return [...cases.values()];
}

const partSchema = z.union([
  z.object({ type: z.literal('text'), text: z.string() }),
  z.object({ type: z.literal('tool-call'), toolCallId: z.string(), toolName: z.string(), input: z.unknown() }),
  z.object({
    type: z.literal('tool-result'),
    toolCallId: z.string(),
    toolName: z.string(),
    output: z.union([
      z.object({ type: z.literal('json'), value: z.unknown() }),
      z.object({ type: z.enum(['error-text', 'text']), value: z.string() }),
    ]),
    isError: z.boolean().exactOptional(),
  }),
]);

/** The readable messages of a trace. Others are skipped, because a trace is an open document and may come from elsewhere. */
const messageSchema = z.object({
  role: z.enum(['system', 'user', 'assistant', 'tool', 'server', 'client']),
  content: z.union([
    z.string(),
    z.array(z.unknown()).transform((parts) => parts.flatMap((part) => partSchema.safeParse(part).data ?? [])),
  ]),
});
const traceSchema = z.object({ messages: z.array(z.unknown()) });

function readConversation(trace: string | undefined): JudgedPart[] {
  const messages = traceSchema.safeParse(tryParseJson(trace ?? 'null')).data?.messages ?? [];
  return messages.flatMap((message) => {
    const read: TraceMessage | undefined = messageSchema.safeParse(message).data;
    return read === undefined ? [] : readParts(read);
  });
}
