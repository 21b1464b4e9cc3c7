import { isRecord } from '../base/json.ts';
import { firstOfEach } from '../base/lists.ts';
import { transcriptSchema } from '../mutate/transcripts.ts';
import type { ExportKind } from './export-kind.ts';
import type { JournalEntry } from './journal.ts';

/** The transcripts that `run` writes: the first iteration of each case is a task. */
export const transcripts: ExportKind = {
  expected: '`transcripts.jsonl` of `mcp-eval-ci run`',
  isKind: (document) => isRecord(document) && document['transcript'] === 'mcp-eval-ci',
  read: (documents) => {
    const parsed = documents.map((document) => transcriptSchema.safeParse(document));
    const broken = parsed.findIndex(({ success }) => !success);
    if (broken !== -1) return { document: broken, path: [], expected: 'a transcript of `mcp-eval-ci run`, version 1' };
    const all = parsed.flatMap(({ data }) => data ?? []);
    return firstOfEach(all, ({ testCase }) => testCase.title).flatMap(({ startedAtMs, recorded }, index) => {
      if ('bytes' in recorded) return [];
      return recorded.exchanges.flatMap(({ request, answer }, position): JournalEntry[] => {
        const at = { timeMs: startedAtMs, session: index + 1 };
        const asked = { ...at, from: 'client' as const, message: { id: position, ...request } };
        // Without a code, the server did not answer.
        if (answer === null || ('error' in answer && answer.error.code === null)) return [asked];
        return [asked, { ...at, from: 'server', message: { id: position, ...answer } }];
      });
    });
  },
};
