import { listUnsupported } from '../src/embedded/routes/unsupported.ts';
import type { Operation } from '../src/service/operations/operation.ts';
import { operations } from '../src/service/operations/table.ts';
import { inventory } from './api-inventory.ts';

/** The table of docs/api.md: every operation of the inventory, then the others that the client has. */
export function listApiRows(): string[][] {
  const described = Object.entries(operations).flatMap(([area, each]) =>
    Object.values<Operation>(each).map((operation) => ({ area, operation })),
  );
  const refused = new Map(listUnsupported().map(({ method, path }) => [nameRequest(method, path), true]));
  const listed = inventory.map(({ name, method, path }) => {
    const found = described.find(({ operation }) => operation.name === name);
    return found === undefined
      ? [`\`${name}\``, `\`${method} ${path}\``, 'no', 'no', '']
      : renderRow(found, refused.has(nameRequest(method, path)));
  });
  const names = new Set(inventory.map(({ name }) => name));
  const others = described.filter(({ operation }) => !names.has(operation.name));
  return [
    ...listed,
    ...others.map((each) => renderRow(each, refused.has(nameRequest(each.operation.method, each.operation.path)))),
  ];
}

function renderRow({ area, operation }: { area: string; operation: Operation }, isRefused: boolean): string[] {
  const { name, method, path, right, needs } = operation;
  const needed = [
    ...(right === 'public' ? ['no key'] : []),
    ...(right === 'admin' ? ['an administrator'] : []),
    ...(needs === undefined ? [] : [needs]),
  ];
  return [
    `\`${name}\``,
    `\`${method} ${path}\``,
    `\`client.${area}.${name}\``,
    isRefused ? 'no (422)' : 'yes',
    needed.join(', '),
  ];
}

/** Ids count as such, whatever they are called. */
function nameRequest(method: string, path: string): string {
  return `${method} ${path.replaceAll(/\{\w+\}/g, '{}')}`;
}
