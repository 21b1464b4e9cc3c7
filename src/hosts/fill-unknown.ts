import type { HostProfile } from './profile.ts';
import { generic } from './profiles/generic.ts';

/** Fills in the facts that are unknown of a host with those of the gate's own loop, so that a conversation can be held in it. */
export function fillUnknown(profile: HostProfile): HostProfile {
  return {
    ...generic,
    ...profile,
    tools: { ...generic.tools, ...profile.tools },
    schemas: { ...generic.schemas, ...profile.schemas },
    results: { ...generic.results, ...profile.results },
  };
}
