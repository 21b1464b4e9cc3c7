import type { CallToolResult, Server } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { type FixtureMcpServer, refuse, startFixtureMcpServer, text } from './fixture-mcp-server.ts';

/** One state of a task. */
export interface TaskState {
  status: 'working' | 'input_required' | 'completed' | 'failed' | 'cancelled';
  message?: string;
  /** The result of an ended task; by default, a text. */
  result?: CallToolResult;
  error?: { code: number; message: string };
  /** The server's requests to its client in this state (2026-07-28). */
  inputRequests?: Record<string, unknown>;
}

export interface TaskTool {
  /** The states that successive polls find; the last one stays. `gone`: the server has forgotten the task. */
  states: ReadonlyArray<TaskState | 'gone'>;
  taskSupport?: 'required' | 'optional' | 'forbidden';
  /** Called when the task is created. */
  onStart?: (context: { meta: Record<string, unknown>; server: Server }) => void | Promise<void>;
}

export interface TaskServer extends FixtureMcpServer {
  /** All requests about a task, oldest first, such as `tasks/get 1`. */
  requests: string[];
  /** The answers of a client, by key. */
  responses: Record<string, unknown>;
  /** The parameters of the calls, unchanged. */
  calls: Array<Record<string, unknown>>;
  /** Resolves once the request arrives. */
  waitForRequest: (request: string) => Promise<void>;
}

const times = { createdAt: '2026-07-28T00:00:00Z', lastUpdatedAt: '2026-07-28T00:00:00Z' };
const anyResult = z.looseObject({});
const ofTask = z.looseObject({ taskId: z.string() });

/** Starts a server, built with the official SDK, whose tools run as tasks through the given states. */
export async function startTaskServer(
  tools: Record<string, TaskTool>,
  { era, hasTasks = true, pollMs = 1 }: { era: 'legacy' | 'modern'; hasTasks?: boolean; pollMs?: number },
): Promise<TaskServer> {
  const requests: string[] = [];
  const responses: Record<string, unknown> = {};
  const calls: Array<Record<string, unknown>> = [];
  const waiters = new Map<string, () => void>();
  const tasks = new Map<string, { states: Array<TaskState | 'gone'>; last: TaskState | 'gone' }>();
  const ofLegacy = hasTasks ? { tasks: { cancel: {}, requests: { tools: { call: {} } } } } : {};
  const ofModern = hasTasks ? { extensions: { 'io.modelcontextprotocol/tasks': {} } } : {};

  const note = (method: string, taskId: string) => {
    const request = `${method} ${taskId}`;
    requests.push(request);
    waiters.get(request)?.();
  };
  const describe = (taskId: string, state: TaskState | 'gone') => {
    if (state === 'gone') return refuse(-32602, 'Task not found');
    const { status, message, result, error, inputRequests } = state;
    return {
      ...times,
      taskId,
      status,
      ...(message !== undefined && { statusMessage: message }),
      ...(era === 'legacy'
        ? { ttl: 1000, pollInterval: pollMs }
        : {
            ttlMs: 1000,
            pollIntervalMs: pollMs,
            ...(status === 'completed' && { result: result ?? text('done') }),
            ...(error !== undefined && { error }),
            ...(inputRequests !== undefined && { inputRequests }),
          }),
    };
  };
  const prepare = (server: Server) => {
    server.setRequestHandler('tools/list', () => ({
      tools: Object.entries(tools).map(([name, { taskSupport = 'required' }]) => ({
        name,
        inputSchema: { type: 'object' as const },
        ...(era === 'legacy' && { execution: { taskSupport } }),
      })),
    }));
    server.setRequestHandler('tools/call', { params: anyResult, result: anyResult }, async (params, { mcpReq }) => {
      calls.push(params);
      const tool = tools[String(params['name'])];
      if (tool === undefined) return refuse(-32602, 'Unknown tool');
      await tool.onStart?.({ meta: mcpReq._meta ?? {}, server });
      const isTask = era === 'modern' ? hasTasks : params['task'] !== undefined;
      if (!isTask && (tool.taskSupport ?? 'required') === 'required') return refuse(-32601, 'This tool needs a task.');
      if (!isTask) return { ...text('called without a task') };
      const taskId = String(tasks.size + 1);
      const [first = 'gone', ...others] = tool.states;
      tasks.set(taskId, { states: others, last: first });
      const task = describe(taskId, first);
      // The SDK refuses a result without content.
      return era === 'legacy' ? { content: [], task } : { resultType: 'task', ...task };
    });
    server.setRequestHandler('tasks/get', { params: ofTask, result: anyResult }, ({ taskId }) => {
      note('tasks/get', taskId);
      const task = tasks.get(taskId) ?? { states: [], last: 'gone' };
      task.last = task.states.shift() ?? task.last;
      return describe(taskId, task.last);
    });
    server.setRequestHandler('tasks/result', { params: ofTask, result: anyResult }, ({ taskId }) => {
      note('tasks/result', taskId);
      const task = tasks.get(taskId);
      const end = [...(task?.states ?? []), task?.last].find(
        (state) => state !== 'gone' && state?.status === 'completed',
      );
      const state = task?.last === 'gone' || task === undefined ? refuse(-32602, 'Task not found') : task.last;
      if (state.error !== undefined) return refuse(state.error.code, state.error.message);
      return state.result ?? (end === 'gone' ? undefined : end?.result) ?? text('done');
    });
    server.setRequestHandler('tasks/cancel', { params: ofTask, result: anyResult }, ({ taskId }) => {
      note('tasks/cancel', taskId);
      return era === 'legacy' ? describe(taskId, { status: 'cancelled' }) : {};
    });
    server.setRequestHandler('tasks/update', { params: ofTask, result: anyResult }, (params, { mcpReq }) => {
      note('tasks/update', params.taskId);
      Object.assign(responses, mcpReq.inputResponses ?? params['inputResponses']);
      return {};
    });
  };
  const capabilities = { tools: {}, ...(era === 'legacy' ? ofLegacy : ofModern) };
  const server = await startFixtureMcpServer({}, { era, capabilities, prepare });
  return {
    ...server,
    requests,
    responses,
    calls,
    waitForRequest: async (request) => {
      if (!requests.includes(request)) await new Promise<void>((resolve) => waiters.set(request, resolve));
    },
  };
}
