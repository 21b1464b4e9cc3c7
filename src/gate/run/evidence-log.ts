import { isRecord, listRecords } from '../../base/json.ts';
import { findSmallest } from '../../base/lists.ts';
import { redactDeep, type Redactor } from '../../base/redaction.ts';
import type { SuiteCase } from '../../cases/suite.ts';
import {
  type CaseDefinition,
  type Evidence,
  type IterationMark,
  type IterationTrace,
  maxIterationMarks,
  maxTimelines,
  maxTraces,
  type TracedMessage,
  type TracedPart,
  type TracedSpan,
} from '../../model/evidence.ts';
import type { Iteration } from '../../model/run.ts';
import { hasUsage } from '../../model/usage.ts';
import { truncateText } from '../../report/truncate.ts';
import { type CountedIteration, isIterationReplayed } from '../../verdict/tally.ts';

/** Collects what people may want to inspect, while the results arrive. */
export interface EvidenceCollector {
  /** Adds an iteration, or replaces one that was added before. */
  addIteration(suiteId: string, iteration: Iteration, counted: CountedIteration): void;
  /** Lets the collector read the trace of an iteration that passed: `loadTrace` reads it. */
  inspect(passed: { suiteId: string; caseId: string }, loadTrace: () => Promise<unknown>): Promise<void>;
  /** Checks if another trace would be kept. */
  hasRoomForTraces(): boolean;
  addTrace(suiteId: string, iterationId: string, trace: unknown): Promise<void>;
  collect(): Evidence;
}

/** For results that are not in the report. */
export const noEvidence: EvidenceCollector = {
  addIteration: () => {},
  inspect: async () => {},
  hasRoomForTraces: () => false,
  addTrace: async () => {},
  collect: () => ({ iterations: [], traces: [], definitions: [] }),
};

/** The methods that an extended collector runs in addition. */
type Extension = Partial<Omit<EvidenceCollector, 'collect'>>;

/** Returns a collector that does what `within` does, and then what `also` does. Every wrapper is created here, so that none can omit a method. */
export function extendEvidence(within: EvidenceCollector, also: Extension): EvidenceCollector {
  return {
    addIteration: (...iteration) => {
      within.addIteration(...iteration);
      also.addIteration?.(...iteration);
    },
    inspect: async (...passed) => {
      await within.inspect(...passed);
      await also.inspect?.(...passed);
    },
    hasRoomForTraces: () => within.hasRoomForTraces() || also.hasRoomForTraces?.() === true,
    addTrace: async (...trace) => {
      await within.addTrace(...trace);
      await also.addTrace?.(...trace);
    },
    collect: () => within.collect(),
  };
}

/** `whole` keeps traces, `times` only their spans: the rest is what servers answered and wrote, which not every reader may see. */
export type KeptTraces = 'whole' | 'times' | 'none';

const traceLimits: Record<KeptTraces, number> = { whole: maxTraces, times: maxTimelines, none: 0 };

export function createEvidenceCollector(
  redactor: Redactor,
  options: { traces: KeptTraces; cases?: ReadonlyArray<Pick<SuiteCase, 'location' | 'text'>> },
): EvidenceCollector {
  const marks = new Map<string, IterationMark>();
  const traces = new Map<string, Evidence['traces'][number]>();
  const hasRoomForTraces = () => traces.size < traceLimits[options.traces];
  return {
    addIteration: (suiteId, iteration, { caseId, outcome }) => {
      const { id, iterationNumber, durationMs, usage, judges } = iteration;
      const key = `${suiteId} ${id}`;
      if (marks.size < maxIterationMarks || marks.has(key)) {
        const hasModel = judges.length > 0 || (usage !== null && hasUsage(usage));
        const isReplayed = hasModel ? isIterationReplayed(iteration) : null;
        marks.set(key, { suiteId, caseId, iterationId: id, iterationNumber, outcome, durationMs, isReplayed });
      }
    },
    inspect: async () => {},
    hasRoomForTraces,
    addTrace: async (suiteId, iterationId, trace) => {
      if (!hasRoomForTraces()) return;
      const kept = keepTrace(trace, redactor);
      if (kept === null) return;
      const shown = options.traces === 'whole' ? kept : { ...kept, messages: [], output: [] };
      traces.set(`${suiteId} ${iterationId}`, { suiteId, iterationId, ...shown });
    },
    collect: () => ({
      iterations: [...marks.values()],
      traces: [...traces.values()],
      definitions: listDefinitions(options.cases ?? [], redactor),
    }),
  };
}

/** Lists the text of each case once: the variants of a case share it. */
function listDefinitions(
  cases: ReadonlyArray<Pick<SuiteCase, 'location' | 'text'>>,
  redactor: Redactor,
): CaseDefinition[] {
  const known = new Map<string, CaseDefinition>();
  for (const { location, text } of cases) {
    const { file, line } = location;
    const key = `${file}:${line}`;
    if (!known.has(key)) known.set(key, { file, line, text: truncateText(redactor.redact(text), maxDefinitionLength) });
  }
  return [...known.values()];
}

const maxDefinitionLength = 4000;

type KeptTrace = Pick<IterationTrace, 'messages' | 'spans' | 'spansLeftOut' | 'output'>;
type JsonObject = Record<string, unknown>;

/** In UTF-16 units of its JSON. A page with fifty such traces still opens at once. */
const maxTraceLength = 128 * 1024;
/** The limits of one text, tried from the longest until the trace fits. */
const maxTextLengths = [8000, 1000, 100];
/** The first messages show the prompt, the last ones the outcome. */
const maxMessages = { first: 20, last: 60 };
const maxParts = 20;
const maxSpans = 200;
const maxOutputLines = 100;
const maxNameLength = 100;

/** Makes a service's trace readable and cuts it to size, after redacting it. Any part may be missing or malformed; null if nothing can be shown. */
export function keepTrace(trace: unknown, redactor: Redactor): KeptTrace | null {
  if (!isRecord(trace)) return null;
  const { messages, spans, metadata } = redactDeep(
    { messages: trace['messages'], spans: trace['spans'], metadata: trace['metadata'] },
    redactor,
  );
  const output = listRecords(isRecord(metadata) ? metadata['serverOutput'] : []).flatMap(readLine);
  const known = listRecords(messages);
  const times = listRecords(spans).flatMap(readSpan);
  const startMs = findSmallest(times.map((span) => span.startMs));
  const timeline = times.toSorted((a, b) => a.startMs - b.startMs || b.durationMs - a.durationMs).slice(0, maxSpans);
  if (known.length === 0 && times.length === 0) return null;
  const cut = (maxLength: number): KeptTrace => ({
    messages: selectMessages(known, maxLength),
    spans: timeline.map((span) => ({ ...span, startMs: span.startMs - startMs })),
    spansLeftOut: times.length - timeline.length,
    output: output
      .slice(-maxOutputLines)
      .map(({ atMs, text }) => ({ startMs: atMs - startMs, text: truncateText(text, maxLength) })),
  });
  const fitting = maxTextLengths.map(cut).find((kept) => JSON.stringify(kept).length <= maxTraceLength);
  return fitting ?? { ...cut(0), messages: [], output: [] };
}

function selectMessages(messages: readonly JsonObject[], maxLength: number): TracedMessage[] {
  const { first, last } = maxMessages;
  const read = (part: readonly JsonObject[]) => part.map((message) => readMessage(message, maxLength));
  const leftOut = messages.length - first - last;
  if (leftOut <= 0) return read(messages);
  return [
    ...read(messages.slice(0, first)),
    note(`${leftOut} messages are left out here.`),
    ...read(messages.slice(-last)),
  ];
}

function note(text: string): TracedMessage {
  return { role: 'note', parts: [{ kind: 'text', toolName: null, text }] };
}

function readMessage({ role, content }: JsonObject, maxLength: number): TracedMessage {
  const parts = typeof content === 'string' ? [{ type: 'text', text: content }] : listRecords(content);
  const shown = parts.slice(0, maxParts).map((part) => readPart(part, maxLength));
  const leftOut = parts.length - shown.length;
  return {
    role: readName(role, 'unknown'),
    parts: leftOut > 0 ? [...shown, ...note(`${leftOut} more parts are left out.`).parts] : shown,
  };
}

function readPart(part: JsonObject, maxLength: number): TracedPart {
  const { type, text, toolName, input, output, isError } = part;
  const name = readName(toolName, 'a tool');
  if (type === 'text' && typeof text === 'string') {
    return { kind: 'text', toolName: null, text: truncateText(text, maxLength) };
  }
  if (type === 'tool-call') return { kind: 'call', toolName: name, text: truncateText(indent(input), maxLength) };
  if (type !== 'tool-result') return { kind: 'text', toolName: null, text: truncateText(indent(part), maxLength) };
  const outputType = isRecord(output) ? output['type'] : undefined;
  const value = isRecord(output) && 'value' in output ? output['value'] : output;
  const hasFailed =
    isError === true ||
    (typeof outputType === 'string' && outputType.startsWith('error')) ||
    (isRecord(value) && value['isError'] === true);
  return { kind: hasFailed ? 'error' : 'result', toolName: name, text: truncateText(readOutput(value), maxLength) };
}

/** Reads a result. A result that has only text is shown as that text. */
function readOutput(value: unknown): string {
  if (typeof value === 'string') return value;
  if (!isRecord(value) || value['structuredContent'] !== undefined) return indent(value);
  const content = listRecords(value['content']);
  const texts = content.flatMap(({ type, text }) => (type === 'text' && typeof text === 'string' ? [text] : []));
  return texts.length > 0 && texts.length === content.length ? texts.join('\n') : indent(value);
}

function readSpan({ name, category, startMs, endMs, status }: JsonObject): TracedSpan[] {
  if (typeof startMs !== 'number' || typeof endMs !== 'number') return [];
  const kind = readName(category, 'other');
  return [
    {
      name: readName(name, kind),
      category: kind,
      startMs,
      durationMs: Math.max(0, endMs - startMs),
      isError: status === 'error' || kind === 'error',
    },
  ];
}

function readLine({ atMs, text }: JsonObject): Array<{ atMs: number; text: string }> {
  return typeof atMs === 'number' && typeof text === 'string' ? [{ atMs, text }] : [];
}

function readName(value: unknown, fallback: string): string {
  return typeof value === 'string' && value !== '' ? truncateText(value, maxNameLength) : fallback;
}

function indent(value: unknown): string {
  return JSON.stringify(value, null, 2) ?? '';
}
