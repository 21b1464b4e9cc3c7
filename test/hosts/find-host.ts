import { hostProfiles } from '../../src/hosts/catalog.ts';
import type { HostProfile } from '../../src/hosts/profile.ts';
import type { Surface, SurfaceTool } from '../../src/model/surface.ts';

export function findHost(id: string): HostProfile {
  const profile = hostProfiles.find((each) => each.id === id);
  if (profile === undefined) throw new Error(`There is no profile ${id}.`);
  return profile;
}

/** The version of most facts of a profile, which a new measurement changes. */
export function findHostVersion(id: string): string {
  return findHost(id).names.basis.version ?? 'unknown';
}

/** Builds a surface of tools, each with at least a name. */
export function createSurface(
  tools: ReadonlyArray<Partial<SurfaceTool> & { name: string }>,
  instructions?: string,
): Surface {
  return {
    capabilities: {},
    ...(instructions !== undefined && { instructions }),
    tools: tools.map((tool) => ({ inputSchema: { type: 'object' }, ...tool })),
    prompts: [],
    resources: [],
    resourceTemplates: [],
  };
}
