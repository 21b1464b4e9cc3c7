import type { GatePolicy } from '../../model/policy.ts';
import type { MeasuredSuite } from '../../verdict/judge-gate.ts';
import type { GatePlan } from '../plan/plan.ts';
import type { PlannedBaseline } from '../plan/plan-past.ts';

/** Combines all rules by which a gate is judged. `today` is a day in UTC, `YYYY-MM-DD`. */
export function composePolicy(
  suites: readonly MeasuredSuite[],
  {
    plan: { limits, protectionFindings, surface, hosts, behaviour, coverage },
    baseline,
    today,
  }: {
    plan: Pick<GatePlan, 'limits' | 'protectionFindings' | 'surface' | 'hosts' | 'behaviour' | 'coverage'>;
    baseline: PlannedBaseline | null;
    today: string;
  },
): GatePolicy {
  return {
    today,
    suites: suites.map(({ results: { suiteId }, requirements }) => ({ suiteId, ...requirements })),
    ...limits,
    baseline: baseline?.baseline ?? null,
    lowered: protectionFindings,
    ...(surface !== null && { surface: surface.policy }),
    ...(hosts !== null && { hosts: hosts.policy }),
    ...(behaviour !== null && {
      behaviour: behaviour.policy.behaviour,
      ...(behaviour.policy.acceptingLabel !== null && { acceptingLabel: behaviour.policy.acceptingLabel }),
      ...(behaviour.alone !== null && { withoutSuites: behaviour.alone }),
    }),
    ...((coverage?.minimum.length ?? 0) > 0 && { minimumCoverage: coverage?.minimum ?? [] }),
  };
}
