import { isRecord, type JsonObject, listRecords, tryParseJson } from '../base/json.ts';
import type { ExportKind } from './export-kind.ts';
import type { JournalEntry } from './journal.ts';

/** A span with its attributes by name. */
interface Span {
  timeMs: number;
  attributes: ReadonlyMap<string, unknown>;
  isFailed: boolean;
}

/** Exported traces: OTLP/JSON, as one document or one a line, with spans of MCP that have their arguments and results. */
export const spans: ExportKind = {
  expected: 'OTLP/JSON with `resourceSpans`',
  isKind: (document) => isRecord(document) && Array.isArray(document['resourceSpans']),
  read: (documents) => {
    const listed = documents.filter(isRecord).flatMap(listSpans);
    const entries = listed.toSorted((a, b) => a.timeMs - b.timeMs).flatMap(toEntries);
    const expected = 'a span with `mcp.method.name`, and its `gen_ai.tool.call.result`';
    return entries.length === 0 ? { document: 0, path: [], expected } : entries;
  },
};

function listSpans({ resourceSpans }: JsonObject): Span[] {
  return listRecords(resourceSpans)
    .flatMap(({ scopeSpans }) => listRecords(scopeSpans))
    .flatMap(({ spans }) => listRecords(spans))
    .map(({ startTimeUnixNano, attributes, status }) => ({
      timeMs: Number(startTimeUnixNano) / 1e6,
      attributes: new Map(listRecords(attributes).map(({ key, value }) => [String(key), readValue(value)])),
      isFailed: isRecord(status) && Number(status['code']) === 2,
    }));
}

function readValue(value: unknown): unknown {
  if (!isRecord(value)) return undefined;
  const { stringValue, boolValue, doubleValue, intValue } = value;
  return stringValue ?? boolValue ?? doubleValue ?? (intValue === undefined ? undefined : Number(intValue));
}

/** Makes the two messages of a span; none of a span without an answer. */
function toEntries({ timeMs, attributes, isFailed }: Span, index: number): JournalEntry[] {
  const method = attributes.get('mcp.method.name');
  const read = (name: string) => {
    const value = attributes.get(name);
    return typeof value === 'string' ? (tryParseJson(value) ?? value) : value;
  };
  const answer = read('gen_ai.tool.call.result');
  if (method !== 'tools/call' || answer === undefined) return [];
  const args = read('gen_ai.tool.call.arguments');
  const params = { name: attributes.get('gen_ai.tool.name'), arguments: isRecord(args) ? args : {} };
  const id = `span-${index}`;
  return [
    { timeMs, from: 'client', message: { id, method, params } },
    { timeMs, from: 'server', message: { id, result: toResult(answer, isFailed) } },
  ];
}

/** Some exporters keep the whole result, and others its text. */
function toResult(answer: unknown, isFailed: boolean): JsonObject {
  if (isRecord(answer) && Array.isArray(answer['content'])) return answer;
  const text = typeof answer === 'string' ? answer : JSON.stringify(answer);
  return { content: [{ type: 'text', text }], ...(isFailed && { isError: true }) };
}
