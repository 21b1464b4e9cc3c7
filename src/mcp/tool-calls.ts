import { type CallToolResult, type Client, LOG_LEVEL_META_KEY } from '@modelcontextprotocol/client';
import { z } from 'zod';
import { isRecord, type JsonObject } from '../base/json.ts';
import type { Clock } from '../base/time.ts';
import type { CallUpdate, LogLevel } from '../model/notification.ts';
import type { OpenProgress } from './notifications.ts';
import type { ProtocolEra } from './protocol.ts';
import { taskMetaKey } from './task-messages.ts';
import { followTask, readTask, readToolResult, type Task } from './tasks.ts';

/** Says if a tool runs as a task (2025-11-25): always, if the client asks for it, or never. */
export type TaskSupport = 'required' | 'optional' | 'forbidden';

export interface CallOptions {
  signal: AbortSignal;
  traceParent?: string | undefined;
  /** The tool's declaration. */
  taskSupport?: TaskSupport | undefined;
  /** Called with the call's progress, and with the states of its task. */
  onUpdate?: ((update: CallUpdate) => void) | undefined;
}

/** Calls tools in one session. */
export interface ToolCaller {
  /** True if a tool that requires a task can run. */
  readonly hasTasks: boolean;
  /** Calls a tool once. If it runs as a task, waits for the end of the task. */
  call(toolName: string, args: JsonObject, options: CallOptions): Promise<CallToolResult>;
  /** Cancels the tasks that have not ended. A server may not answer that in time. */
  cancelTasks(): Promise<void>;
}

const anyResult = z.looseObject({});

/**
 * `request` has the options for sending requests, `taskTtlMs` is the time to live of a task on the server, and `logLevel` is the least
 * severe level of log messages to request.
 */
export function createToolCaller(
  client: Client,
  {
    era,
    clock,
    openProgress,
    request,
    taskTtlMs,
    logLevel,
  }: {
    era: ProtocolEra;
    clock: Clock;
    openProgress: OpenProgress;
    request: { timeout: number };
    taskTtlMs: number;
    logLevel: LogLevel | null;
  },
): ToolCaller {
  const openTasks = new Set<string>();
  const isModern = era === 'modern';
  const mayBeTask = !isModern && client.getServerCapabilities()?.tasks?.requests?.tools?.call !== undefined;

  const follow = async (task: Task, { signal, onUpdate = () => {} }: CallOptions) => {
    const { taskId } = task;
    openTasks.add(taskId);
    const result = await followTask(task, {
      isModern,
      clock,
      signal,
      request: (method, params) => client.request({ method, params }, anyResult, { ...request, signal }),
      onChange: ({ status, statusMessage }) => {
        if (!['working', 'input_required'].includes(status)) openTasks.delete(taskId);
        onUpdate({ kind: 'task', taskId, status, message: statusMessage ?? null });
      },
    });
    openTasks.delete(taskId);
    return result;
  };

  return {
    hasTasks: isModern || mayBeTask,
    call: async (toolName, args, options) => {
      const { signal, traceParent, taskSupport = 'forbidden', onUpdate = () => {} } = options;
      const params = {
        name: toolName,
        arguments: args,
        _meta: {
          progressToken: openProgress(onUpdate),
          ...(traceParent !== undefined && { traceparent: traceParent }),
          ...(isModern && logLevel !== null && { [LOG_LEVEL_META_KEY]: logLevel }),
        },
      };
      const limits = { ...request, signal };
      if (!mayBeTask || taskSupport === 'forbidden') {
        const result = await client.callTool(params, limits);
        const task = result._meta?.[taskMetaKey];
        return !isModern || task === undefined ? result : await follow(readTask(task, 'tools/call'), options);
      }
      const asTask = { method: 'tools/call', params: { ...params, task: { ttl: taskTtlMs } } };
      const answer = await client.request(asTask, anyResult, limits);
      // A server answers directly if it created no task, for example if it refuses the arguments.
      if (!isRecord(answer['task'])) return readToolResult(answer, 'tools/call');
      return await follow(readTask(answer['task'], 'tools/call'), options);
    },
    cancelTasks: async () => {
      const cancelled = [...openTasks].map((taskId) =>
        client.request({ method: 'tasks/cancel', params: { taskId } }, anyResult, request),
      );
      await Promise.allSettled(cancelled);
    },
  };
}
