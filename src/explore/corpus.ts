import { isUnexplained } from './answers.ts';
import type { ObservedStep, SessionRun } from './exploration.ts';
import { type Feature, findPlace, nameFeature, pickFeatures } from './features/feature.ts';
import {
  findChangedReads,
  isSameRequest,
  listFeatures,
  listStates,
  listStepFeatures,
} from './features/list-features.ts';
import type { Inventory } from './inventory.ts';
import { explainRefusalByWorld } from './world/refused-by-world.ts';

/** A session that is worth keeping, with the features that no session before it shows. */
export interface KeptSession {
  run: SessionRun;
  adds: readonly Feature[];
}

/** The most sessions for each tool, and at least. */
const sessionsPerTool = 6;
const leastSessions = 60;

/** The most different refusals of a tool that are kept, of valid calls and of others. */
const maxRefusals = 4;

/**
 * Chooses sessions until no other one adds a tool, a parameter, a value of an enum, a refusal, the shape of a result, a second call, a namesake,
 * several things of one list, a parameter that selects some of several things, a part that changes alone, a state that a reader sees, or a search
 * for a text of the call before. Short sessions come first. The same runs give the same sessions. That a tool whose answers differ by chance
 * answers the same call otherwise adds nothing.
 */
export function chooseSessions(
  runs: readonly SessionRun[],
  inventory: Inventory,
  isDrawn: (tool: string) => boolean = () => false,
): KeptSession[] {
  const candidates = runs
    .filter(({ steps }) => steps.length > 0 && steps.every(({ observation }) => isSteady(observation.outcome.kind)))
    .filter(({ steps }) => steps.every(({ observation }) => explainRefusalByWorld(observation) === null))
    .toSorted((a, b) => a.steps.length - b.steps.length);
  const known = new Set<string>();
  const isKnown = (feature: Feature) => known.has(nameFeature(feature));
  const refusals = new Map<string, number>();
  const kept: KeptSession[] = [];
  for (const run of candidates) {
    const isWrong = run.steps.some(({ isValid }) => isValid === false);
    const count = (subject: string) => refusals.get(`${subject} ${isWrong}`) ?? 0;
    const adds = listFeatures(run, inventory).filter(
      (feature) =>
        !isKnown(feature) &&
        !(feature.kind === 'refusal' && count(feature.subject) >= maxRefusals) &&
        !(feature.kind === 'again' && isDrawn(feature.tool)),
    );
    if (adds.length === 0) continue;
    for (const feature of adds) known.add(nameFeature(feature));
    for (const { subject } of pickFeatures(adds, 'refusal')) refusals.set(`${subject} ${isWrong}`, count(subject) + 1);
    kept.push({ run: trimSession(run, adds, inventory), adds });
  }
  return limitSessions(kept, Math.max(leastSessions, sessionsPerTool * inventory.tools.length));
}

/** Drops the sessions that show least, if there are too many; the others keep their order. */
function limitSessions(kept: readonly KeptSession[], most: number): KeptSession[] {
  const refusing = new Set<string>();
  const ranked = kept
    .map((session) => ({ session, rank: rank(session, refusing) }))
    .toSorted((a, b) => a.rank - b.rank);
  const chosen = new Set(ranked.slice(0, most).map(({ session }) => session));
  return kept.filter((session) => chosen.has(session));
}

/** Ranks a session. `refusing` has the tools of which an earlier session shows a refusal with words. */
function rank({ adds, run }: KeptSession, refusing: Set<string>): number {
  const place = findPlace(adds, 'inCorpus');
  if (place < 2) return place;
  if (isUnexplained(run.steps.at(-1)) || run.steps.some(({ isValid }) => isValid === false)) return 3;
  const said = pickFeatures(adds, 'refusal').find(({ words }) => saysWhy.test(words));
  if (said === undefined) return place;
  if (refusing.has(said.subject)) return 2;
  refusing.add(said.subject);
  return 1;
}

/** Matches a refusal with words of the server, which most frameworks put behind the name of the tool. */
const saysWhy = /^(?:Error executing tool \S+: )?(?=.*\p{L}{3}.*\p{L}{3})(?!Error executing tool )/u;

/** A lost process is a finding, and no expectation. */
const isSteady = (kind: string) => kind === 'result' || kind === 'error';

/** What only all steps of a session show. */
const wholeKinds = ['kept', 'again', 'namesake', 'selected', 'part', 'effect', 'limit', 'edge', 'several'] as const;

/** Drops requests of readers for a state that is known from another session, and the steps after the last one that adds something. */
function trimSession(run: SessionRun, adds: readonly Feature[], inventory: Inventory): SessionRun {
  const { steps } = run;
  if (steps.length < 3 || pickFeatures(adds, ...wholeKinds).length > 0) return run;
  const names = new Set(adds.map(nameFeature));
  const isAdded = (feature: Feature) => names.has(nameFeature(feature));
  const changed = findChangedReads(steps);
  const readOnly = new Set(inventory.tools.filter(({ isReadOnly }) => isReadOnly).map(({ name }) => name));
  const shown = new Set(
    [...changed]
      .filter((index) => listStates(steps, index, inventory).some(isAdded))
      .flatMap((index) => findEqual(steps, index)),
  );
  const adding = new Set(steps.keys().filter((index) => listStepFeatures(steps[index], inventory).some(isAdded)));
  const isUseless = ({ request }: ObservedStep, index: number) =>
    !shown.has(index) &&
    !adding.has(index) &&
    request.kind === 'tool' &&
    readOnly.has(request.tool) &&
    findEqual(steps, index).length > 1;
  const last = shown.size === 0 ? steps.length - 1 : Math.max(...shown, ...adding);
  const isKept = steps.map((step, index) => index <= last && !isUseless(step, index));
  return { ...run, steps: steps.filter((_, index) => isKept[index] === true) };
}

/** Lists the steps with the same request. */
function findEqual(steps: readonly ObservedStep[], index: number): number[] {
  const own = steps[index]?.request;
  return steps.flatMap(({ request }, other) => (own !== undefined && isSameRequest(request, own) ? [other] : []));
}
