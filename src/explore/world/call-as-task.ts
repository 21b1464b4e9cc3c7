import { isRecord, type JsonObject } from '../../base/json.ts';
import type { Clock } from '../../base/time.ts';
import { classifyCallFault } from '../../mcp/faults.ts';
import { createRefusal, followTask, readTask } from '../../mcp/tasks.ts';
import { createError, rpcErrorCodes } from '../../server/bridge/bridge-messages.ts';
import type { CallReply, Reply, SendRequest } from './reply.ts';

/** A request about a task got no answer. */
class NoAnswer extends Error {
  readonly reply: Exclude<Reply, { kind: 'response' }>;

  constructor(reply: Exclude<Reply, { kind: 'response' }>) {
    super();
    this.reply = reply;
  }
}

/**
 * Calls a tool as a task of 2025-11-25, and waits for its end. The reply is that of a call without a task. A task that runs for longer than
 * `limitMs` gets the reply of a call that takes too long; it ends with the process.
 */
export async function callAsTask(
  request: SendRequest,
  params: JsonObject,
  { clock, signal, limitMs }: { clock: Clock; signal: AbortSignal; limitMs: number },
): Promise<CallReply> {
  const endMs = clock.monotonicMs() + limitMs;
  const created = await request('tools/call', { ...params, task: { ttl: limitMs } });
  const result = created.kind === 'response' ? created.response.result : undefined;
  // A server that refuses the arguments creates no task.
  if (created.kind !== 'response' || !isRecord(result) || !isRecord(result['task'])) return created;
  const ask = async (method: string, about: JsonObject) => {
    const leftMs = endMs - clock.monotonicMs();
    const reply: Reply = leftMs > 0 ? await request(method, about, leftMs) : { kind: 'silent', isAlive: true };
    if (reply.kind !== 'response') throw new NoAnswer(reply);
    const { error } = reply.response;
    if (error !== null) throw createRefusal(error.code, error.message);
    return reply.response.result;
  };
  try {
    const task = readTask(result['task'], 'tools/call');
    const end = await followTask(task, { isModern: false, clock, signal, request: ask, onChange: () => {} });
    return { kind: 'response', response: { ...created.response, result: end } };
  } catch (error) {
    if (error instanceof NoAnswer) return error.reply;
    signal.throwIfAborted();
    const fault = classifyCallFault(error);
    if (fault.kind !== 'answered') return { kind: 'malformed', message: fault.message };
    const { code, message } = fault;
    const response = createError(created.response.id, { code: code ?? rpcErrorCodes.internalError, message });
    return { kind: 'response', response };
  }
}
