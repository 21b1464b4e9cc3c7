import { describe, expect, it } from 'vitest';
import { inventory } from '../../scripts/api-inventory.ts';
import { listApiRows } from '../../scripts/api-page.ts';
import { listOperations } from '../../src/service/operations/table.ts';

const nameRequest = (method: string, path: string) => `${method} ${path.replaceAll(/\{\w+\}/g, '{}')}`;

describe('the table of operations in the page of the API', () => {
  it('has each of the 82 operations of the inventory, and each of the table, once', () => {
    expect(inventory).toHaveLength(82);
    const names = listApiRows().map(([name]) => name);
    expect(new Set(names).size).toBe(names.length);
    const expected = new Set([...inventory, ...listOperations()].map(({ name }) => `\`${name}\``));
    expect(new Set(names)).toEqual(expected);
  });

  it('names the requests of the inventory, which the table describes as they are', () => {
    const requests = new Map(inventory.map(({ name, method, path }) => [name, nameRequest(method, path)]));
    const described = listOperations().filter(({ name }) => requests.has(name));
    expect(described.length).toBeGreaterThan(20);
    for (const { name, method, path } of described) {
      expect(`${name}: ${nameRequest(method, path)}`).toBe(`${name}: ${requests.get(name)}`);
    }
  });
});
