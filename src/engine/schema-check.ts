import { Worker } from 'node:worker_threads';
import { describeError } from '../base/errors.ts';
import { isTooDeep, type JsonObject, maxJsonDepth } from '../base/json.ts';
import type { IterationLimit } from './iteration-limit.ts';
import type { SchemaJob, SchemaJudgement } from './schema-validator.ts';
import { schemaWorkerSource } from './schema-worker-source.ts';

/** The limits of the thread. A schema or a value can be crafted so that validation never ends. */
export interface SchemaLimits {
  memoryMiB: number;
}

const schemaLimits: SchemaLimits = { memoryMiB: 256 };

/** The time of all checks of one iteration together, in milliseconds. */
const defaultTimeMs = 10_000;

/** The time that the thread has to start, which can be seconds on a busy machine. It does not count towards the time of a check. */
const startLimitMs = 60_000;

/** `stopped` means that the check exceeded a limit; its reason is a clause about the check. */
type SchemaCheck = Exclude<SchemaJudgement, { kind: 'endless' }> | { kind: 'stopped'; reason: string };

/** The time left for the checks of one iteration. */
interface SchemaTime {
  limitMs: number;
  leftMs: number;
}

interface SchemaThread {
  /**
   * Validates values one after the other. Waiting for the turn does not count towards the time.
   *
   * @throws the signal's reason once it aborts, and an Error if the thread cannot run.
   */
  judge(job: SchemaJob, options: { time: SchemaTime; signal: AbortSignal | undefined }): Promise<SchemaCheck>;
  /** Ends the thread unless it is in use. The next check starts it again. */
  close(): Promise<void>;
}

/**
 * Validates values in a separate thread that can be stopped at any point. Its program is embedded as text, so that no code is read from a
 * disk that the server under test can write. An idle thread does not keep the process alive.
 */
export function createSchemaThread(limits: SchemaLimits = schemaLimits): SchemaThread {
  let worker: SchemaWorker | null = null;
  let last: Promise<void> = Promise.resolve();
  let inUse = 0;

  const start = () => {
    const started = startWorker(limits);
    started.thread.once('exit', () => {
      if (worker === started) worker = null;
    });
    return started;
  };
  const close = async () => {
    const ended = worker;
    worker = null;
    await ended?.thread.terminate();
  };
  const judgeNow = async (job: SchemaJob, time: SchemaTime, signal: AbortSignal | undefined): Promise<SchemaCheck> => {
    if (time.leftMs <= 0) return { kind: 'stopped', reason: describeTimeout(time) };
    const asked = (worker ??= start());
    asked.thread.ref();
    const answer = await ask(asked, job, { time, signal });
    if (answer.isAlive) asked.thread.unref();
    else await close();
    if ('error' in answer) throw answer.error;
    // Without any known mismatch, a stopped check has no result. A known mismatch decides, even if the search for others was stopped.
    if (answer.judgement === null) return { kind: 'stopped', reason: describeStop(answer.stop, { ...limits, time }) };
    if (answer.judgement.kind !== 'endless') return answer.judgement;
    return { kind: 'stopped', reason: 'the schema refers to itself deeper than the stack' };
  };
  return {
    judge: async (job, { time, signal }) => {
      const before = last;
      const turn = Promise.withResolvers<void>();
      last = before.then(() => turn.promise);
      inUse += 1;
      try {
        await before;
        signal?.throwIfAborted();
        return await judgeNow(job, time, signal);
      } finally {
        inUse -= 1;
        turn.resolve();
      }
    },
    close: async () => {
      if (inUse === 0) await close();
    },
  };
}

type Stop = 'time' | 'memory';
type Answer = { isAlive: boolean } & (
  | { judgement: SchemaJudgement }
  | { judgement: null; stop: Stop }
  | { error: unknown }
);

/** Messages of the thread: first that its program is loaded, then its findings. */
type Reply = 'ready' | { isFinal: boolean; judgement: SchemaJudgement };

interface SchemaWorker {
  thread: Worker;
  /** True if its program is loaded. */
  isReady: boolean;
}

/** Starts the thread with an empty environment, because the real one may hold secrets, and without the arguments of this process. */
function startWorker({ memoryMiB }: SchemaLimits): SchemaWorker {
  const thread = new Worker(schemaWorkerSource, {
    eval: true,
    name: 'schemas',
    env: {},
    argv: [],
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: memoryMiB },
  });
  // Without a listener, an error of a terminating thread would end this process.
  thread.on('error', () => {});
  const worker = { thread, isReady: false };
  thread.once('message', () => {
    worker.isReady = true;
  });
  return worker;
}

/** Sends a job to the thread. Subtracts its time from `time`, counted from when the program of the thread is loaded. */
function ask(
  { thread, isReady }: Readonly<SchemaWorker>,
  job: SchemaJob,
  { time, signal }: { time: SchemaTime; signal: AbortSignal | undefined },
): Promise<Answer> {
  return new Promise((resolve) => {
    let timer: NodeJS.Timeout | undefined;
    let startedAtMs: number | null = null;
    let known: SchemaJudgement | null = null;
    const stop = (stop: Stop) =>
      settle({ isAlive: false, ...(known ? { judgement: known } : { judgement: null, stop }) });
    const startClock = () => {
      clearTimeout(timer);
      startedAtMs = performance.now();
      timer = setTimeout(() => stop('time'), time.leftMs);
    };
    const onMessage = (reply: Reply) => {
      if (reply === 'ready') {
        startClock();
        return;
      }
      const { isFinal, judgement } = reply;
      known = judgement;
      if (isFinal) settle({ isAlive: true, judgement });
    };
    const onError = (error: unknown) => {
      if (isOutOfMemory(error)) stop('memory');
      else settle({ isAlive: false, error: new Error(`The thread for schemas failed: ${describeError(error)}`) });
    };
    const onExit = (code: number) => onError(new Error(`it ended with code ${code}.`));
    const onAbort = () => settle({ isAlive: false, error: signal?.reason });
    const onLateStart = () => onError(new Error(`it did not start within ${startLimitMs / 1000} s.`));
    const settle = (answer: Answer) => {
      clearTimeout(timer);
      if (startedAtMs !== null) time.leftMs -= performance.now() - startedAtMs;
      thread.off('message', onMessage).off('error', onError).off('messageerror', onError).off('exit', onExit);
      signal?.removeEventListener('abort', onAbort);
      resolve(answer);
    };
    thread.on('message', onMessage).on('error', onError).on('messageerror', onError).on('exit', onExit);
    signal?.addEventListener('abort', onAbort, { once: true });
    if (isReady) startClock();
    else timer = setTimeout(onLateStart, startLimitMs);
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread is no window
    thread.postMessage(job);
  });
}

function isOutOfMemory(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY';
}

function describeStop(stop: Stop, { time, memoryMiB }: SchemaLimits & { time: SchemaTime }): string {
  return stop === 'time' ? describeTimeout(time) : `it needs more than ${memoryMiB} MiB of memory`;
}

function describeTimeout({ limitMs }: SchemaTime): string {
  return `it does not end within ${limitMs / 1000} s`;
}

/** The time and the limit that the schema checks of one iteration share. */
export interface SchemaBudget {
  time: SchemaTime;
  /** On hold while a check waits and runs, so that the server loses no time; null outside an iteration. */
  limit: Pick<IterationLimit, 'signal' | 'hold'> | null;
}

/** One thread serves the whole process, because starting it takes longer than most checks. */
const thread = createSchemaThread();

/** The JSON of each schema, so that a schema is serialised once for many results. */
const texts = new WeakMap<JsonObject, string>();

/** Returns the full time budget for the checks of one iteration. */
export function startSchemaTime(limitMs: number = defaultTimeMs): SchemaTime {
  return { limitMs, leftMs: limitMs };
}

/**
 * Validates a JSON value against a JSON Schema, with limits for time, memory and depth. Both schema and value can exceed each limit.
 *
 * @throws the reason of the limit's signal once it aborts.
 */
export async function checkSchema(
  schema: JsonObject | boolean,
  value: unknown,
  {
    checksFormats = false,
    namesClasses = false,
    budget = { time: startSchemaTime(), limit: null },
  }: { checksFormats?: boolean; namesClasses?: boolean; budget?: SchemaBudget } = {},
): Promise<SchemaCheck> {
  if (isTooDeep(schema)) return { kind: 'stopped', reason: `the schema is nested deeper than ${maxJsonDepth} levels` };
  if (isTooDeep(value)) return { kind: 'stopped', reason: `the value is nested deeper than ${maxJsonDepth} levels` };
  using _held = budget.limit?.hold();
  const job = { schema: printSchema(schema), value, checksFormats, namesClasses };
  return await thread.judge(job, { time: budget.time, signal: budget.limit?.signal });
}

/** Ends the thread if no check uses it. */
export async function closeSchemaThread(): Promise<void> {
  await thread.close();
}

function printSchema(schema: JsonObject | boolean): string {
  if (typeof schema === 'boolean') return String(schema);
  const text = texts.get(schema) ?? JSON.stringify(schema);
  texts.set(schema, text);
  return text;
}
