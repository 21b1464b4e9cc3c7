import type { Clock } from '../../../../src/base/time.ts';
import { environmentOperations } from '../../../../src/service/operations/environments.ts';
import { notFound } from '../envelope.ts';
import {
  type EnvironmentContent,
  environmentConflict,
  type EnvironmentRecord,
  type Environments,
} from '../environments/environment-records.ts';
import { requireReadyVersion, resolveEnvironment, type ResolveParts } from '../environments/resolve.ts';
import type { ServeOperation } from '../operation-routes.ts';
import { findPluginVersion } from '../plugins/inventory.ts';

interface EnvironmentParts extends ResolveParts {
  clock: Clock;
  environments: Environments;
}

/** Serves environments in all states: live, archived, restored. */
export function serveEnvironments(serve: ServeOperation, parts: EnvironmentParts): void {
  const { clock, environments } = parts;

  serve(environmentOperations.listEnvironments, ({ ids, request }) => {
    const withArchived = request.query('includeArchived') === 'true';
    const all = environments.list(ids.projectId);
    return { items: all.filter(({ content }) => withArchived || content.archivedAt === null).map(renderEnvironment) };
  });

  serve(environmentOperations.createEnvironment, ({ ids, body }) => {
    requireReferences(parts, ids.projectId, body);
    return renderEnvironment(environments.insert(ids.projectId, body, clock.now()));
  });

  serve(environmentOperations.getEnvironment, ({ ids }) =>
    renderEnvironment(environments.require(ids.projectId, ids.environmentId)),
  );

  serve(environmentOperations.updateEnvironment, ({ ids, body }) => {
    const { expectedRevision, ...changes } = body;
    const before = environments.require(ids.projectId, ids.environmentId);
    requireRevision(before, expectedRevision);
    requireLive(before);
    const after = patchEnvironment(before.content, changes);
    requireReferences(parts, ids.projectId, changes);
    return renderEnvironment(environments.update(before, after, clock.now()));
  });

  serve(environmentOperations.resolveEnvironment, ({ ids }) => {
    const resolved = resolveEnvironment(environments.require(ids.projectId, ids.environmentId), parts);
    const { environment, host, model, servers } = resolved;
    const { name, revision, modelId, sandboxImageId } = environment.content;
    return {
      environment: { id: environment.id, name, revision },
      hostId: host.id,
      hostName: host.content.name,
      hostConfigId: host.content.configId,
      ...(modelId !== undefined && { modelId }),
      ...(model !== null && { effectiveModelId: model.id, modelSource: model.source }),
      serverAttachmentId: resolved.serverAttachmentId,
      ...(sandboxImageId !== undefined && { sandboxImageId }),
      selectedServerIds: resolved.selectedServerIds,
      effectiveServerIds: servers.map(({ record }) => record.id),
      pluginVersions: resolved.pluginVersions.map(({ id, pluginId, pluginName, declaredVersion, bundleHash }) => ({
        id,
        pluginVersionId: id,
        pluginId,
        name: pluginName,
        pluginName,
        ...(declaredVersion !== null && { declaredVersion }),
        bundleHash,
      })),
      servers: servers.map(({ record, pluginVersionId }) => ({
        id: record.id,
        serverId: record.id,
        name: record.content.name,
        source: pluginVersionId === null ? 'host' : 'plugin',
        ...(pluginVersionId !== null && { pluginVersionId }),
      })),
    };
  });

  serve(environmentOperations.archiveEnvironment, ({ ids, body }) => {
    const before = environments.require(ids.projectId, ids.environmentId);
    requireRevision(before, body.expectedRevision);
    requireLive(before);
    const now = clock.now();
    return renderEnvironment(environments.update(before, { ...before.content, archivedAt: now }, now));
  });

  serve(environmentOperations.restoreEnvironment, ({ ids, body }) => {
    const before = environments.require(ids.projectId, ids.environmentId);
    requireRevision(before, body.expectedRevision);
    if (before.content.archivedAt === null) {
      throw environmentConflict('ENV_NOT_ARCHIVED', 'The environment is not archived.');
    }
    const { pluginVersionIds, ...rest } = before.content;
    const kept = pluginVersionIds?.filter((id) => findPluginVersion(parts.plugins, id) !== undefined) ?? [];
    const after = { ...rest, ...(kept.length > 0 && { pluginVersionIds: kept }), archivedAt: null };
    return renderEnvironment(environments.update(before, after, clock.now()));
  });
}

function requireRevision({ content }: EnvironmentRecord, expectedRevision: number): void {
  if (content.revision === expectedRevision) return;
  const message = `The environment is at revision ${content.revision}, not ${expectedRevision}; read it again.`;
  throw environmentConflict('ENV_REVISION_STALE', message, { revision: content.revision, expectedRevision });
}

function requireLive({ content }: EnvironmentRecord): void {
  if (content.archivedAt === null) return;
  throw environmentConflict('ENV_ARCHIVED', 'The environment is archived; restore it first.');
}

interface References {
  hostId?: string;
  serverAttachmentId?: string | null;
  pluginVersionIds?: string[] | null;
}

/** @throws {ApiError} NOT_FOUND; CONFLICT for a version of a plugin that is not ready */
function requireReferences({ hosts, plugins }: EnvironmentParts, projectId: string, sent: References): void {
  const { hostId, serverAttachmentId, pluginVersionIds } = sent;
  if (hostId !== undefined) hosts.require(projectId, hostId);
  if (typeof serverAttachmentId === 'string' && hosts.getAttachment(projectId, serverAttachmentId) === undefined) {
    throw notFound('Server attachment');
  }
  for (const id of pluginVersionIds ?? []) {
    const version = findPluginVersion(plugins, id);
    if (version === undefined) throw notFound(`Plugin version ${JSON.stringify(id)}`);
    requireReadyVersion(version);
  }
}

/** Applies a patch: null removes a field, and an absent field stays unchanged. */
function patchEnvironment(
  before: EnvironmentContent,
  changes: { [Key in keyof EnvironmentContent]?: EnvironmentContent[Key] | null },
): EnvironmentContent {
  const { serverAttachmentId, skillSelection, pluginVersionIds, sandboxImageId, ...said } = before;
  const optional = { serverAttachmentId, skillSelection, pluginVersionIds, sandboxImageId };
  const merged = Object.entries({ ...optional, ...said, ...changes });
  return { ...said, ...Object.fromEntries(merged.filter(([, value]) => value !== null && value !== undefined)) };
}

function renderEnvironment({ id, projectId, content, createdAt, updatedAt }: EnvironmentRecord) {
  const { archivedAt, ...said } = content;
  const archived = archivedAt !== null;
  return { id, projectId, ...said, archived, ...(archivedAt !== null && { archivedAt }), createdAt, updatedAt };
}
