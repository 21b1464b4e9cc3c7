import type { HistoryRecord } from '../../../src/model/history.ts';

/** A passed gate of `main`, with a passed case and a case of which half passed. */
export function createHistoryRecord(overrides: Partial<HistoryRecord> = {}): HistoryRecord {
  const base = { suiteId: 'math', total: 2, replayed: 0, definitionHash: '5f2c1b0a9d8e7f60', durationMs: 100 };
  return {
    startedAt: '2026-09-20T03:00:00.000Z',
    commit: '0123456789abcdef0123456789abcdef01234567',
    branch: 'main',
    outcome: 'passed',
    cases: [
      { ...base, id: 'adds', passed: 2 },
      { ...base, id: 'asks', passed: 1 },
    ],
    ...overrides,
  };
}
