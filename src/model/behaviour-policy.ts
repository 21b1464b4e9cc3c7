import { type BehaviourReport, type MeasuredBehaviour, reportBehaviour } from './behaviour.ts';
import type { GateRules } from './policy.ts';
import { behaviourRules, behaviourSection } from './rules/behaviour-rules.ts';
import { type CompleteRules, createLayers } from './rules/layers.ts';

const layers = createLayers(behaviourRules, [behaviourSection]);

/** The effects of differences from the base on the verdict, and the accepted ones. */
export interface BehaviourPolicy {
  behaviour: CompleteRules<(typeof behaviourRules)[number]>['behaviour'];
  /** The label of the pull request that accepts all differences; null without it. */
  acceptingLabel: string | null;
}

/** Fills in missing rules from an earlier policy, then from the defaults. */
export function applyBehaviourDefaults(
  rules: GateRules['behaviour'] | null,
  earlier?: BehaviourPolicy['behaviour'],
): BehaviourPolicy['behaviour'] {
  const layer = rules === null ? layers.empty : { behaviour: rules };
  return layers.complete(layer, earlier && { behaviour: earlier }).behaviour;
}

/** Decides how each difference counts. A report that was made by another policy is decided anew. */
export function countBehaviour(
  base: BehaviourReport['base'],
  measured: MeasuredBehaviour,
  { behaviour: { accept, ...effects }, acceptingLabel }: BehaviourPolicy,
): BehaviourReport {
  return reportBehaviour(base, measured, {
    effects: {
      broken: effects.broken.value,
      lost: effects.lost.value,
      changed: effects.changed.value,
      slower: effects.slower.value,
      fixed: effects.fixed.value,
    },
    accepted: accept.map(({ name }) => name),
    isAllAccepted: acceptingLabel !== null,
  });
}

/** Decides how the differences of a report count by another policy. */
export function recountBehaviour(report: BehaviourReport, policy: BehaviourPolicy): BehaviourReport {
  if (report.compared === null) return report;
  const differences = report.compared.differences.map(({ disposition: _disposition, ...difference }) => difference);
  return countBehaviour(report.base, { ...report.compared, differences }, policy);
}
