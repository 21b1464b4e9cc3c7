import type { HostId } from '../model/host-ids.ts';
import type { HostChange, HostFinding, HostOutcome, HostsReport } from '../model/hosts-report.ts';
import { type HostProfile, listFacts } from './profile.ts';
import { addResults, type ReceivedResult } from './show-results.ts';
import { type HostView, type ServedSurface, showSurface } from './show-surface.ts';

/**
 * Reports what each host makes of the servers, in the order of the profiles. `results` are those that the servers gave; null if none are
 * known.
 */
export function compareHosts(
  profiles: readonly HostProfile[],
  servers: readonly ServedSurface[],
  results: readonly ReceivedResult[] | null = null,
): HostsReport {
  return {
    results:
      results === null ? null : { count: results.length, tools: new Set(results.map(({ label }) => label)).size },
    servers: servers.map(({ name, surface: { tools, instructions = '' } }) => ({
      name,
      tools: tools.length,
      instructions: instructions.length,
    })),
    hosts: profiles.map((profile) =>
      describeOutcome(profile, addResults(profile, showSurface(profile, servers), results ?? [])),
    ),
  };
}

function describeOutcome(profile: HostProfile, { tools, instructions, changes }: HostView): HostOutcome {
  const { id, title, timeout, names } = profile;
  const { kind, version } = names.basis;
  const dates = listFacts(profile).map(({ fact }) => fact.basis.date);
  const byTool = Map.groupBy(changes, ({ tool }) => tool);
  const isKnown = instructions.every((text) => text !== null);
  return {
    id,
    title,
    version,
    kind,
    date: dates.toSorted()[0] ?? names.basis.date,
    tools: tools.map(({ label, state, name }) => ({
      tool: label,
      state,
      shownAs: name,
      kinds: [...new Set(byTool.get(label)?.map((change) => change.kind))],
    })),
    instructions: isKnown ? instructions.reduce((sum, text) => sum + (text ?? '').length, 0) : null,
    timeout: timeout?.value ?? null,
    findings: joinChanges(id, changes),
  };
}

/** Joins the changes that differ only in the tool. */
export function joinChanges(host: HostId, changes: readonly HostChange[]): HostFinding[] {
  const groups = Map.groupBy(changes, ({ kind, message }) => `${kind} ${message}`);
  return [...groups.values()].flatMap((same) => {
    const [first] = same;
    if (first === undefined) return [];
    const { kind, message, fact } = first;
    return [
      {
        host,
        kind,
        message,
        tools: same.flatMap(({ tool }) => (tool === null ? [] : [tool])),
        details: same.flatMap(({ detail }) => (detail === null ? [] : [detail])),
        fact,
      },
    ];
  });
}
