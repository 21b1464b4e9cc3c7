import type { PolicyFile, PolicyLayer } from '../../model/policy.ts';
import type { Suite } from '../../model/suite.ts';
import { joinLayers, listSuiteLayers } from '../../verdict/layers.ts';
import { resolveCaseNames } from './resolve-names.ts';

/** What the files of one commit require of a suite. The inputs of the workflow are no part of it. */
export interface SuiteBar {
  suite: Suite;
  /** What the policy file says of it, the strongest layer first; cases by their ids. */
  fileLayers: PolicyLayer[];
  /** What its evals file says; cases by their ids. */
  ownLayer: PolicyLayer;
  /** All of it joined. */
  policy: PolicyLayer;
  /** By case id, where each required case is said to be one. */
  required: ReadonlyMap<string, string>;
}

/** Reads out of the files of one commit what they require. */
export function createBar(suites: readonly Suite[], file: PolicyFile | null): SuiteBar[] {
  return suites.map((suite) => {
    const named = suite.cases.map(({ id, title, location }) => ({
      id,
      title,
      place: `${location.file}:${location.line}`,
    }));
    // Ambiguous names of the change are issues of its own plan; those of the base mean the first case.
    const resolve = (layer: PolicyLayer) => resolveCaseNames(layer, named, []);
    const fileLayers = (file === null ? [] : listSuiteLayers(file, suite)).map(resolve);
    const ownLayer = resolve(suite.policy);
    const policy = joinLayers([...fileLayers, ownLayer]);
    const flagged = suite.cases.filter(({ isRequired }) => isRequired);
    const required = new Map([
      ...policy.required.map(({ name, source }) => [name, source] as const),
      ...flagged.map(({ id, location }) => [id, `${location.file}:${location.line}`] as const),
    ]);
    return { suite, fileLayers, ownLayer, policy, required };
  });
}

/** Finds the same suite among others: by its id, else by its file, whose suite may have another id now. */
export function findSameSuite<T extends { suite: Suite }>(
  bars: readonly T[],
  { id, file }: { id: string; file: string },
): T | null {
  return bars.find(({ suite }) => suite.id === id) ?? bars.find(({ suite }) => suite.location.file === file) ?? null;
}

/**
 * Gives the layers of the base for the suite as the change has it: what they name and the change does not have is left out, since that
 * is judged by comparing the two.
 */
export function adaptLayers({ suite: before, fileLayers, ownLayer, required }: SuiteBar, suite: Suite) {
  const isGone = (id: string) =>
    before.cases.some((item) => item.id === id) && !suite.cases.some((item) => item.id === id);
  const knownTags = new Set(suite.cases.flatMap(({ tags }) => tags));
  const wasTag = (tag: string) => before.cases.some(({ tags }) => tags.includes(tag));
  const adapt = (layer: PolicyLayer): PolicyLayer => ({
    ...layer,
    cases: layer.cases.filter(({ name }) => !isGone(name)),
    required: layer.required.filter(({ name }) => !isGone(name)),
    tags: layer.tags.filter(({ name }) => knownTags.has(name) || !wasTag(name)),
  });
  const own = adapt(ownLayer);
  const flagged = [...required].flatMap(([name, source]) =>
    isGone(name) ? [] : [{ name, value: true as const, source }],
  );
  return { fileLayers: fileLayers.map(adapt), ownLayer: { ...own, required: flagged } };
}
