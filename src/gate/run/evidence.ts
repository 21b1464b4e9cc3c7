import type { Redactor } from '../../base/redaction.ts';
import { type Evidence, type IterationMark, maxIterationMarks, maxTraces } from '../../model/evidence.ts';
import type { Iteration } from '../../model/run.ts';
import type { CountedIteration } from '../../verdict/tally.ts';
import { keepTrace } from './keep-trace.ts';

/** Collects what people may want to look into, while the results stream by. */
export interface EvidenceCollector {
  /** One that was added before is replaced. */
  addIteration(suiteId: string, iteration: Iteration, counted: CountedIteration): void;
  /** Whether another trace would be kept. */
  hasRoomForTraces(): boolean;
  addTrace(suiteId: string, iterationId: string, trace: unknown): Promise<void>;
  collect(): Evidence;
}

/** For results that are no part of the report. */
export const noEvidence: EvidenceCollector = {
  addIteration: () => {},
  hasRoomForTraces: () => false,
  addTrace: async () => {},
  collect: () => ({ iterations: [], traces: [] }),
};

export function createEvidenceCollector(redactor: Redactor, options: { keepsTraces: boolean }): EvidenceCollector {
  const marks = new Map<string, IterationMark>();
  const traces = new Map<string, Evidence['traces'][number]>();
  const hasRoomForTraces = () => options.keepsTraces && traces.size < maxTraces;
  return {
    addIteration: (suiteId, { id, iterationNumber, durationMs }, { caseId, standing }) => {
      const key = `${suiteId} ${id}`;
      if (marks.size < maxIterationMarks || marks.has(key)) {
        marks.set(key, { suiteId, caseId, iterationId: id, iterationNumber, standing, durationMs });
      }
    },
    hasRoomForTraces,
    addTrace: async (suiteId, iterationId, trace) => {
      if (!hasRoomForTraces()) return;
      const kept = keepTrace(trace, redactor);
      if (kept !== null) traces.set(`${suiteId} ${iterationId}`, { suiteId, iterationId, ...kept });
    },
    collect: () => ({ iterations: [...marks.values()], traces: [...traces.values()] }),
  };
}
