import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isJsonEqual } from '../../src/base/json.ts';
import { canBePartial, JsonComparison } from '../../src/checks/json-comparison.ts';
import { judgeAssertion } from '../../src/engine/judge-assertion.ts';
import { createEvidence, createToolResult } from '../support/factories/evidence-factory.ts';

const order = {
  id: 'A7',
  total: 7.1415,
  tags: ['new', 'paid', 'new'],
  lines: [
    { sku: 'pen', price: 1.25 },
    { sku: 'ink', price: 9.99 },
  ],
  apiKey: 'k-123',
};
const evidence = createEvidence({
  toolResults: [
    createToolResult({ toolName: 'get-order', structuredContent: order }),
    createToolResult({ toolName: 'get-text', text: 'Paid in full' }),
  ],
});
const judge = async (check: object) => await judgeAssertion({ toolName: 'get-order', ...check }, evidence);

describe('an assertion on a part of a result', () => {
  it.each([
    [{ type: 'toolResultContains', needle: 'A7', path: '/id' }],
    [{ type: 'toolResultContains', needle: '"sku":"ink"', path: '/lines' }],
    [{ type: 'toolResultContains', needle: 'PEN', path: '/lines/0/sku' }],
    [{ type: 'toolResultMatches', pattern: '^A\\d$', path: '/id' }],
    [{ type: 'toolResultMatches', pattern: '^7\\.', path: '/total' }],
    [{ type: 'toolResultMatchesSchema', schema: { type: 'number' }, path: '/lines/1/price' }],
    [{ type: 'toolResultContains', needle: 'order', path: '' }],
  ])('passes %j', async (check) => {
    const text = createToolResult({ toolName: 'get-order', text: 'Your order', structuredContent: order });
    const judged = await judgeAssertion(check, createEvidence({ toolResults: [text] }));
    expect(judged.state).toBe('passed');
  });

  it.each([
    [
      { type: 'toolResultContains', needle: 'pen', path: '/id' },
      'toolResultContains: /id in the result of get-order is "A7" and does not contain "pen".',
    ],
    [
      { type: 'toolResultContains', needle: 'A7', path: '/tags' },
      'toolResultContains: /tags in the result of get-order is ["new","paid","new"] and does not contain "A7".',
    ],
    [
      { type: 'toolResultMatches', pattern: '^\\d+$', path: '/id' },
      'toolResultMatches: /id in the result of get-order is "A7" and does not match "^\\\\d+$".',
    ],
    [
      { type: 'toolResultMatches', pattern: 'A7', path: '/ids/0' },
      'toolResultMatches: /ids/0 in the result of get-order does not exist (the result has only "id"; "total"; "tags"; "lines"; "apiKey").',
    ],
    [
      { type: 'toolResultMatchesSchema', schema: { type: 'string' }, path: '/total' },
      'toolResultMatchesSchema: /total in the result of get-order does not fit the schema: it must be string. It is 7.1415.',
    ],
    [
      { type: 'toolResultContains', needle: 'x', path: '/apiKey' },
      'toolResultContains: /apiKey in the result of get-order is *** and does not contain "x".',
    ],
    [
      { type: 'toolResultContains', needle: 'x', path: '/id', toolName: 'get-text' },
      'toolResultContains: the result of get-text is "Paid in full", which is not JSON, and it has no structuredContent.',
    ],
    [
      { type: 'toolResultContains', needle: 'x', path: 'id' },
      'toolResultContains: the predicate is malformed: path: expected a JSON Pointer, such as /items/0/name.',
    ],
  ])('fails %j', async (check, reason) => {
    expect(await judge(check)).toEqual({ state: 'failed', reason });
  });

  it('names the path when several results lack the text', async () => {
    const toolResults = ['a', 'b'].map((id) => createToolResult({ structuredContent: { id } }));
    const check = { type: 'toolResultContains', needle: 'c', path: '/id' };
    expect((await judgeAssertion(check, createEvidence({ toolResults }))).reason).toBe(
      'toolResultContains: none of 2 results contains "c" at /id; /id in the result of get-sum is "b".',
    );
  });
});

describe('toolResultEquals with a tolerance', () => {
  it.each([
    [{ value: 7.14, path: '/total', tolerance: 0.01 }],
    [
      {
        value: [
          { sku: 'pen', price: 1.3 },
          { sku: 'ink', price: 10 },
        ],
        path: '/lines',
        tolerance: 0.05,
      },
    ],
    // As doubles, these two differ by a little more than a twentieth.
    [{ value: 1.2, path: '/lines/0/price', tolerance: 0.05 }],
  ])('passes %j', async (fields) => {
    expect((await judge({ type: 'toolResultEquals', ...fields })).state).toBe('passed');
  });

  it.each([
    [
      { value: 7.14, path: '/total', tolerance: 0.001 },
      'toolResultEquals: /total in the result of get-order is 7.1415, expected 7.14 within 0.001.',
    ],
    [
      { value: '7.14', path: '/total', tolerance: 1 },
      'toolResultEquals: /total in the result of get-order is 7.1415, expected "7.14" within 1.',
    ],
    [
      {
        value: [
          { sku: 'pen', price: 1.3 },
          { sku: 'ink', price: 12 },
        ],
        path: '/lines',
        tolerance: 0.05,
      },
      'toolResultEquals: /lines in the result of get-order is not as expected within 0.05: /lines/1/price is 9.99, expected 12.',
    ],
    [
      { value: 1, path: '/total', tolerance: -1 },
      'toolResultEquals: the predicate is malformed: tolerance: Too small: expected number to be >=0.',
    ],
  ])('fails %j', async (fields, reason) => {
    expect(await judge({ type: 'toolResultEquals', ...fields })).toEqual({ state: 'failed', reason });
  });
});

describe('toolResultEquals of lists in any order', () => {
  it.each([
    [{ value: ['paid', 'new', 'new'], path: '/tags' }],
    [{ value: [order.lines[1], order.lines[0]], path: '/lines' }],
    [{ value: { ...order, tags: ['new', 'new', 'paid'], lines: order.lines.toReversed() } }],
    [
      {
        value: [
          { sku: 'ink', price: 10 },
          { sku: 'pen', price: 1.3 },
        ],
        path: '/lines',
        tolerance: 0.05,
      },
    ],
  ])('passes %j', async (fields) => {
    expect((await judge({ type: 'toolResultEquals', unordered: true, ...fields })).state).toBe('passed');
  });

  it.each([
    [
      { value: ['paid', 'paid', 'new'], path: '/tags' },
      'toolResultEquals: /tags in the result of get-order is not as expected: /tags has no item "paid"; /tags has "new", expected no such item.',
    ],
    [
      { value: ['paid', 'new'], path: '/tags' },
      'toolResultEquals: /tags in the result of get-order has "new", expected no such item.',
    ],
    [
      { value: ['paid', 'new', 'new', 'old'], path: '/tags' },
      'toolResultEquals: /tags in the result of get-order has no item "old".',
    ],
    [
      { value: ['new', 'paid', 'new'], path: '/tags', unordered: false, toolName: 'get-text' },
      'toolResultEquals: the result of get-text is "Paid in full", which is not JSON, and it has no structuredContent.',
    ],
  ])('fails %j', async (fields, reason) => {
    expect(await judge({ type: 'toolResultEquals', unordered: true, ...fields })).toEqual({ state: 'failed', reason });
  });

  it('compares the lines of a text in any order, and says which one is missing', async () => {
    const text = 'Files:\nb.txt\na.txt';
    const evidence = createEvidence({ toolResults: [createToolResult({ toolName: 'list', text })] });
    const lines = { type: 'toolResultEquals', unordered: true, value: 'Files:\na.txt\nb.txt' };
    expect((await judgeAssertion(lines, evidence)).state).toBe('passed');
    expect((await judgeAssertion({ ...lines, unordered: false }, evidence)).state).toBe('failed');
    expect(await judgeAssertion({ ...lines, value: 'Files:\na.txt\nc.txt' }, evidence)).toMatchObject({
      state: 'failed',
      reason:
        'toolResultEquals: the result of list is not as expected: has no item "c.txt"; has "b.txt", expected no such item.',
    });
  });

  it('is not measured where the lists are too long to be compared in any order', async () => {
    const structuredContent = { ids: Array.from({ length: 8000 }, (_, id) => id) };
    const value = structuredContent.ids.toReversed();
    const check = { type: 'toolResultEquals', path: '/ids', value };
    const long = createEvidence({ toolResults: [createToolResult({ structuredContent })] });
    expect(await judgeAssertion({ ...check, unordered: true }, long)).toEqual({
      state: 'unmeasured',
      reason:
        'toolResultEquals: /ids in the result of get-sum is too large to be compared in any order. Compare a part of it with `path`.',
    });
    expect((await judgeAssertion(check, long)).state).toBe('failed');
  });
});

describe('partial', () => {
  const order = { lines: [{ sku: 'pen', price: 1 }], note: {} };
  const structuredContent = { lines: [{ sku: 'pen', price: 1, tax: 0.2 }], note: { by: 'Ada' }, total: 2 };
  const evidence = createEvidence({ toolResults: [createToolResult({ structuredContent })] });

  it('lets objects have more members, at every depth', async () => {
    const check = { type: 'toolResultEquals', value: order };
    expect((await judgeAssertion({ ...check, partial: true }, evidence)).state).toBe('passed');
    expect((await judgeAssertion(check, evidence)).state).toBe('failed');
  });

  it('lets lists have no more items, and names what is missing only', async () => {
    const value = { lines: [], state: 'paid' };
    expect(await judgeAssertion({ type: 'toolResultEquals', value, partial: true }, evidence)).toEqual({
      state: 'failed',
      reason:
        'toolResultEquals: the result of get-sum is not as expected: /lines/0 is {"sku":"pen","price":1,"tax":0.2}, expected nothing; /state is missing, expected "paid".',
    });
  });

  it('is of no use for a document without objects, or with an empty one', () => {
    expect(canBePartial(structuredContent)).toBe(true);
    expect([order, [], 'text', null, [[1]]].map(canBePartial)).toEqual([false, false, false, false, false]);
  });
});

describe('JsonComparison', () => {
  const numbers = fc.array(fc.integer({ min: 0, max: 12 }), { maxLength: 6 });

  it('is equality without rules', () => {
    const document = fc.jsonValue({ maxDepth: 3 });
    fc.assert(
      fc.property(document, document, (one, other) => {
        expect(new JsonComparison({}).isEqual(one, other)).toBe(isJsonEqual(one, other));
        expect(new JsonComparison({ unordered: true, tolerance: 0 }).isEqual(one, one)).toBe(true);
      }),
    );
  });

  it('pairs as many numbers within a tolerance as an independent method does', () => {
    fc.assert(
      fc.property(numbers, numbers, fc.integer({ min: 0, max: 3 }), (expected, actual, tolerance) => {
        const { missing, extra } = new JsonComparison({ unordered: true, tolerance }).pair(expected, actual);
        // Of sorted numbers, the smallest that still fits is never a worse partner than a larger one.
        const open = actual.toSorted((left, right) => left - right);
        const unpaired = expected
          .toSorted((left, right) => left - right)
          .filter((wanted) => {
            const index = open.findIndex((found) => Math.abs(found - wanted) <= tolerance);
            if (index !== -1) open.splice(index, 1);
            return index === -1;
          });
        expect([missing.length, extra.length]).toEqual([unpaired.length, open.length]);
      }),
    );
  });
});
