import { z } from 'zod';
import { ApiError, notFound } from '../envelope.ts';
import { createId } from '../../../../src/base/ids.ts';
import type { SuiteHost } from '../bodies/stored-suite.ts';
import type { DocumentRecord } from '../store/documents.ts';
import type { Store } from '../store/open-store.ts';
import type { SuiteRecord } from '../store/suite-store.ts';

const environmentContent = z.object({
  name: z.string(),
  description: z.string().exactOptional(),
  hostId: z.string(),
  /** A fixed set of the host's servers from an earlier time; by default, the servers that the host has now. */
  serverAttachmentId: z.string().exactOptional(),
  modelId: z.string().exactOptional(),
  skillSelection: z.object({ mode: z.literal('explicit'), skillIds: z.array(z.string()) }).exactOptional(),
  pluginVersionIds: z.array(z.string()).exactOptional(),
  sandboxImageId: z.string().exactOptional(),
  /** Starts at 1; every write increments it. */
  revision: z.number(),
  /** Null while it is live. */
  archivedAt: z.number().nullable(),
});
export type EnvironmentContent = z.infer<typeof environmentContent>;
export type EnvironmentRecord = DocumentRecord<EnvironmentContent>;

/** The reason why an environment cannot be written or used, in `details.code` of the refusal. */
export type EnvironmentProblem =
  | 'ENV_NAME_TAKEN'
  | 'ENV_REVISION_STALE'
  | 'ENV_ARCHIVED'
  | 'ENV_NOT_ARCHIVED'
  | 'ENV_HOST_NOT_FOUND'
  | 'ENV_SERVER_UNAVAILABLE'
  | 'ENV_SERVER_NAME_TAKEN'
  | 'ENV_NO_SERVERS'
  | 'ENV_PLUGIN_VERSION_NOT_FOUND'
  | 'ENV_PLUGIN_VERSION_NOT_READY'
  | 'ENV_SKILL_NOT_FOUND';

/** Makes the refusal for an environment that cannot be written or used as it is. */
export function environmentConflict(
  code: EnvironmentProblem,
  message: string,
  details: Readonly<Record<string, unknown>> = {},
): ApiError {
  return new ApiError('CONFLICT', message, { details: { code, ...details } });
}

/** Opens the environments of a store. */
export function openEnvironments(store: Store) {
  const records = store.documents.open('environment', environmentContent);
  const get = (projectId: string, id: string): EnvironmentRecord => {
    const environment = records.get(projectId, id);
    if (environment === undefined) throw notFound('Environment');
    return environment;
  };
  const requireFreeName = (projectId: string, name: string, ownId?: string): void => {
    const holder = records
      .list(projectId)
      .find(({ id, content }) => content.name === name && content.archivedAt === null && id !== ownId);
    if (holder === undefined) return;
    const message = `The project has an environment named ${JSON.stringify(name)} already; choose another name.`;
    throw environmentConflict('ENV_NAME_TAKEN', message, { environmentId: holder.id });
  };
  return {
    list: (projectId: string): EnvironmentRecord[] => records.list(projectId),
    /** @throws {ApiError} NOT_FOUND */
    require: get,
    /** @throws {ApiError} CONFLICT if a live environment has the name */
    insert: (projectId: string, said: Omit<EnvironmentContent, 'revision' | 'archivedAt'>, now: number) => {
      requireFreeName(projectId, said.name);
      const id = createId('env');
      records.insert({ id, projectId, content: { ...said, revision: 1, archivedAt: null }, now });
      return get(projectId, id);
    },
    /** Writes the next revision. @throws {ApiError} CONFLICT if another live environment has the name */
    update: ({ id, projectId }: EnvironmentRecord, content: EnvironmentContent, now: number): EnvironmentRecord => {
      if (content.archivedAt === null) requireFreeName(projectId, content.name, id);
      records.update({ id, content: { ...content, revision: content.revision + 1 }, now });
      return get(projectId, id);
    },
  };
}

export type Environments = ReturnType<typeof openEnvironments>;

/** Lists the users of a host: live environments, and suites with the hosts that remain to them without it. */
export function listUsers(
  { store, environments }: { store: Store; environments: Environments },
  projectId: string,
  hostId: string,
): { names: string[]; suites: Array<{ suite: SuiteRecord; hosts: SuiteHost[] }> } {
  const live = environments.list(projectId).filter(({ content }) => content.archivedAt === null);
  const own = live.filter(({ content }) => content.hostId === hostId);
  const suites = store.suites
    .list(projectId)
    .filter(({ content }) => content.hosts?.some((host) => host.hostId === hostId))
    .map((suite) => ({ suite, hosts: suite.content.hosts?.filter((host) => host.hostId !== hostId) ?? [] }));
  return {
    names: [
      ...own.map(({ content }) => `the environment ${JSON.stringify(content.name)}`),
      ...suites.map(({ suite }) => `the suite ${JSON.stringify(suite.content.name)}`),
    ],
    suites,
  };
}
