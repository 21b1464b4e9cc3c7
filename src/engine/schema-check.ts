import { Worker } from 'node:worker_threads';
import { describeError } from '../base/errors.ts';
import { isTooDeep, type JsonObject, maxJsonDepth } from '../base/json.ts';
import type { IterationLimit } from './iteration-limit.ts';
import type { SchemaJob, SchemaJudgement } from './schema-validator.ts';
import { schemaWorkerSource } from './schema-worker-source.ts';

/** What the thread may use. Both a schema and a value can be made so that judging one by the other never ends. */
export interface SchemaLimits {
  memoryMiB: number;
}

const schemaLimits: SchemaLimits = { memoryMiB: 256 };

/** For all checks of one iteration together. */
const defaultTimeMs = 10_000;

/** For the start of the thread, which costs no check its time: on a busy machine it may take seconds. */
const startLimitMs = 60_000;

/** `stopped`: the check crossed a limit; the reason is half a sentence about the check. */
type SchemaCheck = Exclude<SchemaJudgement, { kind: 'endless' }> | { kind: 'stopped'; reason: string };

/** The time that is left for the checks of one iteration. */
interface SchemaTime {
  limitMs: number;
  leftMs: number;
}

interface SchemaThread {
  /**
   * Judges one value after the other. The wait for the turn does not count.
   *
   * @throws the signal's reason once it aborts, and an Error where there can be no thread.
   */
  judge(job: SchemaJob, options: { time: SchemaTime; signal: AbortSignal | undefined }): Promise<SchemaCheck>;
  /** Ends the thread unless it is in use. It starts again with the next check. */
  close(): Promise<void>;
}

/**
 * Judges values by schemas in one thread of its own, which can be stopped at any point. Its program is text of this one, so that
 * nothing is read from a disk that the server under test can write. An idle thread does not keep the process alive.
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
    // A mismatch that is known stays one, although the others were not found.
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

/** What the thread sends: once that its program is loaded, and then what it finds. */
type Reply = 'ready' | { isFinal: boolean; judgement: SchemaJudgement };

interface SchemaWorker {
  thread: Worker;
  /** Whether its program is loaded. */
  isReady: boolean;
}

/** The environment may hold secrets, and the arguments of this process are not meant for the thread. */
function startWorker({ memoryMiB }: SchemaLimits): SchemaWorker {
  const thread = new Worker(schemaWorkerSource, {
    eval: true,
    name: 'schemas',
    env: {},
    argv: [],
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: memoryMiB },
  });
  // Without a listener, the error of a thread that is being ended would end this process.
  thread.on('error', () => {});
  const worker = { thread, isReady: false };
  thread.once('message', () => {
    worker.isReady = true;
  });
  return worker;
}

/** Takes the time of the check from `time`, counted from when the program of the thread is loaded. */
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

/** What the schema checks of one iteration share. */
export interface SchemaBudget {
  time: SchemaTime;
  /** Held while a check waits and runs, so that it costs the server no time; null where there is no iteration. */
  limit: Pick<IterationLimit, 'signal' | 'hold'> | null;
}

/** One thread serves the whole process: its start takes longer than most checks. */
const thread = createSchemaThread();

/** The text of each schema, so that one of many results is not printed for each of them. */
const texts = new WeakMap<JsonObject, string>();

/** The full time for checks, for one iteration. */
export function startSchemaTime(limitMs: number = defaultTimeMs): SchemaTime {
  return { limitMs, leftMs: limitMs };
}

/**
 * Checks a JSON value against a JSON Schema within limits of time, memory and depth, all of which both can be made to cross.
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

/** Ends the thread of the checks where no check uses it. */
export async function closeSchemaThread(): Promise<void> {
  await thread.close();
}

function printSchema(schema: JsonObject | boolean): string {
  if (typeof schema === 'boolean') return String(schema);
  const text = texts.get(schema) ?? JSON.stringify(schema);
  texts.set(schema, text);
  return text;
}
