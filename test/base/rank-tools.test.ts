import { describe, expect, it } from 'vitest';
import { rankTools, type SearchedTool } from '../../src/base/rank-tools.ts';

const rank = (words: string, ...tools: SearchedTool[]) => rankTools(tools, words).map(({ name }) => name);

const create: SearchedTool = { name: 'create_note', description: 'Creates a note.' };
const list: SearchedTool = { name: 'list_notes', description: 'Lists all notes in a folder.' };
const send: SearchedTool = {
  name: 'send',
  description: 'Sends a mail.',
  inputSchema: {
    type: 'object',
    properties: {
      recipient: { type: 'string', description: 'Address of a colleague.' },
      parts: { type: 'array', items: { type: 'object', properties: { attachment: { type: 'string' } } } },
      priority: { enum: ['urgent'], default: 'urgent' },
    },
  },
};

describe('rankTools', () => {
  it.each([
    ['create a note', ['create_note', 'list_notes']],
    ['notes of the folder', ['list_notes', 'create_note']],
    ['creating', ['create_note']],
    ['RECIPIENTS', ['send']],
    ['colleague', ['send']],
    ['attachment', ['send']],
  ])('finds by %j: %j', (words, names) => {
    expect(rank(words, send, create, list)).toEqual(names);
  });

  it.each(['delete', 'the of', '', '!?', 'urgent', 'recipientaddress'])('finds nothing by %j', (words) => {
    expect(rank(words, send, create, list)).toEqual([]);
  });

  it('prefers the tool that has a rare word to one that repeats a frequent one', () => {
    const frequent = [1, 2, 3, 4].map((each) => ({ name: `note_${each}`, description: 'A note, a note, a note.' }));
    expect(rank('note archive', ...frequent, { name: 'archive' })[0]).toBe('archive');
  });

  it('prefers the shorter of two texts that have the word once', () => {
    const long = {
      name: 'long',
      description: 'Searches mails, people, calendars, files and photos of a whole company.',
    };
    const short = { name: 'short', description: 'Searches mails.' };
    expect(rank('mails', long, short)).toEqual(['short', 'long']);
  });

  it('does not let a repeated word grow without limit', () => {
    const repeated = { name: 'x', description: 'note '.repeat(500) };
    const both = { name: 'y', description: 'note folder' };
    expect(rank('note folder', repeated, both)[0]).toBe('y');
  });

  it('keeps the order of tools that fit alike', () => {
    const alike = ['z', 'x', 'y'].map((name) => ({ name, description: 'Reads a file.' }));
    expect(rank('file', ...alike)).toEqual(['z', 'x', 'y']);
  });

  it('takes a name in camel case for one word, as Codex does', () => {
    expect(rank('note', { name: 'createNote' })).toEqual([]);
    expect(rank('createnote', { name: 'createNote' })).toEqual(['createNote']);
  });

  it('finds words of scripts without spaces', () => {
    expect(rank('天気', { name: 'weather', description: '現在の天気を返します' }, create)).toEqual(['weather']);
  });

  it('ranks no tools, and tools without any word', () => {
    expect(rank('note')).toEqual([]);
    expect(rank('note', { name: '_' }, { name: '-' })).toEqual([]);
  });

  it('scores as published: the sum of idf times saturated frequency', () => {
    // By hand, k1 = 1.2 and b = 0.75, lengths 1, 2 and 3, mean 2. `alpha`: idf = ln(1 + 1.5/2.5) = 0.4700; scores 0.4700 * 2.2/(1 + 0.75)
    // = 0.5909 of one word, and 0.4700 * 4.4/(2 + 1.65) = 0.5666 of two in three words.
    const twice = { name: 'twice', description: 'alpha alpha' };
    expect(rank('alpha', twice, { name: 'alpha' }, { name: 'beta', description: 'gamma' })).toEqual(['alpha', 'twice']);
    // Three in four words, mean 7/3: 0.4700 * 6.6/(3 + 1.8429) = 0.6406, against 0.4700 * 2.2/(1 + 0.6857) = 0.6134.
    const thrice = { name: 'thrice', description: 'alpha alpha alpha' };
    expect(rank('alpha', { name: 'alpha' }, thrice, { name: 'beta', description: 'gamma' })).toEqual([
      'thrice',
      'alpha',
    ]);
  });
});
