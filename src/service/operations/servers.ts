import { z } from 'zod';
import { deletedSchema, serverPageSchema, serverSchema } from '../wire.ts';
import { defineOperation, nameOperations, none } from './operation.ts';
import { serverPath, serversPath } from '../paths.ts';

const text = z.string().exactOptional();
const flag = z.boolean().exactOptional();

const httpUrl = z.string().refine(isHttpUrl, 'Expected an http or https URL');

const fields = {
  name: z.string().trim().min(1),
  enabled: z.boolean(),
  transportType: z.enum(['stdio', 'http']),
  command: text,
  args: z.array(z.string()).exactOptional(),
  env: z.record(z.string(), z.string()).exactOptional(),
  url: httpUrl.exactOptional(),
  headers: z.record(z.string(), z.string()).exactOptional(),
  hasBearerToken: flag,
  /** In milliseconds. */
  timeout: z.number().exactOptional(),
  clientCapabilities: z.record(z.string(), z.unknown()).exactOptional(),
  useOAuth: flag,
  oauthScopes: z.array(z.string()).exactOptional(),
  clientId: text,
  oauthResourceUrl: text,
  oauthProtocolMode: text,
  oauthProtocolVersion: text,
  oauthRegistrationStrategy: text,
  xaaAuthzIssuer: text,
  xaaAllowPathScopedIssuer: flag,
  oauthAllowPathScopedIssuer: flag,
  useXaa: flag,
  authServerMode: z.enum(['mcpjam', 'own']).exactOptional(),
  xaaSubject: text,
  xaaEmail: text,
  xaaIdentityAssertionFormat: text,
  xaaClientAuth: text,
  authMethod: text,
  registrationMode: text,
  clientSecret: text,
};

/** The content of a server record. URL, headers, command and variables may hold secrets, so the content is never logged. */
const contentSchema = z.strictObject(fields);
export type ServerContent = z.infer<typeof contentSchema>;

/** A whole server record: `url` is required over HTTP, and `command` over stdio. */
export const serverContentSchema = contentSchema.superRefine((server, context) => {
  const needed = server.transportType === 'http' ? 'url' : 'command';
  if (server[needed] === undefined) {
    context.addIssue({
      code: 'custom',
      path: [needed],
      message: `Required where transportType is ${server.transportType}`,
    });
  }
});

const changesSchema = z
  .strictObject({
    ...fields,
    name: fields.name.exactOptional(),
    enabled: fields.enabled.exactOptional(),
    transportType: fields.transportType.exactOptional(),
    clearClientSecret: flag,
    clearXaaConfig: flag,
  })
  .superRefine(({ clientSecret, clearClientSecret }, context) => {
    if (clientSecret === undefined || clearClientSecret !== true) return;
    const message = 'Excludes clientSecret: set the secret or clear it';
    context.addIssue({ code: 'custom', path: ['clearClientSecret'], message });
  });
export type ServerChanges = z.infer<typeof changesSchema>;

/** Records of the MCP servers of a project. */
export const serverOperations = nameOperations({
  listProjectServers: defineOperation({
    summary: 'Lists the MCP servers of a project.',
    method: 'GET',
    path: serversPath,
    query: none,
    body: none,
    answer: serverPageSchema,
    status: 200,
    errors: [401, 403, 404, 429, 500, 502],
  }),
  createProjectServer: defineOperation({
    summary: 'Saves an MCP server under a name that is unique in the project.',
    method: 'POST',
    path: serversPath,
    query: none,
    body: serverContentSchema,
    answer: serverSchema,
    status: 201,
    errors: [400, 401, 403, 404, 409, 429, 500, 502],
  }),
  getProjectServer: defineOperation({
    summary: 'Gets an MCP server without its headers, command and secrets.',
    method: 'GET',
    path: serverPath,
    query: none,
    body: none,
    answer: serverSchema,
    status: 200,
    errors: [400, 401, 403, 404, 429, 500, 502],
  }),
  updateProjectServer: defineOperation({
    summary: 'Changes the given fields of an MCP server.',
    method: 'PATCH',
    path: serverPath,
    query: none,
    body: changesSchema,
    answer: serverSchema,
    status: 200,
    errors: [400, 401, 403, 404, 409, 429, 500, 502],
    isRepeatable: true,
  }),
  deleteProjectServer: defineOperation({
    summary: 'Deletes an MCP server with its tunnel and its OAuth tokens.',
    method: 'DELETE',
    path: serverPath,
    query: none,
    body: none,
    answer: deletedSchema,
    status: 200,
    errors: [400, 401, 403, 404, 429, 500, 502],
  }),
});

function isHttpUrl(value: string): boolean {
  const url = URL.parse(value);
  return url !== null && (url.protocol === 'http:' || url.protocol === 'https:');
}
