import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createResponseScanner } from '../../src/mcp/response-scanner.ts';

function scan(text: string, isEventStream = false, chunkSize = 1 << 20) {
  const scanner = createResponseScanner({ isEventStream });
  const bytes = Buffer.from(text);
  for (let start = 0; start < bytes.length; start += chunkSize) scanner.scan(bytes.subarray(start, start + chunkSize));
  return { ...scanner.found };
}

/** The same counts from the parsed value. */
function measure(value: unknown): { values: number; depth: number } {
  if (typeof value !== 'object' || value === null) return { values: 0, depth: 0 };
  const parts = Object.values(value).map(measure);
  return {
    values: 1 + Math.max(parts.length - 1, 0) + parts.reduce((sum, part) => sum + part.values, 0),
    depth: 1 + Math.max(0, ...parts.map(({ depth }) => depth)),
  };
}

describe('createResponseScanner', () => {
  it('finds in any JSON what its parser finds, however it is cut', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.boolean(), fc.integer({ min: 1, max: 20 }), (value, isIndented, chunkSize) => {
        const text = JSON.stringify(value, null, isIndented ? 2 : 0);
        expect(scan(text, false, chunkSize)).toMatchObject(measure(value));
        expect(scan(`data: ${JSON.stringify(value)}\n\n`, true, chunkSize)).toMatchObject(measure(value));
      }),
      { numRuns: 500 },
    );
  });

  it.each([
    ['data: {"a":1}\n\ndata: {"a":1}\n\n', 2],
    ['data: {"a":1}\r\n\r\ndata: {"a":1}\r\n\r\n', 2],
    ['data: {"a":1}\r\rdata: {"a":1}\r\r', 2],
    ['id: 1\ndata: {"a":\ndata: 1}\n\n', 1],
    [': a comment\n', 0],
    ['data: 1', 0],
  ])('counts the events of %j', (text, events) => {
    expect(scan(text, true).events).toBe(events);
    expect(scan(text, true, 1).events).toBe(events);
  });

  it.each([
    ['{"a":[{},{}]}', 0],
    ['[{"a":[{},{}]},{}]', 2],
    ['[]', 0],
    ['["[{","{"]', 0],
  ])('counts the messages of the batch %j', (text, events) => {
    expect(scan(text).events).toBe(events);
  });

  it('ends a text and its levels where the line and the event end', () => {
    expect(scan('data: ["\ndata: ["\n\n'.repeat(3), true)).toMatchObject({ events: 3, values: 6, depth: 2 });
  });
});
