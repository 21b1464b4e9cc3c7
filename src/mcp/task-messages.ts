import type { JSONRPCMessage, RequestId, Transport } from '@modelcontextprotocol/client';
import { isRecord } from '../base/json.ts';

/** The `_meta` key of a call's result for the task that the server returned instead of a result. */
export const taskMetaKey = 'mcp-eval-ci/task';

/** A request that waits for its answer. */
interface SentRequest {
  method: string;
  taskId: string;
}

/**
 * Translates the messages of the tasks extension (2026-07-28) for the SDK, which refuses a task as a result, and answers a server's
 * requests only in `input_required` results. A task becomes a result without content that carries the task. The requests of a task become
 * an `input_required` result of `tasks/get`, each once. The repeated `tasks/get` with their answers becomes `tasks/update`, and its empty
 * answer reads as a working task.
 */
export function translateTaskMessages(transport: Transport): void {
  const sent = new Map<RequestId, SentRequest>();
  /** The requests of each task that were passed on: a server repeats them until it has the answers. */
  const passed = new Map<string, Set<string>>();

  const readResult = ({ method, taskId }: SentRequest, result: Record<string, unknown>): Record<string, unknown> => {
    if (method === 'tasks/update') return { resultType: 'complete', taskId, status: 'working' };
    if (method === 'tools/call') {
      if (result['resultType'] !== 'task') return result;
      return { resultType: 'complete', content: [], _meta: { [taskMetaKey]: result } };
    }
    const requests = isRecord(result['inputRequests']) ? Object.entries(result['inputRequests']) : [];
    const known = passed.get(taskId) ?? new Set();
    const added = requests.filter(([key]) => !known.has(key));
    if (result['status'] !== 'input_required' || added.length === 0) return result;
    passed.set(taskId, new Set([...known, ...added.map(([key]) => key)]));
    return { resultType: 'input_required', inputRequests: Object.fromEntries(added) };
  };

  const deliver = transport.onmessage;
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- a transport is no EventTarget
  transport.onmessage = (message) => {
    if ('method' in message || message.id === undefined) return deliver?.(message);
    // The SDK numbers its requests, and accepts "1" for 1.
    const id = Number(message.id);
    const request = sent.get(id);
    sent.delete(id);
    if (request === undefined || !('result' in message)) return deliver?.(message);
    return deliver?.({ ...message, result: readResult(request, message.result) });
  };
  const send = transport.send.bind(transport);
  transport.send = async (message, options) => {
    if (!('method' in message) || !('id' in message)) return await send(message, options);
    const translated = translateUpdate(message);
    const { method, params } = translated;
    if (method === 'tools/call' || method.startsWith('tasks/')) {
      sent.set(translated.id, { method, taskId: String(params?.['taskId']) });
    }
    return await send(translated, options);
  };
}

function translateUpdate(message: Extract<JSONRPCMessage, { id: RequestId; method: string }>) {
  const { method, params = {} } = message;
  if (method !== 'tasks/get' || !('inputResponses' in params)) return message;
  return { ...message, method: 'tasks/update' };
}
