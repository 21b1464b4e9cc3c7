import { isUtf8 } from 'node:buffer';
import { z } from 'zod';
import { isTooDeep, tryParseJson } from '../base/json.ts';

/** A body in a recording: as JSON or text where it is, so that a reviewer can read it. A list has the lines of a text. */
export const bodySchema = z.union([
  z.strictObject({ json: z.unknown() }),
  z.strictObject({ text: z.union([z.string(), z.array(z.string())]) }),
  z.strictObject({ base64: z.base64() }),
]);

export type WrittenBody = z.output<typeof bodySchema>;

/** Describes a body; null for an empty one. */
export function describeBody(body: Buffer, contentType: string): WrittenBody | null {
  if (body.length === 0) return null;
  if (!isUtf8(body) || body.includes(0)) return { base64: body.toString('base64') };
  const text = body.toString('utf8');
  if (/\bjson\b/i.test(contentType) || /^\s*[[{]/.test(text)) {
    const json = roundsNumber(text) ? undefined : tryParseJson(text);
    if (json !== undefined && !isTooDeep(json)) return { json };
  }
  return { text: splitLines(text) };
}

/** Checks if reading the text as JSON changes a number, such as a long id. Such a body stays text. */
function roundsNumber(text: string): boolean {
  if (!/\d{16}/.test(text)) return false;
  let isRounded = false;
  const read = (_name: string, value: unknown, context?: { source?: string }): unknown => {
    const source = context?.source ?? '';
    isRounded ||= typeof value === 'number' && /^-?\d+$/.test(source) && !Number.isSafeInteger(value);
    return value;
  };
  try {
    JSON.parse(text, read);
  } catch {
    return false;
  }
  return isRounded;
}

/** Returns the bytes of a body. */
export function encodeBody(body: WrittenBody | null): Buffer {
  if (body === null) return Buffer.alloc(0);
  if ('json' in body) return Buffer.from(JSON.stringify(body.json));
  return 'text' in body ? Buffer.from(joinLines(body.text)) : Buffer.from(body.base64, 'base64');
}

/** Writes a text of several lines as a list, because a changed line is then a changed line of the file. */
export function splitLines(text: string): string | string[] {
  const lines = text.split('\n');
  return lines.length === 1 ? text : lines;
}

export function joinLines(text: string | readonly string[]): string {
  return typeof text === 'string' ? text : text.join('\n');
}
