import {
  type CallToolResult,
  ProtocolError as JsonRpcError,
  SdkError,
  SdkErrorCode,
  specTypeSchemas,
} from '@modelcontextprotocol/client';
import { z } from 'zod';
import { ProtocolError } from '../base/errors.ts';
import { isRecord } from '../base/json.ts';
import type { Clock } from '../base/time.ts';
import { taskStatuses } from '../model/notification.ts';

/** The extension of MCP 2026-07-28 that lets a server answer a call with a task. */
export const tasksExtension = 'io.modelcontextprotocol/tasks';

/** The fields of a task in both eras. 2026-07-28 uses other names for times, and adds the outcome of the task. */
export const taskSchema = z.object({
  taskId: z.string().min(1),
  status: z.enum(taskStatuses),
  statusMessage: z.string().exactOptional(),
  pollInterval: z.number().exactOptional(),
  pollIntervalMs: z.number().exactOptional(),
  result: z.unknown().optional(),
  error: z.unknown().optional(),
});
export type Task = z.infer<typeof taskSchema>;

const errorSchema = z.object({ code: z.int(), message: z.string(), data: z.unknown().optional() });

/** The interval if the server names none. */
const defaultPollMs = 1000;

/**
 * The bounds of the interval, whatever a server asks for: more frequent polls keep it from its work, less frequent ones prolong an
 * iteration.
 */
const shortestPollMs = 50;
const longestPollMs = 10_000;

/** The fraction of the elapsed time that a poll waits at least, so that a long task takes hundreds of requests and not thousands. */
const pollShare = 1 / 50;

/** The settings for following a task. */
export interface TaskContext {
  /** True if the session speaks 2026-07-28. */
  isModern: boolean;
  clock: Clock;
  signal: AbortSignal;
  /** Sends a request about the task. */
  request: (method: 'tasks/get' | 'tasks/result', params: { taskId: string }) => Promise<unknown>;
  /** Called with each state that differs from the previous one. */
  onChange: (task: Task) => void;
}

/**
 * Waits for the end of a task, and returns the result of the call. Meanwhile, the server's requests to its client are answered as usual.
 * A server of the legacy era sends them while the client waits for the result, so from `input_required` on this waits for the result.
 *
 * @throws the same errors as a call without a task: the error that the task failed with, a {ProtocolError} if the server cancelled it, or
 * the signal's reason
 */
export async function followTask(first: Task, context: TaskContext): Promise<CallToolResult> {
  const { isModern, clock, signal, request, onChange } = context;
  const { taskId } = first;
  const startedAtMs = clock.monotonicMs();
  let task = first;
  let known = '';
  let askedMs = defaultPollMs;
  for (;;) {
    const state = `${task.status} ${task.statusMessage ?? ''}`;
    if (state !== known) onChange(task);
    known = state;
    const { status } = task;
    if (status === 'completed' || status === 'failed') return await readOutcome(task, context);
    if (status === 'cancelled') throw new ProtocolError(`The server cancelled the task${describeMessage(task)}.`);
    if (status === 'input_required' && !isModern) return await requestResult(task, context);
    // The answer to an update names no interval, so the last one stays.
    askedMs = task.pollIntervalMs ?? task.pollInterval ?? askedMs;
    const elapsedMs = clock.monotonicMs() - startedAtMs;
    const delayMs = Math.min(Math.max(askedMs, shortestPollMs, elapsedMs * pollShare), longestPollMs);
    await clock.sleep(delayMs, { signal });
    task = readTask(await request('tasks/get', { taskId }).catch(explainLostTask), 'tasks/get');
  }
}

/** Makes the error with which `request` rejects if the server refuses a request about a task. */
export const createRefusal = (code: number, message: string): Error => new JsonRpcError(code, message);

/** @throws {SdkError} if it is no task */
export function readTask(value: unknown, method: string): Task {
  const read = taskSchema.safeParse(value);
  if (read.success) return read.data;
  throw new SdkError(SdkErrorCode.InvalidResult, `Invalid result for ${method}: ${JSON.stringify(read.error.issues)}`);
}

/** @throws {SdkError} if it is no result of a tool */
export function readToolResult(value: unknown, method: string): CallToolResult {
  const read = specTypeSchemas.CallToolResult['~standard'].validate(value);
  if (read.issues === undefined) return read.value;
  throw new SdkError(SdkErrorCode.InvalidResult, `Invalid result for ${method}: ${JSON.stringify(read.issues)}`);
}

async function readOutcome(task: Task, context: TaskContext): Promise<CallToolResult> {
  if (!context.isModern) return await requestResult(task, context);
  if (task.status === 'completed') return readToolResult(task.result, 'tasks/get');
  const error = errorSchema.safeParse(task.error).data;
  if (error === undefined) throw new ProtocolError(`The task failed${describeMessage(task)}.`);
  throw new JsonRpcError(error.code, error.message, error.data);
}

/** The result of a failed task is an error even if it does not say so. */
async function requestResult(task: Task, { request }: TaskContext): Promise<CallToolResult> {
  const { taskId, status, statusMessage } = task;
  try {
    const result = readToolResult(await request('tasks/result', { taskId }), 'tasks/result');
    return status === 'failed' ? { ...result, isError: true } : result;
  } catch (error) {
    if (status !== 'failed' || statusMessage === undefined || !(error instanceof JsonRpcError)) throw error;
    throw new JsonRpcError(error.code, `${statusMessage} (${error.message})`, error.data);
  }
}

/** Adds that the error is about the task: a server may forget a task after its time to live. */
function explainLostTask(error: unknown): never {
  if (!(error instanceof JsonRpcError) || isRecord(error.data)) throw error;
  throw new JsonRpcError(error.code, `The server no longer knows the task: ${error.message}`, error.data);
}

function describeMessage({ statusMessage }: Task): string {
  return statusMessage === undefined ? '' : `: ${statusMessage.replace(/\.$/, '')}`;
}
