import { resolveLocalReference } from '../base/json-pointer.ts';
import { isRecord, listTexts } from '../base/json.ts';
import { formatCount } from '../base/text.ts';
import type { Surface, SurfaceTool } from '../model/surface.ts';
import type { SurfaceFinding } from '../model/surface-report.ts';
import { joinPath } from './schema/compare-objects.ts';

/** The most names in one message; a server may have hundreds. */
const maxNames = 10;

/** The reason for each rule. */
const reasons = {
  'description-missing': 'A model chooses by descriptions, and knows nothing else about it.',
  'description-duplicate': 'A model cannot tell tools apart that say the same of themselves.',
  'name-duplicate': 'Only one tool of a name can be called.',
  'hidden-text': 'A model reads what a person who reviews the text cannot see, or sees in another order.',
  'name-refused':
    'The APIs of OpenAI and Anthropic refuse names other than 1 to 64 of `A-Z`, `a-z`, `0-9`, `_` and `-`.',
  'schema-not-object': 'MCP, OpenAI and Anthropic require `type: object` of an input schema.',
  'schema-joined':
    'The APIs of OpenAI and Anthropic refuse `anyOf`, `oneOf` and `allOf` at the top of an input schema.',
  'parameter-name-refused':
    "Anthropic's API refuses names of parameters other than 1 to 64 of `A-Z`, `a-z`, `0-9`, `_`, `.` and `-`.",
  'array-without-items': "OpenAI's API refuses an array without `items`.",
  'annotations-contradict': 'A host that trusts one of the hints does what the other one warns of.',
  'parameter-undescribed': 'A model has to guess what to pass.',
} as const;

/** Lists problems for the users of the server, in the order of the surface. Pure: the same surface always has the same findings. */
export function lintSurface(surface: Surface): SurfaceFinding[] {
  const { tools, prompts } = surface;
  return [
    ...findHiddenText('server', 'The instructions of the server', surface.instructions),
    ...findSameNames(tools),
    ...findSameDescriptions(tools),
    ...tools.flatMap(lintTool),
    ...prompts.flatMap((prompt) => [
      ...findMissing(joinPath('prompt', prompt.name), `The prompt ${prompt.name}`, prompt.description),
      ...findHiddenText(joinPath('prompt', prompt.name), `The prompt ${prompt.name}`, prompt),
    ]),
    ...[...surface.resources, ...surface.resourceTemplates].flatMap((resource) => {
      const key = 'uri' in resource ? resource.uri : resource.uriTemplate;
      return findHiddenText(joinPath('resource', key), `The resource ${key}`, resource);
    }),
  ];
}

function find(id: string, rule: keyof typeof reasons, message: string): SurfaceFinding {
  return { id: `${id}.${rule}`, rule, message, reason: reasons[rule] };
}

function lintTool(tool: SurfaceTool): SurfaceFinding[] {
  const { name, inputSchema, annotations = {} } = tool;
  const id = joinPath('tool', name);
  const what = `The tool ${name}`;
  const properties = isRecord(inputSchema['properties']) ? inputSchema['properties'] : {};
  const joins = ['anyOf', 'oneOf', 'allOf'].filter((keyword) => inputSchema[keyword] !== undefined);
  const refused = Object.keys(properties).filter((parameter) => !/^[\w.-]{1,64}$/.test(parameter));
  const budget = { left: maxSchemas };
  const silent = Object.entries(properties).flatMap(([parameter, schema]) =>
    isDescribed(schema, { root: inputSchema, depth: 0, visited: new Map(), budget }) ? [] : [parameter],
  );
  const arrays = Object.entries(properties).flatMap(([parameter, schema]) =>
    isRecord(schema) && schema['type'] === 'array' && !('items' in schema) && !('prefixItems' in schema)
      ? [parameter]
      : [],
  );
  const contradicts = annotations['readOnlyHint'] === true && annotations['destructiveHint'] === true;
  return [
    ...findMissing(id, what, tool.description),
    ...findHiddenText(id, what, tool),
    ...(/^[\w-]{1,64}$/.test(name) ? [] : [find(id, 'name-refused', `${what} has a name that models cannot call`)]),
    ...(inputSchema['type'] === 'object' ? [] : [find(id, 'schema-not-object', `${what} takes no object`)]),
    ...(joins.length === 0
      ? []
      : [find(id, 'schema-joined', `${what} has ${joins.join(' and ')} at the top of its input schema`)]),
    ...(refused.length === 0
      ? []
      : [find(id, 'parameter-name-refused', `${what} has parameters with refused names: ${listNames(refused)}`)]),
    ...(arrays.length === 0
      ? []
      : [find(id, 'array-without-items', `${what} does not say what is in ${listNames(arrays)}`)]),
    ...(contradicts
      ? [find(id, 'annotations-contradict', `${what} has both \`readOnlyHint\` and \`destructiveHint\``)]
      : []),
    ...(silent.length === 0
      ? []
      : [
          find(
            id,
            'parameter-undescribed',
            `${what} has ${formatCount(silent.length, 'parameter')} without a description: ${listNames(silent)}`,
          ),
        ]),
  ];
}

interface Search {
  root: Record<string, unknown>;
  depth: number;
  /** The depth at which each schema was found: alternatives that refer to each other lead to it repeatedly. */
  visited: Map<unknown, number>;
  /** The number of schemas of the tool that may still be read. */
  budget: { left: number };
}

/** More than the schemas of any tool. Schemas above the limit cause no finding. */
const maxSchemas = 100_000;

/** Checks if a parameter has a description; one at its reference or at one of its alternatives counts, too. */
function isDescribed(schema: unknown, search: Search): boolean {
  const { root, depth, visited, budget } = search;
  if (!isRecord(schema) || depth > 5 || (visited.get(schema) ?? Infinity) <= depth) return false;
  visited.set(schema, depth);
  budget.left -= 1;
  if (budget.left < 0) return true;
  if (typeof schema['description'] === 'string' && schema['description'].trim() !== '') return true;
  const inner = [
    resolveLocalReference(schema['$ref'], root),
    ...['anyOf', 'oneOf', 'allOf'].flatMap((keyword) => schema[keyword]),
  ];
  return inner.some((part) => isDescribed(part, { ...search, depth: depth + 1 }));
}

function findMissing(id: string, what: string, description: string | undefined): SurfaceFinding[] {
  if (description !== undefined && description.trim() !== '') return [];
  return [find(id, 'description-missing', `${what} has no description`)];
}

function findSameNames(tools: readonly SurfaceTool[]): SurfaceFinding[] {
  return [...Map.groupBy(tools, ({ name }) => name)].flatMap(([name, { length }]) =>
    length < 2 ? [] : [find(joinPath('tool', name), 'name-duplicate', `The server lists ${length} tools ${name}`)],
  );
}

function findSameDescriptions(tools: readonly SurfaceTool[]): SurfaceFinding[] {
  const described = tools.filter(({ description = '' }) => description.trim() !== '');
  const groups = Map.groupBy(described, ({ description = '' }) => description.trim());
  return [...groups.values()].flatMap((same) => {
    const names = [...new Set(same.map(({ name }) => name))];
    const [first] = names;
    if (first === undefined || names.length < 2) return [];
    const message = `The tools ${listNames(names)} have the same description`;
    return [find(joinPath('tool', first), 'description-duplicate', message)];
  });
}

/**
 * Matches control characters, and characters that reorder text or are invisible. Emoji and some scripts need U+200C and U+200D, so these
 * are allowed.
 */
const hidden = new RegExp(
  '[\\u00ad\\u061c\\u180e\\u200b\\u200e\\u200f\\u202a-\\u202e\\u2060-\\u2069\\ufeff\\u{e0000}-\\u{e007f}]|(?![\\t\\n\\r])\\p{Cc}',
  'u',
);

function findHiddenText(id: string, what: string, value: unknown): SurfaceFinding[] {
  const found = new Set<string>();
  for (const { text } of listTexts(value)) {
    const [character] = hidden.exec(text) ?? [];
    const code = character?.codePointAt(0);
    if (code !== undefined) found.add(`U+${code.toString(16).toUpperCase().padStart(4, '0')}`);
  }
  if (found.size === 0) return [];
  return [find(id, 'hidden-text', `${what} has hidden characters in its texts: ${listNames([...found])}`)];
}

function listNames(names: readonly string[]): string {
  const rest = names.length - maxNames;
  return `${names.slice(0, maxNames).join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`;
}
