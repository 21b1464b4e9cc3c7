import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseBodyFrame, parseTextFrame, renderBodyFrame, renderTextFrame } from '../../src/tunnel/frames.ts';
import { countDraws } from '../support/property-runs.ts';

const limits = { maxReqBody: 10_485_760, chunk: 65_536, maxInflight: 32 };
const req = { t: 'req', id: 7, method: 'POST', url: '/a?k=1', headers: [['accept', '*/*']], hasBody: true };

describe('text frames', () => {
  it.each([
    { t: 'hello', proto: 1, slug: 'abc', limits, window: 1024 },
    req,
    { t: 'req_end', id: 7 },
    { t: 'res', id: 7, status: 200, headers: [['Set-Cookie', 'a=é']] },
    { t: 'res_end', id: 4_294_967_295 },
    { t: 'abort', id: 0, code: 'client_gone', msg: 'left' },
    { t: 'window', id: 7, n: 65_536 },
  ] as const)('are read as they were written: %j', (frame) => {
    expect(parseTextFrame(renderTextFrame(frame as Parameters<typeof renderTextFrame>[0]))).toEqual(frame);
  });

  it('of a hello may leave out limits and window, or give odd ones', () => {
    const hello = { t: 'hello', proto: 1, slug: 's', limits, window: null };
    expect(parseTextFrame('{"t":"hello","proto":1,"slug":"s"}')).toEqual(hello);
    const odd = '{"t":"hello","proto":1,"slug":"s","limits":{"chunk":-1,"maxInflight":"many","new":1},"window":0}';
    expect(parseTextFrame(odd)).toEqual(hello);
  });

  it('may carry fields and abort codes that are not known', () => {
    expect(parseTextFrame('{"t":"req_end","id":1,"more":true}')).toEqual({ t: 'req_end', id: 1 });
    const abort = '{"t":"abort","id":1,"code":"new_code","msg":5}';
    expect(parseTextFrame(abort)).toEqual({ t: 'abort', id: 1, code: 'upstream_error', msg: undefined });
  });

  it.each(['', 'null', '[]', '{', '"req"', '{"t":"new","id":1}', '{"t":"req_end"}', '{"t":"req_end","id":-1}'])(
    'are ignored when nothing can come of them: %j',
    (text) => {
      expect(parseTextFrame(text)).toEqual({ t: 'ignored', id: null });
    },
  );

  it.each([
    { method: 'GET /x HTTP/1.1\r\n' },
    { method: '' },
    { url: 'http://evil.example/' },
    { url: '/a b' },
    { url: '/a\r\nx: y' },
    { url: '/ä' },
    { headers: { accept: '*/*' } },
    { headers: [['accept']] },
    { headers: [['a b', 'c']] },
    { headers: [['a', 'b\r\nc: d']] },
    { headers: [['a', 'b\0']] },
    { headers: [['a', '☃']] },
    { hasBody: 'yes' },
  ])('of a request with %j are ignored, but not forgotten', (fields) => {
    expect(parseTextFrame(JSON.stringify({ ...req, ...fields }))).toEqual({ t: 'ignored', id: 7 });
  });

  it.each([99, 100, 199, 600, 200.5, '200'])('of a response with status %j are ignored', (status) => {
    const text = JSON.stringify({ t: 'res', id: 3, status, headers: [] });
    expect(parseTextFrame(text)).toEqual({ t: 'ignored', id: 3 });
  });
});

describe('binary frames', () => {
  it('are read as they were written', () => {
    fc.assert(
      fc.property(
        fc.constantFrom('request' as const, 'response' as const),
        fc.nat(0xffff_ffff),
        fc.uint8Array(),
        (kind, id, bytes) => {
          const payload = Buffer.from(bytes);
          const frame = renderBodyFrame(kind, id, payload);
          expect(parseBodyFrame(frame)).toEqual({ t: 'body', kind, id, payload });
        },
      ),
    );
  });

  it('carry the id in network order', () => {
    expect(renderBodyFrame('response', 258, Buffer.from('a')).toString('hex')).toBe('020000010261');
  });

  it.each(['', '01', '01000000', '0000000001ff', '0300000001ff', 'ff00000001'])('are ignored as %j', (hex) => {
    expect(parseBodyFrame(Buffer.from(hex, 'hex'))).toEqual({ t: 'ignored', id: null });
  });
});

describe('fuzzed frames', () => {
  const draws = countDraws(50_000);
  const kinds = ['hello', 'req', 'req_end', 'res', 'res_end', 'abort', 'window', '__proto__', 'x', 1, null];
  const keys = ['t', 'id', 'method', 'url', 'headers', 'hasBody', 'status', 'code', 'msg', 'n', 'proto', 'limits'];
  const value = fc.oneof(
    fc.integer(),
    fc.double(),
    fc.boolean(),
    fc.string({ unit: 'binary' }),
    fc.constantFrom(null, '/a', 'GET', [], {}, [['a', 'b']], [['a', 1]], 2 ** 32, -1, limits),
    fc.jsonValue({ maxDepth: 2 }),
  );
  const shaped = fc
    .tuple(fc.constantFrom(...kinds), fc.dictionary(fc.constantFrom(...keys), value))
    .map(([t, fields]) => JSON.stringify({ ...fields, t }));
  const damaged = fc.tuple(fc.nat(200), fc.string({ unit: 'binary', maxLength: 3 })).map(([at, noise]) => {
    const text = JSON.stringify(req);
    return `${text.slice(0, at)}${noise}${text.slice(at + noise.length)}`;
  });

  it('of text are each a frame or ignored', () => {
    let frames = 0;
    fc.assert(
      fc.property(fc.oneof(shaped, damaged, fc.string({ unit: 'binary' })), (text) => {
        const frame = parseTextFrame(text);
        frames += 1;
        // What was taken for a frame is one however often it travels.
        if (frame.t !== 'ignored') expect(parseTextFrame(renderTextFrame(frame))).toEqual(frame);
      }),
      { numRuns: draws },
    );
    expect(frames).toBe(draws);
  });

  it('of bytes are each a frame or ignored', () => {
    let frames = 0;
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 12 }), (bytes) => {
        const frame = parseBodyFrame(Buffer.from(bytes));
        frames += 1;
        if (frame.t === 'body') expect(frame.payload.length).toBe(bytes.length - 5);
      }),
      { numRuns: draws },
    );
    expect(frames).toBe(draws);
  });
});
