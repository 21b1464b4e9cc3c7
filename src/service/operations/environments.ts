import { z } from 'zod';
import { defineOperation, nameOperations, none } from './operation.ts';
import { projectPath } from '../paths.ts';

const id = z.string().min(1);
const name = z.string().trim().min(1);
const skillSelection = z.strictObject({ mode: z.literal('explicit'), skillIds: z.array(id) });
const pluginVersionIds = z.array(id);
/** Every write increases the revision. The service refuses a write of an older one. */
const expectedRevision = z.int().min(0);

const environmentSchema = z.object({
  id: z.string(),
  projectId: z.string(),
  name: z.string(),
  description: z.string().nullish(),
  hostId: z.string(),
  serverAttachmentId: z.string().nullish(),
  modelId: z.string().nullish(),
  skillSelection: z.object({ mode: z.string(), skillIds: z.array(z.string()) }).nullish(),
  pluginVersionIds: z.array(z.string()).nullish(),
  sandboxImageId: z.string().nullish(),
  revision: z.number(),
  archived: z.boolean(),
  archivedAt: z.number().nullish(),
  createdAt: z.number(),
  updatedAt: z.number(),
});

const environmentPageSchema = z.object({ items: z.array(environmentSchema) });

const resolvedSchema = z.object({
  environment: z.object({ id: z.string(), name: z.string(), revision: z.number() }),
  hostId: z.string(),
  hostName: z.string(),
  /** The same for hosts that share a config. */
  hostConfigId: z.string(),
  /** The model that the environment sets. */
  modelId: z.string().nullish(),
  effectiveModelId: z.string().nullish(),
  /** `environment` or `host`. */
  modelSource: z.string().nullish(),
  serverAttachmentId: z.string().nullish(),
  sandboxImageId: z.string().nullish(),
  /** The servers that are attached to the host, or pinned. */
  selectedServerIds: z.array(z.string()),
  /** The servers that a run can reach, including those of plugins. */
  effectiveServerIds: z.array(z.string()),
  pluginVersions: z.array(z.record(z.string(), z.unknown())),
  servers: z.array(z.record(z.string(), z.unknown())),
});

const list = `${projectPath}/environments` as const;
const one = `${list}/{environmentId}` as const;

/** Environments for suites: a host, its servers, a model and plugin versions, under a name. */
export const environmentOperations = nameOperations({
  listEnvironments: defineOperation({
    summary: 'Lists the environments of a project, oldest first; archived ones on request.',
    method: 'GET',
    path: list,
    query: z.object({ includeArchived: z.boolean().exactOptional() }),
    body: none,
    answer: environmentPageSchema,
    status: 200,
    errors: [401, 403, 404, 429, 500, 502],
  }),
  createEnvironment: defineOperation({
    summary: 'Creates an environment.',
    method: 'POST',
    path: list,
    query: none,
    body: z.strictObject({
      name,
      description: z.string().exactOptional(),
      hostId: id,
      serverAttachmentId: id.exactOptional(),
      modelId: id.exactOptional(),
      skillSelection: skillSelection.exactOptional(),
      pluginVersionIds: pluginVersionIds.exactOptional(),
      sandboxImageId: id.exactOptional(),
    }),
    answer: environmentSchema,
    status: 201,
    errors: [400, 401, 403, 404, 409, 429, 500, 502],
    right: 'admin',
  }),
  getEnvironment: defineOperation({
    summary: 'Gets an environment.',
    method: 'GET',
    path: one,
    query: none,
    body: none,
    answer: environmentSchema,
    status: 200,
    errors: [401, 403, 404, 429, 500, 502],
  }),
  updateEnvironment: defineOperation({
    summary: 'Changes the given fields of an environment; null removes what is pinned.',
    method: 'PATCH',
    path: one,
    query: none,
    body: z.strictObject({
      expectedRevision,
      name: name.exactOptional(),
      description: z.string().exactOptional(),
      hostId: id.exactOptional(),
      serverAttachmentId: id.nullable().exactOptional(),
      modelId: id.exactOptional(),
      skillSelection: skillSelection.nullable().exactOptional(),
      pluginVersionIds: pluginVersionIds.nullable().exactOptional(),
      sandboxImageId: id.nullable().exactOptional(),
    }),
    answer: environmentSchema,
    status: 200,
    errors: [400, 401, 403, 404, 409, 429, 500, 502],
    right: 'admin',
  }),
  resolveEnvironment: defineOperation({
    summary: 'Shows what a run in an environment would use: model, servers and versions of plugins.',
    method: 'GET',
    path: `${one}/resolve`,
    query: none,
    body: none,
    answer: resolvedSchema,
    status: 200,
    errors: [401, 403, 404, 409, 429, 500, 502],
  }),
  archiveEnvironment: defineOperation({
    summary: 'Archives an environment: its name is free again, and no run can choose it.',
    method: 'POST',
    path: `${one}/archive`,
    query: none,
    body: z.strictObject({ expectedRevision }),
    answer: environmentSchema,
    status: 200,
    errors: [400, 401, 403, 404, 409, 429, 500, 502],
    right: 'admin',
  }),
  restoreEnvironment: defineOperation({
    summary: 'Restores an archived environment, without the versions of plugins that are gone.',
    method: 'POST',
    path: `${one}/restore`,
    query: none,
    body: z.strictObject({ expectedRevision }),
    answer: environmentSchema,
    status: 200,
    errors: [400, 401, 403, 404, 409, 429, 500, 502],
    right: 'admin',
  }),
});
