import type { JsonObject } from '../base/json.ts';
import type { HostChange } from '../model/hosts-report.ts';
import type { HostProfile } from './profile.ts';
import { showResult } from './show-result.ts';
import type { HostView } from './show-surface.ts';

/** A result that a server gave, and the label of its tool. */
export interface ReceivedResult {
  label: string;
  result: JsonObject;
}

/**
 * Adds to a view what the host keeps from a model of results that the server gave. Of a tool with such results, they replace what its
 * declaration says of them.
 */
export function addResults(profile: HostProfile, view: HostView, results: readonly ReceivedResult[]): HostView {
  const listed = new Set(view.tools.flatMap(({ label, state }) => (state === 'unlisted' ? [] : [label])));
  const shown = results.filter(({ label }) => listed.has(label));
  const known = new Set(shown.map(({ label }) => label));
  const declared = view.changes.filter(
    ({ tool, fact }) => fact.path !== 'results.structured' || tool === null || !known.has(tool),
  );
  const found = shown.flatMap(({ label, result }) =>
    showResult(profile, result).changes.map((change) => ({
      ...change,
      tool: label,
      detail: change.detail === null ? null : `${label} (${change.detail})`,
    })),
  );
  return { ...view, changes: [...declared, ...mergeRepeated(found)] };
}

/** Keeps the first of several results of a tool that lose the same. */
function mergeRepeated(changes: readonly HostChange[]): HostChange[] {
  const groups = Map.groupBy(changes, ({ tool, kind, message }) => JSON.stringify([tool, kind, message]));
  return [...groups.values()].flatMap(([first]) => first ?? []);
}
