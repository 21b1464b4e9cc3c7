import { Client, type JSONRPCMessage, type Transport } from '@modelcontextprotocol/client';
import { describe, expect, it } from 'vitest';
import { isRecord } from '../../src/base/json.ts';
import { answerRequests, announce, type ClientAbilities } from '../../src/mcp/abilities.ts';
import { announceTasks, runTasksForServer } from '../../src/mcp/client-tasks.ts';
import { ManualClock } from '../support/clocks/manual-clock.ts';

type Message = Record<string, unknown>;
type Answer = { result?: unknown; error?: unknown };

/** The server of one client of the SDK, which the test plays, message by message. */
async function openServer(abilities: ClientAbilities) {
  const sent: Message[] = [];
  const waiting = new Map<unknown, (answer: Message) => void>();
  const transport: Transport = {
    start: async () => {},
    close: async () => {},
    send: async (message) => {
      const read: unknown = JSON.parse(JSON.stringify(message));
      if (!isRecord(read)) throw new Error('A message is an object.');
      sent.push(read);
      if (read['method'] === 'initialize') {
        const serverInfo = { name: 'played', version: '1.0.0' };
        const result = { protocolVersion: '2025-11-25', capabilities: {}, serverInfo };
        queueMicrotask(() => receive({ jsonrpc: '2.0', id: Number(read['id']), result }));
      }
      if (read['method'] === undefined) waiting.get(read['id'])?.(read);
    },
  };
  const receive = (message: JSONRPCMessage) => transport.onmessage?.(message);
  const clock = new ManualClock();
  const tasks = runTasksForServer(transport, abilities, clock);
  const capabilities = { ...announce(abilities), ...announceTasks(abilities) };
  const client = new Client({ name: 'tested', version: '1.0.0' }, { capabilities });
  answerRequests(client, abilities);
  await client.connect(transport);
  let lastId = 100;
  const request = async (method: string, params: Message = {}): Promise<Answer> => {
    const id = (lastId += 1);
    const answered = Promise.withResolvers<Message>();
    waiting.set(id, answered.resolve);
    receive({ jsonrpc: '2.0', id, method, params });
    return { ...(await answered.promise) };
  };
  const startTask = async (params: Message = form, task: Message = {}) => {
    const { result } = await request('elicitation/create', { ...params, task });
    return readTask(isRecord(result) ? result['task'] : undefined);
  };
  const statuses = () =>
    sent.flatMap(({ method, params }) => (method === 'notifications/tasks/status' ? readTask(params).status : []));
  return { request, startTask, statuses, tasks, clock, client };
}

function readTask(value: unknown): { taskId: string; status: string; ttl: unknown } {
  if (!isRecord(value)) throw new Error(`No task: ${JSON.stringify(value)}`);
  return { taskId: String(value['taskId']), status: String(value['status']), ttl: value['ttl'] };
}

const form = { message: 'Who?', requestedSchema: { type: 'object', properties: { name: { type: 'string' } } } };
const ada = { action: 'accept' as const, content: { name: 'Ada' } };
const answering: ClientAbilities = { elicitation: async () => ada };

/** Answers once the test says so. */
function createSlowAbilities() {
  const answered = Promise.withResolvers<typeof ada>();
  return { abilities: { elicitation: async () => await answered.promise }, answer: () => answered.resolve(ada) };
}

describe('a client that runs requests as tasks', () => {
  it('announces tasks for the abilities that it offers, and nothing without', () => {
    const list = { list: {}, cancel: {} };
    expect(announceTasks(answering)).toEqual({ tasks: { ...list, requests: { elicitation: { create: {} } } } });
    const sampling = async () => ({
      role: 'assistant' as const,
      model: 'x',
      content: { type: 'text' as const, text: '' },
    });
    expect(announceTasks({ sampling })).toEqual({ tasks: { ...list, requests: { sampling: { createMessage: {} } } } });
    expect(announceTasks({ roots: async () => [] })).toEqual({});
  });

  it('creates a task that works, and keeps its result for the server', async () => {
    const { request, startTask, statuses } = await openServer(answering);
    const task = await startTask(form, { ttl: 60_000 });
    expect(task).toMatchObject({ status: 'working', ttl: 60_000 });
    const { taskId } = task;
    const related = { 'io.modelcontextprotocol/related-task': { taskId } };
    expect(await request('tasks/result', { taskId })).toMatchObject({ result: { ...ada, _meta: related } });
    const { result } = await request('tasks/get', { taskId });
    expect(result).toMatchObject({ taskId, status: 'completed', ttl: 60_000 });
    expect(result).toHaveProperty('createdAt', '1970-01-01T00:00:00.000Z');
    expect(statuses()).toEqual(['completed']);
  });

  it('answers a request without a task as ever', async () => {
    const { request } = await openServer(answering);
    expect((await request('elicitation/create', form)).result).toEqual(ada);
  });

  it('gives the result of a task that works once it is there', async () => {
    const { abilities, answer } = createSlowAbilities();
    const { request, startTask } = await openServer(abilities);
    const { taskId } = await startTask();
    const asked = request('tasks/result', { taskId });
    expect((await request('tasks/get', { taskId })).result).toMatchObject({ status: 'working' });
    answer();
    expect((await asked).result).toMatchObject(ada);
  });

  it('gives the error of a request that failed', async () => {
    const elicitation = async () => await Promise.reject(new Error('No answer is left.'));
    const { request, startTask } = await openServer({ elicitation });
    const { taskId } = await startTask();
    expect((await request('tasks/result', { taskId })).error).toMatchObject({ message: 'No answer is left.' });
    const { result } = await request('tasks/get', { taskId });
    expect(result).toMatchObject({ status: 'failed', statusMessage: 'No answer is left.' });
  });

  it('fails a task whose params the SDK refuses', async () => {
    const { request, startTask } = await openServer(answering);
    const { taskId } = await startTask({ message: 3 });
    expect(await request('tasks/result', { taskId })).toHaveProperty('error');
  });

  it('lists its tasks on one page', async () => {
    const { request, startTask } = await openServer(answering);
    const ids = [(await startTask()).taskId, (await startTask()).taskId];
    const { result } = await request('tasks/list');
    expect(result).toMatchObject({ tasks: ids.map((taskId) => ({ taskId })) });
    expect((await request('tasks/list', { cursor: 'next' })).error).toMatchObject({ code: -32_602 });
  });

  it('cancels a task that works, whatever its answer would have been, and none that is over', async () => {
    const { abilities, answer } = createSlowAbilities();
    const { request, startTask, statuses } = await openServer(abilities);
    const { taskId } = await startTask();
    const asked = request('tasks/result', { taskId });
    expect((await request('tasks/cancel', { taskId })).result).toMatchObject({ taskId, status: 'cancelled' });
    expect((await asked).error).toMatchObject({ message: 'The server cancelled the task.' });
    answer();
    expect((await request('tasks/get', { taskId })).result).toMatchObject({ status: 'cancelled' });
    const again = await request('tasks/cancel', { taskId });
    expect(again.error).toMatchObject({ code: -32_602, message: 'The task is cancelled already.' });
    expect(statuses()).toEqual(['cancelled']);
  });

  it('cancels what is left when the session ends', async () => {
    const { abilities } = createSlowAbilities();
    const { request, startTask, statuses, tasks } = await openServer(abilities);
    const { taskId } = await startTask();
    const asked = request('tasks/result', { taskId });
    await request('tasks/get', { taskId });
    await tasks.cancelTasks();
    expect((await asked).error).toMatchObject({ message: 'The session is over.' });
    expect(statuses()).toEqual(['cancelled']);
  });

  it('knows no task that it did not create, and forgets one whose time is over', async () => {
    const { request, startTask, clock } = await openServer(answering);
    for (const method of ['tasks/get', 'tasks/result', 'tasks/cancel']) {
      expect((await request(method, { taskId: 'other' })).error).toMatchObject({ code: -32_602 });
    }
    const { taskId } = await startTask(form, { ttl: 5000 });
    await clock.advance(4999);
    expect((await request('tasks/get', { taskId })).result).toMatchObject({ taskId });
    await clock.advance(1);
    expect((await request('tasks/get', { taskId })).error).toMatchObject({ code: -32_602 });
  });

  it('keeps a task for an hour at most, and refuses a time that is none', async () => {
    const { request, startTask } = await openServer(answering);
    expect((await startTask(form, {})).ttl).toBe(3_600_000);
    expect((await startTask(form, { ttl: 1e9 })).ttl).toBe(3_600_000);
    for (const ttl of [-1, 'long']) {
      const { error } = await request('elicitation/create', { ...form, task: { ttl } });
      expect(error).toMatchObject({ code: -32_602 });
    }
  });

  it('runs 100 tasks at a time, and no more until the time of one is over', async () => {
    const { request, startTask, clock } = await openServer(answering);
    for (let count = 0; count < 100; count += 1) await startTask(form, { ttl: 1000 });
    const { error } = await request('elicitation/create', { ...form, task: {} });
    expect(error).toMatchObject({ code: -32_603, message: expect.stringContaining('at most 100 tasks') });
    await clock.advance(1000);
    expect((await startTask()).status).toBe('working');
  });

  it('fails a task whose result is more than it keeps', async () => {
    const large = { action: 'accept' as const, content: { name: 'x'.repeat(9_000_000) } };
    const { request, startTask } = await openServer({ elicitation: async () => large });
    const [first, second] = [await startTask(), await startTask()];
    expect(await request('tasks/result', { taskId: first.taskId })).toHaveProperty('result');
    const { error } = await request('tasks/result', { taskId: second.taskId });
    expect(error).toMatchObject({ message: 'The client keeps at most 16 MB of results of tasks.' });
  });

  it('refuses what concerns tasks where it offers none', async () => {
    const { request } = await openServer({ roots: async () => [] });
    expect((await request('tasks/list')).error).toMatchObject({ code: -32_601 });
  });
});
