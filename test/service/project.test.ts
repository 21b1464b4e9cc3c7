import { describe, expect, it } from 'vitest';
import { requireProject } from '../../src/service/project.ts';
import { findClosedPort, json, raw, startHttpServer } from '../support/network/http-server.ts';
import type { Answer } from '../support/network/http-server.ts';
import { openTestClient, testApiKey } from '../support/service/service-client.ts';

const demo = { id: 'p_1', name: 'Demo' };
const other = { id: 'p_2', name: 'Other' };
const twin = { id: 'p_3', name: 'Demo' };
/** Called as another one's id is. */
const confusing = { id: 'p_4', name: 'p_1' };
const many = Array.from({ length: 13 }, (_, index) => ({ id: `p_${index}`, name: `N${index}` }));

async function require(projects: object[], project: string | null) {
  await using server = await startHttpServer(json(200, { items: projects }));
  await using client = openTestClient(server);
  return await requireProject(client, { project });
}

describe('requireProject', () => {
  it.each([
    [[demo], null, demo],
    [[demo, other], 'p_2', other],
    [[demo, other], 'Other', other],
    [[confusing, demo], 'p_1', demo],
    [[demo, twin], 'p_3', twin],
  ])('finds among %j the one for %j', async (projects, project, found) => {
    expect(await require(projects, project)).toEqual(found);
  });

  it.each([
    [[], null, 'no-project', 'The API key sees no project; create one, or use the key of another account.'],
    [[], 'Demo', 'no-project', 'The API key sees no project; create one, or use the key of another account.'],
    [
      [demo, other],
      null,
      'several-projects',
      'The API key sees several projects; choose from "Demo" (p_1), "Other" (p_2).',
    ],
    [
      many,
      null,
      'several-projects',
      'The API key sees several projects; choose from "N0" (p_0), "N1" (p_1), "N2" (p_2), "N3" (p_3), "N4" (p_4), "N5" (p_5), "N6" (p_6), "N7" (p_7), "N8" (p_8), "N9" (p_9) and 3 more.',
    ],
    [
      [demo, twin],
      'Demo',
      'several-projects',
      'Several projects are called "Demo"; give an id: "Demo" (p_1), "Demo" (p_3).',
    ],
    [
      [demo, other],
      'demo ',
      'unknown-project',
      'No project has the id or the name "demo "; did you mean "Demo" (p_1)?',
    ],
    [[demo], 'Nope', 'unknown-project', 'No project has the id or the name "Nope"; there is "Demo" (p_1).'],
  ])('cannot choose among %j for %j', async (projects, project, code, message) => {
    await expect(require(projects, project)).rejects.toMatchObject({
      code: 'CONFIGURATION',
      issues: [{ code, input: 'project', message }],
    });
  });
});

describe('the first request of a gate', () => {
  const refusal = (status: number, code: string) => json(status, { code, message: 'Because.' });
  const prefix = 'GET /api/v1/projects';

  it.each<[string, Answer, string, string, string]>([
    [
      'a key that is not taken',
      refusal(401, 'UNAUTHORIZED'),
      'api-key',
      'refused-api-key',
      `The service does not take the key. The service answered 401 UNAUTHORIZED to ${prefix}: Because.`,
    ],
    [
      'a key that may not list projects',
      refusal(403, 'FORBIDDEN'),
      'api-key',
      'refused-api-key',
      `The service does not take the key. The service answered 403 FORBIDDEN to ${prefix}: Because.`,
    ],
    [
      'an address where nothing is',
      raw(404, '<p>Nothing here</p>', { 'content-type': 'text/html' }),
      'base-url',
      'not-the-service',
      `The base URL does not lead to the eval service. The service answered 404 NOT_FOUND to ${prefix}: no reason was given (text/html).`,
    ],
    [
      'the address of a site for people',
      raw(200, '<!doctype html>', { 'content-type': 'text/html' }),
      'base-url',
      'not-the-service',
      `The base URL does not lead to the eval service. The answer is not JSON (text/html). (${prefix})`,
    ],
    [
      'the address of another API',
      json(200, { ok: true }),
      'base-url',
      'not-the-service',
      "The base URL does not lead to the eval service. The service's answer is not that of listProjects: items: Invalid input: expected array, received undefined.",
    ],
    [
      'an address that leads elsewhere',
      raw(302, '', { location: 'https://elsewhere.example/' }),
      'base-url',
      'not-the-service',
      `The base URL does not lead to the eval service. The service answered 302, a redirect, to ${prefix}; redirects are not followed.`,
    ],
  ])('reports %s', async (_, answer, input, code, message) => {
    await using server = await startHttpServer(answer);
    await using client = openTestClient(server);
    const hint = expect.stringMatching(input === 'api-key' ? /whole key/ : /https:\/\/host\/api\/v1/) as string;
    await expect(requireProject(client, { project: null })).rejects.toMatchObject({
      code: 'CONFIGURATION',
      issues: [{ code, input, message }],
      hint,
    });
  });

  it('does not show the key that a service repeats', async () => {
    await using server = await startHttpServer(
      json(401, { code: 'UNAUTHORIZED', message: `Unknown key ${testApiKey}.` }),
    );
    await using client = openTestClient(server);
    await expect(requireProject(client, { project: null })).rejects.toThrow(/Unknown key \*\*\*\./);
  });

  it.each<[string, Answer]>([
    ['that is down', json(503, {})],
    ['that wants fewer calls', json(429, { code: 'RATE_LIMITED', message: 'Slow down.' })],
  ])('leaves a service %s as what it is', async (_, answer) => {
    await using server = await startHttpServer(answer);
    await using client = openTestClient(server);
    await expect(requireProject(client, { project: null })).rejects.toMatchObject({ exitCode: 3 });
  });

  it('reports an unreachable service as such', async () => {
    await using client = openTestClient({ origin: `http://127.0.0.1:${await findClosedPort()}` });
    await expect(requireProject(client, { project: null })).rejects.toMatchObject({ code: 'NETWORK' });
  });
});
