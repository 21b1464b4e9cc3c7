import { describeError, GateError } from '../../base/errors.ts';
import type { ProcessScope } from '../../model/base-comparison.ts';
import type { CaseOutline } from '../../model/results.ts';
import { listRunGaps } from '../../verdict/completeness.ts';
import type { FileSuite } from '../plan/plan-suites.ts';
import type { BaseSide } from './base-side.ts';
import { muteContext } from './confirm.ts';
import { noEvidence } from './evidence-log.ts';
import { countTo, openCoin, type PairLog } from './pair-log.ts';
import { type IterationNumbers, type PreparedSuite, selectPrepared } from './prepared-suite.ts';
import { findWidestScope } from './renew-servers.ts';
import { continueSuite, type OtherSide, type SuiteRunContext } from './run-suite.ts';

/** A suite that is compared with its base. */
export interface PairedSuite {
  planned: FileSuite;
  base: BaseSide;
  pairs: PairLog;
  /** The cases of the change. */
  outline: readonly CaseOutline[];
  /** Ids of the cases that the base does not have. */
  newCases: ReadonlySet<string>;
  /** The most that a process of either side has served so far. */
  processes: ProcessScope;
}

/** Runs the base together with the runs of the change. */
export interface BaseRuns extends OtherSide {
  /** Returns how long the base has run so far. */
  spentMs(): number;
  /** Runs further rounds that only confirm. They do not use the cache. A problem goes to `onProblem` and leaves the comparison as it was. */
  confirm(onProblem: (reason: string) => void): OtherSide;
}

/**
 * Runs the cases of each run of the change on the base as well, before or after it; the seed decides the order. Takes results from the cache
 * if it has them. A problem with a run of the base ends the comparison, not the gate.
 */
export function createBaseRuns(suite: PairedSuite, context: SuiteRunContext): BaseRuns {
  const { planned, base } = suite;
  const { clock, backend, lifetime } = context;
  const throwCoin = openCoin(base.planned.seed);
  const evidence = suite.pairs.watch('base', noEvidence);
  const baseContext = { ...muteContext(context), lifetime: base.lifetime, evidence };
  let spentMs = 0;

  const renew = async (servers: SuiteRunContext['servers']): Promise<void> => {
    suite.processes = findWidestScope([suite.processes, await base.renew(servers, backend.traits)]);
  };

  const runBase = async (
    prepared: PreparedSuite,
    numbers: IterationNumbers | null,
    { usesCache, onProblem }: { usesCache: boolean; onProblem: (reason: string) => void },
  ): Promise<void> => {
    if (base.problem() !== null) return;
    const ids = usesCache
      ? listUncached(suite, prepared, numbers)
      : new Set(prepared.outline.cases.map(({ id }) => id));
    if (ids.size === 0 || lifetime.cancelRun.aborted) return;
    const servers = await base.open(planned);
    if (base.problem() !== null) return;
    const selected = selectPrepared(prepared, { ids, name: `${prepared.outline.name} (base)` });
    if (selected === null) {
      onProblem('The service does not say which of its cases they are.');
      return;
    }
    const run = {
      ...selected.run,
      serverIds: servers.map(({ id }) => id),
      serverNames: servers.map(({ alias }) => alias),
    };
    const startedMs = clock.monotonicMs();
    try {
      await renew(servers);
    } catch (error) {
      if (!(error instanceof GateError)) throw error;
      onProblem(describeError(error));
      return;
    }
    const { results } = await continueSuite(
      planned,
      { prepared: { ...selected, run }, numbers: numbers ?? new Map() },
      { ...baseContext, servers },
    );
    spentMs += clock.monotonicMs() - startedMs;
    const why = results.interruption ?? listRunGaps(results)[0] ?? null;
    if (why !== null && !lifetime.cancelRun.aborted) onProblem(why.message);
    const foreign = base.findForeignOwner();
    if (foreign !== null) base.giveUp(`Another process may have answered for the base: ${foreign}.`);
  };

  const runBoth =
    (how: Parameters<typeof runBase>[2]): OtherSide['runBoth'] =>
    async ({ prepared, numbers }, runOwn) => {
      // Cases that a run itself writes into its suite can run again only after it.
      const isBaseFirst = throwCoin() && prepared.written.length === 0;
      if (isBaseFirst) await runBase(prepared, numbers, how);
      // Renews the servers also without the base: the confidence of a range of runs requires independent rounds.
      await renew(context.servers);
      const used = await runOwn(prepared);
      if (!isBaseFirst) await runBase(used, numbers, how);
    };
  return {
    spentMs: () => spentMs,
    runBoth: runBoth({ usesCache: true, onProblem: (reason) => base.giveUp(reason) }),
    confirm: (onProblem) => ({ runBoth: runBoth({ usesCache: false, onProblem }) }),
  };
}

/** Lists the cases that the base has and that no earlier job has run; notes the cached results of the others. */
function listUncached(
  { planned, base, pairs, outline, newCases }: PairedSuite,
  prepared: PreparedSuite,
  numbers: IterationNumbers | null,
): ReadonlySet<string> {
  const findCached = (id: string): string => {
    const found = outline.find((testCase) => testCase.id === id);
    return found === undefined ? '' : base.cache.find(planned.suite.id, found);
  };
  const uncached = prepared.outline.cases.filter(({ id, runs }) => {
    if (newCases.has(id)) return false;
    return !pairs.addCached(id, { cached: findCached(id), numbers: numbers?.get(id) ?? countTo(runs ?? 1) });
  });
  return new Set(uncached.map(({ id }) => id));
}
