import type { JSONRPCMessage, RequestId, Transport } from '@modelcontextprotocol/client';
import { isRecord } from '../base/json.ts';

/** Where a call's result carries the task that came instead of one. */
export const taskMetaKey = 'mcp-eval-ci/task';

/** A request that waits for its answer. */
interface SentRequest {
  method: string;
  taskId: string;
}

/**
 * Puts the messages of the tasks extension (2026-07-28) into words that the SDK knows: it refuses a result that is a task, and answers
 * what a server asks of its client only in results that are `input_required`. A task becomes a result without content that carries
 * the task; the requests in a task become such a result of `tasks/get`, each once; and the repeated `tasks/get` that answers them
 * becomes `tasks/update`, whose empty answer reads as a task that works.
 */
export function translateTaskMessages(transport: Transport): void {
  const sent = new Map<RequestId, SentRequest>();
  /** Of every task, the requests that were passed on: a server repeats them until it has the answers. */
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
    // The SDK numbers its requests, and takes "1" for 1.
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
