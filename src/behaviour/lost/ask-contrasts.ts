import { isJsonEqual, type JsonObject } from '../../base/json.ts';
import type { ExploredRequest } from '../../model/explored-request.ts';
import type { Inventory } from '../../explore/inventory.ts';
import { firstVariant } from '../../explore/world/world.ts';
import type { Bench, SidePair } from '../bench.ts';
import { type CompareContext, listCandidates, listRequests, type RanSession } from '../candidates.ts';
import { normalizeOutcome } from '../normalize.ts';
import {
  addDefaults,
  type Contrast,
  type Contrasts,
  leaveArgumentsOut,
  leaveCallsOut,
  writeSession,
} from './contrasts.ts';

/** The most sessions that are sent without one argument. */
const maxLessArguments = 24;
/** The most sessions whose last call gets the default of an argument that it lacks. */
const maxDefaults = 12;

/**
 * Collects the answers to compare the sessions whose answers changed with: to all other sessions, and, asked here, to the same without the
 * calls that may have made something, without each argument that a call may lack, and with each default that it lacks. The change ignores an
 * argument that it does not list.
 */
export async function askContrasts(
  ran: readonly RanSession[],
  {
    bench,
    context,
    inventories,
  }: { bench: Bench; context: CompareContext; inventories: { base: Inventory; head: Inventory } },
): Promise<Contrasts> {
  const changed = ran.flatMap(({ requests, runs }) =>
    listCandidates(requests, runs, context).candidates.map((candidate) => candidate.requests),
  );
  const contrasts = new Map<string, Contrast>();
  if (changed.length === 0) return contrasts;
  const shortest = changed.toSorted((a, b) => a.length - b.length);
  const defaults = listDefaults(inventories);
  const more = shortest.flatMap((requests) => addDefaults(listRequests(requests), defaults));
  const addedTo = new Map(more.map(({ name, session }) => [writeSession(session), name]));
  const keep = (session: readonly ExploredRequest[], { base, head }: SidePair) => {
    const [ofBase, ofHead] = [base[session.length - 1], head[session.length - 1]];
    if (ofBase === undefined || ofHead === undefined) return;
    const key = writeSession(session);
    const defaultOf = addedTo.get(key);
    contrasts.set(key, {
      session,
      base: normalizeOutcome(ofBase.observation.outcome, context.roots.base),
      head: normalizeOutcome(ofHead.observation.outcome, context.roots.head),
      ...(defaultOf !== undefined && { defaultOf }),
    });
  };
  for (const { requests, runs } of ran) {
    const [base = [], head = []] = [runs.base[0], runs.head[0]];
    keep(listRequests(requests), { base, head });
  }
  const canLack = (tool: string, name: string) => {
    const [base, head] = [inventories.base, inventories.head].map(({ tools }) =>
      tools.find((each) => each.name === tool)?.parameters.find((own) => own.name === name),
    );
    return base?.isRequired === false && head?.isRequired !== true;
  };
  const less = shortest
    .flatMap(leaveArgumentsOut)
    .flatMap(({ tool, name, session }) => (canLack(tool, name) ? [session] : []));
  const wanted = new Map([
    ...byKey(changed.map(leaveCallsOut).filter((session) => session !== null)),
    ...[...byKey(less)].slice(0, maxLessArguments),
    ...[...byKey(more.map(({ session }) => session))].slice(0, maxDefaults),
  ]);
  const missing = [...wanted].filter(([key]) => !contrasts.has(key));
  if (missing.length > 0) {
    await using round = bench.openRound(firstVariant);
    for (const [, session] of missing) keep(session, await round.run(session, { start: 'new' }));
  }
  return contrasts;
}

/** Lists the defaults that both servers declare alike, by the names of the tools. */
function listDefaults({ base, head }: { base: Inventory; head: Inventory }): Map<string, JsonObject> {
  return new Map(
    base.tools.map(({ name, parameters }) => {
      const others = head.tools.find((tool) => tool.name === name)?.parameters ?? [];
      const own = parameters.flatMap((parameter) => {
        const fallback = parameter.schema['default'];
        const other = others.find((each) => each.name === parameter.name)?.schema['default'];
        return fallback === undefined || fallback === null || !isJsonEqual(fallback, other)
          ? []
          : [[parameter.name, fallback] as const];
      });
      return [name, Object.fromEntries(own)];
    }),
  );
}

const byKey = (sessions: ReadonlyArray<readonly ExploredRequest[]>) =>
  new Map(sessions.map((session) => [writeSession(session), session]));
