import type { HostIdentity } from '../model/host-identity.ts';
import { hostProfiles } from './catalog.ts';
import type { HostProfile } from './profile.ts';
import { generic } from './profiles/generic.ts';

/** The host of cases that name none: the gate's own loop. */
export const genericHost = generic.id;

/** The name of a server that the options do not name, in the configuration of a host. */
export const unnamedServer = 'server';

/** Finds the profile of a host; undefined if none has this id. */
export function findHost(id: string): HostProfile | undefined {
  return hostProfiles.find((profile) => profile.id === id);
}

/** Identifies the host of a case for its results and recordings; null for the gate's own. */
export function identifyHost(id: string | undefined): HostIdentity | null {
  if (id === undefined || id === genericHost) return null;
  return { id, version: findHost(id)?.names.basis.version ?? null };
}
