import { z } from 'zod';
import { defineOperation, nameOperations, none } from './operation.ts';
import { serverPath } from '../paths.ts';

const anyBody = z.looseObject({});
const record = z.record(z.string(), z.unknown());
const items = z.array(z.unknown());
const slowErrors = [400, 401, 403, 404, 429, 500, 502, 504];
/** Adds 422, for a server that the service may not start. */
const connectErrors = [400, 401, 403, 404, 422, 429, 500, 502, 504];

const checkSchema = z.object({ status: z.string(), detail: z.string() });
const check = checkSchema.nullish();

/** The results of the doctor for a server. */
const diagnosisSchema = z.object({
  /** ISO 8601. */
  generatedAt: z.string(),
  /** `ready`, `oauth_required`, `partial` or `error`. */
  status: z.string(),
  probe: record.nullish(),
  connection: checkSchema,
  initInfo: record.nullish(),
  capabilities: record.nullish(),
  tools: items.nullish(),
  resources: items.nullish(),
  resourceTemplates: items.nullish(),
  prompts: items.nullish(),
  checks: z.object({
    probe: check,
    connection: check,
    initialization: check,
    capabilities: check,
    tools: check,
    resources: check,
    resourceTemplates: check,
    prompts: check,
  }),
  error: record.nullish(),
});

/** Checks of servers, and OAuth tokens for them. */
export const diagnosticsOperations = nameOperations({
  validateServer: defineOperation({
    summary: 'Connects to an MCP server and gives how it introduced itself.',
    method: 'POST',
    path: `${serverPath}/validate`,
    query: none,
    body: anyBody,
    answer: z.object({ success: z.literal(true), status: z.literal('connected'), initInfo: record.nullish() }),
    status: 200,
    errors: connectErrors,
    isRepeatable: true,
    isSlow: true,
  }),
  runDoctor: defineOperation({
    summary: 'Examines an MCP server step by step: probe, connection, handshake, capabilities and lists.',
    method: 'POST',
    path: `${serverPath}/doctor`,
    query: none,
    body: anyBody,
    answer: diagnosisSchema,
    status: 200,
    errors: connectErrors,
    isRepeatable: true,
    isSlow: true,
  }),
  checkOAuth: defineOperation({
    summary: 'Says whether the record of an MCP server asks for OAuth, without connecting to it.',
    method: 'POST',
    path: `${serverPath}/check-oauth`,
    query: none,
    body: anyBody,
    answer: z.object({ useOAuth: z.boolean(), serverUrl: z.string().nullable() }),
    status: 200,
    errors: [400, 401, 403, 404, 429, 500],
    isRepeatable: true,
  }),
  importOAuthTokens: defineOperation({
    summary:
      'Keeps OAuth tokens of the caller for an MCP server, which every later call and run of the caller carries.',
    method: 'POST',
    path: `${serverPath}/oauth/import-tokens`,
    query: none,
    body: z.object({
      /** The URL in the server's record. */
      serverUrl: z.string(),
      oauthResourceUrl: z.url().exactOptional(),
      clientInformation: z
        .object({ clientId: z.string().min(1), clientSecret: z.string().min(1).exactOptional() })
        .exactOptional(),
      tokens: z.object({
        access_token: z.string().regex(/^[\x21-\x7e]+$/, 'Expected a bearer token'),
        refresh_token: z.string().min(1).exactOptional(),
        /** In seconds. */
        expires_in: z.number().nonnegative().exactOptional(),
        token_type: z.string().exactOptional(),
        scope: z.string().exactOptional(),
        id_token: z.string().exactOptional(),
      }),
    }),
    /** `expiresAt` is in milliseconds since 1970. */
    answer: z.object({ imported: z.literal(true), expiresAt: z.number().nullish() }),
    status: 200,
    errors: slowErrors,
    isRepeatable: true,
    isSlow: true,
  }),
});
