import { z } from 'zod';
import { isRecord, type JsonObject } from '../base/json.ts';
import { clipText, formatCount } from '../base/text.ts';
import type { ToolResult } from './evidence.ts';
import { decide, fail, type Judgement, leaveUnmeasured } from './judgement.ts';
import { type ImageSize, readImageSize } from './image-size.ts';
import type { CheckParts } from './parts.ts';
import { joinWithin, maxListLength, printValue } from './reasons.ts';
import type { ResultScope } from './result-documents.ts';

/** Creates the schema of an expected content block. */
export function blockOf({ part, text, count }: CheckParts) {
  const mimeType = text.exactOptional().meta({ description: '`*` is any text, as in `image/*`.' });
  const uri = text.exactOptional().meta({ description: 'The whole URI; `*` is any text.' });
  const minBytes = count.exactOptional().meta({ description: 'Bytes of the data, decoded.' });
  const maxBytes = minBytes;
  const blockText = text.exactOptional().meta({ description: 'Text that the block contains, in any case.' });
  const [width, height] = [count.exactOptional(), count.exactOptional()];
  return z
    .union([
      part({ type: z.literal('text'), text: blockText }),
      part({ type: z.literal('image'), mimeType, minBytes, maxBytes, width, height }),
      part({ type: z.literal('audio'), mimeType, minBytes, maxBytes }),
      part({ type: z.literal('resource'), uri, mimeType, text: blockText, minBytes, maxBytes }),
      part({ type: z.literal('resource_link'), uri, mimeType, name: text.exactOptional() }),
    ])
    .meta({ id: 'block', title: 'block', description: 'A block of content that the latest result has.' });
}

type ExpectedBlock = z.infer<ReturnType<typeof blockOf>>;

/** The parts of a content block that checks read; null for a part that it does not have. */
interface ContentBlock {
  type: string;
  mimeType: string | null;
  uri: string | null;
  name: string | null;
  text: string | null;
  /** The size of the decoded data, or of the text. */
  byteLength: number | null;
  /** The dimensions of an image; null for other blocks. */
  size: ImageSize | null;
}

/** Judges the number of blocks of a result that match: at least one, or exactly `count`. */
export function judgeContent(
  { block: expected, count }: ResultScope & { block: ExpectedBlock; count?: number },
  { toolName, content, isError }: ToolResult,
): Judgement {
  if (content === null) return leaveUnmeasured(`the content of the result of ${toolName} was not captured.`);
  const blocks = content.map(readBlock);
  const found = blocks.filter((block) => isLike(block, expected)).length;
  const wanted = count === undefined ? 'no block' : formatCount(found, 'block');
  const isMet = count === undefined ? found > 0 : found === count;
  const has = isMet ? formatCount(found, 'block') : wanted;
  const rest = count === undefined || isMet ? '' : `, expected ${count}`;
  if (blocks.length === 0) return fail(`the result of ${toolName} has no content${isError ? ', but an error' : ''}.`);
  const list = joinWithin(blocks.map(describeBlock), maxListLength, ', ');
  return decide(
    isMet,
    `the result of ${toolName} has ${has} like ${printValue(expected)}${rest}; its content is ${list}.`,
  );
}

function readBlock(fields: JsonObject): ContentBlock {
  const resource = isRecord(fields['resource']) ? fields['resource'] : {};
  const type = readString(fields['type']) ?? 'unknown';
  const text = readString(fields['text']) ?? readString(resource['text']);
  const data = readString(fields['data']) ?? readString(resource['blob']);
  const bytes = data === null ? null : Buffer.from(data, 'base64');
  return {
    type,
    mimeType: readString(fields['mimeType']) ?? readString(resource['mimeType']),
    uri: readString(fields['uri']) ?? readString(resource['uri']),
    name: readString(fields['name']),
    text,
    byteLength: bytes?.length ?? (text === null ? null : Buffer.byteLength(text)),
    size: type === 'image' && bytes !== null ? readImageSize(bytes) : null,
  };
}

function readString(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

function isLike(block: ContentBlock, expected: ExpectedBlock): boolean {
  const { type, mimeType, uri, name, text, minBytes, maxBytes, width, height } = { ...noFields, ...expected };
  const { byteLength, size } = block;
  return (
    block.type === type &&
    (mimeType === undefined || isMimeType(block.mimeType, mimeType)) &&
    (uri === undefined || (block.uri !== null && fitsPattern(block.uri, uri))) &&
    (name === undefined || block.name === name) &&
    (text === undefined || block.text?.toLowerCase().includes(text.toLowerCase()) === true) &&
    (minBytes === undefined || (byteLength !== null && byteLength >= minBytes)) &&
    (maxBytes === undefined || (byteLength !== null && byteLength <= maxBytes)) &&
    (width === undefined || size?.width === width) &&
    (height === undefined || size?.height === height)
  );
}

const noFields: { [Field in 'mimeType' | 'uri' | 'name' | 'text']?: string } & {
  [Field in 'minBytes' | 'maxBytes' | 'width' | 'height']?: number;
} = {};

/** Compares parameters such as a charset only if the expected type has them. */
function isMimeType(actual: string | null, expected: string): boolean {
  const found = expected.includes(';') ? actual : (actual?.split(';')[0] ?? null);
  return found !== null && fitsPattern(found.trim().toLowerCase(), expected.toLowerCase());
}

/** Checks if a text matches a pattern in which `*` stands for any text. */
function fitsPattern(text: string, pattern: string): boolean {
  const [head = '', ...parts] = pattern.split('*');
  const tail = parts.pop();
  if (tail === undefined) return text === pattern;
  let offset = head.length;
  for (const part of parts) {
    const index = text.indexOf(part, offset);
    if (index === -1) return false;
    offset = index + part.length;
  }
  return text.startsWith(head) && text.length - tail.length >= offset && text.endsWith(tail);
}

const longestField = 80;

function describeBlock({ type, uri, mimeType, byteLength, size }: ContentBlock): string {
  const facts = [
    ...[uri, mimeType].flatMap((field) => (field === null ? [] : clipText(field, longestField))),
    ...(byteLength === null ? [] : [formatCount(byteLength, 'byte')]),
    ...(size === null ? [] : [`${size.width}x${size.height}`]),
    ...(size === null && type === 'image' ? ['dimensions unreadable'] : []),
  ];
  return `${clipText(type, longestField)} (${facts.join(', ')})`;
}
