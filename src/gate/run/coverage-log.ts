import { describeError } from '../../base/errors.ts';
import { isRecord, listRecords } from '../../base/json.ts';
import { appendAll } from '../../base/lists.ts';
import type { CoverageReport } from '../../model/coverage-report.ts';
import type { Surface } from '../../model/surface.ts';
import { readTrace } from '../../engine/trace-reader.ts';
import { createCoverage } from '../../surface/measure-coverage.ts';
import { type EvidenceCollector, extendEvidence } from './evidence-log.ts';

/** Notes which parts of its servers' surfaces the evals of a gate use, while results arrive. */
export interface CoverageLog {
  /** Returns a collector that also notes what iterations did, in addition to what `within` collects. */
  watch(within: EvidenceCollector): EvidenceCollector;
  report(): Pick<CoverageReport, 'unreadTraces' | 'items'>;
}

/**
 * Opens a log for the surfaces of all servers. Tool calls count in every iteration. Reads the trace of the first passed iteration of each
 * case for what only a trace shows: error paths, prompts, resources, and calls of `setup` and `teardown`. Reads at most `maxTraces` traces.
 */
export function openCoverageLog(surfaces: readonly Surface[], { maxTraces }: { maxTraces: number }): CoverageLog {
  const coverage = createCoverage(surfaces);
  const tracedCases = new Set<string>();
  const unread = new Set<string>();
  const addTrace = (trace: unknown) => {
    for (const { toolName, arguments: args, output, errorCode } of readTrace(trace)?.calls ?? []) {
      if (toolName === null) continue;
      coverage.addCall(toolName, args ?? {});
      if (errorCode !== null || output?.isError === true) coverage.addError(toolName);
    }
    for (const { name, status, resourceUri, promptName } of listRequests(trace)) {
      if (status === 'error') continue;
      if (name === 'resources/read' && typeof resourceUri === 'string') coverage.addResource(resourceUri);
      if (name === 'prompts/get' && typeof promptName === 'string') coverage.addPrompt(promptName);
    }
  };
  return {
    watch: (within) =>
      extendEvidence(within, {
        addIteration: (_suiteId, { actualToolCalls }) => {
          for (const { toolName, arguments: args } of actualToolCalls) coverage.addCall(toolName, args);
        },
        inspect: async (passed, loadTrace) => {
          const key = JSON.stringify([passed.suiteId, passed.caseId]);
          if (tracedCases.has(key)) return;
          if (tracedCases.size >= maxTraces) {
            unread.add(key);
            return;
          }
          tracedCases.add(key);
          const trace = await loadTrace().catch((error: unknown) => describeError(error));
          if (isRecord(trace)) addTrace(trace);
          else unread.add(key);
        },
      }),
    report: () => ({ unreadTraces: unread.size, items: coverage.listItems() }),
  };
}

function listRequests(trace: unknown): Array<Record<string, unknown>> {
  const found: Array<Record<string, unknown>> = [];
  const spans: unknown = isRecord(trace) ? trace['spans'] : undefined;
  appendAll(found, listRecords(spans));
  return found.filter(({ category }) => category === 'request');
}
