import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { CallToolResult, Server, ServerContext } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { isRecord } from '../../../src/base/json.ts';

/** What a server announces whose tools run as tasks, in the older era and in the newer one. */
export const taskCapabilities = {
  tasks: { cancel: {}, requests: { tools: { call: {} } } },
  extensions: { 'io.modelcontextprotocol/tasks': {} },
};

/** A request to a client. */
export interface AskedRequest {
  method: string;
  params?: Record<string, unknown> | undefined;
}

/** What a task asks its client for, one after the other, and what it was answered. */
interface AskingTask {
  needs: readonly AskedRequest[];
  answers: unknown[];
}

/** Of all sessions: the newer era has none. */
const tasks = new Map<string, AskingTask>();

const anyValue = z.looseObject({});
const ofTask = z.looseObject({ taskId: z.string() });
const pollMs = 5;

/** The answer to a call that becomes a task. */
export function startTask(needs: readonly AskedRequest[], { mcpReq }: ServerContext): Record<string, unknown> {
  const taskId = randomUUID();
  tasks.set(taskId, { needs, answers: [] });
  const task = describeTask(taskId, isModern(mcpReq));
  // The SDK refuses a result without content.
  return isModern(mcpReq) ? { content: [], resultType: 'task', ...task } : { content: [], task };
}

/**
 * Serves what a client asks of its tasks. In the older era, a task asks while its client waits for the result, with requests that look at
 * nothing that the client announced; in the newer one, its state has the requests.
 */
export function serveTasks(server: Server): void {
  server.setRequestHandler('tasks/get', { params: ofTask, result: anyValue }, ({ taskId }, { mcpReq }) =>
    describeTask(taskId, isModern(mcpReq)),
  );
  server.setRequestHandler('tasks/update', { params: ofTask, result: anyValue }, (params, { mcpReq }) => {
    const { answers, needs } = find(params.taskId);
    const responses = mcpReq.inputResponses ?? params['inputResponses'];
    const key = nameRequest(answers.length);
    if (answers.length < needs.length && isRecord(responses) && key in responses) answers.push(responses[key]);
    return {};
  });
  server.setRequestHandler('tasks/result', { params: ofTask, result: anyValue }, async ({ taskId }, { mcpReq }) => {
    const task = find(taskId);
    try {
      for (const request of task.needs.slice(task.answers.length)) {
        task.answers.push(await mcpReq.send(request, anyValue));
      }
      return answer(task.answers);
    } catch (error) {
      return { ...answer(String(error)), isError: true };
    }
  });
  server.setRequestHandler('tasks/cancel', { params: ofTask, result: anyValue }, ({ taskId }, { mcpReq }) => {
    tasks.delete(taskId);
    return isModern(mcpReq) ? {} : { ...times, taskId, status: 'cancelled', ttl: 1000 };
  });
}

/** Has the client run a request as a task of its own (2025-11-25), and follows that. */
export async function sendAsTask({ method, params }: AskedRequest, { mcpReq }: ServerContext): Promise<unknown> {
  const begun = await mcpReq.send({ method, params: { ...params, task: { ttl: 60_000 } } }, anyValue);
  const { taskId } = ofTask.parse(begun['task']);
  for (;;) {
    const { status } = await mcpReq.send({ method: 'tasks/get', params: { taskId } }, anyValue);
    if (status !== 'working' && status !== 'input_required') break;
    await sleep(pollMs);
  }
  return await mcpReq.send({ method: 'tasks/result', params: { taskId } }, anyValue);
}

const times = { createdAt: '2026-07-28T00:00:00Z', lastUpdatedAt: '2026-07-28T00:00:00Z' };

export function answer(value: unknown): CallToolResult {
  return { content: [{ type: 'text', text: JSON.stringify(value) }] };
}

function describeTask(taskId: string, modern: boolean): Record<string, unknown> {
  const { needs, answers } = find(taskId);
  const next = needs[answers.length];
  const task = { ...times, taskId, status: next === undefined ? 'completed' : 'input_required' };
  if (!modern) return { ...task, ttl: 60_000, pollInterval: pollMs };
  const state =
    next === undefined ? { result: answer(answers) } : { inputRequests: { [nameRequest(answers.length)]: next } };
  return { ...task, ttlMs: 60_000, pollIntervalMs: pollMs, ...state };
}

/** A client answers each name once. */
function nameRequest(index: number): string {
  return `asked-${index}`;
}

function find(taskId: string): AskingTask {
  const task = tasks.get(taskId);
  if (task === undefined) throw new Error(`There is no task ${taskId}.`);
  return task;
}

function isModern(mcpReq: ServerContext['mcpReq']): boolean {
  return mcpReq.envelope !== undefined;
}
