import { escapeJson } from '../report/escape/json.ts';

/** What a span or a resource is described by, by the names of OpenTelemetry's semantic conventions. Undefined is left out. */
export type Attributes = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;

/** One stretch of time of a trace. */
export interface SpanRecord {
  /** 32 and 16 hexadecimal digits. */
  traceId: string;
  spanId: string;
  /** Null for the first span of a trace. */
  parentSpanId: string | null;
  name: string;
  /** `client` for what another process answered. */
  kind: 'internal' | 'client';
  /** Epoch milliseconds, fractions allowed. */
  startMs: number;
  endMs: number;
  attributes: Attributes;
  /** Why it failed; null where it did not. */
  failure: string | null;
}

/** The source of the spans. */
export interface SpanSource {
  name: string;
  version: string;
  resource: Attributes;
}

/**
 * Renders spans as one line of OTLP's JSON: the body of an export request, and a line of what collectors read from files.
 * OpenTelemetry Protocol 1.x, "JSON Protobuf Encoding": ids in hexadecimal, 64-bit integers as text, enums as numbers.
 */
export function renderSpans(spans: readonly SpanRecord[], { name, version, resource }: SpanSource): string {
  // Protobuf takes no text with half a code point in it.
  const keepWellFormed = (_: string, value: unknown) => (typeof value === 'string' ? value.toWellFormed() : value);
  const request = {
    resourceSpans: [
      {
        resource: { attributes: encodeAttributes(resource) },
        scopeSpans: [{ scope: { name, version }, spans: spans.map(encodeSpan) }],
      },
    ],
  };
  return `${escapeJson(JSON.stringify(request, keepWellFormed))}\n`;
}

/** Of SpanKind and Status.StatusCode in trace.proto. */
const kinds = { internal: 1, client: 3 } as const;
const errorStatus = 2;

function encodeSpan({ traceId, spanId, parentSpanId, name, kind, startMs, endMs, attributes, failure }: SpanRecord) {
  return {
    traceId,
    spanId,
    ...(parentSpanId === null ? {} : { parentSpanId }),
    name,
    kind: kinds[kind],
    startTimeUnixNano: toNanoseconds(startMs),
    endTimeUnixNano: toNanoseconds(endMs),
    attributes: encodeAttributes(attributes),
    // What went well is left unset, which is how the conventions want it of everybody but the owner of the operation.
    status: failure === null ? {} : { code: errorStatus, message: failure },
  };
}

/** Beyond what a double can hold, so that the parts are put together as text. */
function toNanoseconds(epochMs: number): string {
  const wholeMs = Math.floor(epochMs);
  return String(BigInt(wholeMs) * 1_000_000n + BigInt(Math.floor((epochMs - wholeMs) * 1e6)));
}

function encodeAttributes(attributes: Attributes) {
  return Object.entries(attributes).flatMap(([key, value]) =>
    value === undefined ? [] : [{ key, value: encodeValue(value) }],
  );
}

function encodeValue(value: string | number | boolean | readonly string[]): object {
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'boolean') return { boolValue: value };
  if (typeof value !== 'number') return { arrayValue: { values: value.map(encodeValue) } };
  return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value };
}
