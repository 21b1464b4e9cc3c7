import { describe, expect, it } from 'vitest';
import { readToolOutput } from '../../src/engine/trace-reader.ts';

const mcp = {
  content: [
    { type: 'text', text: 'one' },
    { type: 'image', data: '' },
    { type: 'text', text: 'two' },
  ],
};
const plain = { text: 'one\ntwo', structuredContent: undefined, isError: false };
const verbatim = { ...plain, content: mcp.content, isVerbatim: true };
const shown = { ...plain, content: null, isVerbatim: false };

describe('readToolOutput', () => {
  it.each([
    ['as JSON', { output: { type: 'json', value: mcp } }],
    ['wrapped twice', { output: { type: 'json', value: { type: 'json', value: mcp } } }],
    ['bare', { output: mcp }],
    ['next to what the model was shown', { result: mcp, output: { type: 'text', value: 'shortened' } }],
    ['in the older place', { result: mcp }],
    ['and not what the part makes of it', { output: { type: 'json', value: mcp }, isError: true }],
  ])('reads an MCP result %s', (_how, part) => {
    expect(readToolOutput(part)).toEqual(verbatim);
  });

  it('keeps the structured content and the error of an MCP result', () => {
    const value = { content: [], structuredContent: { sum: 5 }, isError: true };
    const expected = { text: '', structuredContent: { sum: 5 }, content: [], isError: true, isVerbatim: true };
    expect(readToolOutput({ output: { type: 'json', value } })).toEqual(expected);
    expect(readToolOutput({ output: { type: 'json', value: { structuredContent: { sum: 5 } } } })).toEqual({
      ...expected,
      isError: false,
    });
  });

  it.each([
    ['text', { output: { type: 'text', value: 'one\ntwo' } }, shown],
    ['content', { output: { type: 'content', value: mcp.content } }, shown],
    ['a bare text', { output: 'one\ntwo' }, shown],
    [
      'text of a part that is an error',
      { output: { type: 'text', value: 'one\ntwo' }, isError: true },
      { ...shown, isError: true },
    ],
    ['error-text', { output: { type: 'error-text', value: 'one\ntwo' } }, { ...shown, isError: true }],
    [
      'error-json',
      { output: { type: 'error-json', value: { code: 7 } } },
      { text: '{"code":7}', structuredContent: { code: 7 }, content: null, isError: true, isVerbatim: false },
    ],
    [
      'JSON that is no MCP result',
      { output: { type: 'json', value: { sum: 5 } } },
      { text: '{"sum":5}', structuredContent: { sum: 5 }, content: null, isError: false, isVerbatim: false },
    ],
  ])('reads %s', (_what, part, expected) => {
    expect(readToolOutput(part)).toEqual(expected);
  });

  it.each([
    ['nothing', {}],
    ['null', { output: null }],
    ['JSON null', { output: { type: 'json', value: null } }],
    ['text that is none', { output: { type: 'text', value: 5 } }],
    ['content that is none', { output: { type: 'content', value: 'one' } }],
    ['an unknown kind', { output: { type: 'execution-denied', value: 'no' } }],
    ['wrappers without an end', { output: wrap(10) }],
  ])('reads nothing from %s', (_what, part) => {
    expect(readToolOutput(part)).toBeNull();
  });
});

function wrap(depth: number): object {
  return depth === 0 ? mcp : { type: 'json', value: wrap(depth - 1) };
}
