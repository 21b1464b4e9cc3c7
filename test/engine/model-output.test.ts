import type { CallToolResult } from '@modelcontextprotocol/client';
import { describe, expect, it } from 'vitest';
import { renderForModel, renderSystemPrompt } from '../../src/engine/model-output.ts';

const render = (result: Omit<CallToolResult, 'content'> & { content?: CallToolResult['content'] }) =>
  renderForModel({ kind: 'result', result: { content: [], ...result }, toolError: null, answeredAtMs: 0 });
const text = (value: string) => ({ type: 'text' as const, text: value });

describe('the result of a tool, as a model is shown it', () => {
  it('has the structured content after the other content, as JSON on one line', () => {
    expect(render({ content: [text('Counted.')], structuredContent: { left: 21 } })).toEqual({
      content: [text('Counted.'), text('{"left":21}')],
      isError: false,
    });
  });

  it.each([
    ['the same JSON', '{"left":21,"of":"pears"}'],
    ['the same JSON in another order and with white space', '{\n  "of": "pears",\n  "left": 21\n}'],
  ])('has structured content once where a text is %s', (_what, repeated) => {
    const structuredContent = { left: 21, of: 'pears' };
    const content = [text('Counted.'), text(repeated)];
    expect(render({ content, structuredContent }).content).toEqual(content);
  });

  it.each([
    ['21', { result: 21 }],
    ['Buy milk.', { content: 'Buy milk.' }],
    ['[1, 2]', { result: [1, 2] }],
  ])('has structured content once where a text is the only value in it: %j', (only, structuredContent) => {
    expect(render({ content: [text(only)], structuredContent }).content).toEqual([text(only)]);
  });

  it.each(['{"left":35}', '35', 'left: 21', ''])('has both where a text says something else: %j', (other) => {
    const { content } = render({ content: [text(other)], structuredContent: { left: 21 } });
    expect(content).toEqual([text(other), text('{"left":21}')]);
  });

  it('has both where a text is one of several values', () => {
    const { content } = render({ content: [text('21')], structuredContent: { left: 21, of: 'pears' } });
    expect(content).toHaveLength(2);
  });

  it('has structured content alone where there is nothing else', () => {
    expect(render({ structuredContent: { left: 21 } }).content).toEqual([text('{"left":21}')]);
    expect(render({}).content).toEqual([text('{}')]);
  });

  it('has files as files, whether they are blocks or resources', () => {
    const file = (mimeType: string | undefined) => ({
      type: 'resource' as const,
      resource: { uri: 'file:///a', blob: 'aGk=', ...(mimeType !== undefined && { mimeType }) },
    });
    const audio = { type: 'audio' as const, mimeType: 'audio/wav', data: 'aGk=' };
    const mediaTypes = ['image/png', 'application/octet-stream', 'audio/wav'];
    expect(render({ content: [file('image/png'), file(undefined), audio] }).content).toEqual(
      mediaTypes.map((mediaType) => ({ type: 'file', mediaType, data: 'aGk=' })),
    );
  });

  it('has the text of a resource, and a link without its icons', () => {
    const link = { type: 'resource_link' as const, uri: 'file:///a', name: 'a' };
    const icons = [{ src: 'data:image/png;base64,aGk=' }];
    const resource = { type: 'resource' as const, resource: { uri: 'file:///b', text: 'B.' } };
    expect(render({ content: [{ ...link, icons }, resource] }).content).toEqual([
      text(JSON.stringify(link)),
      text('B.'),
    ]);
  });

  it('has all of an error', () => {
    expect(render({ content: [text('Closed.')], structuredContent: { code: 7 }, isError: true })).toEqual({
      content: [text('Closed.'), text('{"code":7}')],
      isError: true,
    });
    expect(render({ isError: true })).toEqual({ content: [], isError: true });
  });
});

describe('the system prompt', () => {
  it('has the instructions of the server after the prompt of the case', () => {
    const server = { name: 'shop', instructions: 'Count twice.' };
    expect(renderSystemPrompt('You keep a shop.', [server])).toBe(
      'You keep a shop.\n\nInstructions of the server:\nCount twice.',
    );
    expect(renderSystemPrompt(null, [server])).toBe('Instructions of the server:\nCount twice.');
  });

  it('names the servers where there are several, and says nothing of one without instructions', () => {
    const servers = [
      { name: 'shop', instructions: 'Count twice.' },
      { name: 'clock', instructions: null },
      { name: 'mail', instructions: 'Send once.' },
    ];
    expect(renderSystemPrompt(null, servers)).toBe(
      'Instructions of the server "shop":\nCount twice.\n\nInstructions of the server "mail":\nSend once.',
    );
  });

  it('is that of the case where no server has instructions', () => {
    const silent = [null, '', ' \n'].map((instructions) => ({ name: 'shop', instructions }));
    expect(renderSystemPrompt('You keep a shop.', silent)).toBe('You keep a shop.');
    expect(renderSystemPrompt(null, silent)).toBeNull();
  });
});
