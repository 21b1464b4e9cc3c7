import { z } from 'zod';
import { isRecord, tryParseJson } from '../base/json.ts';
import { type HeaderList, isHeaderList } from './headers.ts';

/** The limits that the relay sets for a host. The defaults are the values seen in use; a relay may announce others. */
const limitsSchema = z.object({
  /** The most bytes in the body of one request. */
  maxReqBody: z.number().positive().catch(10_485_760),
  /** The most bytes of body in one binary frame. */
  chunk: z.int().positive().max(16_777_216).catch(65_536),
  /** The most requests under way at once. */
  maxInflight: z.number().positive().catch(32),
});
export type TunnelLimits = z.infer<typeof limitsSchema>;

/** The most bytes of one grant of credit. */
const maxGrant = 1_073_741_824;

const helloSchema = z.object({
  t: z.literal('hello'),
  proto: z.number(),
  slug: z.string().catch(''),
  limits: z.preprocess((value) => value ?? {}, limitsSchema),
  /** The bytes of body that either side may send per request before it is granted more; null if there is no credit. */
  window: z.int().positive().max(maxGrant).nullable().catch(null).default(null),
});

/** The reasons to end a request early. */
const abortCodes = ['timeout', 'too_large', 'client_gone', 'upstream_error', 'overloaded'] as const;
export type AbortCode = (typeof abortCodes)[number];

/**
 * The text frames of the relay protocol, version 1. `window` frames, and `window` in `hello`, are extensions of this project. A relay
 * that does not announce a window never receives them. A host announces that it grants credit by a first one with the id 0. Ids are
 * unsigned 32-bit integers.
 */
export type TextFrame =
  | z.infer<typeof helloSchema>
  /** `url` has the path and the query. */
  | { t: 'req'; id: number; method: string; url: string; headers: HeaderList; hasBody: boolean }
  | { t: 'req_end'; id: number }
  | { t: 'res'; id: number; status: number; headers: HeaderList }
  | { t: 'res_end'; id: number }
  | { t: 'abort'; id: number; code: AbortCode; msg?: string | undefined }
  | { t: 'window'; id: number; n: number };

/** A frame that is invalid or unknown. `id` is set if the sender waits for an answer to it. */
export interface IgnoredFrame {
  readonly t: 'ignored';
  readonly id: number | null;
}

const ignored: IgnoredFrame = { t: 'ignored', id: null };

/**
 * Reads a text frame. Returns `ignored` for anything that is not a valid frame, with the id if it is the head of a request or a response,
 * so that the other side gets an error. Never throws.
 */
export function parseTextFrame(text: string): TextFrame | IgnoredFrame {
  const value = tryParseJson(text);
  if (!isRecord(value)) return ignored;
  if (value['t'] === 'hello') return helloSchema.safeParse(value).data ?? ignored;
  const { id } = value;
  return isInteger(id, 0, 0xffff_ffff) ? readFrame(value, id) : ignored;
}

// This is written by hand, since every call has several of these frames, and a schema library would cost more than all other work on
// them.
function readFrame(value: Record<string, unknown>, id: number): TextFrame | IgnoredFrame {
  const { t, method, url, headers, hasBody, status, code, msg, n } = value;
  switch (t) {
    case 'req':
      return isMethod(method) && isUrl(url) && isHeaderList(headers) && typeof hasBody === 'boolean'
        ? { t, id, method, url, headers, hasBody }
        : { t: 'ignored', id };
    case 'res':
      return isInteger(status, 200, 599) && isHeaderList(headers) ? { t, id, status, headers } : { t: 'ignored', id };
    case 'req_end':
    case 'res_end':
      return { t, id };
    case 'window':
      return isInteger(n, 1, maxGrant) ? { t, id, n } : ignored;
    case 'abort': {
      const known = abortCodes.find((other) => other === code) ?? 'upstream_error';
      return { t, id, code: known, msg: typeof msg === 'string' ? msg : undefined };
    }
    default:
      return ignored;
  }
}

function isInteger(value: unknown, least: number, most: number): value is number {
  return Number.isInteger(value) && Number(value) >= least && Number(value) <= most;
}

/** RFC 9110 §5.6.2, token. */
function isMethod(value: unknown): value is string {
  return typeof value === 'string' && /^[!#$%&'*+.^_`|~\dA-Za-z-]{1,32}$/.test(value);
}

/** Allows only printable ASCII, since it goes into a request line. */
function isUrl(value: unknown): value is string {
  return typeof value === 'string' && /^\/[\x21-\x7e]*$/.test(value);
}

export function renderTextFrame(frame: TextFrame): string {
  return JSON.stringify(frame);
}

/** The first byte of a binary frame: it says to which side's body the frame belongs. */
const bodyKinds = { request: 0x01, response: 0x02 } as const;
export type BodyKind = keyof typeof bodyKinds;

/** A part of a body. `payload` is a view of the frame. */
export interface BodyFrame {
  readonly t: 'body';
  readonly kind: BodyKind;
  readonly id: number;
  readonly payload: Buffer;
}

/** One byte for the kind, four for the id. */
const bodyHeadBytes = 5;

/** Reads a binary frame: kind, id as uint32 in network order, payload. Returns `ignored` for anything else. Never throws. */
export function parseBodyFrame(frame: Buffer): BodyFrame | IgnoredFrame {
  if (frame.length < bodyHeadBytes) return ignored;
  const kind = frame[0] === bodyKinds.request ? 'request' : frame[0] === bodyKinds.response ? 'response' : null;
  if (kind === null) return ignored;
  return { t: 'body', kind, id: frame.readUInt32BE(1), payload: frame.subarray(bodyHeadBytes) };
}

/** Renders a binary frame with a copy of the payload. */
export function renderBodyFrame(kind: BodyKind, id: number, payload: Uint8Array): Buffer {
  const frame = Buffer.allocUnsafe(bodyHeadBytes + payload.length);
  frame[0] = bodyKinds[kind];
  frame.writeUInt32BE(id, 1);
  frame.set(payload, bodyHeadBytes);
  return frame;
}
