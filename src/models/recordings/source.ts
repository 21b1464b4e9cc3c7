import { describeError, ModelError } from '../../base/errors.ts';
import { extendFirstLine } from '../../base/text.ts';
import { FilteredError } from '../filtered-error.ts';
import type { ModelRequest, ModelSession, ModelSource, TextMask } from '../language-model.ts';
import type { HostIdentity } from '../../model/host-identity.ts';
import { nameCalls } from './call-ids.ts';
import type { Fingerprinter } from './fingerprint.ts';
import { findUsable, type ReadRecording } from './format.ts';
import type { IterationRecorder, Recorder } from './recorded-answer.ts';
import { openReplay, type Replay } from './replay.ts';

/**
 * The source of answers:
 * - `auto`: recordings while they match, then the model if there is a key.
 * - `live`: the model.
 * - `record`: the model, for new recordings.
 * - `replay`: only recordings.
 */
export type RecordingsMode = 'auto' | 'live' | 'record' | 'replay';

/** The recording for a request, and the fingerprinter that compares its calls. */
export interface RecordedCase {
  /** Null if the case and the model have no recording. */
  recording: ReadRecording | null;
  /** The host of the case; the gate's own by default. */
  host?: HostIdentity | null;
  /** `uncalled` also uses a recording where only tools differ that the case never calls. */
  reuse?: 'uncalled' | null;
  /** Shared by all iterations of a case, because it caches what it read. */
  fingerprinter: Fingerprinter;
}

export interface RecordedSourceOptions {
  mode: RecordingsMode;
  findCase: (request: ModelRequest) => RecordedCase;
  /** The providers; null if no provider may be called. */
  live: ModelSource | null;
  /** Explains why a provider cannot be called, such as a missing key; null if it can. */
  findProviderProblem: (provider: string) => string | null;
  maximumAgeMs: () => number;
  /** Epoch milliseconds. */
  now: () => number;
  /** Collects the answers of the providers, in every mode. */
  recorder: Recorder;
  /** True if iterations beyond the recorded ones reuse the recorded answers in turn. */
  repeatsRecordings?: boolean;
  /** Is called for each answer of a recording whose tools differ, with the names of those. */
  onReuse?: (request: ModelRequest, tools: readonly string[]) => void;
}

const recordHints = {
  stale: 'Re-record with `mcp-eval-ci record`.',
  missing: 'Record it with `mcp-eval-ci record`.',
} as const;

/**
 * Answers the calls of iterations from recordings, from a provider, or from both. If a recording stops matching, the iteration continues
 * with the provider in the same conversation, and is recorded again as a whole.
 */
export function createRecordedSource(options: RecordedSourceOptions): ModelSource {
  const { mode, findCase, live, findProviderProblem, maximumAgeMs, now, recorder, repeatsRecordings = false } = options;
  const isReading = mode === 'auto' || mode === 'replay';
  return {
    // Without a key, a recording may have the answers.
    findProblem: (request) => (isReading ? null : (live?.findProblem(request) ?? null)),
    openSession: async (request) => {
      const { model } = request;
      const { provider } = model;
      const { recording, host = null, reuse = null, fingerprinter } = findCase(request);
      const iterationNumber = repeatsRecordings
        ? findRecorded(recording, request.iterationNumber)
        : request.iterationNumber;
      const problem = mode === 'auto' && !request.apiKeys.has(provider) ? findProviderProblem(provider) : null;
      const mayCall = mode !== 'replay' && problem === null;
      return createRecordedSession({
        request,
        fingerprinter,
        replay: isReading
          ? openReplay({
              recording,
              model,
              host,
              reuse,
              iterationNumber,
              fingerprinter,
              maximumAgeMs: maximumAgeMs(),
              nowMs: now(),
            })
          : null,
        live: mayCall ? live : null,
        problem,
        iteration: recorder.begin(request),
        onReuse: (tools) => options.onReuse?.(request, tools),
        now,
      });
    },
  };
}

/** Finds the recorded iteration that replaces one that was not recorded. */
function findRecorded(read: ReadRecording | null, iterationNumber: number): number {
  const recording = findUsable(read);
  if (recording === null || recording.iterations.has(iterationNumber)) return iterationNumber;
  const numbers = [...recording.iterations.keys()];
  return numbers[(iterationNumber - 1) % numbers.length] ?? iterationNumber;
}

interface SessionParts {
  request: ModelRequest;
  fingerprinter: Fingerprinter;
  replay: Replay | null;
  live: ModelSource | null;
  /** The reason why `live` is null, unless the mode excludes it. */
  problem: string | null;
  iteration: IterationRecorder;
  onReuse: (tools: readonly string[]) => void;
  now: () => number;
}

const noMask: TextMask = { hide: (value) => value, show: (value) => value };

function joinMasks(one: TextMask, other: TextMask): TextMask {
  return { hide: (value) => other.hide(one.hide(value)), show: (value) => one.show(other.show(value)) };
}

function createRecordedSession({
  request,
  fingerprinter,
  live,
  replay,
  problem,
  iteration,
  onReuse,
  now,
}: SessionParts): ModelSession {
  const ownMask = request.mask ?? noMask;
  let session: ModelSession | null = null;
  return {
    model: request.model,
    answer: async (call, options) => {
      const { signal, acceptsRefusal = false } = options;
      const mask = options.mask === undefined ? ownMask : joinMasks(ownMask, options.mask);
      signal.throwIfAborted();
      const { call: named, nameAnswer } = nameCalls(mask.hide(call));
      const sent = fingerprinter.readCall(named);
      const replayed = replay?.read(sent);
      if (replayed?.kind === 'fresh') {
        if (replayed.otherTools.length > 0) onReuse(replayed.otherTools);
        iteration.add(sent.stored, nameAnswer(replayed.answer), replayed.recordedAt);
        if (replayed.answer.finishReason.unified !== 'content-filter') return mask.show(replayed.answer);
        throw new FilteredError(request.model, mask.show(replayed.answer));
      }
      if (live === null) {
        const { kind, reason } = replayed ?? {
          kind: 'refused',
          reason: `The gate may not call ${request.model.provider}.`,
        };
        const message = problem === null ? reason : extendFirstLine(reason, problem);
        throw new ModelError(message, { kind, ...(kind !== 'refused' && { hint: recordHints[kind] }) });
      }
      try {
        session ??= await live.openSession(request);
        const answer = await session.answer(call, options);
        iteration.add(sent.stored, nameAnswer(mask.hide(answer)), new Date(now()).toISOString());
        return answer;
      } catch (error) {
        if (acceptsRefusal && error instanceof FilteredError) {
          iteration.add(sent.stored, nameAnswer(mask.hide(error.answer)), new Date(now()).toISOString());
        } else {
          iteration.discard(describeError(error));
        }
        throw error;
      }
    },
  };
}
