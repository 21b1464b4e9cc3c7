import { randomUUID } from 'node:crypto';
import { describeError } from '../base/errors.ts';
import { isRecord, isTooDeep, type JsonObject, tryParseJson } from '../base/json.ts';
import { clipText } from '../base/text.ts';
import { formatDuration } from '../base/time.ts';
import { createOwnCheck } from '../checks/create-own-check.ts';
import type { Evidence } from '../checks/evidence.ts';
import { leaveUnmeasured } from '../checks/judgement.ts';
import type { OwnCheck } from '../checks/own-check.ts';
import type { CheckRequest, ModuleSource } from './check-messages.ts';
import { checkWorkerSource } from './check-worker-source.ts';
import { nodeProgram } from './node-program.ts';
import { createOutputTail } from './output-tail.ts';
import { startProcess } from './process.ts';
import type { StartContext } from './running-server.ts';

/** The limits of a module. Its code may be hostile, so each of them ends its process. */
export interface CheckLimits {
  loadMs: number;
  /** The memory of its objects. */
  heapMiB: number;
  /** All memory that it can write to, as far as the system limits it. */
  memoryMiB: number;
  answerBytes: number;
}

export const checkLimits: CheckLimits = {
  loadMs: 20_000,
  heapMiB: 256,
  memoryMiB: 1024,
  answerBytes: 256 * 1024,
};

const maxChecks = 100;
const longestReason = 2000;

/** The longest time of a timer. The module's own limit applies earlier, and counts from the start of its turn. */
const noTimeLimitMs = 2 ** 31 - 1;

/** A module with checks, in a process of its own. Disposing it ends the process. */
export interface CheckModule extends AsyncDisposable {
  /** The checks that the module exports, or a clause that says why there are none. */
  readonly loaded: { checks: readonly OwnCheck[] } | { problem: string };
}

/** The answer of the process. After a problem, the process has ended. */
type Answer = { reply: JsonObject } | { problem: string };

/**
 * Starts the process of a module and loads the module in it. Calls take turns. A call that crashes the process, takes too long or answers
 * with something else than a judgement is unmeasured, and the next call gets a new process.
 *
 * @throws the reason of the signal of `start` once it aborts
 */
export async function openCheckModule(
  source: ModuleSource,
  start: StartContext,
  limits: CheckLimits = checkLimits,
): Promise<CheckModule> {
  let session: Session | null = null;
  let isClosed = false;
  const end = async (how: 'kill' | 'stop') => {
    const ended = session;
    session = null;
    await ended?.[how]();
  };
  const load = async (signal: AbortSignal): Promise<Answer> => {
    session = startSession(start, limits);
    return await session.ask({ module: source }, { timeoutMs: limits.loadMs, signal });
  };
  const takeTurn = createTurns();

  const judge = (check: OwnCheck, fields: JsonObject, { tools, ...evidence }: Evidence, signal: AbortSignal) =>
    takeTurn(async () => {
      signal.throwIfAborted();
      if (isClosed) return leaveUnmeasured('not measured: the gate has ended.');
      const { name, timeoutMs } = check;
      const began = session === null ? await load(signal) : null;
      const asked = { name, fields, evidence, tools: tools === null ? null : [...tools], timeoutMs };
      const answer =
        began !== null && ('problem' in began || session === null)
          ? began
          : await session?.ask({ judge: asked }, { timeoutMs, signal });
      if (answer === undefined || 'problem' in answer) {
        await end('kill');
        signal.throwIfAborted();
        return leaveUnmeasured(`not measured: ${answer?.problem ?? 'the process of its module has ended'}.`);
      }
      const { error, answer: judgement } = answer.reply;
      if (typeof error === 'string') throw new Error(clipText(error, longestReason));
      return isRecord(judgement) && typeof judgement['reason'] === 'string'
        ? { ...judgement, reason: clipText(judgement['reason'], longestReason) }
        : judgement;
    });

  const first = await load(start.signal);
  const loaded = 'problem' in first ? first : readChecks(first.reply, judge);
  if ('problem' in loaded) await end('kill');
  start.signal.throwIfAborted();
  return {
    loaded,
    [Symbol.asyncDispose]: async () => {
      isClosed = true;
      await end('stop');
    },
  };
}

type Judge = (check: OwnCheck, fields: JsonObject, evidence: Evidence, signal: AbortSignal) => Promise<unknown>;

function readChecks(
  { checks, error }: JsonObject,
  judge: Judge,
): { checks: readonly OwnCheck[] } | { problem: string } {
  if (typeof error === 'string') return { problem: clipText(error, longestReason) };
  if (!Array.isArray(checks) || checks.length > maxChecks) return { problem: `it has more than ${maxChecks} checks` };
  if (checks.length === 0) return { problem: 'it exports no check that `defineCheck` made' };
  try {
    return { checks: checks.map((facts: unknown) => readCheck(isRecord(facts) ? facts : {}, judge)) };
  } catch (thrown) {
    return { problem: describeError(thrown) };
  }
}

function readCheck(facts: JsonObject, judge: Judge): OwnCheck {
  const check = createOwnCheck({ ...facts, judge: () => null });
  return {
    ...check,
    timeoutMs: noTimeLimitMs,
    judge: (fields, evidence, { signal }) => judge(check, fields, evidence, signal),
  };
}

function createTurns(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return async (work) => {
    const before = last;
    const turn = Promise.withResolvers<void>();
    last = before.then(() => turn.promise);
    await before;
    try {
      return await work();
    } finally {
      turn.resolve();
    }
  };
}

interface Session {
  /** Sends one request at a time. */
  ask(request: Omit<CheckRequest, 'id'>, limits: { timeoutMs: number; signal: AbortSignal }): Promise<Answer>;
  kill(): Promise<void>;
  /** Asks the process to end, and ends it if it does not. */
  stop(): Promise<void>;
}

function startSession(start: StartContext, limits: CheckLimits): Session {
  const child = startProcess(buildCommand(limits, start), { ...start, tail: createOutputTail(), readsStdin: true });
  let pending: { id: string; settle: (answer: Answer) => void } | null = null;
  let rest: Buffer = Buffer.alloc(0);
  const settle = (answer: Answer) => {
    const asked = pending;
    pending = null;
    asked?.settle(answer);
  };
  child.stdout.on('data', (chunk: Buffer) => {
    rest = Buffer.concat([rest, chunk]);
    for (let at = rest.indexOf('\n'); at !== -1 && at <= limits.answerBytes; at = rest.indexOf('\n')) {
      const reply = tryParseJson(rest.subarray(0, at).toString('utf8'));
      rest = rest.subarray(at + 1);
      // A line that answers no request is output of the module.
      if (!isRecord(reply) || pending === null || reply['id'] !== pending.id) continue;
      settle(isTooDeep(reply) ? { problem: 'its answer is nested too deeply' } : { reply });
    }
    if (rest.length <= limits.answerBytes) return;
    rest = Buffer.alloc(0);
    settle({ problem: `it answered with more than ${limits.answerBytes / 1024} KiB` });
    void child.kill();
  });
  const ended = child.exited.then(({ code, signal, error, lastLines }): Answer => {
    const how = error?.message ?? (signal === null ? `exit code ${code}` : signal);
    if (lastLines.some((line) => line.includes('heap out of memory'))) {
      return { problem: `it needs more than ${limits.heapMiB} MiB of memory` };
    }
    const said = lastLines.findLast((line) => /\S/.test(line));
    return { problem: `its process ended (${how})${said === undefined ? '' : `: ${clipText(said.trim(), 300)}`}` };
  });
  return {
    ask: async (request, { timeoutMs, signal }) => {
      const id = randomUUID();
      const answered = Promise.withResolvers<Answer>();
      pending = { id, settle: answered.resolve };
      const stop = (problem: string) => () => settle({ problem });
      const timer = setTimeout(stop(`it has not answered for ${formatDuration(timeoutMs)}`), timeoutMs);
      const onAbort = stop('it was cancelled');
      signal.addEventListener('abort', onAbort, { once: true });
      child.stdin.write(`${JSON.stringify({ id, ...request })}\n`);
      try {
        return await Promise.race([answered.promise, ended]);
      } finally {
        clearTimeout(timer);
        signal.removeEventListener('abort', onAbort);
      }
    },
    kill: () => child.kill(),
    stop: () => child.stop(),
  };
}

/** Units of ulimit(1): kilobytes of writable memory, and blocks of 512 bytes of a file. */
const limitScript = 'ulimit -d "$1" && ulimit -f 131072 && ulimit -c 0; shift; exec "$@"';

/** Without a sandbox, Node itself refuses writes and further programs. That stops mistakes; native code can get around it. */
const permissionFlags = ['--permission', '--allow-fs-read=*', '--allow-addons', '--disable-warning=SecurityWarning'];

function buildCommand({ heapMiB, memoryMiB }: CheckLimits, { sandbox }: Pick<StartContext, 'sandbox'>): string[] {
  const flags = [`--max-old-space-size=${heapMiB}`, '--disable-warning=ExperimentalWarning'];
  const program = [
    nodeProgram,
    ...flags,
    ...(sandbox === null ? permissionFlags : []),
    '--input-type=commonjs',
    '--eval',
    checkWorkerSource,
  ];
  return process.platform === 'linux'
    ? ['/bin/sh', '-c', limitScript, 'sh', String(memoryMiB * 1024), ...program]
    : program;
}
