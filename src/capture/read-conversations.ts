import { isRecord, listRecords } from '../base/json.ts';
import { readTrace, type ToolOutput } from '../engine/trace-reader.ts';
import type { ExportKind } from './export-kind.ts';
import type { JournalEntry } from './journal.ts';

/** Chat sessions and traces of the service: messages of the AI SDK. Each message of the user begins a task. */
export const conversations: ExportKind = {
  expected: 'a chat session or a trace with `messages`',
  isKind: (document) => findMessages(document) !== null,
  read: (documents) => {
    const turns = documents.flatMap((document) => splitTurns(findMessages(document) ?? []));
    const entries = turns.flatMap((messages, turn) => readTurn(messages, turn + 1));
    const expected = 'a message with a `tool-call` part and the `tool-result` part of the same `toolCallId`';
    return entries.length === 0 ? { document: 0, path: ['messages'], expected } : entries;
  },
};

/** Finds the messages of a document, or of the trace in it. */
function findMessages(document: unknown): unknown[] | null {
  if (!isRecord(document)) return null;
  const { messages, trace } = document;
  return Array.isArray(messages) ? messages : trace === undefined ? null : findMessages(trace);
}

function splitTurns(messages: readonly unknown[]): unknown[][] {
  const turns: unknown[][] = [];
  for (const message of listRecords(messages)) {
    const turn = turns.at(-1);
    if (turn === undefined || message['role'] === 'user') turns.push([message]);
    else turn.push(message);
  }
  return turns;
}

/** Makes the two messages of each call. The messages of a conversation have no times, so the number of the turn separates tasks. */
function readTurn(messages: readonly unknown[], session: number): JournalEntry[] {
  const calls = (readTrace({ messages })?.calls ?? []).toSorted((a, b) => a.callOrder - b.callOrder);
  return calls.flatMap(({ toolName: name, arguments: args, output }, index): JournalEntry[] => {
    if (name === null || args === null || output === null) return [];
    const params = { name, arguments: args };
    const at = { timeMs: 0, session };
    return [
      { ...at, from: 'client', message: { id: index, method: 'tools/call', params } },
      { ...at, from: 'server', message: { id: index, result: toResult(output) } },
    ];
  });
}

function toResult({ text, structuredContent, content, isError, isVerbatim }: ToolOutput) {
  return {
    content: content ?? [{ type: 'text', text }],
    ...(isVerbatim && structuredContent !== undefined && { structuredContent }),
    ...(isError && { isError }),
  };
}
