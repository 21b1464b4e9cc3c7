import { describe, expect, it } from 'vitest';
import { ConfigurationError } from '../../../src/base/errors.ts';
import { compileIgnore, ignoreInOutput } from '../../../src/models/recordings/ignore.ts';
import { findIgnoreProblem } from '../../../src/suite/ignore-pattern.ts';

const ignore = (output: unknown, ...patterns: string[]) => ignoreInOutput(output, compileIgnore(patterns));
const ignored = '⟨ignored⟩';

describe('the patterns of `ignore`', () => {
  it('exclude what a JSON Pointer leads to in structured content, and in texts that are JSON', () => {
    const result = (readAt: unknown) => ({
      content: [
        { type: 'text', text: `{"id": 7, "readAt": ${JSON.stringify(readAt)}}` },
        { type: 'text', text: `Read at ${String(readAt)}.` },
      ],
      structuredContent: { id: 7, readAt },
      isError: false,
    });
    expect(ignore({ type: 'json', value: result('12:00') }, '/readAt')).toEqual({
      type: 'json',
      value: {
        content: [
          { type: 'text', text: `{"id": 7, "readAt": "${ignored}"}` },
          { type: 'text', text: 'Read at 12:00.' },
        ],
        structuredContent: { id: 7, readAt: ignored },
        isError: false,
      },
    });
  });

  it('lead into plain JSON and plain text as well', () => {
    expect(ignore({ type: 'json', value: { id: 7 } }, '/id')).toEqual({ type: 'json', value: { id: ignored } });
    expect(ignore({ type: 'text', value: '[{"id":7}]' }, '/0/id')).toEqual({
      type: 'text',
      value: `[{"id":"${ignored}"}]`,
    });
    expect(ignore({ type: 'error-text', value: 'Failed at 12:00.' }, String.raw`\d\d:\d\d`)).toEqual({
      type: 'error-text',
      value: `Failed at ${ignored}.`,
    });
  });

  it('take `*` for any one segment, and escapes as RFC 6901 has them', () => {
    const value = {
      notes: [
        { id: 1, text: 'a' },
        { id: 2, text: 'b' },
      ],
      'a/b': { '~': 1, id: 3 },
    };
    expect(ignore({ type: 'json', value }, '/notes/*/id', '/a~1b/~0')).toEqual({
      type: 'json',
      value: {
        notes: [
          { id: ignored, text: 'a' },
          { id: ignored, text: 'b' },
        ],
        'a/b': { '~': ignored, id: 3 },
      },
    });
  });

  it('exclude each match of a regular expression, in nested texts too', () => {
    const value = {
      content: [{ type: 'resource', resource: { uri: 'a:1', text: 'id-1 id-22' } }],
      structuredContent: ['id-3'],
    };
    expect(ignore({ type: 'json', value }, String.raw`id-\d+`)).toEqual({
      type: 'json',
      value: {
        content: [{ type: 'resource', resource: { uri: 'a:1', text: `${ignored} ${ignored}` } }],
        structuredContent: [ignored],
      },
    });
  });

  it('leave files and images as they are', () => {
    const output = {
      type: 'content',
      value: [{ type: 'file', mediaType: 'image/png', data: { type: 'data', data: 'id-1' } }],
    };
    expect(ignore(output, String.raw`id-\d`, '/0/mediaType')).toEqual(output);
  });

  it('keep every other character of a text that is JSON', () => {
    const text =
      '{ "id" : 12345678901234567890,\n "id":1, "a\\"]": [1.0, {"readAt":{"x":[1,"}"]}}, true ],"readAt":-1e5}';
    const clean = (...pointers: string[]) => {
      const output = ignore({ type: 'text', value: text }, ...pointers);
      return output;
    };
    expect(clean('/none')).toEqual({ type: 'text', value: text });
    expect(clean('/readAt', '/*/1/readAt')).toEqual({
      type: 'text',
      value: `{ "id" : 12345678901234567890,\n "id":1, "a\\"]": [1.0, {"readAt":"${ignored}"}, true ],"readAt":"${ignored}"}`,
    });
    expect(clean('/id')).toMatchObject({
      value: expect.stringContaining(`{ "id" : "${ignored}",\n "id":"${ignored}", `),
    });
  });

  it('lead into each line that is JSON where the whole text is not', () => {
    const output = { type: 'text', value: 'Two notes:\n{"id": 7}\n[1\n{"id": 8}\n' };
    expect(ignore(output, '/id')).toEqual({
      type: 'text',
      value: `Two notes:\n{"id": "${ignored}"}\n[1\n{"id": "${ignored}"}\n`,
    });
  });

  it('do not apply to text that is no JSON, or whose JSON is a single value', () => {
    for (const value of ['{"id":7', 'id: 7', '"id"', '7']) {
      expect(ignore({ type: 'text', value }, '/id')).toEqual({ type: 'text', value });
    }
  });

  it('are refused with the reason where they cannot be used', () => {
    const bad = ['', '/a~b', '(', '.*', '(?=a)'];
    expect(bad.map((pattern) => findIgnoreProblem(pattern))).toMatchInlineSnapshot(`
      [
        "The pattern "" matches empty text, so that it excludes nothing or everything; write what it must match at least",
        ""/a~b" is not a JSON Pointer; write \`~\` as \`~0\`, or \`[/]\` for a regular expression that begins with a slash",
        "The pattern "(" is no RE2 regular expression: error parsing regexp: missing closing ): \`(\`",
        "The pattern ".*" matches empty text, so that it excludes nothing or everything; write what it must match at least",
        "The pattern "(?=a)" is no RE2 regular expression: error parsing regexp: invalid or unsupported Perl syntax: \`(?=\`",
      ]
    `);
    expect(() => compileIgnore(['/id', '('])).toThrow(ConfigurationError);
    expect(['/id', '/', '/a~1b/*', String.raw`\d{4}-\d\d-\d\d`, '[/]tmp/\\w+'].map(findIgnoreProblem)).toEqual(
      Array.from({ length: 5 }, () => null),
    );
  });
});
