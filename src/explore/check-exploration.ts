import { formatCount } from '../base/text.ts';
import type { Clock } from '../base/time.ts';
import type { Exploration, ExploredSession, Finding, Unexplored } from './exploration.ts';
import { type Explored, type ExploreOptions, exploreServer } from './explore.ts';
import { findHidden } from './find-hidden.ts';
import { findProblems } from './findings/find-problems.ts';
import { createPartKeeper } from './stability/keep-parts.ts';
import { listMarked } from './stability/merge-values.ts';
import { replaySessions, type StableSession } from './stability/replay.ts';
import { shareTime, type TimeShares } from './time-shares.ts';
import type { WorldSource } from './world/world.ts';

/** The shares of the time at which the exploring and the replays end. Findings are confirmed in the rest. */
const exploringEnd = 0.6;
const replaysEnd = 0.88;

interface CheckOptions extends Pick<ExploreOptions, 'workspace' | 'onProgress'> {
  source: WorldSource;
  time: TimeShares;
  /** The present time, since times near it are those of the moment. */
  nowMs: number;
}

/** Explores a server, and checks what was found, in a time that both share. Work that does not fit is left out, and the result is marked as cut. */
export async function exploreAndCheck(
  source: WorldSource,
  { clock, timeLimitMs, ...options }: Omit<ExploreOptions, 'time'> & { clock: Clock; timeLimitMs: number },
): Promise<Exploration> {
  const time = shareTime(clock, timeLimitMs);
  const explored = await exploreServer(source, { ...options, time: time.limitTo(exploringEnd) });
  return await checkExploration(explored, { ...options, source, time, nowMs: clock.now() });
}

/**
 * Checks what exploring a server has found: replays the sessions in other worlds to see which parts of their answers are stable, and finds
 * problems that need no expected value.
 */
export async function checkExploration(
  { kept, drawn, alone, runs, inventory, startNoise, ...explored }: Explored,
  { source, workspace, time, nowMs, onProgress }: CheckOptions,
): Promise<Exploration> {
  const begin = (phase: string) => {
    onProgress({ phase, subject: null, requests: explored.requests.sent, tools: explored.coverage.tools });
  };
  const harmless = new Set(explored.harmless);
  const isHarmless = (tool: string) => harmless.has(tool);
  begin('Replaying');
  time.begin(replaysEnd);
  const keeps = await createPartKeeper(source.files?.workspace ?? workspace, nowMs);
  const replayed = await replaySessions(explored.sessions, {
    source,
    workspace,
    alone,
    isHarmless,
    isDrawn: (tool) => drawn.has(tool),
    kept,
    keeps,
    time,
  });
  begin('Confirming findings');
  time.begin(1);
  const hidden = await findHidden(
    inventory.tools.map(({ name }) => name),
    source,
  );
  const found = await findProblems(runs, { inventory, source, isHarmless, startNoise, time });
  return {
    version: 1,
    ...explored,
    isCutByTime: time.isCut,
    sessions: replayed.stable.map(describeSession),
    ...(hidden.size > 0 && { hidden: Object.fromEntries(hidden) }),
    flaky: replayed.flaky,
    findings: found.findings,
    unexplored: [...explored.unexplored, ...describeCut(replayed.notReplayed, found.notConfirmed)],
  };
}

/** Lists the sessions and findings that the time was too short for. */
function describeCut(notReplayed: number, notConfirmed: readonly Pick<Finding, 'kind' | 'tool'>[]): Unexplored[] {
  return [
    ...(notReplayed === 0
      ? []
      : [{ subject: formatCount(notReplayed, 'session'), reason: 'the time was over before the replay' }]),
    ...notConfirmed.map(({ kind, tool }) => ({
      subject: tool ?? 'the server',
      reason: `the time was over before its finding ${kind} was confirmed`,
    })),
  ];
}

function describeSession({ run, adds, needsFiles }: StableSession, index: number): ExploredSession {
  const volatile = run.steps.flatMap(({ observation: { outcome } }, step) =>
    listMarked(outcome.kind === 'result' ? outcome.result : outcome).map((pointer) => `/${step}${pointer}`),
  );
  return { id: index + 1, ...run, adds, volatile, needsFiles };
}
