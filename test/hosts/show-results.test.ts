import { describe, expect, it } from 'vitest';
import { readExploredResults } from '../../src/explore/read-results.ts';
import { compareHosts } from '../../src/hosts/compare-hosts.ts';
import type { ReceivedResult } from '../../src/hosts/show-results.ts';
import { createSurface, findHost } from './find-host.ts';

const surface = createSurface([{ name: 'get', outputSchema: { type: 'object' } }, { name: 'list' }, { name: 'open' }]);
const text = (value: string) => ({ type: 'text', text: value });

function find(id: string, results: ReceivedResult[] | null) {
  const { hosts } = compareHosts([findHost(id)], [{ name: 'notes', surface }], results);
  const findings = hosts.flatMap((host) => host.findings);
  return findings
    .filter(({ fact }) => fact.path.startsWith('results.'))
    .map(({ kind, message, tools, details }) => ({ kind, message, tools, details }));
}

describe('results that a server gave', () => {
  it('replace what the declaration says, and lose nothing if the text repeats the structured content', () => {
    const lost = { kind: 'lost', tools: ['get'] };
    expect(find('claude-code', null)).toMatchObject([lost]);
    const repeated = { content: [text('{"b": 2, "a": 1}')], structuredContent: { a: 1, b: 2 } };
    expect(find('claude-code', [{ label: 'get', result: repeated }])).toEqual([]);
    expect(find('gemini-cli', [{ label: 'get', result: repeated }])).toEqual([]);
    const member = { content: [text('read')], structuredContent: { content: 'read' } };
    expect(find('claude-code', [{ label: 'get', result: member }])).toEqual([]);
    expect(find('goose', [{ label: 'get', result: member }])).toEqual([]);
    const more = { content: [text('read')], structuredContent: { content: 'read', size: 4 } };
    expect(find('claude-code', [{ label: 'get', result: more }])).toEqual([]);
    expect(find('goose', [{ label: 'get', result: more }])).toMatchObject([lost]);
    // A host that shows only structured content shows the data of an image as a text.
    const image = [{ type: 'image', mimeType: 'image/png', data: 'AA==' }];
    const media = { content: image, structuredContent: { content: image } };
    expect(find('codex', [{ label: 'get', result: media }])).toMatchObject([{ kind: 'lost', tools: ['get'] }]);
    expect(find('claude-code', [{ label: 'get', result: media }])).toEqual([]);
    expect(find('gemini-cli', [{ label: 'get', result: media }])).toEqual([]);
    const other = { content: [text('1 and 2')], structuredContent: { a: 1, b: 2 } };
    expect(find('claude-code', [{ label: 'get', result: other }])).toMatchObject([lost]);
    expect(find('claude-code', [{ label: 'list', result: { content: [] } }])).toMatchObject([lost]);
  });

  it('name each tool once for the same loss, and another loss apart', () => {
    const image = { content: [{ type: 'image', mimeType: 'image/png', data: 'AA==' }] };
    const audio = { content: [{ type: 'audio', mimeType: 'audio/wav', data: 'AA==' }] };
    const results = [image, image, audio].map((result) => ({ label: 'get', result }));
    expect(find('copilot-cli', [...results, { label: 'list', result: image }])).toMatchObject([
      { kind: 'lost', message: 'shows the model nothing of an image', tools: ['get', 'list'] },
      { kind: 'lost', message: 'shows the model nothing of audio', tools: ['get'] },
    ]);
    expect(find('claude-code', [...results, { label: 'list', result: image }])).toEqual([]);
  });

  it('are cut from the size that the host is known to cut', () => {
    const long = (length: number) => [{ label: 'list', result: { content: [text('x'.repeat(length))] } }];
    expect(find('codex', long(12_001))).toContainEqual({
      kind: 'cut',
      message: 'shows the model only 12000 characters of results from 12000 characters',
      tools: ['list'],
      details: ['list (12001 characters)'],
    });
    expect(find('codex', long(12_000)).filter(({ kind }) => kind === 'cut')).toEqual([]);
    expect(find('goose', long(200_000)).filter(({ kind }) => kind === 'cut')).toEqual([]);
  });

  it('do not matter for a tool that the host does not show', () => {
    const dropped = createSurface([{ name: 'get', inputSchema: { type: 'object', properties: { a: true } } }]);
    const result = { content: [{ type: 'audio', mimeType: 'audio/wav', data: 'AA==' }] };
    const [host] = compareHosts(
      [findHost('gemini-cli')],
      [{ name: 'notes', surface: dropped }],
      [{ label: 'get', result }],
    ).hosts;
    expect(host?.findings.filter(({ kind }) => kind === 'lost')).toEqual([]);
  });
});

describe('the results of an exploration', () => {
  it('are those of answered calls of tools', () => {
    const result = { content: [] };
    const answered = { kind: 'result', isError: false, result };
    const steps = [
      { request: { kind: 'tool', tool: 'get', arguments: {} }, observation: { outcome: answered } },
      { request: { kind: 'tool', tool: 'get', arguments: {} }, observation: { outcome: { kind: 'silent' } } },
      { request: { kind: 'resource', uri: 'a:b' }, observation: { outcome: answered } },
    ];
    expect(readExploredResults(JSON.stringify({ version: 1, sessions: [{ steps }] }))).toEqual([
      { tool: 'get', result },
    ]);
    expect(readExploredResults('{"version": 2, "sessions": []}')).toBeNull();
    expect(readExploredResults('[]')).toBeNull();
  });
});
