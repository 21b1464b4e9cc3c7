import { clipText } from '../../base/text.ts';
import { type Redactor, redactDeep } from '../../base/redaction.ts';
import { isRecord } from '../../base/json.ts';
import type { Iteration, ToolCall } from '../../model/run.ts';
import { type EvidenceCollector, extendEvidence } from './evidence-log.ts';

/** The single iterations that an upload needs: those of first rounds, without secrets. */
export interface KeptResults {
  /** The results by the gate's id of the suite. A suite with too many results has none. */
  suites: ReadonlyMap<string, readonly KeptResult[]>;
  /** Suites with too many results to keep; an incomplete set must not be uploaded. */
  overflowing: ReadonlySet<string>;
  /** True if there were more traces of failed iterations than space for them. */
  lacksTraces: boolean;
}

/** A scored iteration. */
export interface KeptResult extends Pick<
  Iteration,
  'iterationNumber' | 'durationMs' | 'error' | 'model' | 'tokensUsed' | 'actualToolCalls' | 'expectedToolCalls'
> {
  iterationId: string;
  caseId: string;
  passed: boolean;
  /** The trace of a failed iteration, as far as there is space. */
  trace?: object;
}

/** In bytes of their JSON: tens of thousands of iterations, and little compared with the memory of the runs. */
const defaultMaxBytes = 32 * 2 ** 20;
/** In UTF-16 units of its JSON. */
const maxTraceLength = 128 * 1024;
/** The limits of one text of a trace, tried from the longest until the trace fits. */
const maxTextLengths = [8000, 1000, 100];
/** In UTF-16 units of their JSON; larger lists keep the names of the calls, without their arguments. */
const maxToolCallsLength = 16 * 1024;
const maxErrorLength = 2000;

interface Kept<T> {
  suiteId: string;
  value: T;
  bytes: number;
}

/** A collector that keeps what an upload needs, in addition to what the collector within it collects. */
export interface ResultKeeper extends EvidenceCollector {
  kept(): KeptResults;
}

export function createResultKeeper(
  within: EvidenceCollector,
  { redactor, maxBytes = defaultMaxBytes }: { redactor: Redactor; maxBytes?: number },
): ResultKeeper {
  const results = new Map<string, Kept<KeptResult>>();
  const traces = new Map<string, Kept<object>>();
  const overflowing = new Set<string>();
  let bytes = 0;
  let lacksTraces = false;

  const drop = (kept: Map<string, Kept<unknown>>, key: string) => {
    bytes -= kept.get(key)?.bytes ?? 0;
    kept.delete(key);
  };
  /** Drops traces for results: if one result is missing, its whole suite cannot be uploaded. */
  const makeRoom = (wanted: number): boolean => {
    for (const key of [...traces.keys()].toReversed()) {
      if (bytes + wanted <= maxBytes) break;
      drop(traces, key);
      lacksTraces = true;
    }
    return bytes + wanted <= maxBytes;
  };
  const giveUp = (suiteId: string) => {
    overflowing.add(suiteId);
    for (const kept of [results, traces]) {
      for (const [key, value] of kept) if (value.suiteId === suiteId) drop(kept, key);
    }
  };

  const evidence = extendEvidence(within, {
    addIteration: (suiteId, iteration, counted) => {
      const key = `${suiteId} ${iteration.id}`;
      drop(results, key);
      if (counted.outcome === 'unscored' || overflowing.has(suiteId)) return;
      const value = compactIteration(redactDeep(iteration, redactor), {
        caseId: counted.caseId,
        passed: counted.outcome === 'passed',
      });
      const needed = countBytes(value);
      if (!makeRoom(needed)) {
        giveUp(suiteId);
        return;
      }
      bytes += needed;
      results.set(key, { suiteId, value, bytes: needed });
    },
    hasRoomForTraces: () => !lacksTraces,
    addTrace: async (suiteId, iterationId, trace) => {
      const key = `${suiteId} ${iterationId}`;
      const value = results.has(key) && !lacksTraces ? cutTrace(trace, redactor) : null;
      if (value === null) return;
      drop(traces, key);
      const needed = countBytes(value);
      if (bytes + needed > maxBytes) {
        lacksTraces = true;
        return;
      }
      bytes += needed;
      traces.set(key, { suiteId, value, bytes: needed });
    },
  });
  return {
    ...evidence,
    kept: () => {
      const bySuite = Map.groupBy([...results], ([, { suiteId }]) => suiteId);
      const suites = new Map(
        [...bySuite].map(([suiteId, entries]) => [
          suiteId,
          entries.map(([key, { value }]) => {
            const trace = traces.get(key)?.value;
            return trace === undefined ? value : { ...value, trace };
          }),
        ]),
      );
      return { suites, overflowing, lacksTraces };
    },
  };
}

function compactIteration(
  { id: iterationId, iterationNumber, durationMs, error, model, tokensUsed, ...calls }: Iteration,
  counted: { caseId: string; passed: boolean },
): KeptResult {
  return {
    ...counted,
    iterationId,
    iterationNumber,
    durationMs,
    model,
    tokensUsed,
    error: error === null ? null : clipText(error, maxErrorLength),
    actualToolCalls: compactToolCalls(calls.actualToolCalls),
    expectedToolCalls: compactToolCalls(calls.expectedToolCalls),
  };
}

function compactToolCalls(calls: ToolCall[]): ToolCall[] {
  if (JSON.stringify(calls).length <= maxToolCallsLength) return calls;
  const most = maxToolCallsLength / 256;
  return calls.slice(0, most).map(({ toolName }) => ({ toolName: clipText(toolName, 200), arguments: {} }));
}

/** Keeps the known fields of a trace, and shortens its texts until it fits; null if it never fits. */
function cutTrace(trace: unknown, redactor: Redactor): object | null {
  if (!isRecord(trace)) return null;
  const { messages, spans, prompts } = trace;
  const clean = redactDeep({ messages, spans, prompts }, redactor);
  const fits = (value: object) => JSON.stringify(value).length <= maxTraceLength;
  const cuts = maxTextLengths.map((length) => () => clipDeep(clean, length));
  for (const cut of [...cuts, () => ({ spans: clean.spans })]) {
    const value = cut();
    if (fits(value)) return value;
  }
  return null;
}

function clipDeep<T>(value: T, maxLength: number): T;
function clipDeep(value: unknown, maxLength: number): unknown {
  if (typeof value === 'string') return clipText(value, maxLength);
  if (Array.isArray(value)) return value.map((item) => clipDeep(item, maxLength));
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, clipDeep(item, maxLength)]));
}

function countBytes(value: object): number {
  return Buffer.byteLength(JSON.stringify(value));
}
