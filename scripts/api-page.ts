import type { Operation } from '../src/service/operations/operation.ts';
import { operations } from '../src/service/operations/table.ts';
import { inventory } from './api-inventory.ts';

/**
 * Lists the rows of the API's page: all operations of the inventory, then the other operations of the client. The embedded service serves the
 * described ones; the test of its OpenAPI description checks that.
 */
export function listApiRows(): string[][] {
  const described = Object.entries(operations).flatMap(([area, each]) =>
    Object.values<Operation>(each).map((operation) => ({ area, operation })),
  );
  const listed = inventory.map(({ name, method, path }) => {
    const found = described.find(({ operation }) => operation.name === name);
    return found === undefined ? [`\`${name}\``, `\`${method} ${path}\``, 'no', 'no', ''] : renderRow(found);
  });
  const names = new Set(inventory.map(({ name }) => name));
  const others = described.filter(({ operation }) => !names.has(operation.name));
  return [...listed, ...others.map(renderRow)];
}

function renderRow({ area, operation }: { area: string; operation: Operation }): string[] {
  const { name, method, path, right, needs } = operation;
  const needed = [
    ...(right === 'public' ? ['no key'] : []),
    ...(right === 'admin' ? ['an administrator'] : []),
    ...(needs === undefined ? [] : [needs]),
  ];
  return [`\`${name}\``, `\`${method} ${path}\``, `\`client.${area}.${name}\``, 'yes', needed.join(', ')];
}
