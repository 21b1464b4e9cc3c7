import { clipText } from '../../base/text.ts';
import { formatHost, isSameHost } from '../../model/format-host.ts';
import type { HostIdentity } from '../../model/host-identity.ts';
import type { ModelAnswer, ModelName } from '../language-model.ts';
import { explainDifferences } from './explain.ts';
import type { Fingerprinter, SentCall } from './fingerprint.ts';
import { findUsable, type ReadRecording, type RecordedIteration, type Recording } from './format.ts';

const longestDifference = 400;
const maxDifferences = 10;
const dayMs = 24 * 3_600_000;

/** The recorded answer to one call, or the reason why there is none. */
type ReplayedCall =
  /** `otherTools` names the tools that differ from the recorded ones. */
  | { kind: 'fresh'; answer: ModelAnswer; recordedAt: string; otherTools: readonly string[] }
  | { kind: 'stale' | 'missing'; reason: string };

export interface ReplayOptions {
  /** Null if the case and the model have no recording. */
  recording: ReadRecording | null;
  model: ModelName;
  /** The host of the conversation; the gate's own by default. */
  host?: HostIdentity | null;
  /** `uncalled` also uses a recording where only tools differ that it never calls. */
  reuse?: 'uncalled' | null;
  iterationNumber: number;
  fingerprinter: Fingerprinter;
  /** Older recordings are stale. */
  maximumAgeMs: number;
  /** Epoch milliseconds. */
  nowMs: number;
}

/** Reads the answers of one iteration, call by call. */
export interface Replay {
  /** After the first call without an answer, no later call has one: the conversation differs. */
  read(call: SentCall): ReplayedCall;
}

/** Reads an answer only for a call that equals the recorded call in every part, at the same position. */
export function openReplay({ fingerprinter, ...options }: ReplayOptions): Replay {
  const { iterationNumber } = options;
  const recording = findUsable(options.recording);
  const iteration = recording?.iterations.get(iterationNumber);
  const called = options.reuse === 'uncalled' && recording !== null ? listCalledTools(recording) : null;
  const mayReuse = (tools: readonly string[]) =>
    called !== null && tools.length > 0 && tools.every((name) => !called.has(name));
  let turn = 0;
  let failure = findObstacle(options);
  const readNext = (call: SentCall): ReplayedCall => {
    const recorded = iteration?.calls[turn];
    if (iteration === undefined || recorded === undefined) {
      return { kind: 'missing', reason: `There is no recording of call ${turn + 1} of iteration ${iterationNumber}.` };
    }
    const then = fingerprinter.readStored(recorded.sent);
    const otherTools = listOtherTools(then, call);
    const hasSameTools = isSameList(then.tools, call.tools) || mayReuse(otherTools);
    if (hasSameTools && isSameBesidesTools(then, call)) {
      turn += 1;
      const answer = { ...recorded.answer, content: [...recorded.answer.content], isReplayed: true };
      return { kind: 'fresh', answer, recordedAt: iteration.recordedAt, otherTools };
    }
    const what = `The recording of call ${turn + 1} of iteration ${iterationNumber} is stale.`;
    return { kind: 'stale', reason: listDifferences(what, explainDifferences(then, call)) };
  };
  return {
    read: (call) => {
      if (failure !== null) return failure;
      const result = readNext(call);
      if (result.kind !== 'fresh') failure = result;
      return result;
    },
  };
}

/** Puts a single difference on the line of the sentence, and several on lines below it. */
function listDifferences(sentence: string, differences: readonly string[]): string {
  const shown = differences.slice(0, maxDifferences).map((difference) => clipText(difference, longestDifference));
  if (differences.length === 1) return [sentence, ...shown].join(' ');
  const hidden = differences.length - shown.length;
  const lines = [...shown, ...(hidden > 0 ? [`${hidden} more parts differ.`] : [])];
  return [`${sentence} ${differences.length} parts of the call differ.`, ...lines].join('\n');
}

/** Explains why a recording cannot be used for an iteration, independent of its calls; null if it can. */
function findObstacle(options: Omit<ReplayOptions, 'fingerprinter'>): Exclude<ReplayedCall, { kind: 'fresh' }> | null {
  const { recording, model, host = null, iterationNumber } = options;
  const asked = `${model.provider}/${model.name}`;
  if (recording === null) return { kind: 'missing', reason: `There is no recording of this case with ${asked}.` };
  if ('problem' in recording) return { kind: 'stale', reason: `The recording is stale. ${recording.problem}` };
  const recorded = `${recording.model.provider}/${recording.model.name}`;
  if (recorded !== asked) {
    return {
      kind: 'stale',
      reason: `The recording is stale. It was made with ${recorded}, and the case asks for ${asked}.`,
    };
  }
  if (!isSameHost(recording.host, host)) {
    return {
      kind: 'stale',
      reason: `The recording is stale. It was made with ${nameHost(recording.host)}, and the case asks for ${nameHost(host)}.`,
    };
  }
  const iteration = recording.iterations.get(iterationNumber);
  const age = iteration === undefined ? null : explainAge(iteration, options);
  return age === null
    ? null
    : { kind: 'stale', reason: `The recording of iteration ${iterationNumber} is stale. ${age}` };
}

function nameHost(host: HostIdentity | null): string {
  return host === null ? 'no host' : `the host ${formatHost(host)}`;
}

function explainAge(
  { recordedAt }: RecordedIteration,
  { maximumAgeMs, nowMs }: Pick<ReplayOptions, 'maximumAgeMs' | 'nowMs'>,
): string | null {
  const ageMs = nowMs - Date.parse(recordedAt);
  const date = recordedAt.slice(0, 10);
  // Clocks differ by less than a day. A date far in the future would keep a recording fresh forever.
  if (ageMs < -dayMs) return `Its date, ${date}, is in the future.`;
  if (ageMs <= maximumAgeMs) return null;
  return `It was made on ${date}, ${formatDays(ageMs)} ago; recordings are used for ${formatDays(maximumAgeMs)}.`;
}

function formatDays(durationMs: number): string {
  const days = Number((durationMs / dayMs).toFixed(1));
  return `${days} ${days === 1 ? 'day' : 'days'}`;
}

function isSameBesidesTools(recorded: SentCall, now: SentCall): boolean {
  return recorded.parameters === now.parameters && isSameList(recorded.messages, now.messages);
}

/** Names the tools that only one of two calls offers, or that they offer differently. */
function listOtherTools(recorded: SentCall, now: SentCall): string[] {
  if (isSameList(recorded.tools, now.tools)) return [];
  const list = ({ stored, tools }: SentCall) => new Map(stored.tools.map(({ name }, index) => [name, tools[index]]));
  const [before, after] = [list(recorded), list(now)];
  return [...new Set([...before.keys(), ...after.keys()])].filter((name) => before.get(name) !== after.get(name));
}

/** Names the tools that a model calls in any iteration of a recording. */
function listCalledTools({ iterations }: Recording): Set<string> {
  const answers = [...iterations.values()].flatMap(({ calls }) => calls.map(({ answer }) => answer));
  return new Set(
    answers.flatMap(({ content }) => content.flatMap((part) => (part.type === 'tool-call' ? [part.toolName] : []))),
  );
}

function isSameList(recorded: readonly string[], now: readonly string[]): boolean {
  return recorded.length === now.length && recorded.every((fingerprint, index) => fingerprint === now[index]);
}
