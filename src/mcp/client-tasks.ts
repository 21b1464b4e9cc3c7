import { randomUUID } from 'node:crypto';
import {
  type ClientCapabilities,
  type JSONRPCMessage,
  ProtocolErrorCode,
  type RequestId,
  type Transport,
} from '@modelcontextprotocol/client';
import { isRecord } from '../base/json.ts';
import type { Clock } from '../base/time.ts';
import type { TaskStatus } from '../model/notification.ts';
import type { ClientAbilities } from './abilities.ts';

/** The limits of one server for the tasks and results that its client keeps at a time. */
const maxTasks = 100;
const maxKeptBytes = 16_000_000;

/** The longest time to live of a task, in milliseconds; also the default. */
const longestTtlMs = 3_600_000;

/** The interval, in milliseconds, at which a server is asked to poll: answers are scripted, and most tasks end at once. */
const pollInterval = 200;

/** The key of a task's id in the `_meta` of messages about it. */
const relatedTaskKey = 'io.modelcontextprotocol/related-task';

type Answer = { result: Record<string, unknown> } | { error: { code: number; message: string; data?: unknown } };
type Request = Extract<JSONRPCMessage, { id: RequestId; method: string }>;

interface ClientTask {
  readonly taskId: string;
  /**
   * The id of the request that the SDK answers. It is secret: a server that knew it could pass an answer to another request off as this
   * one's.
   */
  readonly innerId: string;
  readonly createdAt: string;
  readonly expiresAtMs: number;
  readonly ttl: number;
  status: TaskStatus;
  statusMessage: string | null;
  lastUpdatedAt: string;
  /** The answer to the request; null while the task works. */
  answer: Answer | null;
  keptBytes: number;
  /** Requests for the result, which are answered when the task ends. */
  readonly waiting: RequestId[];
}

/** The tasks that a client runs for its server. */
export interface ClientTasks {
  /** Cancels the tasks that have not ended, and reports that to the server. Never rejects. */
  cancelTasks(): Promise<void>;
}

/** Lists the task capabilities of a client (2025-11-25): those for the abilities that it offers. */
export function announceTasks({ elicitation, sampling }: ClientAbilities): Pick<ClientCapabilities, 'tasks'> {
  const requests = {
    ...(elicitation !== undefined && { elicitation: { create: {} } }),
    ...(sampling !== undefined && { sampling: { createMessage: {} } }),
  };
  return Object.keys(requests).length === 0 ? {} : { tasks: { list: {}, cancel: {}, requests } };
}

/**
 * Runs requests of a server as tasks if the server asks for that (2025-11-25, "Tasks"), since the SDK does not support tasks. Call it
 * before the SDK connects the transport. It keeps messages about tasks from the SDK: the SDK gets such a request as one without a task,
 * and its answer is kept until the server asks for it.
 *
 * A server has at most 100 tasks and 16 MB of results at a time. A task is kept for the time that the server asks for, and an hour at
 * most.
 */
export function runTasksForServer(transport: Transport, abilities: ClientAbilities, clock: Clock): ClientTasks {
  const { elicitation, sampling } = announceTasks(abilities).tasks?.requests ?? {};
  const methods = new Set([
    ...(elicitation === undefined ? [] : ['elicitation/create']),
    ...(sampling === undefined ? [] : ['sampling/createMessage']),
  ]);
  // The SDK refuses such requests to a client without these abilities.
  if (methods.size === 0) return { cancelTasks: async () => {} };
  const tasks = new Map<string, ClientTask>();
  /** Maps the id of each request that the SDK has not answered yet to its task. */
  const unanswered = new Map<RequestId, ClientTask>();
  const send = transport.send.bind(transport);
  const post = async (message: JSONRPCMessage) => {
    try {
      await send(message);
    } catch (error) {
      transport.onerror?.(error instanceof Error ? error : new Error(String(error)));
    }
  };
  const reply = async (id: RequestId, answer: Answer) => await post({ jsonrpc: '2.0', id, ...answer });
  const refuse = async (id: RequestId, message: string, code: number = ProtocolErrorCode.InvalidParams) =>
    await reply(id, { error: { code, message } });

  const end = async (task: ClientTask, status: TaskStatus, { answer, message = null }: Ended) => {
    if (task.status !== 'working') return;
    task.status = status;
    task.statusMessage = message;
    task.lastUpdatedAt = new Date(clock.now()).toISOString();
    task.answer = answer;
    const waiting = task.waiting.splice(0);
    await post({ jsonrpc: '2.0', method: 'notifications/tasks/status', params: describeTask(task) });
    await Promise.all(waiting.map((id) => reply(id, relateAnswer(task, answer))));
  };
  const cancel = async (task: ClientTask, message: string) =>
    await end(task, 'cancelled', {
      answer: { error: { code: ProtocolErrorCode.InternalError, message } },
      message,
    });
  /** Stores the SDK's answer. */
  const finish = async (task: ClientTask, answer: Answer) => {
    if ('error' in answer) return await end(task, 'failed', { answer, message: answer.error.message });
    const keptBytes = Buffer.byteLength(JSON.stringify(answer.result));
    const allBytes = [...tasks.values()].reduce((sum, each) => sum + each.keptBytes, keptBytes);
    if (allBytes > maxKeptBytes) {
      const message = `The client keeps at most ${maxKeptBytes / 1_000_000} MB of results of tasks.`;
      return await end(task, 'failed', {
        answer: { error: { code: ProtocolErrorCode.InternalError, message } },
        message,
      });
    }
    task.keptBytes = keptBytes;
    return await end(task, 'completed', { answer });
  };
  const forgetExpired = async () => {
    const nowMs = clock.monotonicMs();
    for (const task of tasks.values()) {
      if (task.expiresAtMs > nowMs) continue;
      tasks.delete(task.taskId);
      await cancel(task, 'The time to live of the task is over.');
    }
  };

  const begin = async (request: Request, wanted: Record<string, unknown>, deliver: Deliver) => {
    const asked = wanted['ttl'] ?? longestTtlMs;
    if (typeof asked !== 'number' || !(asked >= 0)) return await refuse(request.id, 'task.ttl is no duration.');
    if (tasks.size >= maxTasks) {
      const message = `The client runs and keeps at most ${maxTasks} tasks at a time.`;
      return await refuse(request.id, message, ProtocolErrorCode.InternalError);
    }
    const ttl = Math.min(asked, longestTtlMs);
    const createdAt = new Date(clock.now()).toISOString();
    const task: ClientTask = {
      taskId: randomUUID(),
      innerId: randomUUID(),
      createdAt,
      expiresAtMs: clock.monotonicMs() + ttl,
      ttl,
      status: 'working',
      statusMessage: null,
      lastUpdatedAt: createdAt,
      answer: null,
      keptBytes: 0,
      waiting: [],
    };
    tasks.set(task.taskId, task);
    unanswered.set(task.innerId, task);
    // A server must receive the task before it receives the end of it.
    await reply(request.id, { result: { task: describeTask(task) } });
    const { task: _task, ...params } = request.params ?? {};
    if (task.status === 'working') deliver({ ...request, id: task.innerId, params });
  };
  const answerAbout = async ({ id, method, params = {} }: Request, deliver: Deliver) => {
    await forgetExpired();
    if (method === 'tasks/list') {
      if (params['cursor'] !== undefined) return await refuse(id, 'The client knows no such cursor.');
      return await reply(id, { result: { tasks: [...tasks.values()].map(describeTask) } });
    }
    const task = tasks.get(String(params['taskId']));
    if (task === undefined)
      return await refuse(id, 'The client knows no such task: it never was, or its time is over.');
    if (method === 'tasks/get') return await reply(id, { result: describeTask(task) });
    if (method === 'tasks/result') {
      if (task.answer === null) return void task.waiting.push(id);
      return await reply(id, relateAnswer(task, task.answer));
    }
    if (task.status !== 'working') return await refuse(id, `The task is ${task.status} already.`);
    deliver({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: task.innerId } });
    await cancel(task, 'The server cancelled the task.');
    return await reply(id, { result: describeTask(task) });
  };

  interceptMessages(transport, (message, deliver) => {
    if (!('method' in message) || !('id' in message)) return deliver(message);
    const { method, params } = message;
    const wanted = params?.['task'];
    if (methods.has(method) && isRecord(wanted))
      return void forgetExpired().then(() => begin(message, wanted, deliver));
    return aboutTasks.has(method) ? void answerAbout(message, deliver) : deliver(message);
  });
  transport.send = async (message, options) => {
    const task = 'method' in message || message.id === undefined ? undefined : unanswered.get(message.id);
    if (task === undefined || 'method' in message) return await send(message, options);
    unanswered.delete(task.innerId);
    return await finish(task, 'error' in message ? { error: message.error } : { result: message.result });
  };
  return {
    cancelTasks: async () => {
      const message = 'The session is over.';
      await Promise.all([...tasks.values()].map((task) => cancel(task, message)));
    },
  };
}

interface Ended {
  answer: Answer;
  message?: string | null;
}

type Deliver = (message: JSONRPCMessage) => void;

const aboutTasks: ReadonlySet<string> = new Set(['tasks/get', 'tasks/result', 'tasks/list', 'tasks/cancel']);

function describeTask({ taskId, status, statusMessage, createdAt, lastUpdatedAt, ttl }: ClientTask) {
  const message = statusMessage === null ? {} : { statusMessage };
  return { taskId, status, ...message, createdAt, lastUpdatedAt, ttl, pollInterval };
}

/** Adds the id of the task to the result of a request, which has no other field for it. */
function relateAnswer({ taskId }: ClientTask, answer: Answer): Answer {
  if ('error' in answer) return answer;
  const meta = isRecord(answer.result['_meta']) ? answer.result['_meta'] : {};
  return { result: { ...answer.result, _meta: { ...meta, [relatedTaskKey]: { taskId } } } };
}

/**
 * Lets `receive` take each message before the handler that the SDK sets while it connects, and decide which messages the handler gets.
 * This must happen before the handshake, since a server may send requests before the handshake is over.
 */
function interceptMessages(transport: Transport, receive: (message: JSONRPCMessage, deliver: Deliver) => void): void {
  Object.defineProperty(transport, 'onmessage', {
    configurable: true,
    get: () => undefined,
    set: (handler: Transport['onmessage']) => {
      const value: Transport['onmessage'] = (message, extra) => receive(message, (passed) => handler?.(passed, extra));
      Object.defineProperty(transport, 'onmessage', { configurable: true, writable: true, enumerable: true, value });
    },
  });
}
