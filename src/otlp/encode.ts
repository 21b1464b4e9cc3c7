import { escapeJson } from '../report/escape/json.ts';

/** The attributes of a span or a resource, named by OpenTelemetry's semantic conventions. Undefined values are left out. */
export type Attributes = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;

/** One time span of a trace. */
export interface SpanRecord {
  /** 32 and 16 hexadecimal digits. */
  traceId: string;
  spanId: string;
  /** Null for the first span of a trace. */
  parentSpanId: string | null;
  name: string;
  /** `client` if another process answered. */
  kind: 'internal' | 'client';
  /** Epoch milliseconds, fractions allowed. */
  startMs: number;
  endMs: number;
  attributes: Attributes;
  /** The reason why it failed; null if it did not. */
  failure: string | null;
}

/** The source of the spans. */
export interface SpanSource {
  name: string;
  version: string;
  resource: Attributes;
}

/**
 * Renders spans as one line of OTLP's JSON: the body of an export request, and also a line of the files that collectors read.
 * OpenTelemetry Protocol 1.x, "JSON Protobuf Encoding": ids in hexadecimal, 64-bit integers as text, enums as numbers.
 */
export function renderSpans(spans: readonly SpanRecord[], { name, version, resource }: SpanSource): string {
  // Protobuf accepts no text with a lone surrogate.
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

/** Values of SpanKind and Status.StatusCode in trace.proto. */
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
    // The conventions let only the owner of an operation set the status to ok; all others leave it unset.
    status: failure === null ? {} : { code: errorStatus, message: failure },
  };
}

/** Nanoseconds since 1970 exceed the precision of a double, so this adds the parts as bigints. */
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
