import { z } from 'zod';
import type { Difference } from './difference.ts';
import type { JudgeUsage, ModelUsage } from './usage.ts';

/** The statuses of a run that has ended. Other statuses are `pending`, `running` and any that a service adds. */
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

/** A run as read from the service: its status and counts. Only `completed` carries a verdict. */
export type Run = z.infer<typeof runSchema>;

export function isTerminalStatus(status: string): boolean {
  return (terminalRunStatuses as readonly string[]).includes(status);
}

/** Checks if a run has ended: its status says so, or its status is unknown and it has an end time. */
export function hasEnded({ status, completedAtMs }: Pick<Run, 'status' | 'completedAtMs'>): boolean {
  const isKnown = status === 'pending' || status === 'running';
  return isTerminalStatus(status) || (!isKnown && completedAtMs !== null);
}

/** The usage of one judge in an iteration. A gating judge can change the result. */
export interface IterationJudge extends JudgeUsage {
  isGating: boolean;
}

/** One execution of one case. */
export interface Iteration {
  id: string;
  /** The service's id of the case; null if the service or the run does not store it. */
  testCaseId: string | null;
  title: string | null;
  iterationNumber: number | null;
  status: string;
  /** `passed`, `failed`, `timed_out`, `cancelled`, or another value of the service; null until there is a result. */
  result: string | null;
  startedAtMs: number | null;
  durationMs: number | null;
  error: string | null;
  model: string | null;
  tokensUsed: number | null;
  /** The usage of its model calls; null if no model took part, or the service does not report it. */
  usage: ModelUsage | null;
  /** The usage of its judges, which `usage` does not include. */
  judges: IterationJudge[];
  actualToolCalls: ToolCall[];
  expectedToolCalls: ToolCall[];
  /** What its failed checks compared; absent if nothing is known. */
  differences?: readonly Difference[];
}

export const toolCallSchema = z.object({ toolName: z.string(), arguments: z.record(z.string(), z.unknown()) });
export type ToolCall = z.infer<typeof toolCallSchema>;

/** The outcome of one step of an iteration. */
export interface StepResult {
  stepId: string;
  stepIndex: number;
  kind: string;
  /** Set for a step of the setup or the teardown; `stepIndex` then counts within that phase. */
  phase?: 'setup' | 'teardown';
  status: 'ok' | 'fail' | 'skipped' | 'pending';
  reason: string | null;
  evidence?: { toolCalls?: Array<{ name: string; args: Record<string, unknown>; ok: boolean; error?: string }> };
}
