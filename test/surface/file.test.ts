import { describe, expect, it } from 'vitest';
import { parseSurfaceFile, renderSurfaceFile } from '../../src/surface/file.ts';
import { normalizeSurface } from '../../src/surface/normalize.ts';

const surface = normalizeSurface({
  capabilities: { tools: {} },
  instructions: 'Search first.',
  tools: [{ name: 'search', description: 'Searches.', inputSchema: { type: 'object' } }],
  prompts: [{ name: 'greet', arguments: [{ name: 'who', required: true }] }],
  resources: [{ uri: 'note://1', name: 'one' }],
  resourceTemplates: [{ uriTemplate: 'note://{id}', name: 'note' }],
});

describe('a surface file', () => {
  it('is read as it was written, and is the same text whatever the order of its configurations', () => {
    const text = renderSurfaceFile({ version: 1, configurations: { b: surface, a: surface } });
    expect(parseSurfaceFile(text, 'surface.json').configurations).toEqual({ a: surface, b: surface });
    expect(renderSurfaceFile(parseSurfaceFile(text, 'surface.json'))).toBe(text);
    expect(text.indexOf('"a"')).toBeLessThan(text.indexOf('"b"'));
  });

  it.each([
    ['{', 'surface.json:1:1: is not JSON; write it again with `--update` (bad-surface-file)'],
    [
      '{\n<<<<<<< HEAD\n',
      'surface.json:2:1: has an unresolved merge conflict; write it again with `--update` (bad-surface-file)',
    ],
    [
      '{"version":2}',
      'surface.json:1:1: has version 2, which a later version of mcp-eval-ci wrote; update mcp-eval-ci',
    ],
    [
      '{"version":1,"configurations":{"a":{"tools":3}}}',
      'surface.json:1:1: is not a surface file at `configurations.a',
    ],
  ])('is refused with one message: %j', (text, message) => {
    expect(() => parseSurfaceFile(text, 'surface.json')).toThrow(message);
  });
});
