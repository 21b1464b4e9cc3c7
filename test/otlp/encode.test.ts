import { JsonTraceSerializer } from '@opentelemetry/otlp-transformer';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { renderSpans, type SpanRecord } from '../../src/otlp/encode.ts';
import { hostileText } from '../support/text/hostile-text.ts';
import { parseRunnerLine } from '../support/runner/runner-commands.ts';

type ReadableSpan = Parameters<typeof JsonTraceSerializer.serializeRequest>[0][number];

const source = { name: 'mcp-eval-ci', version: '1.2.3', resource: { 'service.name': 'mcp-eval-ci' } };

const root: SpanRecord = {
  traceId: '0af7651916cd43dd8448eb211c80319c',
  spanId: 'b7ad6b7169203331',
  parentSpanId: null,
  name: 'Adds two numbers',
  kind: 'internal',
  startMs: 1_790_000_000_000,
  endMs: 1_790_000_000_250.5,
  attributes: { 'test.case.name': 'Adds two numbers', 'a.count': 3, 'a.share': 0.5, 'a.flag': true, 'a.list': ['x'] },
  failure: null,
};
const child: SpanRecord = {
  ...root,
  spanId: '00f067aa0ba902b7',
  parentSpanId: root.spanId,
  name: 'tools/call get-sum',
  kind: 'client',
  attributes: { 'gen_ai.tool.name': 'get-sum', 'gen_ai.tool.call.id': undefined },
  failure: 'tool_error',
};

const resource = { attributes: source.resource } as unknown as ReadableSpan['resource'];

/** The same span as OpenTelemetry's own libraries hold it; of their enums, `kind` counts from 0. */
function toReadable(span: SpanRecord): ReadableSpan {
  const toTime = (ms: number): [number, number] => [Math.floor(ms / 1000), Math.round((ms % 1000) * 1e6)];
  const toContext = (spanId: string) => ({ traceId: span.traceId, spanId, traceFlags: 1 });
  const readable: unknown = {
    name: span.name,
    kind: span.kind === 'client' ? 2 : 0,
    spanContext: () => toContext(span.spanId),
    ...(span.parentSpanId === null ? {} : { parentSpanContext: toContext(span.parentSpanId) }),
    startTime: toTime(span.startMs),
    endTime: toTime(span.endMs),
    duration: toTime(span.endMs - span.startMs),
    ended: true,
    status: span.failure === null ? { code: 0 } : { code: 2, message: span.failure },
    attributes: JSON.parse(JSON.stringify(span.attributes)),
    links: [],
    events: [],
    resource,
    instrumentationScope: { name: source.name, version: source.version },
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  };
  return readable as ReadableSpan;
}

/** Without what protobuf leaves out where it is zero or empty, and with integers as text, which either side may write. */
function canonize(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(canonize);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).flatMap(([key, member]): Array<[string, unknown]> => {
    if (key === 'intValue') return [[key, String(member)]];
    if (key === 'flags' || (key === 'code' && member === 0)) return [];
    const isEmpty = member === 0 || member === '' || (Array.isArray(member) && member.length === 0);
    return isEmpty ? [] : [[key, canonize(member)]];
  });
  return Object.fromEntries(entries);
}

describe('renderSpans', () => {
  it('writes what OpenTelemetry’s own serializer writes', () => {
    const theirs = JsonTraceSerializer.serializeRequest([root, child].map(toReadable));
    const ours = renderSpans([root, child], source);
    expect(canonize(JSON.parse(ours))).toEqual(canonize(JSON.parse(new TextDecoder().decode(theirs))));
  });

  it('keeps a moment to the nanosecond, beyond what a double can hold', () => {
    const [span] = JSON.parse(renderSpans([root], source)).resourceSpans[0].scopeSpans[0].spans;
    expect([span.startTimeUnixNano, span.endTimeUnixNano]).toEqual(['1790000000000000000', '1790000000250500000']);
  });

  it('is one line without terminal or workflow commands, whatever the names are', () => {
    fc.assert(
      fc.property(hostileText, (text) => {
        const line = renderSpans([{ ...root, name: text, failure: text, attributes: { [text]: text } }], source);
        expect(line.split('\n')).toHaveLength(2);
        expect(parseRunnerLine(line)).toBeNull();
        expect(JSON.parse(line).resourceSpans[0].scopeSpans[0].spans[0].name).toBe(text.toWellFormed());
      }),
      { numRuns: 1000 },
    );
  });
});
