import { z } from 'zod';
import { deletedSchema } from '../wire.ts';
import { defineOperation, nameOperations, none } from './operation.ts';
import { projectPath } from '../paths.ts';

/** The clients that can be the template of a host. */
export const hostTemplates = [
  'mcpjam',
  'claude',
  'claude-code',
  'chatgpt',
  'mistral',
  'cursor',
  'codex',
  'copilot',
  'vscode',
  'agentcore',
  'n8n',
  'perplexity',
] as const;
export type HostTemplate = (typeof hostTemplates)[number];

const serverIds = z.array(z.string().min(1));

const modelId = z.string().min(1);
/** The temperature of the model, from 0 to 2. */
const temperature = z.number().min(0).max(2);
/** The abilities of the client, by name. */
const capabilities = z.record(z.string(), z.boolean());

/** The config of a host: its model and the model's settings, and the attached servers. Other fields are kept unchanged. */
const newConfig = z.looseObject({
  modelId,
  systemPrompt: z.string().exactOptional(),
  temperature: temperature.exactOptional(),
  capabilities: capabilities.exactOptional(),
  serverIds: serverIds.exactOptional(),
  optionalServerIds: serverIds.exactOptional(),
});

const configChanges = z.looseObject({
  modelId: modelId.nullable().exactOptional(),
  systemPrompt: z.string().nullable().exactOptional(),
  temperature: temperature.nullable().exactOptional(),
  capabilities: capabilities.nullable().exactOptional(),
  serverIds: serverIds.nullable().exactOptional(),
  optionalServerIds: serverIds.nullable().exactOptional(),
});

const hostSchema = z.object({ id: z.string(), name: z.string(), config: z.record(z.string(), z.unknown()) });

/** A host without its config, as in lists. */
const hostSummarySchema = z.object({
  id: z.string(),
  name: z.string(),
  /** The same for hosts that share a config. */
  hostConfigId: z.string().nullish(),
  modelId: z.string().nullish(),
  /** The number of required and optional servers. */
  serverCount: z.number().nullish(),
  createdAt: z.number().nullish(),
  updatedAt: z.number().nullish(),
});
const hostPageSchema = z.object({ items: z.array(hostSummarySchema) });

const list = `${projectPath}/hosts` as const;
const one = `${list}/{hostId}` as const;
const name = z.string().trim().min(1);

/** Hosts: clients that evals simulate, with a model, a system prompt, abilities and servers. */
export const hostOperations = nameOperations({
  listHosts: defineOperation({
    summary: 'Lists the hosts of a project without their configs, oldest first.',
    method: 'GET',
    path: list,
    query: none,
    body: none,
    answer: hostPageSchema,
    status: 200,
    errors: [401, 403, 404, 429, 500, 502],
  }),
  createHost: defineOperation({
    summary: 'Creates a host from a template or from a full config.',
    method: 'POST',
    path: list,
    query: none,
    body: z.strictObject({
      name,
      template: z.enum(hostTemplates).exactOptional(),
      theme: z.enum(['light', 'dark']).exactOptional(),
      config: newConfig.exactOptional(),
    }),
    answer: hostSchema,
    status: 201,
    errors: [400, 401, 403, 404, 429, 500, 502],
  }),
  getHost: defineOperation({
    summary: 'Gets a host with its config.',
    method: 'GET',
    path: one,
    query: none,
    body: none,
    answer: hostSchema,
    status: 200,
    errors: [401, 403, 404, 429, 500, 502],
  }),
  updateHost: defineOperation({
    summary: 'Changes the name of a host, or the given fields of its config; null removes a field.',
    method: 'PATCH',
    path: one,
    query: none,
    body: z.strictObject({ name: name.exactOptional(), config: configChanges.exactOptional() }),
    answer: hostSchema,
    status: 200,
    errors: [400, 401, 403, 404, 429, 500, 502],
    isRepeatable: true,
  }),
  deleteHost: defineOperation({
    summary: 'Deletes a host. One that an environment or a suite uses needs `force`.',
    method: 'DELETE',
    path: one,
    query: none,
    body: z.object({ force: z.boolean().exactOptional() }),
    answer: deletedSchema,
    status: 200,
    errors: [400, 401, 403, 404, 409, 429, 500, 502],
  }),
  setHostServers: defineOperation({
    summary: 'Replaces the servers that are attached to a host.',
    method: 'POST',
    path: `${one}/servers`,
    query: none,
    body: z.strictObject({ serverIds, optionalServerIds: serverIds.exactOptional() }),
    answer: hostSchema,
    status: 200,
    errors: [400, 401, 403, 404, 429, 500, 502],
    right: 'admin',
    isRepeatable: true,
  }),
  duplicateHost: defineOperation({
    summary: 'Creates a host that shares the config of another one.',
    method: 'POST',
    path: `${one}/duplicate`,
    query: none,
    body: z.strictObject({ name: name.exactOptional() }),
    answer: hostSchema,
    status: 201,
    errors: [400, 401, 403, 404, 429, 500, 502],
    right: 'admin',
  }),
});
