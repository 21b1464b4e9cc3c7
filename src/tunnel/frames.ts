import { z } from 'zod';
import { isHeaderList } from './headers.ts';
import type { HeaderList } from './headers.ts';

/** What the relay allows a host. Defaults are the values seen in use; a relay may announce others. */
const limitsSchema = z.object({
  /** Bytes of one request's body. */
  maxReqBody: z.number().positive().catch(10_485_760),
  /** Bytes of body in one binary frame. */
  chunk: z.int().positive().max(16_777_216).catch(65_536),
  /** Requests under way at once. */
  maxInflight: z.number().positive().catch(32),
});
export type TunnelLimits = z.infer<typeof limitsSchema>;

const id = z.int().min(0).max(0xffff_ffff);
const headers = z.custom<HeaderList>(isHeaderList);

/** Why a request ended early. */
export const abortCodes = ['timeout', 'too_large', 'client_gone', 'upstream_error', 'overloaded'] as const;
export type AbortCode = (typeof abortCodes)[number];

/**
 * The text frames of the relay protocol, version 1. `window` frames, and `window` in `hello`, are ours: a relay that does
 * not announce a window never sees them.
 */
const textFrameSchema = z.discriminatedUnion('t', [
  z.object({
    t: z.literal('hello'),
    proto: z.number(),
    slug: z.string().catch(''),
    limits: z.preprocess((value) => value ?? {}, limitsSchema),
    /** Bytes of body that either side may send per request before it is granted more; null where nothing is metered. */
    window: z.int().positive().max(1_073_741_824).nullable().catch(null).default(null),
  }),
  z.object({
    t: z.literal('req'),
    id,
    // RFC 9110 §5.6.2, token.
    method: z.string().regex(/^[!#$%&'*+.^_`|~\dA-Za-z-]{1,32}$/),
    /** Path and query. Nothing but printable ASCII, since it goes into a request line. */
    url: z.string().regex(/^\/[\x21-\x7e]*$/),
    headers,
    hasBody: z.boolean(),
  }),
  z.object({ t: z.literal('req_end'), id }),
  z.object({ t: z.literal('res'), id, status: z.int().min(200).max(599), headers }),
  z.object({ t: z.literal('res_end'), id }),
  z.object({
    t: z.literal('abort'),
    id,
    code: z.enum(abortCodes).catch('upstream_error'),
    msg: z.string().optional().catch(undefined),
  }),
  z.object({ t: z.literal('window'), id, n: z.int().positive().max(1_073_741_824) }),
]);
export type TextFrame = z.infer<typeof textFrameSchema>;

/** A frame without meaning for us. `id` is what it was about, where the sender waits for something to come of it. */
export interface IgnoredFrame {
  readonly t: 'ignored';
  readonly id: number | null;
}

const headSchema = z.object({ t: z.enum(['req', 'res']), id });
const ignored: IgnoredFrame = { t: 'ignored', id: null };

/**
 * Reads a text frame. Whatever is not one, or not a valid one, is `ignored`; with its id where it is the head of a request
 * or a response, so that the other side can be told. Never throws.
 */
export function parseTextFrame(text: string): TextFrame | IgnoredFrame {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return ignored;
  }
  const frame = textFrameSchema.safeParse(value);
  if (frame.success) return frame.data;
  const head = headSchema.safeParse(value);
  return head.success ? { t: 'ignored', id: head.data.id } : ignored;
}

export function renderTextFrame(frame: TextFrame): string {
  return JSON.stringify(frame);
}

/** The first byte of a binary frame: whose body it is a part of. */
export const bodyKinds = { request: 0x01, response: 0x02 } as const;
export type BodyKind = keyof typeof bodyKinds;

/** A part of a body. `payload` is a view of the frame. */
export interface BodyFrame {
  readonly t: 'body';
  readonly kind: BodyKind;
  readonly id: number;
  readonly payload: Buffer;
}

/** One byte of kind, four of id. */
const bodyHeadBytes = 5;

/** Reads a binary frame: kind, id as uint32 in network order, payload. Anything else is `ignored`. Never throws. */
export function parseBodyFrame(frame: Buffer): BodyFrame | IgnoredFrame {
  if (frame.length < bodyHeadBytes) return ignored;
  const kind = frame[0] === bodyKinds.request ? 'request' : frame[0] === bodyKinds.response ? 'response' : null;
  if (kind === null) return ignored;
  return { t: 'body', kind, id: frame.readUInt32BE(1), payload: frame.subarray(bodyHeadBytes) };
}

export function renderBodyFrame(kind: BodyKind, id: number, payload: Buffer): Buffer {
  const frame = Buffer.allocUnsafe(bodyHeadBytes + payload.length);
  frame[0] = bodyKinds[kind];
  frame.writeUInt32BE(id, 1);
  payload.copy(frame, bodyHeadBytes);
  return frame;
}
