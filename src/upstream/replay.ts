import { escapePointerToken } from '../base/json-pointer.ts';
import { isJsonEqual, isRecord } from '../base/json.ts';
import { clipText } from '../base/text.ts';
import { showAnswer } from './describe-answer.ts';
import { describeRequest, keyRequest, type MatchSettings, renewRequest } from './describe-request.ts';
import { refuseRequest, type UpstreamSession } from './exchange.ts';
import type { Hiding } from './hidden-values.ts';
import type { RecordedSession, WrittenExchange, WrittenRequest } from './recording.ts';

/** The replay for the processes of one iteration. */
export interface ReplaySession extends UpstreamSession {
  /** Names the first request without a recorded answer, in a few sentences; null if there is none. */
  findMiss(): string | null;
}

export interface ReplayOptions {
  settings: MatchSettings;
  hiding: Hiding;
  /** True for processes that serve no iteration: every answer may be repeated. */
  isLenient?: boolean;
}

const remedy = 'Record it with `mcp-eval-ci record-upstream` where the change is meant.';

/** The methods that change nothing, RFC 9110 §9.2.1. */
const safeMethods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

const maxShown = 300;

interface Candidate {
  exchange: WrittenExchange;
  /** The number of requests before it that may have changed something. */
  writes: number;
  isUsed: boolean;
}

/** Finds the requests of an iteration: its own session, else that of the first iteration. */
export function findSession(sessions: readonly RecordedSession[], iteration: number): readonly WrittenExchange[] {
  return (sessions.find((session) => session.iteration === iteration) ?? sessions[0])?.exchanges ?? [];
}

/**
 * Answers requests from recorded ones, from their beginning for each session.
 *
 * The same request gets its answers in their order. A read gets the answer of the time when as many writes had happened, and the last one
 * again and again; so a server that reads more or less often than before gets the same state. A write gets each answer once.
 */
export function openReplay(exchanges: readonly WrittenExchange[], options: ReplayOptions): ReplaySession {
  const { settings, hiding, isLenient = false } = options;
  const candidates = new Map<string, Candidate[]>();
  let recordedWrites = 0;
  for (const { request, response } of exchanges) {
    const renewed = renewRequest(request, settings);
    const key = keyRequest(renewed);
    const candidate = { exchange: { request: renewed, response }, writes: recordedWrites, isUsed: false };
    candidates.set(key, [...(candidates.get(key) ?? []), candidate]);
    if (!safeMethods.has(request.method)) recordedWrites += 1;
  }
  let writes = 0;
  let miss: string | null = null;
  return {
    answer: async (request) => {
      const described = describeRequest(request, settings, hiding);
      const same = candidates.get(keyRequest(described)) ?? [];
      const isSafe = safeMethods.has(described.method);
      const found = isSafe ? findRead(same, writes) : same.find(({ isUsed }) => !isUsed);
      const chosen = found ?? (isLenient ? same.at(-1) : undefined);
      if (chosen === undefined) {
        const why = describeMiss(described, { same, all: [...candidates.values()].flat() });
        miss ??= why;
        return refuseRequest(why);
      }
      chosen.isUsed = true;
      if (!isSafe) writes += 1;
      return showAnswer(chosen.exchange.response, hiding);
    },
    refuse: (what) => {
      miss ??= `${what}.`;
    },
    findMiss: () => miss,
  };
}

function findRead(same: readonly Candidate[], writes: number): Candidate | undefined {
  return (
    same.find((each) => !each.isUsed && each.writes === writes) ??
    same.findLast((each) => each.writes <= writes) ??
    same.find((each) => !each.isUsed) ??
    same.at(-1)
  );
}

function describeMiss(
  request: WrittenRequest,
  { same, all }: { same: readonly Candidate[]; all: readonly Candidate[] },
): string {
  const asked = nameRequest(request);
  if (same.length > 0) {
    const times = same.length === 1 ? 'once' : `${same.length} times`;
    return `The server sent ${asked} once more than its recording, which has it ${times}. ${remedy}`;
  }
  const first = `The server sent ${asked}, which has no recorded answer.`;
  if (all.length === 0) return `${first} The case has no recording. ${remedy}`;
  const near = describeNearest(
    request,
    all.map(({ exchange }) => exchange.request),
  );
  return [first, ...(near === null ? [] : [near]), remedy].join(' ');
}

export function nameRequest({ method, url }: Pick<WrittenRequest, 'method' | 'url'>): string {
  return `${method} ${clipText(url, maxShown)}`;
}

/** Says how the most similar recorded request differs; null if none has the same address. */
function describeNearest(request: WrittenRequest, recorded: readonly WrittenRequest[]): string | null {
  const address = ({ url }: WrittenRequest) => url.split('?', 1)[0];
  const near = recorded.filter((each) => address(each) === address(request));
  const first = near.find(({ url, method }) => url === request.url && method === request.method);
  if (first === undefined) {
    const [other] = near.filter(({ method }) => method === request.method).concat(near);
    return other === undefined ? null : `The recording has ${nameRequest(other)}.`;
  }
  const header = findHeader(request, first);
  if (header !== null) return `Its header ${header} differs from the recorded one.`;
  const [a, b] = [request.body, first.body];
  if (a !== undefined && b !== undefined && 'json' in a && 'json' in b) {
    return `Its body differs from the recorded one at ${findDifference(b.json, a.json) || 'its root'}.`;
  }
  return 'Its body differs from the recorded one.';
}

function findHeader({ headers: a = {} }: WrittenRequest, { headers: b = {} }: WrittenRequest): string | null {
  return Object.keys({ ...a, ...b }).find((name) => a[name] !== b[name]) ?? null;
}

/** Finds the first JSON Pointer at which two different values differ. */
function findDifference(before: unknown, after: unknown): string {
  if (Array.isArray(before) && Array.isArray(after)) {
    const index = before.findIndex((item, at) => !isJsonEqual(item, after[at]));
    const at = index === -1 ? before.length : index;
    return `/${at}${findDifference(before[at], after[at])}`;
  }
  if (!isRecord(before) || !isRecord(after)) return '';
  const name = Object.keys({ ...before, ...after }).find((each) => !isJsonEqual(before[each], after[each]));
  return name === undefined ? '' : `/${escapePointerToken(name)}${findDifference(before[name], after[name])}`;
}
