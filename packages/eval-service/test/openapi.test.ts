import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { buildOpenApi, openApiSchema } from '../../../src/service/openapi.ts';
import { listOperations } from '../../../src/service/operations/table.ts';
import { openContractService } from '../../../test/support/service/contract-service.ts';
import { createTestApp } from '../../../test/support/service/test-app.ts';

const document = openApiSchema.parse(buildOpenApi());
const described = Object.entries(document.paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operation]) => ({ path, method, operation })),
);

/** A request as it is compared: ids count as such, whatever their names. */
const nameRequest = (method: string, path: string) =>
  `${method.toUpperCase()} ${path.replaceAll(/\{\w+\}|:\w+/g, '{}')}`;

/** Routes that are no operations: clients get the URLs of uploads from an answer, and one vendor calls chatboxes scenarios. */
const undescribed = new Set([
  'PUT /eval-artifact-uploads/{}',
  'POST /eval-artifact-uploads/{}',
  'GET /projects/{}/scenarios',
  'GET /projects/{}/scenarios/{}',
]);

function listReferences(value: unknown): string[] {
  return [...JSON.stringify(value).matchAll(/"\$ref":"(?<ref>[^"]+)"/g)].flatMap(({ groups }) => groups?.['ref'] ?? []);
}

/** Schemas stand where a media type or a parameter has its `schema`. */
function listSchemas(value: unknown): unknown[] {
  if (Array.isArray(value)) return value.flatMap(listSchemas);
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, part]) => (name === 'schema' ? [part] : listSchemas(part)));
}

describe('the OpenAPI description', () => {
  it('is served outside the API, without a key', async () => {
    await using service = await openContractService();
    const response = await fetch(new URL('/openapi.json', service.baseUrl));
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toContain('application/json');
    expect(openApiSchema.parse(await response.json())).toEqual(document);
    const { status } = await service.root.get('/openapi.json');
    expect(status).toBe(404);
  });

  it('has every route that answers, and no other', async () => {
    const { app, store } = createTestApp();
    await app[Symbol.asyncDispose]();
    store.close();
    const isApi = ({ method, path }: { method: string; path: string }) =>
      method !== 'ALL' && path.startsWith('/api/v1/');
    const routes = new Set(
      app.routes.filter(isApi).map(({ method, path }) => nameRequest(method, path.slice('/api/v1'.length))),
    );
    const listed = new Set(described.map(({ path, method }) => nameRequest(method, path)));
    expect([...routes].filter((route) => !listed.has(route) && !undescribed.has(route))).toEqual([]);
    expect([...listed].filter((route) => !routes.has(route))).toEqual([]);
  });

  it('has one path, with one answer, for each operation of the table', () => {
    const ids = described.map(({ operation }) => String(operation['operationId']));
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.filter((id) => !id.endsWith('Short')).toSorted()).toEqual(
      listOperations()
        .map(({ name }) => name)
        .toSorted(),
    );
    for (const { name, status, errors } of listOperations()) {
      const found = described.find(({ operation }) => operation['operationId'] === name);
      expect(Object.keys(Object(found?.operation['responses']))).toEqual([status, ...errors].map(String).toSorted());
    }
  });

  it('names the ids of each path as its parameters', () => {
    for (const { path, operation } of described) {
      const parameters: Array<{ name: string; in: string; required: boolean }> = Object(operation['parameters']);
      const ids = parameters.filter((each) => each.in === 'path');
      expect(ids.map(({ name }) => `{${name}}`)).toEqual(path.match(/\{\w+\}/g) ?? []);
      expect(ids.every(({ required }) => required)).toBe(true);
      expect(new Set(parameters.map(({ name }) => name)).size).toBe(parameters.length);
    }
  });

  it('needs a key, except where the operation is public', () => {
    const open = described.filter(({ operation }) => operation['security'] !== undefined);
    const names = listOperations().filter(({ right }) => right === 'public');
    expect(open.map(({ operation }) => String(operation['operationId'])).toSorted()).toEqual(
      names.map(({ name }) => name).toSorted(),
    );
    expect(document['security']).toEqual([{ apiKey: [] }]);
  });

  it('refers only to parts that it has, and to each of them', () => {
    const references = new Set(listReferences(document));
    const parts = Object.entries(document.components).flatMap(([kind, each]) =>
      kind === 'securitySchemes' ? [] : Object.keys(Object(each)).map((name) => `#/components/${kind}/${name}`),
    );
    expect([...references].toSorted()).toEqual(parts.toSorted());
  });

  it('has schemas of JSON Schema 2020-12 only', () => {
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    ajv.addSchema({ $id: 'http://localhost/openapi.json', components: document.components });
    const schemas = listSchemas(document);
    expect(schemas.length).toBeGreaterThan(100);
    for (const [index, schema] of schemas.entries()) {
      ajv.compile({
        $id: `http://localhost/openapi.json?${index}`,
        ...Object(JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"/openapi.json#/'))),
      });
    }
  });

  it('takes what the service takes, and refuses what it refuses', () => {
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    const { schema } = Object(
      described.find(({ operation }) => operation['operationId'] === 'createProject')?.operation,
    ).requestBody.content['application/json'];
    const accepts = ajv.compile(Object(schema));
    expect(accepts({ name: 'A' })).toBe(true);
    expect(accepts({ name: 'A', color: 'red' })).toBe(false);
    expect(accepts({})).toBe(false);
  });
});
