import type { PolicyFile, PolicyLayer } from '../model/policy.ts';

/** Lists the layers of a policy file for a suite, by its id or name: first the layer for this suite, then the layer for all suites. */
export function listSuiteLayers(policy: PolicyFile, suite: { id: string; name: string }): PolicyLayer[] {
  const isMeant = (name: string) => name === suite.id || name === suite.name;
  const entries = policy.quarantine.filter((entry) => isMeant(entry.suite));
  return [
    ...policy.suites.filter(({ name }) => isMeant(name)).map(({ layer }) => layer),
    { ...policy.common, quarantine: entries.map(({ suite: _suite, ...entry }) => entry) },
  ];
}

/** Names the entries of a policy file that match none of these suites; they may be meant for another gate. */
export function listUnmatchedSuites(
  { file, ...policy }: PolicyFile,
  suites: ReadonlyArray<{ id: string; name: string }>,
): string[] {
  const names = new Set([...policy.suites.map(({ name }) => name), ...policy.quarantine.map(({ suite }) => suite)]);
  return [...names]
    .filter((name) => !suites.some((suite) => suite.id === name || suite.name === name))
    .map((name) => `${file} has a policy for the suite ${JSON.stringify(name)}, which is not part of this gate.`);
}
