import { isRecord } from '../base/json.ts';
import {
  type Surface,
  type SurfacePrompt,
  type SurfaceResource,
  type SurfaceTemplate,
  type SurfaceTool,
} from '../model/surface.ts';

/** A server's answers to the requests for its surface, with unchanged items. */
export interface ListedSurface {
  capabilities: unknown;
  instructions: string | null;
  tools: readonly unknown[];
  prompts: readonly unknown[];
  resources: readonly unknown[];
  resourceTemplates: readonly unknown[];
}

/**
 * Normalizes a surface for files and comparisons: sorts items and members by name, and lists that are sets. Drops fields that change by
 * themselves (the size of a resource and its last change), and fields that neither a model nor a program reads (icons, fields that MCP
 * does not define).
 */
export function normalizeSurface(listed: ListedSurface): Surface {
  const { capabilities, instructions, tools, prompts, resources, resourceTemplates } = listed;
  return {
    capabilities: normalizeObject(capabilities),
    ...(instructions !== null && { instructions }),
    tools: tools.filter(isRecord).map(normalizeTool).toSorted(by('name')),
    prompts: prompts.filter(isRecord).map(normalizePrompt).toSorted(by('name')),
    resources: resources
      .filter(isRecord)
      .map((resource): SurfaceResource => ({ uri: readText(resource, 'uri'), ...normalizeResource(resource) }))
      .toSorted(by('uri')),
    resourceTemplates: resourceTemplates
      .filter(isRecord)
      .map((template): SurfaceTemplate => {
        return { uriTemplate: readText(template, 'uriTemplate'), ...normalizeResource(template) };
      })
      .toSorted(by('uriTemplate')),
  };
}

function normalizeTool(tool: Record<string, unknown>): SurfaceTool {
  return {
    name: readText(tool, 'name'),
    ...keepText(tool, 'title'),
    ...keepText(tool, 'description'),
    inputSchema: normalizeObject(tool['inputSchema']),
    ...(isRecord(tool['outputSchema']) && { outputSchema: normalizeObject(tool['outputSchema']) }),
    ...keepObject(tool, 'annotations'),
    ...keepObject(tool, 'execution'),
    ...keepObject(tool, '_meta'),
  };
}

function normalizePrompt(prompt: Record<string, unknown>): SurfacePrompt {
  const listed = Array.isArray(prompt['arguments']) ? prompt['arguments'] : [];
  return {
    name: readText(prompt, 'name'),
    ...keepText(prompt, 'title'),
    ...keepText(prompt, 'description'),
    arguments: listed
      .filter(isRecord)
      .map((argument) => ({
        name: readText(argument, 'name'),
        ...keepText(argument, 'title'),
        ...keepText(argument, 'description'),
        required: argument['required'] === true,
      }))
      .toSorted(by('name')),
    ...keepObject(prompt, '_meta'),
  };
}

function normalizeResource(resource: Record<string, unknown>): Omit<SurfaceResource, 'uri'> {
  const { annotations } = keepObject(resource, 'annotations');
  const { lastModified: _, ...lasting } = annotations ?? {};
  return {
    name: readText(resource, 'name'),
    ...keepText(resource, 'title'),
    ...keepText(resource, 'description'),
    ...keepText(resource, 'mimeType'),
    ...(Object.keys(lasting).length > 0 && { annotations: lasting }),
    ...keepObject(resource, '_meta'),
  };
}

/** Keywords of JSON Schema whose lists are sets. `enum` is one too, but keeps its order, because people and models read it. */
const setKeywords: ReadonlySet<string> = new Set(['required', 'type']);

/** Sorts members by name, and drops undefined ones. */
function normalizeObject(value: unknown): Record<string, unknown> {
  if (!isRecord(value)) return {};
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, member]) => member !== undefined)
      .toSorted(([a], [b]) => compare(a, b))
      .map(([key, member]) => [key, normalizeValue(member, key)]),
  );
}

function normalizeValue(value: unknown, key: string): unknown {
  if (Array.isArray(value)) {
    const items: unknown[] = value;
    const texts = items.filter((item) => typeof item === 'string');
    const isSet = setKeywords.has(key) && texts.length === items.length;
    return isSet ? texts.toSorted(compare) : items.map((item) => normalizeValue(item, ''));
  }
  return isRecord(value) ? normalizeObject(value) : value;
}

function keepText<Key extends string>(item: Record<string, unknown>, key: Key): { [Name in Key]?: string } {
  const value = item[key];
  const kept: { [Name in Key]?: string } = {};
  if (typeof value === 'string') kept[key] = value;
  return kept;
}

function keepObject<Key extends string>(
  item: Record<string, unknown>,
  key: Key,
): { [Name in Key]?: Record<string, unknown> } {
  const kept: { [Name in Key]?: Record<string, unknown> } = {};
  const value = normalizeObject(item[key]);
  if (Object.keys(value).length > 0) kept[key] = value;
  return kept;
}

function readText(item: Record<string, unknown>, key: string): string {
  const value = item[key];
  return typeof value === 'string' ? value : '';
}

function by<Key extends string>(key: Key): (a: Record<Key, string>, b: Record<Key, string>) => number {
  return (a, b) => compare(a[key], b[key]);
}

/** Compares by code units, which gives the same order on every machine. */
function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
