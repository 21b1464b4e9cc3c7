import type { Pacer } from '../base/pacing.ts';
import { type Clock, type Deadline, race, startDeadline } from '../base/time.ts';
import { type AttemptOutcome, retryRequest } from '../http/retry.ts';
import { attemptCall, type AttemptBounds, type CallLimits, type ProviderCaller } from './attempt-call.ts';
import { attemptHostRequest } from './forward-request.ts';
import type { HostRequest, ModelAnswer, ModelCall } from './language-model.ts';
import { formatModelName } from './model-name.ts';
import { translateCall } from './provider-tools.ts';

export const defaultCallLimits: CallLimits = {
  attemptTimeoutMs: 45_000,
  callTimeoutMs: 45_000,
  maxBytes: 16 * 2 ** 20,
};

const maxAttempts = 8;

/**
 * Makes one call of a model, and repeats it while the provider fails or limits the rate. An answer that is cut at its output limit
 * counts as an answer.
 *
 * @throws {ModelError} `refused`, `filtered` or `unavailable`
 * @throws the signal's reason once it aborts
 */
export async function callProvider(
  caller: ProviderCaller,
  call: ModelCall,
  options: CallOptions,
): Promise<ModelAnswer> {
  const translated = translateCall(call);
  for (const change of translated.changes) warnOnce(caller, change);
  const result = await repeatAttempts(caller, options, (limited, bounds) =>
    attemptCall(limited, translated.call, bounds),
  );
  const { content, finishReason, usage, warnings } = result;
  for (const warning of warnings) {
    if (warning.type !== 'unsupported') continue;
    warnOnce(caller, `${formatModelName(caller.model)} ignores \`${warning.feature}\`, which it does not support.`);
  }
  return { content: translated.readContent(content), finishReason, usage, isReplayed: false };
}

interface CallOptions {
  signal: AbortSignal;
  timeoutMs?: number | undefined;
}

/**
 * Sends the call of a host to the provider as `callProvider` does, with the key of the provider.
 *
 * @throws {ModelError} `refused`, `filtered` or `unavailable`
 * @throws the signal's reason once it aborts
 */
export async function forwardToProvider(
  caller: ProviderCaller,
  request: HostRequest,
  options: CallOptions,
): Promise<ModelAnswer> {
  const answer = await repeatAttempts(caller, options, (limited, bounds) =>
    attemptHostRequest(limited, request, bounds),
  );
  return { ...answer, isReplayed: false };
}

async function repeatAttempts<T>(
  caller: ProviderCaller,
  { signal, timeoutMs }: CallOptions,
  attempt: (caller: ProviderCaller, bounds: AttemptBounds) => Promise<AttemptOutcome<T>>,
): Promise<T> {
  const { clock, pacer, quota, random, logger } = caller;
  const limits =
    timeoutMs === undefined
      ? caller.limits
      : { ...caller.limits, attemptTimeoutMs: timeoutMs, callTimeoutMs: timeoutMs };
  const deadline = startDeadlineLater(clock, limits.callTimeoutMs, `The call of ${formatModelName(caller.model)}`);
  return await retryRequest((remainingMs) => attempt({ ...caller, limits }, { remainingMs, signal }), {
    isSafe: true,
    maxAttempts,
    priority: 'normal',
    clock,
    pacer: boundPacer(pacer, clock, deadline),
    quota,
    random,
    logger,
    signal,
    deadlines: [deadline],
  });
}

function warnOnce({ logger, warned }: ProviderCaller, message: string): void {
  if (warned.has(message)) return;
  warned.add(message);
  logger.warning(message);
}

interface LateDeadline extends Deadline {
  hasStarted(): boolean;
}

/** Starts the deadline at the first attempt: the wait for the first turn is caused by the pace of the run, not by the provider. */
function startDeadlineLater(clock: Clock, timeoutMs: number, what: string): LateDeadline {
  let deadline: Deadline | undefined;
  const start = () => (deadline ??= startDeadline(clock, timeoutMs, what));
  return {
    hasStarted: () => deadline !== undefined,
    remainingMs: () => start().remainingMs(),
    throwIfPassed: () => start().throwIfPassed(),
  };
}

/** Ends the wait for another attempt at the deadline. The retry loop then gives up. */
function boundPacer(pacer: Pacer, clock: Clock, deadline: LateDeadline): Pacer {
  return {
    ...pacer,
    waitForTurn: async (options = {}) => {
      if (!deadline.hasStarted()) return await pacer.waitForTurn(options);
      const leaving = new AbortController();
      const signals = options.signal === undefined ? [] : [options.signal];
      const waiting = pacer.waitForTurn({ ...options, signal: AbortSignal.any([...signals, leaving.signal]) });
      const timeout = { clock, afterMs: deadline.remainingMs(), onTimeout: () => leaving.abort('over') };
      await race(waiting, { signals, timeout });
    },
  };
}
