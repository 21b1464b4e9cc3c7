import { z } from 'zod';
import { invalid, notFound } from '../envelope.ts';
import { createId } from '../../../../src/base/ids.ts';
import { requireNamedServer, requireServer } from '../lookup.ts';
import type { DocumentRecord } from '../store/documents.ts';
import type { Store } from '../store/open-store.ts';

const hostContent = z.object({ name: z.string(), configId: z.string() });

/** The settings of a host. Fields that this service does not use are kept. */
const hostSettings = z.looseObject({
  modelId: z.string().exactOptional(),
  systemPrompt: z.string().exactOptional(),
  temperature: z.number().exactOptional(),
});
export type HostSettings = z.infer<typeof hostSettings>;

const hostConfig = z.object({ settings: hostSettings, attachmentId: z.string() });

const attachmentContent = z.object({ serverIds: z.array(z.string()), optionalServerIds: z.array(z.string()) });

export type HostRecord = DocumentRecord<z.infer<typeof hostContent>>;
export type HostConfig = z.infer<typeof hostConfig>;
/** The servers of a host: required ones and optional ones. */
export type ServerAttachment = z.infer<typeof attachmentContent>;

/**
 * Opens the hosts of a store. A config never changes once it is written: a change gives the host a new one, so that hosts can share a
 * config and a duplicate stays unchanged. The same holds for the attached servers.
 */
export function openHosts(store: Store) {
  const hosts = store.documents.open('host', hostContent);
  const configs = store.documents.open('host-config', hostConfig);
  const attachments = store.documents.open('server-attachment', attachmentContent);

  const requireHost = (projectId: string, hostId: string): HostRecord => {
    const host = hosts.get(projectId, hostId);
    if (host === undefined) throw notFound('Host');
    return host;
  };
  const getConfig = ({ projectId, content }: HostRecord): HostConfig => {
    const config = configs.get(projectId, content.configId)?.content;
    if (config === undefined) throw new Error(`The config ${content.configId} of a host is missing.`);
    return config;
  };
  const getAttachment = (projectId: string, attachmentId: string): ServerAttachment | undefined =>
    attachments.get(projectId, attachmentId)?.content;

  const writeConfig = (
    projectId: string,
    { settings, servers, now }: { settings: HostSettings; servers: ServerAttachment; now: number },
  ): string => {
    const [attachmentId, configId] = [createId('att'), createId('hcf')];
    attachments.insert({ id: attachmentId, projectId, content: servers, now });
    configs.insert({ id: configId, projectId, content: { settings, attachmentId }, now });
    return configId;
  };

  return {
    list: (projectId: string): HostRecord[] => hosts.list(projectId),
    get: (projectId: string, hostId: string): HostRecord | undefined => hosts.get(projectId, hostId),
    /** @throws {ApiError} NOT_FOUND */
    require: requireHost,
    /**
     * Finds a host by its id or by its name.
     *
     * @throws {ApiError} NOT_FOUND; VALIDATION_ERROR if several hosts have the name
     */
    requireNamed: (projectId: string, idOrName: string): HostRecord => {
      const own = hosts.get(projectId, idOrName);
      if (own !== undefined) return own;
      const [host, ...others] = hosts.list(projectId).filter(({ content }) => content.name === idOrName);
      if (host === undefined) throw notFound(`Host ${JSON.stringify(idOrName)}`);
      if (others.length > 0) throw invalid(`Several hosts are named ${JSON.stringify(idOrName)}; send an id.`);
      return host;
    },
    getConfig,
    getAttachment,
    getServers: (host: HostRecord): ServerAttachment =>
      getAttachment(host.projectId, getConfig(host).attachmentId) ?? { serverIds: [], optionalServerIds: [] },
    /** Writes a host with a shared config or with a new one. Call it in a transaction. */
    insert: (
      projectId: string,
      host: { name: string; now: number; config: string | { settings: HostSettings; servers: ServerAttachment } },
    ): HostRecord => {
      const { name, config, now } = host;
      const configId = typeof config === 'string' ? config : writeConfig(projectId, { ...config, now });
      const id = createId('hst');
      hosts.insert({ id, projectId, content: { name, configId }, now });
      return requireHost(projectId, id);
    },
    /** Writes the name of a host, and a new config unless `config` is null. Call it in a transaction. */
    update: (
      { id, projectId, content }: HostRecord,
      change: { name: string; now: number; config: { settings: HostSettings; servers: ServerAttachment } | null },
    ): HostRecord => {
      const { name, config, now } = change;
      const configId = config === null ? content.configId : writeConfig(projectId, { ...config, now });
      hosts.update({ id, content: { name, configId }, now });
      return requireHost(projectId, id);
    },
    delete: (hostId: string): void => hosts.delete(hostId),
  };
}

export type Hosts = ReturnType<typeof openHosts>;

/**
 * Checks the servers that will be attached to a host.
 *
 * @throws {ApiError} NOT_FOUND for a server that the project lacks; VALIDATION_ERROR for a server that is both required and optional
 */
export function checkAttachment(store: Store, projectId: string, attachment: ServerAttachment): ServerAttachment {
  const serverIds = [...new Set(attachment.serverIds)];
  const optionalServerIds = [...new Set(attachment.optionalServerIds)];
  for (const id of [...serverIds, ...optionalServerIds]) requireServer(store, projectId, id);
  const both = optionalServerIds.find((id) => serverIds.includes(id));
  if (both !== undefined) {
    throw invalid(`optionalServerIds: Server ${JSON.stringify(both)} is in serverIds, too; send it in one of them`);
  }
  return { serverIds, optionalServerIds };
}

/** Finds the ids of servers by their names or ids. @throws {ApiError} NOT_FOUND */
export function findServerIds(store: Store, projectId: string, named: readonly string[]): string[] {
  return [...new Set(named.map((server) => requireNamedServer(store, projectId, server).id))];
}
