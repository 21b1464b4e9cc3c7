import { z } from 'zod';
import type { JudgeUsage, ModelUsage } from './usage.ts';

/** The execution states in which a run has ended. Others are `pending`, `running` and whatever a service may add. */
export const terminalRunStatuses = ['completed', 'failed', 'cancelled', 'timed_out'] as const;

export const runSchema = z.object({
  id: z.string(),
  suiteId: z.string(),
  status: z.string(),
  result: z.string().nullable(),
  summary: z.object({ total: z.number(), passed: z.number(), failed: z.number() }).nullable(),
  createdAtMs: z.number().nullable(),
  completedAtMs: z.number().nullable(),
  notes: z.string().nullable().describe('Why the service ended it without a verdict, where it says.'),
});

/** A run as read from the service: execution state and counts. Only `completed` carries a verdict. */
export type Run = z.infer<typeof runSchema>;

export function isTerminalStatus(status: string): boolean {
  return (terminalRunStatuses as readonly string[]).includes(status);
}

/** Whether nothing more will come of a run: its status says so, or is one that we do not know and there is a time of its end. */
export function hasEnded({ status, completedAtMs }: Pick<Run, 'status' | 'completedAtMs'>): boolean {
  const isKnown = status === 'pending' || status === 'running';
  return isTerminalStatus(status) || (!isKnown && completedAtMs !== null);
}

/** What one judge of an iteration used. Those that gate may decide its result. */
export interface IterationJudge extends JudgeUsage {
  isGating: boolean;
}

/** One execution of one case. */
export interface Iteration {
  id: string;
  /** The service's id of the case; null on services or runs that do not keep it. */
  testCaseId: string | null;
  title: string | null;
  iterationNumber: number | null;
  status: string;
  /** `passed`, `failed`, `timed_out`, `cancelled`, or whatever the service said; null while it said nothing. */
  result: string | null;
  startedAtMs: number | null;
  durationMs: number | null;
  error: string | null;
  model: string | null;
  tokensUsed: number | null;
  /** What its model calls used; null where none took part, or the service does not say. */
  usage: ModelUsage | null;
  /** Apart from that. */
  judges: IterationJudge[];
  actualToolCalls: ToolCall[];
  expectedToolCalls: ToolCall[];
}

export const toolCallSchema = z.object({ toolName: z.string(), arguments: z.record(z.string(), z.unknown()) });
export type ToolCall = z.infer<typeof toolCallSchema>;

/** The outcome of one step of an iteration. */
export interface StepResult {
  stepId: string;
  stepIndex: number;
  kind: string;
  status: 'ok' | 'fail' | 'skipped' | 'pending';
  reason: string | null;
  evidence?: { toolCalls?: Array<{ name: string; args: Record<string, unknown>; ok: boolean; error?: string }> };
}
