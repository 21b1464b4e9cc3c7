import { isAnswered } from '../answers.ts';
import { type KeptSession, chooseSessions } from '../corpus.ts';
import { type SessionRun } from '../exploration.ts';
import { type ExploredRequest, nameRequest } from '../../model/explored-request.ts';
import type { Lab } from '../lab.ts';
import { joinSessions, shiftReferences } from '../world/placeholders.ts';

/** The most earlier sessions that are tried alone before a run. */
const maxAlone = 4;

/**
 * Finds out what a run needs from the sessions that used its world before it. Returns a run that begins in a new world and is answered, or
 * refused, as it was, with the needed calls before it; null if there is none, or if the requests are used up.
 */
export async function settleRun(run: SessionRun, lab: Lab): Promise<SessionRun | null> {
  const before = lab.listBefore(run);
  if (before.length === 0) return run;
  const own = run.steps.map(({ request }) => request);
  const repeat = async (setup: readonly ExploredRequest[]): Promise<SessionRun | null> => {
    const session = [...setup, ...shiftReferences(own, setup.length)];
    const repeated = await lab.run(session, { phase: run.phase, start: 'new' });
    return repeated !== null && areAlike(run, repeated) ? repeated : null;
  };
  const alone = await repeat([]);
  if (alone !== null) return alone;
  // The last session is the most likely one.
  for (const session of before.toReversed().slice(0, maxAlone)) {
    const after = await repeat(session);
    if (after !== null) return after;
  }
  if (before.length === 1) return null;
  let [needed, shortest] = [before, await repeat(joinSessions(before))];
  if (shortest === null) return null;
  for (const session of before) {
    const fewer = needed.filter((other) => other !== session);
    const shorter = await repeat(joinSessions(fewer));
    if (shorter !== null) [needed, shortest] = [fewer, shorter];
  }
  return shortest;
}

/** Checks if the last steps of a repeated run are answered where those of the run are. */
function areAlike({ steps }: SessionRun, repeated: SessionRun): boolean {
  const own = repeated.steps.slice(-steps.length);
  return steps.every(({ request, observation }, index) => {
    const other = own[index];
    return (
      other !== undefined &&
      nameRequest(other.request) === nameRequest(request) &&
      isAnswered(other.observation) === isAnswered(observation)
    );
  });
}

/**
 * Chooses the sessions of the corpus. Those that ran in a used world are replaced by sessions that are answered, or refused, alike in a new
 * one, and left out if there are none. `runs` are the runs that new worlds repeat, or that need none.
 */
export async function chooseSettled(lab: Lab): Promise<{ kept: KeptSession[]; runs: SessionRun[] }> {
  const settled = new Map<SessionRun, SessionRun | null>();
  const isUnsettled = ({ run }: KeptSession) => !settled.has(run) && lab.listBefore(run).length > 0;
  for (;;) {
    const runs = lab.runs.flatMap((run) => (settled.has(run) ? (settled.get(run) ?? []) : [run]));
    const kept = chooseSessions(runs, lab.inventory, lab.isDrawn);
    const unsettled = kept.filter(isUnsettled);
    if (unsettled.length === 0) return { kept, runs };
    for (const { run } of unsettled) settled.set(run, await settleRun(run, lab));
  }
}
