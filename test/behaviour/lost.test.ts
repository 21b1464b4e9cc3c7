import { describe, expect, it } from 'vitest';
import { type AnswersAlone, findLost, type SeenStep, writeAlone } from '../../src/behaviour/lost.ts';
import type { Outcome } from '../../src/explore/exploration.ts';

const answer = (value: object): Outcome => ({
  kind: 'result',
  isError: false,
  result: { content: [{ type: 'text', text: JSON.stringify(value) }], structuredContent: { ...value } },
});
const words = (text: string): Outcome => ({
  kind: 'result',
  isError: false,
  result: { content: [{ type: 'text', text }] },
});

const step = (tool: string, args: object, outcomes: { base: Outcome; head: Outcome }, mayMake = false): SeenStep => ({
  request: { request: { kind: 'tool', tool, arguments: { ...args } }, isWrong: false, mayMake },
  bases: [outcomes.base, outcomes.base],
  head: outcomes.head,
});
const make = (args: object) => step('add', args, { base: words('Added.'), head: words('Added.') }, true);

/** The answers to the last step without the others. */
const withoutOthers = ({ request }: SeenStep, base: Outcome, head: Outcome): AnswersAlone =>
  new Map([[writeAlone(request) ?? '', { base, head }]]);

const tea = { title: 'Green tea', body: 'It is served hot.' };
const none = answer({ query: 'Green tea', found: [] });

/** Searches for what was made. */
const search = (head: Outcome, base = answer({ query: 'Green tea', found: [tea] })) =>
  step('search', { query: 'Green tea' }, { base, head });

describe('findLost', () => {
  it('finds a search that answers as if nothing was made', () => {
    const last = search(none);
    expect(findLost([make(tea), last], withoutOthers(last, none, none))?.what).toBe(
      'it no longer finds "Green tea", which add was given before',
    );
  });

  it.each<[string, Outcome, Outcome]>([
    ['another name of a list', answer({ hits: [tea] }), answer({ hits: [] })],
    ['words', words('1. Green tea: It is served hot.'), words('Nothing is found.')],
    ['other fields', answer({ found: [{ id: 1 }] }), answer({ found: [] })],
    ['no answer without the call', none, words('Nothing is found for Green tea.')],
  ])('leaves an answer with %s to a person', (_, head, headAlone) => {
    const last = search(head);
    expect(findLost([make(tea), last], withoutOthers(last, none, headAlone))).toBeNull();
  });

  it('leaves an answer alone whose base does not show what was made', () => {
    const base = answer({ query: 'Green tea', hint: 'Type a word.' });
    const last = search(none, base);
    expect(findLost([make(tea), last], withoutOthers(last, base, none))).toBeNull();
  });

  it('needs the answers without the call if the texts of no other call are found', () => {
    expect(findLost([make(tea), search(none)], new Map())).toBeNull();
  });

  it('finds that only the texts of one call are missing', () => {
    const coffee = { title: 'Coffee', body: 'It is black.' };
    const list = (items: object[]) => answer({ items });
    const listed = (head: object[]) => step('list', {}, { base: list([tea, coffee]), head: list(head) });
    const alone = (last: SeenStep) => withoutOthers(last, list([]), list([]));
    const find = (last: SeenStep) => findLost([make(tea), make(coffee), last], alone(last))?.what;
    expect(find(listed([tea]))).toBe('it no longer finds "Coffee", which add was given before');
    expect(find(listed([tea, { title: 'COFFEE' }]))).toBeUndefined();
    expect(find(listed([{ id: 1 }, { id: 2 }]))).toBeUndefined();
  });

  it('finds a removal that removes nothing', () => {
    const [full, empty] = [answer({ items: [tea] }), answer({ items: [] })];
    const read = (base: Outcome, head: Outcome) => step('list', {}, { base, head });
    const remove = step('remove', { title: 'Green tea' }, { base: words('Removed.'), head: words('Removed.') }, true);
    const find = (head: Outcome) => findLost([make(tea), read(full, full), remove, read(empty, head)], new Map())?.what;
    expect(find(full)).toBe('it still finds "Green tea" after remove, as if that had done nothing');
    expect(find(answer({ items: [{ ...tea, isRemoved: true }] }))).toBeUndefined();
  });

  it('does not judge errors, which are broken', () => {
    const refused: Outcome = { kind: 'error', code: -32603, message: 'Out of order' };
    const last = search(refused);
    expect(findLost([make(tea), last], withoutOthers(last, none, refused))).toBeNull();
  });
});
