import { z } from 'zod';
import { generator } from '../base/version.ts';
import { describeSchema, type JsonSchema, listFields } from './operations/fields.ts';
import { listPaths, type Operation } from './operations/operation.ts';
import { type OperationTable, operations } from './operations/table.ts';
import { createSchemaPool } from './schema-pool.ts';

/** An OpenAPI document, ready for `JSON.stringify`. */
export type OpenApiDocument = z.infer<typeof openApiSchema>;

const record = z.record(z.string(), z.unknown());
export const openApiSchema = z.looseObject({
  openapi: z.string(),
  paths: z.record(z.string(), z.record(z.string(), record)),
  components: z.looseObject({ schemas: z.record(z.string(), record), responses: z.record(z.string(), record) }),
});

const json = 'application/json';

const refusals: Readonly<Record<number, string>> = {
  400: 'The request is not as described: VALIDATION_ERROR.',
  401: 'No key or a wrong one: UNAUTHORIZED. Or the MCP server needs a grant: OAUTH_REQUIRED.',
  403: 'The key has no right to do this: FORBIDDEN.',
  404: 'The record does not exist, or is not for this key: NOT_FOUND.',
  409: 'The record is in another state, or the name is taken: CONFLICT.',
  422: 'This service or this MCP server cannot do it: FEATURE_NOT_SUPPORTED.',
  429: 'Too many requests or runs: RATE_LIMITED.',
  500: 'The service failed: INTERNAL_ERROR.',
  502: 'The MCP server or the model cannot be reached: SERVER_UNREACHABLE.',
  504: 'The MCP server or the model took too long: TIMEOUT.',
};

const errorSchema: JsonSchema = {
  type: 'object',
  properties: {
    code: { type: 'string', description: 'Stable, unlike the message.' },
    message: { type: 'string' },
    details: { type: 'object', additionalProperties: true },
  },
  required: ['code', 'message'],
};

/** The descriptions of the areas of operations. */
const areas: Record<keyof typeof operations, string> = {
  account: 'The user of the key, and projects.',
  servers: 'Records of MCP servers.',
  diagnostics: 'Whether a server can be used, and OAuth tokens for it.',
  primitives: 'What a server offers: tools, prompts and resources.',
  suites: 'Suites, apart from their cases.',
  cases: 'Cases of suites.',
  runs: 'Runs, their iterations and traces, comparison, judges and insights.',
  ingest: 'Results of runs that took place elsewhere.',
  tunnels: 'Tunnels to servers that have no public URL.',
  agent: 'Turns of the agent, and the actions that it proposes.',
  chats: 'Chat sessions and chatboxes.',
  traceExport: 'Traces for OpenTelemetry.',
  catalogs: 'Models, hosts, built-in tools, plugins and organizations.',
  environments: 'What suites run in.',
  hosts: 'Clients that runs stand for.',
  suiteSettings: 'What suites run in, when, and how they are judged.',
  images: 'Sandbox images, and computers booted from them.',
};

/** Describes every operation of the table in OpenAPI 3.1, from the schemas with which the client and the service check data. */
export function buildOpenApi(table: OperationTable = operations): OpenApiDocument {
  const pool = createSchemaPool();
  const described = Object.entries(table).flatMap(([area, each]) =>
    Object.values(each).map((operation) => ({
      area,
      operation,
      body:
        Object.keys(operation.body.shape).length === 0
          ? null
          : pool.add(describeSchema(operation.body, 'input'), `${operation.name}Body`),
      // Describes the answer as the client reads it: unknown fields are accepted.
      answer: pool.add(describeSchema(operation.answer, 'input'), `${operation.name}Answer`),
    })),
  );
  const schemas = pool.finish();
  const paths: Record<string, Record<string, Record<string, unknown>>> = {};
  for (const { area, operation, body, answer } of described) {
    const { name, path, method } = operation;
    const item = describeOperationItem(operation, { area, body: body?.() ?? null, answer: answer() });
    for (const each of listPaths(operation)) {
      const fields = listFields(operation).filter(
        (field) => field.place !== 'path' || each.includes(`{${field.name}}`),
      );
      const parameters = fields.filter(({ place }) => place !== 'body').map(describeParameter);
      const own =
        each === path ? {} : { operationId: `${name}Short`, description: `The same as \`${name}\`, by a short path.` };
      (paths[each] ??= {})[method.toLowerCase()] = { ...item, ...own, parameters: [...parameters, ...item.headers] };
      delete paths[each][method.toLowerCase()]?.['headers'];
    }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Eval API',
      version: generator.version,
      license: { name: 'MIT', identifier: 'MIT' },
      description: `The API of eval services for MCP servers, as ${generator.name} calls and serves it.`,
    },
    servers: [{ url: '/api/v1' }],
    security: [{ apiKey: [] }],
    tags: Object.entries(areas).map(([name, description]) => ({ name, description })),
    paths,
    components: {
      securitySchemes: { apiKey: { type: 'http', scheme: 'bearer' } },
      schemas: { Error: errorSchema, ...schemas },
      responses: describeRefusals(),
      parameters: { IdempotencyKey: idempotencyKey },
    },
  };
}

const idempotencyKey = {
  name: 'Idempotency-Key',
  in: 'header',
  description: 'At most 256 characters. A repeat of the request gets the first answer.',
  schema: { type: 'string', maxLength: 256 },
};

function describeOperationItem(
  operation: Operation,
  { area, body, answer }: { area: string; body: JsonSchema | null; answer: JsonSchema },
) {
  const { name, summary, method, status, errors, right, isRepeatable = false } = operation;
  const takesKey = method === 'POST' && !isRepeatable;
  return {
    operationId: name,
    summary,
    tags: [area],
    headers: takesKey ? [{ $ref: '#/components/parameters/IdempotencyKey' }] : [],
    ...(body !== null && {
      requestBody: {
        required: listFields(operation).some(({ place, isRequired }) => place === 'body' && isRequired),
        content: { [json]: { schema: body } },
      },
    }),
    responses: {
      [status]: { description: 'Success.', content: { [json]: { schema: answer } } },
      ...Object.fromEntries(errors.map((code) => [code, { $ref: `#/components/responses/${code}` }])),
    },
    ...(right === 'public' && { security: [] }),
  };
}

function describeParameter({ name, place, isRequired, schema }: ReturnType<typeof listFields>[number]) {
  return { name, in: place, required: isRequired, schema };
}

function describeRefusals(): Record<string, Record<string, unknown>> {
  const retryAfter = { description: 'Whole seconds until the next try.', schema: { type: 'integer', minimum: 1 } };
  return Object.fromEntries(
    Object.entries(refusals).map(([status, description]) => [
      status,
      {
        description,
        ...(status === '429' && { headers: { 'Retry-After': retryAfter } }),
        content: { [json]: { schema: { $ref: '#/components/schemas/Error' } } },
      },
    ]),
  );
}
