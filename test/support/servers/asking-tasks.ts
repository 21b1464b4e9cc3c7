import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { CallToolResult, Server, ServerContext } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { isRecord } from '../../../src/base/json.ts';

/** The capabilities of a server whose tools run as tasks, in the older era and in the newer one. */
export const taskCapabilities = {
  tasks: { cancel: {}, requests: { tools: { call: {} } } },
  extensions: { 'io.modelcontextprotocol/tasks': {} },
};

/** A request to a client. */
export interface AskedRequest {
  method: string;
  params?: Record<string, unknown> | undefined;
}

/** The requests of a task to its client, one after the other, with the answers. */
interface AskingTask {
  needs: readonly AskedRequest[];
  answers: unknown[];
}

/** The tasks of all sessions, because the newer era has no sessions. */
const tasks = new Map<string, AskingTask>();

const anyValue = z.looseObject({});
const ofTask = z.looseObject({ taskId: z.string() });
const pollMs = 5;

/** Returns the answer to a call that becomes a task. */
export function startTask(needs: readonly AskedRequest[], { mcpReq }: ServerContext): Record<string, unknown> {
  const taskId = randomUUID();
  tasks.set(taskId, { needs, answers: [] });
  const task = describeTask(taskId, isModern(mcpReq));
  // The SDK refuses a result without content.
  return isModern(mcpReq) ? { content: [], resultType: 'task', ...task } : { content: [], task };
}

/**
 * Serves a client's requests about its tasks. In the older era, a task asks while its client waits for the result, with requests that do not
 * check the client's announced abilities; in the newer era, its state contains the requests.
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

/** Asks the client to run a request as its own task (2025-11-25), and polls that task. */
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

/** Returns a unique name, because a client answers each name only once. */
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
