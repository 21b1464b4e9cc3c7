import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hostProfiles } from '../../src/hosts/catalog.ts';
import { showResult } from '../../src/hosts/show-result.ts';
import { findHost } from './find-host.ts';

const show = (id: string, result: Record<string, unknown>) => showResult(findHost(id), result);
const text = (value: string) => ({ type: 'text', text: value });
const said = (value: string) => ({ kind: 'text', text: value });

describe('structured content and text', () => {
  const both = { content: [text('one')], structuredContent: { a: 1 } };

  it.each([
    ['claude-code', [said('{"a":1}')]],
    ['codex', [said('{"a":1}')]],
    ['gemini-cli', [said('one')]],
    ['opencode', [said('one')]],
    ['goose', [said('one')]],
    ['qwen-code', [said('one'), said('{"a":1}')]],
    ['copilot-cli', [said('one'), said('{"a":1}')]],
  ])('are what %s shows', (id, parts) => {
    const shown = show(id, both);
    expect(shown.parts).toEqual(parts);
    expect(shown.changes.map(({ kind }) => kind)).toEqual(parts.length === 1 ? ['lost'] : []);
  });

  it('keep an image in Claude Code and not in Codex', () => {
    const image = { type: 'image', mimeType: 'image/png', data: 'AA==' };
    const mixed = { content: [text('one'), image], structuredContent: { a: 1 } };
    expect(show('claude-code', mixed).parts).toEqual([
      { kind: 'image', mimeType: 'image/png', data: 'AA==' },
      said('{"a":1}'),
    ]);
    expect(show('claude-code', mixed).changes).toHaveLength(1);
    expect(show('claude-code', { ...mixed, content: [image] }).changes).toEqual([]);
    expect(show('codex', mixed).parts).toEqual([said('{"a":1}')]);
    expect(show('codex', { ...mixed, content: [image] }).changes).toHaveLength(1);
  });

  it.each([
    ['claude-code', [said('{"a":1}')]],
    ['opencode', [said('{"a":1}')]],
    ['gemini-cli', []],
    ['goose', [{ kind: 'note', about: 'an empty result' }]],
  ])('without content are what %s shows', (id, parts) => {
    expect(show(id, { content: [], structuredContent: { a: 1 } }).parts).toEqual(parts);
  });
});

describe('content', () => {
  const image = { type: 'image', mimeType: 'image/png', data: 'AA==' };
  const link = { type: 'resource_link', name: 'log', uri: 'file:///log' };
  const audio = { type: 'audio', mimeType: 'audio/wav', data: 'AA==' };
  const resource = { type: 'resource', resource: { uri: 'file:///a', text: 'A' } };

  it.each([
    ['claude-code', image, [{ kind: 'image', mimeType: 'image/png', data: 'AA==' }], 0],
    ['opencode', image, [{ kind: 'image', mimeType: 'image/png', data: 'AA==' }], 0],
    ['qwen-code', image, [{ kind: 'note', about: 'an image' }], 1],
    ['copilot-cli', image, [], 1],
    ['goose', image, [{ kind: 'image', mimeType: 'image/png', data: 'AA==' }], 0],
    ['claude-code', resource, [said('A')], 0],
    ['codex', resource, [said(JSON.stringify(resource))], 0],
    ['claude-code', link, [said('log file:///log')], 0],
    ['opencode', link, [], 1],
    ['copilot-cli', link, [], 1],
    ['claude-code', audio, [{ kind: 'file', about: 'audio' }], 0],
    ['codex', audio, [{ kind: 'note', about: 'audio' }], 1],
    ['gemini-cli', audio, [{ kind: 'note', about: 'audio' }], 1],
    ['opencode', audio, [], 1],
  ])('%s shows %o', (id, block, parts, lost) => {
    const shown = show(id, { content: [block] });
    expect(shown.parts).toEqual(parts);
    expect(shown.changes).toHaveLength(lost);
  });
});

describe('errors', () => {
  it.each([
    ['claude-code', true],
    ['gemini-cli', true],
    ['codex', false],
    ['opencode', false],
    ['goose', false],
  ])('%s marks them: %s', (id, isMarkedError) => {
    const shown = show(id, { content: [text('no')], isError: true });
    expect(shown).toMatchObject({ isMarkedError, parts: [said('no')] });
    expect(shown.changes.map(({ kind }) => kind)).toEqual(isMarkedError ? [] : ['lost']);
    expect(show(id, { content: [text('yes')] }).isMarkedError).toBeNull();
  });
});

describe('a long result', () => {
  const sizes = (id: string, length: number) => {
    const shown = show(id, { content: [text('x'.repeat(length))] });
    const kept = shown.parts.flatMap((part) => (part.kind === 'text' ? [part.text.length] : []));
    return { kept, isCut: shown.changes.some(({ kind }) => kind === 'cut'), isError: shown.isMarkedError };
  };

  it.each([
    ['claude-code', [1960], null],
    ['codex', [6000, 6000], null],
    ['gemini-cli', [8000, 32_000], null],
    ['opencode', [], null],
    ['qwen-code', [2000], null],
    ['copilot-cli', [500], null],
  ])('of 200,000 characters is cut by %s', (id, kept, isError) => {
    expect(sizes(id, 200_000)).toEqual({ kept, isCut: true, isError });
  });

  it.each([
    ['goose', 200_000],
    ['codex', 12_000],
    ['gemini-cli', 40_000],
    ['claude-code', 50_000],
  ])('is whole in %s with %i characters', (id, length) => {
    expect(sizes(id, length)).toEqual({ kept: [length], isCut: false, isError: null });
  });
});

describe('showResult', () => {
  it('never throws, whatever the server sends, and answers the same again', () => {
    const block = fc.record(
      {
        type: fc.constantFrom('text', 'image', 'resource', 'resource_link', 'audio', '__proto__', 'other'),
        text: fc.anything(),
        resource: fc.jsonValue(),
        annotations: fc.jsonValue(),
      },
      { requiredKeys: ['type'] },
    );
    const result = fc.record(
      {
        content: fc.oneof(fc.jsonValue(), fc.array(block)),
        structuredContent: fc.jsonValue(),
        isError: fc.jsonValue(),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(result, fc.constantFrom(...hostProfiles), (sent, profile) => {
        expect(showResult(profile, sent)).toEqual(showResult(profile, sent));
      }),
    );
  });
});
