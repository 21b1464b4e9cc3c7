import { closeSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describeError } from '../../base/errors.ts';
import { isRecord } from '../../base/json.ts';
import { appendAll } from '../../base/lists.ts';
import type { Logger } from '../../base/logger.ts';
import { appendToOutput, openOutput, removeOutput } from '../../base/output-files.ts';
import { redactDeep, type Redactor } from '../../base/redaction.ts';
import type { Clock } from '../../base/time.ts';
import { generator } from '../../base/version.ts';
import type { Iteration } from '../../model/run.ts';
import { type Attributes, renderSpans, type SpanRecord } from '../../otlp/encode.ts';
import { identifyTrace } from '../../otlp/ids.ts';
import { buildIterationSpan, buildTraceSpans, type TracedIteration } from '../../otlp/spans.ts';
import { escapeJson } from '../../report/escape/json.ts';
import type { GatePlan } from '../plan/plan.ts';

/** Writes what the iterations did and how long it took to disk, as OpenTelemetry's spans, while results arrive. */
export interface TraceLog extends AsyncDisposable {
  /** Adds the span of an iteration, once. Never throws. */
  addIteration(traced: TracedIteration): Promise<void>;
  /** Lists the iterations of a run without an added trace. */
  listUntraced(runId: string): string[];
  /** Adds the spans of the trace of an added iteration, once. Never throws. */
  addTrace(ids: { runId: string; iterationId: string }, trace: unknown): Promise<void>;
  /** Returns the path of the complete file after the log's disposal; null if there is none, or if it is incomplete. */
  path(): string | null;
}

/** Limits one line, which is one request: about half a megabyte; collectors accept several. */
const maxSpansPerLine = 1000;

export const traceLogName = 'traces.otlp.jsonl';

/** Starts the log in the report directory, replacing an earlier one. */
export async function openTraceLog(
  plan: Pick<GatePlan, 'reportDir' | 'page' | 'revision' | 'traceResource'>,
  { clock, logger, redactor }: { clock: Clock; logger: Logger; redactor: Redactor },
): Promise<TraceLog> {
  const source = { ...generator, resource: { ...describeJob(plan), ...plan.traceResource } };
  const lines = await openLineLog(plan.reportDir, traceLogName, { logger, redactor });
  /** The iterations by the id of their trace; null if all spans of the trace were added. */
  const added = new Map<string, { runId: string; iterationId: string } | null>();
  let waiting: SpanRecord[] = [];
  const flush = async () => {
    const spans = waiting;
    waiting = [];
    if (spans.length > 0) await lines.write(renderSpans(spans, source));
  };
  const add = async (spans: SpanRecord[]) => {
    appendAll(waiting, spans);
    if (waiting.length >= maxSpansPerLine) await flush();
  };
  return {
    addIteration: async (traced) => {
      const ids = { runId: traced.runId, iterationId: traced.iteration.id };
      const { traceId } = identifyTrace(ids);
      if (added.has(traceId)) return;
      added.set(traceId, ids);
      // Redacts before the texts are shortened: part of a secret would not be recognized.
      const iteration = { ...redactDeep(traced.iteration, redactor), id: traced.iteration.id };
      await add([buildIterationSpan({ ...traced, iteration }, { readAtMs: clock.now() })]);
    },
    listUntraced: (runId) => [...added.values()].flatMap((ids) => (ids?.runId === runId ? ids.iterationId : [])),
    addTrace: async (iteration, trace) => {
      const ids = identifyTrace(iteration);
      if (added.get(ids.traceId) == null) return;
      added.set(ids.traceId, null);
      const spans = isRecord(trace) ? trace['spans'] : undefined;
      await add(buildTraceSpans({ spans: redactDeep(spans, redactor) }, ids));
    },
    path: () => lines.path(),
    [Symbol.asyncDispose]: async () => {
      await flush();
      await lines[Symbol.asyncDispose]();
    },
  };
}

/** Uses the semantic conventions for CI/CD and for version control. */
function describeJob({ page, revision }: Pick<GatePlan, 'page' | 'revision'>): Attributes {
  const { branch = null } = revision ?? {};
  const pullNumber = /^PR (\d+)$/.exec(branch ?? '')?.[1];
  return {
    'service.name': generator.name,
    'service.version': generator.version,
    'cicd.pipeline.task.name': page?.job ?? undefined,
    'cicd.pipeline.run.url.full': page?.run?.url,
    'vcs.repository.url.full': page?.repositoryUrl,
    'vcs.ref.head.revision': revision?.commit ?? undefined,
    'vcs.ref.head.name': pullNumber === undefined ? (branch ?? undefined) : undefined,
    'vcs.change.id': pullNumber,
  };
}

/** A file of the report directory to which lines are added while results arrive. */
interface LineLog extends AsyncDisposable {
  /** Adds whole lines, each with its line break. Never throws: warns once if it cannot write. */
  write(lines: string): Promise<void>;
  /** Returns the absolute path of the file; null before the first write, and after a failed one. */
  path(): string | null;
}

type ReportPlace = Pick<GatePlan['reportDir'], 'path' | 'label' | 'root'>;

/** Removes an earlier file of that name; the first lines create the new one. */
export async function openLineLog(
  reportDir: ReportPlace,
  name: string,
  { logger, redactor }: { logger: Logger; redactor: Redactor },
): Promise<LineLog> {
  const path = resolve(reportDir.path, name);
  let file: number | null = null;
  let isBroken = false;
  const attempt = async (write: () => Promise<unknown>) => {
    if (isBroken) return;
    try {
      await write();
    } catch (error) {
      isBroken = true;
      const label = join(reportDir.label, name);
      logger.warning(`Could not write ${label} to its end: ${describeError(error)}. The verdict stands.`);
    }
  };
  await attempt(async () => removeOutput(path, reportDir.root));
  return {
    write: async (lines) => {
      if (lines === '') return;
      await attempt(async () => {
        file ??= openOutput(path, reportDir.root);
        await appendToOutput(file, redactor.redact(lines));
      });
    },
    path: () => (file === null || isBroken ? null : path),
    [Symbol.asyncDispose]: async () => {
      if (file !== null) closeSync(file);
    },
  };
}

/** Writes every iteration that was read to disk, one JSON document per line. */
export interface IterationLog extends AsyncDisposable {
  /** Adds the iterations that are not in the log yet, with the number of their retry. Never throws. */
  add(suiteId: string, iterations: readonly Iteration[], retry?: number): Promise<void>;
}

/** For a gate without a full report. */
export const noIterationLog: IterationLog = { add: async () => {}, [Symbol.asyncDispose]: async () => {} };

/** Starts the log in the report directory, replacing an earlier one. */
export async function openIterationLog(
  reportDir: ReportPlace,
  context: { logger: Logger; redactor: Redactor },
): Promise<IterationLog> {
  const writtenIds = new Set<string>();
  const lines = await openLineLog(reportDir, 'iterations.jsonl', context);
  return {
    add: async (suiteId, iterations, retry) => {
      const fresh = iterations.filter(({ id }) => !writtenIds.has(id));
      for (const { id } of fresh) writtenIds.add(id);
      await lines.write(
        fresh.map((iteration) => `${escapeJson(JSON.stringify({ suiteId, retry, ...iteration }))}\n`).join(''),
      );
    },
    [Symbol.asyncDispose]: async () => await lines[Symbol.asyncDispose](),
  };
}
