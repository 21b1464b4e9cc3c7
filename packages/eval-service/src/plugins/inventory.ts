/** A version of a plugin, as its folder describes it. */
export interface PluginVersion {
  /** Stays the same until a file of the version changes. */
  id: string;
  pluginId: string;
  pluginName: string;
  /** The name of its folder. */
  folder: string;
  declaredVersion: string | null;
  /** SHA-256 of the paths and contents of all files. */
  bundleHash: string;
  /** SHA-256 of the manifest; null if there is none. */
  manifestHash: string | null;
  /** `staging` has no manifest; `invalid` has an unusable one. */
  status: 'staging' | 'ready' | 'invalid';
  componentCounts: { skills: number; servers: number; apps: number; assets: number; unsupported: number };
  servers: PluginServer[];
  skills: PluginSkill[];
  /** The last change of its manifest, or of its folder without one. */
  createdAt: number;
}

/** An MCP server that comes with a plugin. */
export interface PluginServer {
  id: string;
  name: string;
  url: string;
}

/** Instructions of a plugin for a model. */
export interface PluginSkill {
  id: string;
  name: string;
  /** The text of its `SKILL.md`. */
  instructions: string;
}

export interface Plugin {
  id: string;
  name: string;
  description: string | null;
  /** The last change of its manifest. */
  createdAt: number;
  /** Ordered by folder name. */
  versions: PluginVersion[];
}

/** Finds a version of any plugin. */
export function findPluginVersion(plugins: readonly Plugin[], versionId: string): PluginVersion | undefined {
  return plugins.flatMap(({ versions }) => versions).find(({ id }) => id === versionId);
}
