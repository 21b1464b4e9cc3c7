import { describe, expect, it } from 'vitest';
import type { Surface } from '../../src/model/surface.ts';
import { createCoverage, fitsTemplate } from '../../src/surface/measure-coverage.ts';

function createSurface(overrides: Partial<Surface> = {}): Surface {
  return { capabilities: {}, tools: [], prompts: [], resources: [], resourceTemplates: [], ...overrides };
}

const createTool = (name: string, properties: Record<string, unknown>, rest: Record<string, unknown> = {}) => ({
  name,
  inputSchema: { type: 'object', properties, ...rest },
});

/** Items as `kind path`, with a mark for covered ones. */
const print = (coverage: ReturnType<typeof createCoverage>) =>
  coverage.listItems().map(({ kind, path, isCovered }) => `${isCovered ? '+' : '-'} ${kind} ${path.join('.')}`);

describe('createCoverage', () => {
  it('counts what calls give, and nothing that the server does not show', () => {
    const coverage = createCoverage([
      createSurface({
        tools: [createTool('search', { mode: { enum: ['fast', 'slow'] }, limit: {} }), createTool('drop', {})],
      }),
    ]);
    coverage.addCall('search', { mode: 'fast', unknown: 1 });
    coverage.addCall('missing', { limit: 1 });
    coverage.addError('missing');
    expect(print(coverage)).toEqual([
      '+ tools search',
      '- errors search',
      '+ parameters search.mode',
      '+ values search.mode."fast"',
      '- values search.mode."slow"',
      '- parameters search.limit',
      '- tools drop',
      '- errors drop',
    ]);
    coverage.addError('drop');
    expect(print(coverage)).toContain('+ errors drop');
  });

  it.each<[string, unknown, Record<string, unknown>]>([
    ['a reference', { $ref: '#/$defs/Mode' }, { $defs: { Mode: { enum: ['a', 'b'] } } }],
    ['an optional value', { anyOf: [{ enum: ['a', 'b'] }, { type: 'null' }] }, {}],
    ['alternatives', { oneOf: [{ const: 'a' }, { const: 'b' }] }, {}],
    ['an array', { type: 'array', items: { enum: ['a', 'b'] } }, {}],
  ])('finds the enum of %s', (_what, schema, rest) => {
    const coverage = createCoverage([createSurface({ tools: [createTool('t', { p: schema }, rest)] })]);
    coverage.addCall('t', { p: ['b'] });
    expect(print(coverage).filter((line) => line.includes('values'))).toEqual(['- values t.p."a"', '+ values t.p."b"']);
  });

  it('leaves out long enums, schemas that are odd, and references in a circle', () => {
    const codes = Array.from({ length: 51 }, (_, index) => index);
    const circle = { $defs: { A: { $ref: '#/$defs/A' } } };
    const tools = [createTool('t', { code: { enum: codes }, odd: true, loop: { $ref: '#/$defs/A' } }, circle)];
    const coverage = createCoverage([createSurface({ tools })]);
    expect(print(coverage).filter((line) => line.includes('values'))).toEqual([]);
  });

  it('counts an item of two servers once', () => {
    const surface = createSurface({ prompts: [{ name: 'p', arguments: [] }], tools: [createTool('t', {})] });
    const coverage = createCoverage([surface, surface]);
    coverage.addPrompt('p');
    expect(print(coverage)).toEqual(['- tools t', '- errors t', '+ prompts p']);
  });

  it('covers a resource by its URI, and the templates that it fits', () => {
    const coverage = createCoverage([
      createSurface({
        resources: [{ uri: 'note://1', name: 'one' }],
        resourceTemplates: [
          { uriTemplate: 'note://{id}', name: 'note' },
          { uriTemplate: 'file://{path}', name: 'file' },
        ],
      }),
    ]);
    coverage.addResource('note://1');
    expect(print(coverage)).toEqual(['+ resources note://1', '+ templates note://{id}', '- templates file://{path}']);
  });
});

describe('fitsTemplate', () => {
  it.each([
    ['note://1', 'note://{id}', true],
    ['note://', 'note://{id}', false],
    ['note://1/2', 'note://{a}/{b}', true],
    ['note://1', 'note://{a}/{b}', false],
    ['note://1/raw', 'note://{id}/raw', true],
    ['note://1/raw/x', 'note://{id}/raw', false],
    ['note://all?page=2', 'note://all{?page}', true],
    ['note://all', 'note://all{?page}', true],
    ['note://all', 'note://all', true],
    ['note://any', 'note://all', false],
    ['other://1', 'note://{id}', false],
  ])('judges %s by %s: %s', (uri, template, fits) => {
    expect(fitsTemplate(uri, template)).toBe(fits);
  });

  it('judges a hostile template in linear steps', () => {
    const template = '{a}x'.repeat(2000);
    expect(fitsTemplate('yx'.repeat(50_000), template)).toBe(true);
    expect(fitsTemplate('y'.repeat(100_000), template)).toBe(false);
  });
});
