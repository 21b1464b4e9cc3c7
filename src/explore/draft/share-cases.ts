import { isAnswered, isRefused } from '../answers.ts';
import { isJsonEqual } from '../../base/json.ts';
import type { ExploredSession, ObservedStep } from '../exploration.ts';
import { type ExploredRequest, nameRequest } from '../../model/explored-request.ts';
import { isSameRequest } from '../features/list-features.ts';
import { isHarmlessRequest } from '../vocabulary/statements.ts';

/** A session that gets a case, or several that share one. */
export interface ChosenCase {
  session: ExploredSession;
  title: string;
  rank: number;
  /** Its place among all sessions. */
  position: number;
  /** The titles of further calls that the case has. */
  joined: readonly string[];
  /** Calls whose answers are asserted, too. */
  asserted: readonly ExploredRequest[];
}

/** The most calls of a case to which further ones join, and the most where there would still be too many cases. */
const maxJoined = [8, 12];

/**
 * Lets cases share what they need where there are more than `limit`, the first ones of which count most: each way makes fewer cases that show
 * as much. The tools in `harmless` change nothing.
 */
export function shareCases(
  ranked: readonly ChosenCase[],
  { limit, harmless }: { limit: number; harmless: ReadonlySet<string> },
): readonly ChosenCase[] {
  let cases = ranked;
  for (const most of maxJoined) {
    for (const share of [leaveOutShown, joinCalls, shareChanges]) {
      if (cases.length > limit) cases = share(cases, harmless, most);
    }
  }
  return cases;
}

/**
 * Leaves out a case of one call that changes something where another case makes the call before any other change: that one asserts its answer,
 * too, and takes its place.
 */
function leaveOutShown(ranked: readonly ChosenCase[], harmless: ReadonlySet<string>): ChosenCase[] {
  const isHarmless = ({ request }: ObservedStep) => isHarmlessRequest(request, (tool) => harmless.has(tool));
  const kept = new Set(ranked);
  const hosts = new Map<ChosenCase, ChosenCase>();
  for (const each of ranked) {
    const [call, ...others] = each.session.steps;
    if (call === undefined || others.length > 0 || isHarmless(call) || !isAnswered(call.observation)) continue;
    const host = ranked.find(({ session: { steps } }) => {
      const first = steps.length < 2 ? undefined : steps.find((step) => !isHarmless(step));
      return (
        first !== undefined &&
        isSameRequest(first.request, call.request) &&
        isJsonEqual(first.observation.outcome, call.observation.outcome)
      );
    });
    if (host === undefined) continue;
    const own = hosts.get(host) ?? host;
    hosts.set(host, {
      ...own,
      rank: Math.min(own.rank, each.rank),
      session: { ...own.session, adds: [...own.session.adds, ...each.session.adds] },
      asserted: [...own.asserted, call.request],
    });
    kept.delete(each);
  }
  return [...kept].map((each) => hosts.get(each) ?? each).toSorted((a, b) => a.rank - b.rank);
}

/**
 * Lets further calls of a tool join the case of its first one, so that a file of few cases shows more: those that change nothing, and apart
 * from them the refusals of a tool that makes changes. What is got of a prompt, and completed for it, is a case, too.
 */
function joinCalls(ranked: readonly ChosenCase[], harmless: ReadonlySet<string>, most: number): ChosenCase[] {
  const joint: ChosenCase[] = [];
  const open = new Map<string, number>();
  for (const each of ranked) {
    const { session } = each;
    const key = nameJoint(session, harmless);
    const place = key === null ? undefined : open.get(key);
    const host = place === undefined ? undefined : joint[place];
    if (place === undefined || host === undefined || host.session.steps.length + session.steps.length > most) {
      if (key !== null) open.set(key, joint.length);
      joint.push(each);
      continue;
    }
    const whole = {
      ...host.session,
      steps: [...host.session.steps, ...session.steps],
      adds: [...host.session.adds, ...session.adds],
      needsFiles: host.session.needsFiles || session.needsFiles,
    };
    const asserted = whole.steps.map(({ request }) => request);
    joint[place] = { ...host, session: whole, joined: [...host.joined, each.title, ...each.joined], asserted };
  }
  return joint;
}

/** Names the case that a session can be a part of; null if it must be one of its own. */
function nameJoint({ steps }: ExploredSession, harmless: ReadonlySet<string>): string | null {
  const [first] = steps;
  if (first === undefined || first.request.kind === 'resource') return null;
  const name = nameRequest(first.request);
  const isTool = first.request.kind === 'tool';
  const canJoin = steps.every(
    ({ request, observation: { asked = [] } }) =>
      (request.kind === 'tool') === isTool && nameRequest(request) === name && asked.length === 0,
  );
  if (!canJoin) return null;
  if (!isTool) return `prompt ${name}`;
  const isHarmless = (name: string) => harmless.has(name);
  if (steps.every(({ request }) => isHarmlessRequest(request, isHarmless))) return `tool ${name}`;
  return steps.every(({ observation }) => isRefused(observation)) ? `refusals of ${name}` : null;
}

/** Lets sessions that make the same changes share a case, which reads what each of them reads. */
function shareChanges(ranked: readonly ChosenCase[], harmless: ReadonlySet<string>, most: number): ChosenCase[] {
  const shared: Array<{ chosen: ChosenCase; parts: readonly Part[] | null }> = [];
  const open = new Map<string, number>();
  for (const each of ranked) {
    const parts = splitAtChanges(each.session, harmless);
    const key = parts && JSON.stringify(parts.map(({ change }) => change?.request));
    const place = key === null ? undefined : open.get(key);
    const host = place === undefined ? undefined : shared[place];
    const joint = host?.parts && parts && joinReads(host.parts, parts);
    const steps = joint?.flatMap(({ reads, change }) => [...reads, ...(change === null ? [] : [change])]);
    if (place !== undefined && host && joint && steps !== undefined && steps.length <= most) {
      shared[place] = { chosen: addReads(host.chosen, each, steps), parts: joint };
    } else {
      if (key !== null) open.set(key, shared.length);
      shared.push({ chosen: each, parts });
    }
  }
  return shared.map(({ chosen }) => chosen);
}

/** A change with the reads that come before it, after the last one; the last part has no change. */
interface Part {
  reads: readonly ObservedStep[];
  change: ObservedStep | null;
}

/** Splits a session at its changes; null if it has none, or if another session could not have a part in it. */
function splitAtChanges({ steps }: ExploredSession, harmless: ReadonlySet<string>): Part[] | null {
  const isFree = steps.every(({ observation: { asked = [] } }) => asked.length === 0);
  // References count steps.
  if (!isFree || JSON.stringify(steps.map(({ request }) => request)).includes('{{result.')) return null;
  const parts: Part[] = [];
  let reads: ObservedStep[] = [];
  for (const step of steps) {
    const isRead = isRefused(step.observation) || isHarmlessRequest(step.request, (tool) => harmless.has(tool));
    if (isRead) reads.push(step);
    else {
      parts.push({ reads, change: step });
      reads = [];
    }
  }
  return parts.length === 0 || reads.length === 0 ? null : [...parts, { reads, change: null }];
}

/** Adds the reads of a session to those of another one with the same changes, before its own. */
function joinReads(own: readonly Part[], added: readonly Part[]): Part[] {
  return own.map(({ reads, change }, index) => {
    const isNew = ({ request }: ObservedStep) => !reads.some((each) => isSameRequest(each.request, request));
    return { reads: [...(added[index]?.reads ?? []).filter(isNew), ...reads], change };
  });
}

/** Gives a case the steps that it shares with another one, and asserts the last answer of that one, too. */
function addReads(host: ChosenCase, other: ChosenCase, steps: readonly ObservedStep[]): ChosenCase {
  const last = other.session.steps.at(-1);
  return {
    ...host,
    session: {
      ...host.session,
      steps,
      adds: [...host.session.adds, ...other.session.adds],
      needsFiles: host.session.needsFiles || other.session.needsFiles,
    },
    joined: [...host.joined, other.title, ...other.joined],
    asserted: [...host.asserted, ...(last === undefined ? [] : [last.request]), ...other.asserted],
  };
}
