import { describe, expect, it } from 'vitest';
import { findOldestSuite, findSuite } from '../../src/service/suite-client.ts';
import { json, startHttpServer } from '../support/network/http-server.ts';
import { openTestClient } from '../support/service/service-client.ts';

const suites = [
  { id: 's_1', name: 'Smoke' },
  { id: 's_2', name: 'Twin' },
  { id: 's_3', name: 'Twin' },
  { id: 's_4', name: 's_1' },
];

async function find(suite: string) {
  await using server = await startHttpServer(json(200, { items: suites }));
  await using client = openTestClient(server);
  return await findSuite(client, { projectId: 'p_1', suite });
}

describe('findSuite', () => {
  it.each([
    ['s_3', 's_3'],
    ['Smoke', 's_1'],
    ['s_1', 's_1'],
  ])('finds %j by its id first and else by its name', async (suite, id) => {
    expect(await find(suite)).toMatchObject({ id });
  });

  it.each(['smoke', 'Smoke ', 's_9', ''])('finds no suite for %j: names are exact', async (suite) => {
    expect(await find(suite)).toBeUndefined();
  });

  it('refuses to choose between two of one name', async () => {
    const message = 'Several suites are called "Twin"; give an id: "Twin" (s_2), "Twin" (s_3).';
    await expect(find('Twin')).rejects.toMatchObject({
      issues: [{ code: 'several-suites', input: 'suite', message }],
    });
  });
});

describe('findOldestSuite', () => {
  const namesakes = [
    { id: 's_new', name: 'Twin', createdAt: 2000 },
    { id: 's_b', name: 'Twin', createdAt: 1000 },
    { id: 's_a', name: 'Twin', createdAt: 1000 },
    { id: 's_undated', name: 'Twin' },
    { id: 'Twin', name: 'Other', createdAt: 1 },
  ];
  const findOldest = async (items: object[], name: string) => {
    await using server = await startHttpServer(json(200, { items }));
    await using client = openTestClient(server);
    return (await findOldestSuite(client, { projectId: 'p_1', name }))?.id;
  };

  it.each([
    ['in one order', namesakes],
    ['in another', namesakes.toReversed()],
  ])('has everybody agree on one of several, listed %s', async (_, items) => {
    expect(await findOldest(items, 'Twin')).toBe('s_a');
  });

  it('matches exact names only', async () => {
    expect(await findOldest(namesakes, 's_a')).toBeUndefined();
    expect(await findOldest(namesakes, 'twin')).toBeUndefined();
  });
});
