import { isRecord, type JsonObject } from '../base/json.ts';
import { listBranches, resolveSchema } from '../explore/schema/resolve.ts';
import type { Path } from './answer-view.ts';

/** The most levels of arguments whose names are read. */
const maxDepth = 4;

/** Checks if a schema forbids a further field of the value at a path, or says what its fields are, as a map from names to values does. */
export function forbidsField(schema: JsonObject, path: Path): boolean {
  const list = (parts: readonly unknown[]) =>
    parts.flatMap((part) => listBranches(resolveSchema(part, schema), schema)).slice(0, 32);
  const found = path.reduce<readonly JsonObject[]>(
    (branches, key) => list(branches.flatMap((branch) => readPart(branch, key) ?? [])),
    list([schema]),
  );
  return found.some(({ additionalProperties: others = true, unevaluatedProperties: rest = true }) =>
    [others, rest].some((each) => each !== true),
  );
}

function readPart(schema: JsonObject, key: string | number): unknown {
  const { prefixItems, items, properties, additionalProperties } = schema;
  if (typeof key === 'number') return Array.isArray(prefixItems) && key < prefixItems.length ? prefixItems[key] : items;
  return isRecord(properties) && Object.hasOwn(properties, key) ? properties[key] : additionalProperties;
}

/** Lists the names of the arguments of a tool, those within others included. */
export function listArgumentNames(schema: JsonObject): string[] {
  const names = new Set<string>();
  const visit = (written: unknown, depth: number) => {
    for (const { properties, items } of listBranches(resolveSchema(written, schema), schema)) {
      if (depth >= maxDepth) return;
      if (isRecord(items)) visit(items, depth + 1);
      for (const [name, member] of isRecord(properties) ? Object.entries(properties) : []) {
        names.add(name);
        visit(member, depth + 1);
      }
    }
  };
  visit(schema, 0);
  return [...names];
}
