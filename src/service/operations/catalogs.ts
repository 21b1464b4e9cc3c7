import { z } from 'zod';
import { defineOperation, nameOperations, none } from './operation.ts';
import { projectPath } from '../paths.ts';

const hostCatalogSchema = z.object({
  schemaVersion: z.number(),
  version: z.number(),
  /** Changes whenever the catalog changes. */
  contentHash: z.string(),
  publishedAt: z.number(),
  /** `live`, or `bundled` with the service. */
  source: z.string(),
  catalog: z.object({ hostsById: z.record(z.string(), z.unknown()) }),
});

const openPage = z.object({ items: z.array(z.record(z.string(), z.unknown())) });

const organizationPageSchema = z.object({
  items: z.array(
    z.object({
      id: z.string(),
      name: z.string(),
      plan: z.string().nullish(),
      myRole: z.string().nullish(),
      isCreator: z.boolean().nullish(),
      logoUrl: z.string().nullish(),
      createdAt: z.number().nullish(),
    }),
  ),
});

const capabilitiesSchema = z.object({
  projectId: z.string().nullish(),
  organizationId: z.string().nullish(),
  projectRole: z.string().nullish(),
  /** The name of `projectRole` in older deployments. */
  role: z.string().nullish(),
  surface: z.string().nullish(),
  /** Null without a plan. Older deployments answer with the name of the plan. */
  plan: z.union([z.record(z.string(), z.unknown()), z.string()]).nullish(),
  features: z.record(z.string(), z.unknown()).nullish(),
  /** The rights of the key, by name. They are advisory, because each operation checks them itself. */
  can: z.record(z.string(), z.unknown()).nullish(),
});

const pluginPageSchema = z.object({
  items: z.array(
    z.object({
      id: z.string(),
      projectId: z.string().nullish(),
      name: z.string(),
      description: z.string().nullish(),
      enabled: z.boolean().nullish(),
      createdAt: z.number().nullish(),
      updatedAt: z.number().nullish(),
      versions: z
        .array(z.object({ id: z.string(), declaredVersion: z.string().nullish(), status: z.string() }))
        .nullish(),
    }),
  ),
});

const pluginVersionSchema = z.object({
  id: z.string(),
  pluginId: z.string(),
  declaredVersion: z.string().nullish(),
  /** The hash of all files of the version. */
  bundleHash: z.string(),
  manifestHash: z.string().nullish(),
  /** `staging`, `ready` or `invalid`. */
  status: z.string(),
  componentCounts: z.object({
    skills: z.number(),
    servers: z.number(),
    apps: z.number(),
    assets: z.number(),
    unsupported: z.number(),
  }),
  servers: z.array(z.record(z.string(), z.unknown())),
  skills: z.array(z.record(z.string(), z.unknown())),
  createdAt: z.number(),
  readyAt: z.number().nullish(),
});

/** Catalogs: hosts, models, tools of harnesses, plugins and organizations. */
export const catalogOperations = nameOperations({
  getHostCompatCatalog: defineOperation({
    summary: 'Gets the catalog of known hosts and what they can do.',
    method: 'GET',
    path: '/host-catalog',
    query: none,
    body: none,
    answer: hostCatalogSchema,
    status: 200,
    errors: [],
    right: 'public',
  }),
  listHarnessBuiltinTools: defineOperation({
    summary: 'Lists the tools that a harness brings along.',
    method: 'GET',
    path: '/harness/{harnessId}/builtin-tools',
    query: none,
    body: none,
    answer: openPage,
    status: 200,
    errors: [401, 404, 429, 500],
    right: 'public',
  }),
  listModels: defineOperation({
    summary: 'Lists the providers and models that the service can ask.',
    method: 'GET',
    path: '/models',
    query: none,
    body: none,
    answer: z.record(z.string(), z.unknown()),
    status: 200,
    errors: [400, 401, 403, 404, 429, 500, 502],
    right: 'public',
  }),
  listProjectPlugins: defineOperation({
    summary: 'Lists the plugins that environments of a project can pin.',
    method: 'GET',
    path: `${projectPath}/plugins`,
    query: none,
    body: none,
    answer: pluginPageSchema,
    status: 200,
    errors: [401, 403, 404, 429, 500, 502],
  }),
  getPluginVersion: defineOperation({
    summary: 'Gets a version of a plugin with its components.',
    method: 'GET',
    path: '/plugin-versions/{pluginVersionId}',
    query: none,
    body: none,
    answer: pluginVersionSchema,
    status: 200,
    errors: [401, 403, 404, 429, 500, 502],
  }),
  listOrganizations: defineOperation({
    summary: 'Lists the organizations of the key.',
    method: 'GET',
    path: '/organizations',
    query: none,
    body: none,
    answer: organizationPageSchema,
    status: 200,
    errors: [401, 403, 429, 500, 502],
  }),
  getProjectCapabilities: defineOperation({
    summary: 'Gets what the key may do in a project.',
    method: 'GET',
    path: `${projectPath}/capabilities`,
    query: none,
    body: none,
    answer: capabilitiesSchema,
    status: 200,
    errors: [401, 403, 404, 429, 500, 502],
  }),
});
