/** A version of a plugin, as its folder says. */
export interface PluginVersion {
  /** The same as long as no file of the version changes. */
  id: string;
  pluginId: string;
  pluginName: string;
  /** The name of its folder. */
  folder: string;
  declaredVersion: string | null;
  /** SHA-256 of the paths and contents of all files. */
  bundleHash: string;
  /** SHA-256 of the manifest; null where there is none. */
  manifestHash: string | null;
  /** `staging`: without a manifest. `invalid`: with one that cannot be used. */
  status: 'staging' | 'ready' | 'invalid';
  componentCounts: { skills: number; servers: number; apps: number; assets: number; unsupported: number };
  servers: PluginServer[];
  skills: PluginSkill[];
  /** When its manifest, or else its folder, was last changed. */
  createdAt: number;
}

/** An MCP server that comes with a plugin. */
export interface PluginServer {
  id: string;
  name: string;
  url: string;
}

/** What a plugin can teach a model. */
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
  /** When its manifest was last changed. */
  createdAt: number;
  /** By the name of their folder. */
  versions: PluginVersion[];
}

/** Finds a version of any plugin. */
export function findPluginVersion(plugins: readonly Plugin[], versionId: string): PluginVersion | undefined {
  return plugins.flatMap(({ versions }) => versions).find(({ id }) => id === versionId);
}
