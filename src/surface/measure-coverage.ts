import { resolveLocalReference } from '../base/json-pointer.ts';
import { isRecord } from '../base/json.ts';
import type { CoverageItem, CoverageKind } from '../model/coverage-report.ts';
import type { Surface } from '../model/surface.ts';

/**
 * The parts of surfaces that evals can use, with those that they have used. Servers count together: a call of a tool covers it on each of
 * them.
 */
export interface Coverage {
  /** Ignores calls of tools that the servers do not list. */
  addCall(toolName: string, args: Readonly<Record<string, unknown>>): void;
  /** Records a call that was answered with an error. */
  addError(toolName: string): void;
  addPrompt(name: string): void;
  addResource(uri: string): void;
  /** Lists the items in the order of the surfaces, and by kind within a tool. */
  listItems(): CoverageItem[];
}

/** A longer enum is a list of codes; a few of them represent all. */
const maxValues = 50;

/** The deepest nesting of references and alternatives in the schema of one parameter. */
const maxDepth = 8;

export function createCoverage(surfaces: readonly Surface[]): Coverage {
  const items = new Map<string, CoverageItem>();
  const keyOf = (kind: CoverageKind, path: readonly string[]) => JSON.stringify([kind, ...path]);
  const declare = (kind: CoverageKind, ...path: string[]) => {
    const key = keyOf(kind, path);
    if (!items.has(key)) items.set(key, { kind, path, isCovered: false });
  };
  const cover = (kind: CoverageKind, ...path: string[]) => {
    const item = items.get(keyOf(kind, path));
    if (item !== undefined) item.isCovered = true;
  };
  for (const { name, inputSchema } of surfaces.flatMap(({ tools }) => tools)) {
    declare('tools', name);
    declare('errors', name);
    const { properties } = inputSchema;
    const budget = { left: maxSchemas };
    for (const [parameter, schema] of Object.entries(isRecord(properties) ? properties : {})) {
      declare('parameters', name, parameter);
      const values = listEnumValues(schema, { root: inputSchema, depth: 0, visited: new Map(), budget });
      if (values.size <= maxValues) for (const value of values) declare('values', name, parameter, value);
    }
  }
  for (const { name } of surfaces.flatMap(({ prompts }) => prompts)) declare('prompts', name);
  for (const { uri } of surfaces.flatMap(({ resources }) => resources)) declare('resources', uri);
  const templates = new Set(surfaces.flatMap((each) => each.resourceTemplates.map(({ uriTemplate }) => uriTemplate)));
  for (const template of templates) declare('templates', template);

  return {
    addCall: (toolName, args) => {
      cover('tools', toolName);
      for (const [parameter, value] of Object.entries(args)) {
        cover('parameters', toolName, parameter);
        for (const each of Array.isArray(value) ? value : [value]) {
          cover('values', toolName, parameter, JSON.stringify(each));
        }
      }
    },
    addError: (toolName) => cover('errors', toolName),
    addPrompt: (name) => cover('prompts', name),
    addResource: (uri) => {
      cover('resources', uri);
      for (const template of templates) if (fitsTemplate(uri, template)) cover('templates', template);
    },
    listItems: () => [...items.values()].map((item) => ({ ...item })),
  };
}

interface Search {
  root: Readonly<Record<string, unknown>>;
  depth: number;
  /** The depth at which each schema was found: alternatives that refer to each other lead to it repeatedly. */
  visited: Map<unknown, number>;
  /** The number of schemas of the tool that may still be read. */
  budget: { left: number };
}

/** More than the schemas of any tool. */
const maxSchemas = 100_000;

/** Lists the values, as JSON, that a parameter or the items of its array can have by `enum`, or by `const` of its alternatives. */
function listEnumValues(schema: unknown, search: Search): Set<string> {
  const { root, depth, visited, budget } = search;
  if (!isRecord(schema) || depth > maxDepth || (visited.get(schema) ?? Infinity) <= depth) return new Set();
  visited.set(schema, depth);
  budget.left -= 1;
  if (budget.left < 0) return new Set();
  const { $ref: reference, enum: values, items } = schema;
  const own = Array.isArray(values) ? values : [];
  const alternatives: unknown[] = [schema['anyOf'], schema['oneOf']].flatMap((each) =>
    Array.isArray(each) ? each : [],
  );
  const constants = alternatives.flatMap((each) => (isRecord(each) && 'const' in each ? [each['const']] : []));
  const referred = resolveLocalReference(reference, root);
  const inner = [...alternatives, referred, items].flatMap((each) => [
    ...listEnumValues(each, { ...search, depth: depth + 1 }),
  ]);
  return new Set([...[...own, ...constants].map((value: unknown) => JSON.stringify(value)), ...inner]);
}

/**
 * Checks if a URI can result from a URI template: the URI has the template's literal parts in their order, with text between them. An
 * expression for a query, such as `{?page}`, may be empty.
 */
export function fitsTemplate(uri: string, template: string): boolean {
  const parts = template.split(/\{([^{}]*)\}/);
  const last = parts.length - 1;
  if (last === 0) return uri === template;
  const [first = ''] = parts;
  if (!uri.startsWith(first)) return false;
  let position = first.length;
  for (let index = 1; index < last; index += 2) {
    const isOptional = /^[?&]/.test(parts[index] ?? '');
    const literal = parts[index + 1] ?? '';
    const from = position + (isOptional ? 0 : 1);
    const isEnd = index + 1 === last;
    const at = isEnd ? uri.length - literal.length : uri.indexOf(literal, from);
    if (at < from || (isEnd && !uri.endsWith(literal))) return false;
    position = at + literal.length;
  }
  return true;
}
