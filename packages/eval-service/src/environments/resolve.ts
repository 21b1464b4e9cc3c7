import type { HostConfig, HostRecord, Hosts } from '../hosts/host-records.ts';
import { findPluginVersion, type Plugin, type PluginSkill, type PluginVersion } from '../plugins/inventory.ts';
import type { Store } from '../store/open-store.ts';
import type { ServerRecord } from '../store/server-store.ts';
import { environmentConflict, type EnvironmentRecord } from './environment-records.ts';

/** A server that runs in an environment can reach, with its origin. */
export interface ResolvedServer {
  record: ServerRecord;
  /** Null for a server of the host. */
  pluginVersionId: string | null;
}

/** The parts that a run in an environment would use. */
export interface ResolvedEnvironment {
  environment: EnvironmentRecord;
  host: HostRecord;
  config: HostConfig;
  /** Null if neither the environment nor its host names one. */
  model: { id: string; source: 'environment' | 'host' } | null;
  serverAttachmentId: string;
  /** The servers that are attached to the host, reachable or not. */
  selectedServerIds: string[];
  /** The only servers that the run may use; at least one. */
  servers: [ResolvedServer, ...ResolvedServer[]];
  pluginVersions: PluginVersion[];
  /** The selected skills, in the order of the selection. */
  skills: PluginSkill[];
}

export interface ResolveParts {
  store: Store;
  hosts: Hosts;
  plugins: readonly Plugin[];
}

/**
 * Resolves a live environment.
 *
 * @throws {ApiError} CONFLICT with `details.code` if it is archived, or if something that it refers to no longer exists
 */
export function resolveEnvironment(environment: EnvironmentRecord, parts: ResolveParts): ResolvedEnvironment {
  const { content, projectId } = environment;
  const { store, hosts } = parts;
  if (content.archivedAt !== null) {
    throw environmentConflict('ENV_ARCHIVED', 'The environment is archived; restore it first.');
  }
  const host = hosts.get(projectId, content.hostId);
  if (host === undefined) {
    throw environmentConflict('ENV_HOST_NOT_FOUND', 'The host of the environment was deleted; set another `hostId`.');
  }
  const config = hosts.getConfig(host);
  const serverAttachmentId = content.serverAttachmentId ?? config.attachmentId;
  const attached = hosts.getAttachment(projectId, serverAttachmentId) ?? { serverIds: [], optionalServerIds: [] };
  const needed = attached.serverIds.map((id) => requireAvailable(store, projectId, id));
  const optional = attached.optionalServerIds.flatMap((id) => {
    const server = store.servers.get(projectId, id);
    return server?.content.enabled === true ? [server] : [];
  });
  const pluginVersions = (content.pluginVersionIds ?? []).map((id) => requireReady(parts.plugins, id));
  const skills = findSkills(content.skillSelection?.skillIds ?? [], pluginVersions);
  const [first, ...others]: ResolvedServer[] = [
    ...[...needed, ...optional].map((record) => ({ record, pluginVersionId: null })),
    ...pluginVersions.flatMap((version) => listPluginServers(version, projectId)),
  ];
  if (first === undefined) {
    const message = 'The environment has no server: attach one to its host, or pin a version of a plugin that has one.';
    throw environmentConflict('ENV_NO_SERVERS', message);
  }
  refuseNamesakes([first, ...others]);
  return {
    environment,
    host,
    config,
    model: chooseModel(content.modelId, config.settings.modelId),
    serverAttachmentId,
    selectedServerIds: [...attached.serverIds, ...attached.optionalServerIds],
    servers: [first, ...others],
    pluginVersions,
    skills,
  };
}

function chooseModel(own: string | undefined, ofHost: string | undefined): ResolvedEnvironment['model'] {
  if (own !== undefined) return { id: own, source: 'environment' };
  return ofHost === undefined ? null : { id: ofHost, source: 'host' };
}

function requireAvailable(store: Store, projectId: string, serverId: string): ServerRecord {
  const server = store.servers.get(projectId, serverId);
  if (server?.content.enabled === true) return server;
  const what = server === undefined ? `${serverId} was deleted` : `${JSON.stringify(server.content.name)} is disabled`;
  const message = `The environment needs a server that cannot be used: ${what}. Attach others to the host, or make it optional.`;
  throw environmentConflict('ENV_SERVER_UNAVAILABLE', message, { serverId });
}

function requireReady(plugins: readonly Plugin[], pluginVersionId: string): PluginVersion {
  const version = findPluginVersion(plugins, pluginVersionId);
  if (version === undefined) {
    const message = `The environment pins the plugin version ${pluginVersionId}, which is gone; pin another one.`;
    throw environmentConflict('ENV_PLUGIN_VERSION_NOT_FOUND', message, { pluginVersionId });
  }
  requireReadyVersion(version);
  return version;
}

/** @throws {ApiError} CONFLICT for a version that is not ready */
export function requireReadyVersion({ id, pluginName, status }: PluginVersion): void {
  if (status === 'ready') return;
  const message = `The version ${id} of the plugin ${JSON.stringify(pluginName)} is ${status}, not ready.`;
  throw environmentConflict('ENV_PLUGIN_VERSION_NOT_READY', message, { pluginVersionId: id });
}

function findSkills(skillIds: readonly string[], versions: readonly PluginVersion[]): PluginSkill[] {
  const known = new Map(versions.flatMap(({ skills }) => skills.map((skill) => [skill.id, skill])));
  return skillIds.map((skillId) => {
    const skill = known.get(skillId);
    if (skill !== undefined) return skill;
    const message = `The environment selects the skill ${JSON.stringify(skillId)}, which no pinned version of a plugin has.`;
    throw environmentConflict('ENV_SKILL_NOT_FOUND', message, { skillId });
  });
}

/** Builds records for the servers of a plugin, because they have none in the store. */
function listPluginServers(version: PluginVersion, projectId: string): ResolvedServer[] {
  return version.servers.map(({ id, name, url }) => ({
    record: {
      id,
      projectId,
      content: { name, url, enabled: true, transportType: 'http' },
      createdAt: version.createdAt,
      updatedAt: version.createdAt,
    },
    pluginVersionId: version.id,
  }));
}

/** Refuses servers of the same name, because steps refer to servers by name. */
function refuseNamesakes(servers: readonly ResolvedServer[]): void {
  const names = servers.map(({ record }) => record.content.name);
  const name = names.find((each, index) => names.indexOf(each) !== index);
  if (name === undefined) return;
  const message = `Two servers of the environment are named ${JSON.stringify(name)}; rename one of them.`;
  throw environmentConflict('ENV_SERVER_NAME_TAKEN', message);
}
