import type { Redactor } from '../../base/redaction.ts';
import { isSameHost } from '../../model/format-host.ts';
import type { ModelAnswer, ModelName, ModelRequest } from '../language-model.ts';
import { recordedAnswerSchema, type RecordedAnswer } from './answer-schema.ts';
import type { RecordedIteration, Recording, StoredCall } from './format.ts';
import { toPlainJson } from './plain-json.ts';

/** Collects the calls of one iteration, in their order. */
export interface IterationRecorder {
  add(sent: StoredCall, answer: ModelAnswer, recordedAt: string): void;
  /** Drops all earlier and later calls: an incomplete conversation is not a recording. */
  discard(reason: string): void;
}

/** The iterations of a case and model in which the provider answered at least once. */
export interface CollectedIterations {
  caseId: string;
  model: ModelName;
  /** Null if the model took part in the case. */
  purpose: 'judge' | null;
  /** By iteration number, from 1. */
  iterations: ReadonlyMap<number, RecordedIteration>;
  /** The reasons of iterations that could not be recorded. */
  skipped: ReadonlyMap<number, string>;
}

/** Collects the calls and answers of iterations that run at the same time. */
export interface Recorder {
  begin(request: Pick<ModelRequest, 'caseId' | 'model' | 'iterationNumber' | 'purpose'>): IterationRecorder;
  /** In the order in which cases and models started. */
  list(): CollectedIterations[];
  /** Those of one case, while others run. */
  listCase(caseId: string): CollectedIterations[];
}

interface Attempt {
  calls: Array<{ sent: StoredCall; answer: ModelAnswer }>;
  /** The time of its oldest call. */
  recordedAt: string | null;
  hasLiveAnswer: boolean;
  discarded: string | null;
}

/** By iteration number. */
type Attempts = Map<number, Attempt[]>;

interface RecordedAttempts extends Omit<CollectedIterations, 'iterations' | 'skipped'> {
  attempts: Attempts;
}

/** Collects calls, all redacted. If an iteration runs again, the last complete attempt is used. */
export function createRecorder({ redactor }: { redactor: Redactor }): Recorder {
  const cases = new Map<string, RecordedAttempts>();
  const collect = (recorded: readonly RecordedAttempts[]): CollectedIterations[] =>
    recorded
      .map(({ attempts, ...request }) => ({ ...request, ...listIterations(attempts, redactor) }))
      .filter(({ iterations, skipped }) => iterations.size > 0 || skipped.size > 0);
  const begin = ({ caseId, model, iterationNumber, purpose }: Parameters<Recorder['begin']>[0]): Attempt => {
    const key = JSON.stringify([caseId, model.provider, model.name, purpose]);
    const attempts: Attempts = new Map();
    const collected = cases.get(key) ?? { caseId, model, purpose: purpose ?? null, attempts };
    cases.set(key, collected);
    const attempt = { calls: [], recordedAt: null, hasLiveAnswer: false, discarded: null };
    collected.attempts.set(iterationNumber, [...(collected.attempts.get(iterationNumber) ?? []), attempt]);
    return attempt;
  };
  return {
    begin: (request) => {
      const attempt = begin(request);
      const discard = (reason: string) => {
        attempt.discarded ??= reason;
        attempt.calls = [];
      };
      return {
        discard,
        add: (sent, answer, recordedAt) => {
          if (attempt.discarded !== null) return;
          attempt.calls.push({ sent, answer });
          attempt.hasLiveAnswer ||= !answer.isReplayed;
          if (attempt.recordedAt === null || recordedAt < attempt.recordedAt) attempt.recordedAt = recordedAt;
        },
      };
    },
    list: () => collect([...cases.values()]),
    listCase: (caseId) => collect([...cases.values()].filter((each) => each.caseId === caseId)),
  };
}

function listIterations(
  attempts: ReadonlyMap<number, readonly Attempt[]>,
  redactor: Redactor,
): Pick<CollectedIterations, 'iterations' | 'skipped'> {
  const iterations = new Map<number, RecordedIteration>();
  const skipped = new Map<number, string>();
  for (const [iterationNumber, each] of attempts) {
    const complete = each.findLast(({ hasLiveAnswer, discarded }) => hasLiveAnswer && discarded === null);
    const discarded = each.findLast((attempt) => attempt.discarded !== null)?.discarded;
    const answers = complete?.calls.map(({ answer }) => redactAnswer(answer, redactor)) ?? [];
    const calls = answers.flatMap((answer, index) => {
      const sent = complete?.calls[index]?.sent;
      return answer === null || sent === undefined ? [] : [{ sent, answer }];
    });
    if (typeof complete?.recordedAt === 'string' && calls.length === complete.calls.length) {
      iterations.set(iterationNumber, { recordedAt: complete.recordedAt, calls });
    } else if (complete !== undefined || typeof discarded === 'string') {
      skipped.set(iterationNumber, discarded ?? 'An answer of the model has a part that recordings do not know.');
    }
  }
  return { iterations, skipped };
}

/** Returns null if an answer has content that a recording cannot represent. */
function redactAnswer({ isReplayed: _isReplayed, ...answer }: ModelAnswer, redactor: Redactor): RecordedAnswer | null {
  // JSON has no undefined.
  const plain: unknown = JSON.parse(JSON.stringify(toPlainJson(answer, redactor)));
  return recordedAnswerSchema.safeParse(plain).data ?? null;
}

/**
 * Adds new iterations to those of an earlier recording and replaces iterations of the same number. Starts a new recording if `earlier` is
 * null.
 */
export function mergeRecording(
  earlier: Recording | null,
  { model, iterations }: Pick<CollectedIterations, 'model' | 'iterations'>,
  providerPackage: Recording['package'],
  host: Recording['host'] = null,
): Recording {
  const kept = isSameHost(earlier?.host, host) ? (earlier?.iterations ?? []) : [];
  return { model, host, package: providerPackage, iterations: new Map([...kept, ...iterations]) };
}
