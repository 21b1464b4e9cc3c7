import type { HostsComparison, HostsComparisonFinding } from './hosts-comparison.ts';
import type { GateRules } from './policy.ts';
import { hostRules, hostSection } from './rules/host-rules.ts';
import { type CompleteRules, createLayers } from './rules/layers.ts';

const layers = createLayers(hostRules, [hostSection]);

/** What it means for the verdict that a change makes the server worse, by host. */
export type HostsPolicy = CompleteRules<(typeof hostRules)[number]>['hosts'];

/** Fills in missing rules from an earlier policy, then from the defaults. */
export function applyHostDefaults(rules: GateRules['hosts'] | null, earlier?: HostsPolicy): HostsPolicy {
  const layer = rules === null ? layers.empty : { hosts: rules };
  return layers.complete(layer, earlier && { hosts: earlier }).hosts;
}

/** Decides how each finding counts. A report that was made by another policy is decided anew. */
export function recountHosts(hosts: HostsComparison, policy: HostsPolicy): HostsComparison {
  const findings = hosts.findings.map((finding) => ({ ...finding, disposition: decideDisposition(finding, policy) }));
  return { ...hosts, findings };
}

function decideDisposition(
  { host, change, doubt }: HostsComparisonFinding,
  policy: HostsPolicy,
): HostsComparisonFinding['disposition'] {
  const effect = policy[host].value;
  if (effect === 'off') return 'off';
  if (change !== 'worse') return 'note';
  return doubt === null ? effect : 'review';
}
