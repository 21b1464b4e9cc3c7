import { isRecord, listRecords } from '../base/json.ts';
import type { ExportKind } from './export-kind.ts';
import type { JournalEntry } from './journal.ts';

/**
 * Cassettes of mcp-recorder, as its version 0.5.0 writes them: requests of the client, each with its answer. They have the time of the first
 * one only.
 */
export const cassettes: ExportKind = {
  expected: 'a cassette of mcp-recorder with `interactions`',
  isKind: (document) => isRecord(document) && Array.isArray(document['interactions']),
  read: (documents) => {
    const entries: JournalEntry[] = [];
    for (const [index, document] of documents.entries()) {
      const { metadata, interactions } = isRecord(document) ? document : {};
      const recordedAt = isRecord(metadata) ? Date.parse(String(metadata['recorded_at'])) : Number.NaN;
      let timeMs = Number.isNaN(recordedAt) ? 0 : recordedAt;
      for (const [position, interaction] of (Array.isArray(interactions) ? interactions : []).entries()) {
        const { type, request, response, latency_ms: latencyMs } = isRecord(interaction) ? interaction : {};
        if (type === 'notification' || type === 'lifecycle') continue;
        if (type !== 'jsonrpc_request' || !isRecord(request) || typeof request['method'] !== 'string') {
          const expected = 'an interaction with its `type` and a `request` with a `method`';
          return { document: index, path: ['interactions', position], expected };
        }
        // Several sessions may have used the same ids.
        const id = `${index} ${position}`;
        entries.push({ timeMs, from: 'client', message: { ...request, id } });
        timeMs += typeof latencyMs === 'number' ? latencyMs : 0;
        if (isRecord(response)) entries.push({ timeMs, from: 'server', message: { ...response, id } });
      }
    }
    if (listRecords(entries.map(({ message }) => message)).some(({ method }) => isCall(method))) return entries;
    return { document: 0, path: ['interactions'], expected: 'a request such as `tools/call`' };
  },
};

const isCall = (method: unknown) => method === 'tools/call' || method === 'resources/read' || method === 'prompts/get';
