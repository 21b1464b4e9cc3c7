import { Hono } from 'hono';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { silentLogger } from '../../../src/base/logger.ts';
import { systemClock } from '../../../src/base/time.ts';
import type { ServiceCall, ServiceClient } from '../../../src/service/client.ts';
import { bindOperations } from '../../../src/service/create-client.ts';
import { buildOpenApi } from '../../../src/service/openapi.ts';
import { defineOperation, nameOperations, none } from '../../../src/service/operations/operation.ts';
import { serviceProfiles } from '../../../src/service/profile.ts';
import { type ApiEnv, localCaller, type Role } from '../src/callers.ts';
import { hideSecrets } from '../src/cli/call-api.ts';
import { readFields } from '../src/cli/api-fields.ts';
import { renderOperationHelp, renderOperationList } from '../src/cli/api-help.ts';
import { ApiError, renderApiError } from '../src/envelope.ts';
import { createOperationRoutes } from '../src/operation-routes.ts';
import { createBodyReader } from '../src/request.ts';
import { openStore } from '../src/store/open-store.ts';

const pet = z.object({ id: z.string(), chip: z.string().nullish() });
const page = z.object({ items: z.array(pet), nextCursor: z.string().nullish() });
const common = { query: none, body: none, status: 200, errors: [400, 403] } as const;

/** Operations of every shape, none of which the API has. */
const table = {
  pets: nameOperations({
    getPet: defineOperation({
      ...common,
      summary: 'Gets a pet of a home.',
      method: 'GET',
      path: '/homes/{homeId}/pets/{petId}',
      answer: pet,
      secrets: ['chip'],
    }),
    listPets: defineOperation({
      ...common,
      summary: 'Lists the pets of a home.',
      method: 'GET',
      path: '/homes/{homeId}/pets',
      query: z.object({ limit: z.int().max(9).exactOptional(), cursor: z.string().exactOptional() }),
      answer: page,
      cursor: 'query',
    }),
    searchPets: defineOperation({
      ...common,
      summary: 'Searches pets.',
      method: 'POST',
      path: '/pets/search',
      body: z.strictObject({ text: z.string(), cursor: z.string().exactOptional() }),
      answer: page,
      cursor: 'body',
      isRepeatable: true,
      needs: 'a model',
    }),
    releasePets: defineOperation({
      ...common,
      summary: 'Releases every pet.',
      method: 'DELETE',
      path: '/pets',
      answer: z.object({ count: z.int() }),
      right: 'admin',
    }),
  }),
  news: nameOperations({
    getNews: defineOperation({
      ...common,
      summary: 'Gets the news.',
      method: 'GET',
      path: '/news',
      answer: z.object({ text: z.string() }),
      right: 'public',
    }),
  }),
};

/** Opens a client of routes in this process. */
function openClient(role: Role = 'admin') {
  const store = openStore(undefined);
  const { routes, serve } = createOperationRoutes({ store, readBody: createBodyReader(1000), admission: [] });
  const { getPet, listPets, searchPets, releasePets } = table.pets;
  const numbers = (cursor = '1') => ({
    items: [{ id: cursor }],
    nextCursor: cursor === '3' ? null : `${Number(cursor) + 1}`,
  });
  serve(getPet, ({ ids }) => ({ id: `${ids.homeId}/${ids.petId}`, chip: 'c1' }));
  serve(listPets, ({ request }) => numbers(request.query('cursor')));
  serve(searchPets, ({ body }) => numbers(body.cursor));
  serve(releasePets, () => ({ count: 3 }));
  serve(table.news.getNews, ({ caller }) => ({ text: caller.keyId }));
  const app = new Hono<ApiEnv>().route('/', routes.open);
  app.use(async (context, next) => {
    context.set('caller', { ...localCaller, role });
    await next();
  });
  app.route('/', routes.closed);
  app.onError((error) => {
    if (error instanceof ApiError) return renderApiError(error);
    throw error;
  });
  const client: ServiceClient = {
    profile: serviceProfiles.embedded,
    clock: systemClock,
    logger: silentLogger,
    random: Math.random,
    call: async <T>({ method, path, query = {}, body, parse }: ServiceCall<T>): Promise<T> => {
      const given = Object.entries(query).flatMap(([name, value]) => (value === undefined ? [] : [[name, `${value}`]]));
      const url = `/${path.join('/')}?${new URLSearchParams(Object.fromEntries(given)).toString()}`;
      const response = await app.request(
        url,
        { method, ...(body !== undefined && { body: JSON.stringify(body) }) },
        {},
      );
      if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
      return parse(await response.json(), {});
    },
    [Symbol.asyncDispose]: async () => store.close(),
  };
  return { client, functions: bindOperations(client, table) };
}

async function collect<T>(pages: AsyncGenerator<T[]>): Promise<T[]> {
  const items: T[] = [];
  for await (const found of pages) items.push(...found);
  return items;
}

describe('an operation that is defined', () => {
  it('is a function of the client, and a route that answers it', async () => {
    const { client, functions } = openClient();
    await using _client = client;
    const ids = { homeId: 'h1', petId: 'p1' };
    expect(await functions.pets.getPet(ids)).toEqual({ id: 'h1/p1', chip: 'c1' });
    expect(await collect(functions.pets.listPets({ homeId: 'h1', limit: 1 }))).toEqual([
      { id: '1' },
      { id: '2' },
      { id: '3' },
    ]);
    expect(await collect(functions.pets.searchPets({ text: 'cat' }))).toHaveLength(3);
    expect(await functions.pets.releasePets()).toEqual({ count: 3 });
    expect(await functions.news.getNews()).toEqual({ text: 'none' });
  });

  it('is refused without the right, or with another body', async () => {
    const { client, functions } = openClient('member');
    await using _client = client;
    await expect(functions.pets.releasePets()).rejects.toThrow(/^403 .*FORBIDDEN/);
    await expect(collect(functions.pets.searchPets(Object({ words: 'cat' })))).rejects.toThrow(/^400 /);
  });

  it('is in the OpenAPI document', () => {
    const { paths } = buildOpenApi(table);
    expect(Object.keys(paths)).toEqual([
      '/homes/{homeId}/pets/{petId}',
      '/homes/{homeId}/pets',
      '/pets/search',
      '/pets',
      '/news',
    ]);
    expect(paths['/homes/{homeId}/pets']?.['get']).toMatchObject({
      operationId: 'listPets',
      tags: ['pets'],
      parameters: [
        { name: 'homeId', in: 'path' },
        { name: 'limit', in: 'query' },
        { name: 'cursor', in: 'query' },
      ],
    });
    expect(paths['/pets/search']?.['post']).toMatchObject({ requestBody: { required: true } });
    expect(paths['/news']?.['get']).toMatchObject({ security: [] });
  });

  it('is in the help of `api`, with its flags', async () => {
    expect(renderOperationList(table)).toMatch(
      /^pets:\n {2}getPet +Gets a pet of a home\.\n[^]*\n\nnews:\n {2}getNews/,
    );
    expect(renderOperationHelp(table.pets.listPets)).toMatch(
      /GET \/homes\/\{homeId\}\/pets\n[^]*--home-id <text> +required\n[^]*--limit <[^]*Paged: /,
    );
    expect(renderOperationHelp(table.pets.searchPets)).toContain('The service needs a model.');
    expect(renderOperationHelp(table.pets.releasePets)).toContain('Needs an administrator of the project.');
    expect(renderOperationHelp(table.news.getNews)).toContain('Needs no key.');
    expect(await readFields(table.pets.listPets, ['--home-id', 'h1', '--limit', '2'])).toEqual({
      homeId: 'h1',
      limit: 2,
    });
  });

  it('has secrets that `api` hides', () => {
    expect(hideSecrets({ id: 'p1', chip: 'c1' }, table.pets.getPet)).toEqual({ id: 'p1', chip: '***' });
  });
});
