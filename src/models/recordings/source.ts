import { describeError, ModelError } from '../../base/errors.ts';
import type { ModelRequest, ModelSession, ModelSource, ReplayReport } from '../language-model.ts';
import type { Fingerprinter } from './fingerprint.ts';
import type { Recording } from './format.ts';
import type { IterationRecorder, Recorder } from './record.ts';
import { openReplay, type Replay } from './replay.ts';

/**
 * Where answers come from:
 * - `auto`: recordings while they fit, then the model, where there is a key.
 * - `live`: the model.
 * - `record`: the model, for new recordings.
 * - `replay`: recordings alone.
 */
export type RecordingsMode = 'auto' | 'live' | 'record' | 'replay';

/** What is recorded for a request, and how its calls are compared. */
export interface RecordedCase {
  /** Null where nothing is recorded for the case and the model. */
  recording: Recording | null;
  /** One for all iterations of a case, since it remembers what it read. */
  fingerprinter: Fingerprinter;
}

export interface RecordedSourceOptions {
  mode: RecordingsMode;
  findCase: (request: ModelRequest) => RecordedCase;
  /** The providers; null where none may be called. */
  live: ModelSource | null;
  /** Whether the source of providers has a key for one, or the provider needs none. */
  hasKey: (provider: string) => boolean;
  maximumAgeMs: () => number;
  /** Epoch milliseconds. */
  now: () => number;
  /** Collects what the providers answer, in every mode. */
  recorder: Recorder;
}

const recordHint = 'Re-record with `mcp-eval-ci record`.';

/**
 * Answers the calls of iterations from recordings, from a provider, or from both. An iteration that a recording no longer fits goes on
 * with the provider from that call, in the same conversation, and is recorded anew as a whole. Sessions report where answers came from.
 */
export function createRecordedSource(options: RecordedSourceOptions): ModelSource {
  const { mode, findCase, live, hasKey, maximumAgeMs, now, recorder } = options;
  const isReading = mode === 'auto' || mode === 'replay';
  return {
    // Without a key, a recording may still have the answers.
    findProblem: (request) => (isReading ? null : (live?.findProblem(request) ?? null)),
    openSession: async (request) => {
      const { model, iterationNumber } = request;
      const { provider } = model;
      const { recording, fingerprinter } = findCase(request);
      const mayCall = mode !== 'replay' && (!isReading || request.apiKeys.has(provider) || hasKey(provider));
      return createRecordedSession({
        request,
        fingerprinter,
        replay: isReading
          ? openReplay({ recording, model, iterationNumber, fingerprinter, maximumAgeMs: maximumAgeMs(), nowMs: now() })
          : null,
        live: mayCall ? live : null,
        hint:
          mode === 'auto'
            ? `${recordHint} There is no key of ${provider}, so that the gate cannot call the model.`
            : recordHint,
        iteration: recorder.begin(request),
        now,
      });
    },
  };
}

interface SessionParts {
  request: ModelRequest;
  fingerprinter: Fingerprinter;
  replay: Replay | null;
  live: ModelSource | null;
  /** What to do where neither has an answer. */
  hint: string;
  iteration: IterationRecorder;
  now: () => number;
}

function createRecordedSession({
  request,
  fingerprinter,
  live,
  replay,
  hint,
  iteration,
  now,
}: SessionParts): ModelSession {
  const report: ReplayReport = { replayed: 0, live: 0, stale: null };
  let session: ModelSession | null = null;
  return {
    model: request.model,
    report: () => ({ ...report }),
    answer: async (call, { signal }) => {
      signal.throwIfAborted();
      const sent = fingerprinter.readCall(call);
      const replayed = replay?.read(sent);
      if (replayed?.kind === 'fresh') {
        report.replayed += 1;
        iteration.add(sent.stored, replayed.answer, replayed.recordedAt);
        return replayed.answer;
      }
      report.stale ??= replayed?.reason ?? null;
      if (live === null) {
        throw new ModelError(replayed?.reason ?? `The gate may not call ${request.model.provider}.`, {
          kind: replayed?.kind ?? 'refused',
          hint,
        });
      }
      try {
        session ??= await live.openSession(request);
        const answer = await session.answer(call, { signal });
        report.live += 1;
        iteration.add(sent.stored, answer, new Date(now()).toISOString());
        return answer;
      } catch (error) {
        iteration.discard(describeError(error));
        throw error;
      }
    },
  };
}
