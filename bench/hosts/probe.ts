// The server that hosts are measured with: what it declares and answers, as data.
import type { JsonObject } from '../../src/base/json.ts';

/** The name of the server in the configuration of each host. */
export const serverName = 'probe';

/** A text of numbered words, 10 characters each, so that each part of it is found again. */
export function countWords(mark: string, length: number): string {
  return Array.from({ length: length / 10 }, (_, index) => `${mark}${String(index).padStart(8, '0')} `).join('');
}

export const sizes = { instructions: 12_000, description: 12_000, longest: 200_000 } as const;

/** Names of all lengths around the limits that hosts are known to have, each with a beginning of its own. */
export const longNames = Array.from({ length: 100 }, (_, index) => index + 30)
  .filter((length) => length <= 66 || length >= 105)
  .map((length) => `${readLongStem(length)}${countWords('n', 160).replaceAll(' ', 'e')}`.slice(0, length));

export function readLongStem(length: number): string {
  return `length${String(length).padStart(3, '0')}x`;
}

export const oddName = 'odd.a/b c-d';

const noArguments = { type: 'object', properties: {} };

/** Each keyword that hosts are known to drop or move. */
export const boundedSchema = {
  type: 'object',
  properties: {
    count: { type: 'integer', minimum: 3, maximum: 7 },
    share: { type: 'number', exclusiveMinimum: 0, exclusiveMaximum: 1 },
    code: { type: 'string', minLength: 2, maxLength: 9, pattern: '^[a-z]+$', default: 'abc', examples: ['abc', 'xyz'] },
    list: { type: 'array', items: { type: 'string' }, minItems: 1, maxItems: 4 },
  },
  required: ['count'],
};

/** The smallest image, and a sound of no length. */
export const image = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGP4z8DwHwAFAAH/iZk9HQAAAABJRU5ErkJggg==';
const sound = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=';

interface ProbeTool {
  name: string;
  description?: string;
  inputSchema?: JsonObject;
  annotations?: JsonObject;
  _meta?: JsonObject;
}

const text = (words: string) => ({ type: 'text', text: words });

/** The tools whose results hosts show differently. `mark-…` is what a model has to see. */
export const resultTools = {
  say: { content: [text('mark-say')] },
  structured: { content: [text('mark-text')], structuredContent: { found: 'mark-structured' } },
  structured_alone: { content: [], structuredContent: { found: 'mark-alone' } },
  structured_image: {
    content: [text('mark-text'), { type: 'image', data: image, mimeType: 'image/png' }],
    structuredContent: { found: 'mark-structured' },
  },
  fail: { content: [text('mark-fail')], isError: true },
  image: { content: [{ type: 'image', data: image, mimeType: 'image/png' }] },
  resource: {
    content: [
      { type: 'resource', resource: { uri: 'probe://mark-uri', mimeType: 'text/plain', text: 'mark-resource' } },
    ],
  },
  link: {
    content: [{ type: 'resource_link', uri: 'probe://mark-uri', name: 'mark-link', mimeType: 'text/plain' }],
  },
  audio: { content: [{ type: 'audio', data: sound, mimeType: 'audio/wav' }] },
  for_user: { content: [{ ...text('mark-user'), annotations: { audience: ['user'] } }] },
} satisfies Record<string, JsonObject>;

const plainTools: ProbeTool[] = [
  ...Object.keys(resultTools).map((name) => ({ name })),
  { name: 'described', description: countWords('d', sizes.description) },
  { name: 'bounded', description: 'Has bounds', inputSchema: boundedSchema },
  { name: oddName },
  { name: 'app_only', _meta: { ui: { visibility: ['app'] } } },
  { name: 'sized', inputSchema: { type: 'object', properties: { size: { type: 'integer' } }, required: ['size'] } },
  { name: 'hang' },
  { name: 'meet' },
  { name: 'meet_reading', annotations: { readOnlyHint: true } },
  { name: 'extend' },
];

/** The tool that the server has after a call of `extend`. */
export const laterTool: ProbeTool = { name: 'added_later' };

/** `plain` has everything that no host is known to refuse, `lengths` long names; `true` has one property with the schema `true`. */
export const surfaces = {
  plain: plainTools,
  lengths: [{ name: 'say' }, ...longNames.map((name) => ({ name }))],
  true: [{ name: 'say' }, { name: 'with_true', inputSchema: { type: 'object', properties: { any: true } } }],
} satisfies Record<string, ProbeTool[]>;

export type SurfaceName = keyof typeof surfaces;

export function declareTool({ name, description = `The tool ${name}`, inputSchema = noArguments, ...rest }: ProbeTool) {
  const { annotations, _meta } = rest;
  return {
    name,
    description,
    inputSchema,
    ...(annotations === undefined ? {} : { annotations }),
    ...(_meta === undefined ? {} : { _meta }),
  };
}

export const instructions = countWords('i', sizes.instructions);
