import { describeError, GateError, ServerStartError } from '../../base/errors.ts';
import type { Logger } from '../../base/logger.ts';
import type { Redactor } from '../../base/redaction.ts';
import { endSentence } from '../../base/text.ts';
import type { Clock } from '../../base/time.ts';
import type { BehaviourReport, MeasuredBehaviour } from '../../model/behaviour.ts';
import { countBehaviour } from '../../model/behaviour-policy.ts';
import { findRepository } from '../plan/git-checkout.ts';
import type { PlannedBehaviour } from '../plan/plan-behaviour.ts';
import type { PlannedServer } from '../plan/plan-server.ts';
import type { BaseSide } from './base-side.ts';
import { openRequestCache } from './behaviour-cache.ts';

interface BehaviourContext {
  clock: Clock;
  logger: Logger;
  redactor: Redactor;
  environment: Readonly<Record<string, string | undefined>>;
  /** The gate's working directory. */
  cwd: string;
  /** Aborts when the gate ends early. */
  signal: AbortSignal;
}

/** The behaviour of the job's server, compared with that of its base. */
export interface JobBehaviour {
  /**
   * Explores the base, and repeats its calls on the change. A failure of either server leaves the comparison out.
   *
   * @throws the signal's reason once it aborts
   */
  compare(base: BaseSide | null, context: BehaviourContext): Promise<void>;
  /** Notes the reason why the gate ended, if the behaviour is not compared by then. */
  end(reason: string): void;
  /** Undefined if the plan asks for none. */
  report(): BehaviourReport | undefined;
}

/** Loads the code that the plan needs, before a server could overwrite it. */
export async function openJobBehaviour(planned: PlannedBehaviour | null): Promise<JobBehaviour> {
  const parts = planned === null || planned.problem !== null ? null : await loadParts();
  let about: BehaviourReport['base'] = { label: 'no base', commit: null };
  let problem = planned?.problem ?? 'the gate ended before that.';
  let report: BehaviourReport | null = null;
  return {
    compare: async (base, context) => {
      if (planned === null || parts === null || base === null) return;
      about = { label: base.planned.label, commit: base.planned.checkout?.commit ?? null };
      const refusal = base.problem();
      const [server] = base.planned.servers;
      if (refusal !== null || server === undefined) {
        problem = refusal ?? 'nothing starts its server.';
        return;
      }
      try {
        const measured = await compareSides(planned, { base, server, parts }, context);
        report = countBehaviour(about, measured, planned.policy);
      } catch (error) {
        context.signal.throwIfAborted();
        if (!(error instanceof GateError)) throw error;
        if (error instanceof ServerStartError && error.stderrTail.length > 0) {
          context.logger.group('Last lines of its output', error.stderrTail);
        }
        problem = [endSentence(describeError(error)), error.hint ?? []].flat().join(' ');
        context.logger.warning(`The behaviour is not compared with the base: ${problem}`);
      }
    },
    end: (reason) => {
      if (report === null && problem === 'the gate ended before that.') problem = reason;
    },
    report: () => {
      if (planned === null) return undefined;
      return report ?? { base: about, problem, compared: null, unusedAccepts: [] };
    },
  };
}

type BehaviourParts = Awaited<ReturnType<typeof loadParts>>;

async function loadParts() {
  return { ...(await import('./compare-worlds.ts')), ...(await import('../../behaviour/corpus.ts')) };
}

async function compareSides(
  planned: PlannedBehaviour,
  { base, server, parts }: { base: BaseSide; server: PlannedServer; parts: BehaviourParts },
  { clock, logger, environment, cwd }: BehaviourContext,
): Promise<MeasuredBehaviour> {
  const { checkout, cacheKey } = base.planned;
  const context = { clock, logger, environment, signal: base.lifetime.cancelRun };
  const version = checkout?.commit ?? base.planned.release;
  const identity = `${version ?? ''} ${cacheKey}`;
  const cache = openRequestCache(base.planned, version, logger);
  const kept = await cache.read();
  const read = kept === null ? { corpus: null, note: null } : parts.readCorpus(kept, { identity, seed: planned.seed });
  if (read.note !== null) logger.warning(read.note);
  logger.info(`Comparing the behaviour with the base (${base.planned.label}), with the seed ${planned.seed} …`);
  const repository = await findRepository(cwd);
  const { sandbox, isSandboxEnabled, workspace, seed } = planned;
  const sides = {
    base: { server, roots: [checkout?.directory ?? base.planned.package?.directory ?? server.cwd] },
    head: { server: planned.server, roots: [repository?.top ?? cwd] },
  };
  const timeLimitMs = Math.min(planned.exploringMs, base.lifetime.deadline.remainingMs() / 3);
  const { measured, corpus } = await parts.compareWorlds(
    { ...sides, sandbox, isSandboxEnabled, workspace, seed, identity, cached: read.corpus, budget: null, timeLimitMs },
    context,
  );
  if (read.corpus === null) cache.save(parts.writeCorpus(corpus));
  return measured;
}
