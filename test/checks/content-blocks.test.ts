import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readImageSize } from '../../src/checks/image-size.ts';
import { judgeAssertion } from '../../src/engine/judge-assertion.ts';
import { createEvidence, createToolResult } from '../support/factories/evidence-factory.ts';

/** Headers of images that are 300 pixels wide and 200 high, as their formats' specifications have them. */
const png = '89504e470d0a1a0a 0000000d 49484452 0000012c 000000c8 0802000000';
const headers: ReadonlyArray<[format: string, hex: string]> = [
  ['PNG', png],
  ['GIF', '474946383961 2c01 c800 80 00 00'],
  ['lossy WebP', '52494646 24000000 57454250 56503820 18000000 300100 9d012a 2c01 c800'],
  ['lossless WebP', '52494646 1a000000 57454250 5650384c 0d000000 2f 2bc13100'],
  ['extended WebP', '52494646 1a000000 57454250 56503858 0a000000 10000000 2b0100 c70000'],
  ['baseline JPEG', 'ffd8 ffe0 0010 4a46494600010101004800480000 ffc0 0011 08 00c8 012c 03'],
  ['progressive JPEG', 'ffd8 ffdb 0004 0000 ffff ffc4 0003 00 ffd0 ffc2 0011 08 00c8 012c 03'],
];
const toBytes = (hex: string) => Buffer.from(hex.replaceAll(' ', ''), 'hex');

describe('readImageSize', () => {
  it.each(headers)('reads a %s header', (_, hex) => {
    expect(readImageSize(toBytes(hex))).toEqual({ width: 300, height: 200 });
  });

  it.each(headers)('finds nothing in a %s header that is cut off', (_, hex) => {
    const bytes = toBytes(hex);
    for (let length = 0; length < bytes.length - 5; length += 1) {
      expect(readImageSize(bytes.subarray(0, length))).toBeNull();
    }
  });

  it.each([
    ['a scan before any frame', 'ffd8 ffda 0004 0000 ffc0 0011 08 00c8 012c 03'],
    ['a WebP of another kind', '52494646 1a000000 57454250 414e494d 0d000000 2f 2bc13100'],
    ['something that is no image', '25504446 2d312e37'],
  ])('finds nothing in %s', (_, hex) => {
    expect(readImageSize(toBytes(hex))).toBeNull();
  });

  it('never throws, whatever the bytes', () => {
    const starts = headers.map(([, hex]) => toBytes(hex).subarray(0, 12));
    fc.assert(
      fc.property(fc.constantFrom(Buffer.alloc(0), ...starts), fc.uint8Array({ maxLength: 60 }), (start, rest) => {
        expect(() => readImageSize(Buffer.concat([start, rest]))).not.toThrow();
      }),
    );
  });
});

const data = toBytes(png).toString('base64');
const blob = Buffer.from('binary').toString('base64');
const content = [
  { type: 'text', text: 'Two images and a note:' },
  { type: 'image', mimeType: 'image/png', data },
  { type: 'image', mimeType: 'image/webp', data: blob },
  { type: 'audio', mimeType: 'audio/wav', data: blob },
  { type: 'resource', resource: { uri: 'note://7', mimeType: 'text/plain; charset=utf-8', text: 'Buy milk' } },
  { type: 'resource', resource: { uri: 'blob://1', mimeType: 'application/pdf', blob } },
  { type: 'resource_link', uri: 'note://list/8', name: 'Note 8', mimeType: 'text/plain' },
  { type: 'resource_link', uri: 'note://list/9', name: 'Note 9' },
];
const evidence = createEvidence({ toolResults: [createToolResult({ toolName: 'get-all', content })] });
const judge = async (block: object, rest: object = {}) =>
  await judgeAssertion({ type: 'toolResultContent', block, ...rest }, evidence);

describe('toolResultContent', () => {
  it.each([
    [{ type: 'text', text: 'TWO images' }],
    [{ type: 'image' }],
    [{ type: 'image', mimeType: 'image/*', width: 300, height: 200 }],
    [{ type: 'image', mimeType: 'IMAGE/PNG', minBytes: 29, maxBytes: 29 }],
    [{ type: 'audio', mimeType: 'audio/wav', maxBytes: 6 }],
    [{ type: 'resource', uri: 'note://*', text: 'milk', mimeType: 'text/plain' }],
    [{ type: 'resource', mimeType: 'text/plain; charset=utf-8', minBytes: 8 }],
    [{ type: 'resource', uri: 'blob://1', minBytes: 6, maxBytes: 6 }],
    [{ type: 'resource_link', name: 'Note 9' }],
    [{ type: 'resource_link', uri: 'note://*/8', mimeType: 'text/*' }],
    [{ type: 'resource_link', uri: '*list*' }],
  ])('passes %j', async (block) => {
    expect((await judge(block)).state).toBe('passed');
  });

  it.each([
    [{ type: 'text', text: 'milk' }],
    [{ type: 'image', mimeType: 'image/jpeg' }],
    [{ type: 'image', mimeType: 'image/webp', width: 300 }],
    [{ type: 'image', width: 300, height: 300 }],
    [{ type: 'image', maxBytes: 5 }],
    [{ type: 'image', minBytes: 30 }],
    [{ type: 'audio', mimeType: 'audio/wav; codecs=1' }],
    [{ type: 'resource', uri: 'note://', text: 'milk' }],
    [{ type: 'resource', uri: 'blob://1', text: 'binary' }],
    [{ type: 'resource_link', uri: 'note://list/8*8' }],
    [{ type: 'resource_link', mimeType: 'image/*' }],
  ])('fails %j', async (block) => {
    expect((await judge(block)).state).toBe('failed');
  });

  it('lists what the content is', async () => {
    expect((await judge({ type: 'image', mimeType: 'image/jpeg' })).reason).toMatchInlineSnapshot(
      `"toolResultContent: the result of get-all has no block like {"type":"image","mimeType":"image/jpeg"}; its content is text (22 bytes), image (image/png, 29 bytes, 300x200), image (image/webp, 6 bytes, dimensions unreadable), audio (audio/wav, 6 bytes), resource (note://7, text/plain; charset=utf-8, 8 bytes), resource (blob://1, application/pdf, 6 bytes), resource_link (note://list/8, text/plain), resource_link (note://list/9)."`,
    );
  });

  it.each([
    [{ type: 'image' }, 2, 'passed', 'has 2 blocks like {"type":"image"}; its content is text (22 bytes), '],
    [{ type: 'resource_link' }, 3, 'failed', 'has 2 blocks like {"type":"resource_link"}, expected 3; its content is '],
    [{ type: 'audio' }, 2, 'failed', 'has 1 block like {"type":"audio"}, expected 2; its content is '],
  ])('counts %j: %i', async (block, count, state, reason) => {
    expect(await judge(block, { count })).toEqual({ state, reason: expect.stringContaining(reason) });
  });

  it('judges the latest result of a tool', async () => {
    const toolResults = [createToolResult({ content }), createToolResult({ toolName: 'echo' })];
    const image = { type: 'toolResultContent', block: { type: 'image' } };
    expect((await judgeAssertion(image, createEvidence({ toolResults }))).state).toBe('failed');
    expect((await judgeAssertion({ ...image, toolName: 'get-sum' }, createEvidence({ toolResults }))).state).toBe(
      'passed',
    );
  });

  it.each([
    [null, 'unmeasured', 'the content of the result of get-sum was not captured.'],
    [[], 'failed', 'the result of get-sum has no content.'],
    [[{}, { type: 7 }], 'failed', 'no block like {"type":"text"}; its content is unknown (), unknown ().'],
  ])('says of the content %j that it is %s', async (odd, state, reason) => {
    const check = { type: 'toolResultContent', block: { type: 'text' } };
    const judged = await judgeAssertion(check, createEvidence({ toolResults: [createToolResult({ content: odd })] }));
    expect(judged).toEqual({ state, reason: expect.stringContaining(reason) });
  });
});

describe('toolError', () => {
  const error = { isError: true, toolError: 'It failed.' };
  const toolResults = [
    createToolResult({ toolName: 'good' }),
    createToolResult({ toolName: 'own', text: 'No such note: 7', ...error }),
    createToolResult({ toolName: 'rpc', text: 'Invalid params: id', errorCode: -32602, content: [], ...error }),
  ];
  const judgeError = async (expected: object, toolName: string) =>
    await judgeAssertion({ type: 'toolError', error: expected, toolName }, createEvidence({ toolResults }));

  it.each([
    [{ code: -32602 }, 'rpc'],
    [{ code: -32602, contains: 'invalid PARAMS', matches: 'id$' }, 'rpc'],
    [{ contains: 'note: 7' }, 'own'],
  ])('passes %j of %s', async (expected, toolName) => {
    expect((await judgeError(expected, toolName)).state).toBe('passed');
  });

  it.each([
    [
      { code: -32601, contains: 'name' },
      'rpc',
      'toolError: rpc answered with JSON-RPC error -32602: "Invalid params: id"; expected code -32601, it does not contain "name".',
    ],
    [
      { code: -32602 },
      'own',
      'toolError: own answered with an error without a JSON-RPC code: "No such note: 7"; expected code -32602.',
    ],
    [
      { matches: '^\\d+$' },
      'own',
      'toolError: own answered with an error without a JSON-RPC code: "No such note: 7"; it does not match "^\\\\d+$".',
    ],
    [
      { contains: 'x' },
      'good',
      'toolError: the result of good is "The sum of 2 and 3 is 5." and is no error, expected an error.',
    ],
    [{ matches: '(?=x)' }, 'own', 'toolError: the pattern "(?=x)" is not an RE2 regular expression'],
    [
      {},
      'own',
      'toolError: the predicate is malformed: error: Write at least one of `code`, `contains` and `matches`.',
    ],
  ])('fails %j of %s', async (expected, toolName, reason) => {
    expect(await judgeError(expected, toolName)).toEqual({
      state: 'failed',
      reason: expect.stringContaining(reason),
    });
  });
});
