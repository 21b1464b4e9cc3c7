import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/base/json.ts';
import { addDefaults, type Contrasts, leaveArgumentsOut, writeSession } from '../../src/behaviour/lost/contrasts.ts';
import { findLost } from '../../src/behaviour/lost/find-lost.ts';
import type { SeenStep } from '../../src/behaviour/lost/seen.ts';
import type { Outcome } from '../../src/explore/exploration.ts';
import type { ExploredRequest } from '../../src/model/explored-request.ts';

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

const keep = (
  ...contrasts: Array<[session: ExploredRequest[], answers: { base: Outcome; head: Outcome }]>
): Contrasts => new Map(contrasts.map(([session, answers]) => [writeSession(session), { session, ...answers }]));

/** The answers to the last step without the others. */
const withoutOthers = ({ request }: SeenStep, base: Outcome, head: Outcome): Contrasts =>
  keep([[request.request], { base, head }]);

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
    const last = search(words('Nothing is found.'), words('1. Green tea: It is served hot.'));
    expect(findLost([make(tea), last], new Map())).toBeNull();
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

  it('finds that only the line with what was made has other words', () => {
    const read = (head: string) =>
      step('read', { path: 'a.txt' }, { base: words('First\nGreen tea\nLast'), head: words(head) });
    const find = (head: string) => findLost([make({ line: 'Green tea' }), read(head)], new Map())?.what;
    expect(find('First\n$& tea\nLast')).toBe('it no longer finds "Green tea", which add was given before');
    expect(find('1 First\n2 $& tea\n3 Last')).toBeUndefined();
    expect(find('First\nGREEN-TEA\nLast')).toBeUndefined();
    // A date can be written in several ways.
    const dated = (head: string) =>
      step('read', { path: 'a.txt' }, { base: words('First\n2024-01-02\nLast'), head: words(head) });
    expect(findLost([make({ due: '2024-01-02' }), dated('First\nJan 2, 2024\nLast')], new Map())).toBeNull();
  });

  it('finds what a call removes on the base and leaves on the change', () => {
    const [coffee, link] = [{ title: 'Coffee' }, { from: 'Green tea', to: 'Coffee' }];
    const remove = step('remove', { title: 'Green tea' }, { base: words('Removed.'), head: words('Removed.') }, true);
    const all = answer({ items: [tea, coffee], links: [link] });
    const find = (head: object) => {
      const last = step('list', {}, { base: answer({ items: [coffee], links: [] }), head: answer(head) });
      return findLost([remove, last], withoutOthers(last, all, all))?.what;
    };
    expect(find({ items: [coffee], links: [link] })).toBe('it still has "Green tea", which remove was given before');
    expect(find({ items: [{ ...tea, isRemoved: true }, coffee], links: [] })).toBeUndefined();
  });

  it('finds what a call removes in addition to what it names', () => {
    const [green, black] = ['Green tea', 'Black tea'];
    const remove = step('remove', { title: green }, { base: words('Removed.'), head: words('Removed.') }, true);
    const list = (...items: string[]) => answer({ items });
    const find = (head: Outcome, headAlone = list(green, black)) => {
      const last = step('list', {}, { base: list(black), head });
      return findLost([remove, last], withoutOthers(last, list(green, black), headAlone))?.what;
    };
    expect(find(list())).toBe('after remove, it no longer has "Black tea", which no call names');
    expect(find(list(black, green))).toBe('it still has "Green tea", which remove was given before');
    // What is in its place is no loss.
    expect(find(list('Tea of today'))).toBeUndefined();
    // It lists them otherwise without the call, too.
    expect(find(answer({ count: 0 }), answer({ count: 1 }))).toBeUndefined();
  });

  it('finds that the same call has an effect again', () => {
    const list = (...items: object[]) => answer({ items });
    const read = (base: Outcome, head: Outcome) => step('list', {}, { base, head });
    const find = (head: Outcome) =>
      findLost([make(tea), read(list(tea), list(tea)), make(tea), read(list(tea), head)], new Map())?.what;
    expect(find(list(tea, tea))).toBe('the same call of add changes it again');
    const another = make({ title: 'Coffee' });
    const seen = [make(tea), read(list(tea), list(tea)), another, read(list(tea), list(tea, { id: 2 }))];
    expect(findLost(seen, new Map())).toBeNull();
  });

  it('finds arguments that stand under the names of each other', () => {
    const link = { from: 'Tea', to: 'Water', kind: 'needs' };
    const made = step('link', link, { base: words('Done.'), head: words('Done.') }, true);
    const find = (head: object) =>
      findLost(
        [made, step('list', {}, { base: answer({ links: [link] }), head: answer({ links: [head] }) })],
        new Map(),
      )?.what;
    expect(find({ ...link, from: 'Water', to: 'Tea' })).toBe('from is "Water", which link was given as to');
    expect(find({ ...link, from: 'TEA', kind: 'Needs a lot of' })).toBeUndefined();
  });

  it.each<[string, object, Outcome, Outcome, string | undefined]>([
    [
      'an empty list',
      { query: 'Green tea' },
      answer({ found: [tea] }),
      answer({ found: [] }),
      'found is empty, and should have "Green tea"',
    ],
    ['no list', { query: 'Green tea' }, answer({ found: [tea] }), answer({ hits: [] }), undefined],
    ['an empty list of others', { query: 'Green' }, answer({ found: ['Coffee'] }), answer({ found: [] }), undefined],
    [
      'something for an unknown name',
      { name: 'no-such-thing' },
      answer({ found: [] }),
      answer({ found: [tea] }),
      'found has 1 item for "no-such-thing"',
    ],
    [
      'the unknown name',
      { name: 'no-such-thing' },
      answer({ found: [] }),
      answer({ found: [{ missing: 'no-such-thing' }] }),
      undefined,
    ],
    [
      'something for a known name',
      { name: 'Green tea' },
      answer({ found: [] }),
      answer({ found: ['Coffee'] }),
      undefined,
    ],
  ])('judges %s by what was asked for', (_, args, base, head, what) => {
    expect(findLost([step('search', args, { base, head })], new Map())?.what).toBe(what);
  });

  it('finds an empty list where the base has other times in each run', () => {
    const found = (at: string) => answer({ found: [{ ...tea, at: `2026-11-28T12:00:${at}Z` }] });
    const [first, second] = [found('01'), found('02')];
    const find = (bases: Outcome[], query = 'Green tea') =>
      findLost([{ ...step('search', { query }, { base: first, head: answer({ found: [] }) }), bases }], new Map())
        ?.what;
    expect(find([first, second])).toBe('found is empty, and should have "Green tea"');
    expect(find([first, answer({ found: ['Green tea'] })])).toBeUndefined();
    expect(find([first, second], 'Coffee')).toBeUndefined();
  });

  it('finds a change of something unknown that is confirmed', () => {
    const refused: Outcome = { kind: 'error', code: -32602, message: 'There is no-such-thing' };
    const find = (tool: string, args: object, { base = refused, head = words('Tagged.'), mayMake = true } = {}) =>
      findLost([step(tool, args, { base, head }, mayMake)], new Map())?.what;
    const unknown = { title: 'no-such-thing', tag: 'green' };
    expect(find('tag_note', unknown)).toBe('it is confirmed, although nothing is "no-such-thing"');
    expect(find('tag_note', { ...unknown, title: 'Green tea' })).toBeUndefined();
    // It may make what is missing, removing nothing is no loss, and a reader may answer without an error.
    expect(find('tag_note', unknown, { head: words('Made no-such-thing and tagged it.') })).toBeUndefined();
    expect(find('delete_note', unknown)).toBeUndefined();
    expect(find('read_note', unknown, { mayMake: false })).toBeUndefined();
  });

  it('finds an answer about something unknown', () => {
    const refused: Outcome = { kind: 'error', code: -32602, message: 'There is no-such-thing' };
    const known: ExploredRequest[] = [{ kind: 'tool', tool: 'get', arguments: { title: 'Green tea' } }];
    const find = (head: Outcome, title = 'no-such-thing') => {
      const last = step('get', { title }, { base: refused, head });
      return findLost([last], keep([known, { base: answer(tea), head: answer(tea) }]))?.what;
    };
    expect(find(answer(tea))).toBe(`it has ${JSON.stringify('Green tea')}, although nothing is "no-such-thing"`);
    expect(find(answer({}))).toBeUndefined();
    expect(find(words('There is no-such-thing.'))).toBeUndefined();
    expect(find(answer(tea), 'Green tea!')).toBeUndefined();
  });

  it('finds an argument without an effect', () => {
    const list = (...items: string[]) => answer({ items });
    const find = (head: Outcome, { base = list('a', 'b'), alone = list('a', 'b') } = {}) => {
      const last = step('list', { limit: 1, sort: 'name' }, { base: list('a'), head });
      const [less] = leaveArgumentsOut([last.request]);
      return findLost([last], keep([less?.session ?? [], { base, head: alone }]))?.what;
    };
    expect(find(list('a', 'b'))).toBe('limit of list has no effect any more');
    expect(find(list('b'))).toBeUndefined();
    expect(find(list('a', 'b', 'c'), { alone: list('a', 'b', 'c') })).toBeUndefined();
  });

  it('finds an argument that is ignored with another one, which the base refuses', () => {
    const find = (head: Outcome, message = 'Cannot have both head and tail') => {
      const base: Outcome = { kind: 'error', code: -32602, message };
      const last = step('read', { path: 'a.txt', head: 2, tail: 1 }, { base, head });
      const less = leaveArgumentsOut([last.request]).find(({ name }) => name === 'head');
      return findLost([last], keep([less?.session ?? [], { base: words('Omega'), head: words('Omega') }]))?.what;
    };
    expect(find(words('Omega'))).toBe('head of read is ignored, which the base refuses with tail');
    expect(find(words('Alpha'))).toBeUndefined();
    expect(find(words('Omega'), 'The head is too large')).toBeUndefined();
  });

  it('finds a filter that selects what it should leave out', () => {
    const all = words('Tea\nCoffee\nWater');
    const find = (head: string, alone = all) => {
      const last = step('list', { kind: 'hot' }, { base: words('Tea\nCoffee'), head: words(head) });
      const [less] = leaveArgumentsOut([last.request]);
      return findLost([last], keep([less?.session ?? [], { base: all, head: alone }]))?.what;
    };
    expect(find('Water')).toBe('kind of list selects what it should leave out');
    expect(find('Water\nJuice')).toBeUndefined();
    expect(find('Tea')).toBeUndefined();
    expect(find('Water', words('Water'))).toBeUndefined();
  });

  it('finds a count that is not kept to', () => {
    const find = (head: string[], { base = ['a'], more = ['a', 'b', 'c'] } = {}) => {
      const last = step('list', { limit: 1 }, { base: answer({ items: base }), head: answer({ items: head }) });
      const all = answer({ items: more });
      const session: ExploredRequest[] = [{ kind: 'tool', tool: 'list', arguments: { limit: 50 } }];
      return findLost([last], keep([session, { base: all, head: all }]))?.what;
    };
    expect(find(['a', 'b'])).toBe('limit of list asks for 1, and the answer has 2');
    expect(find([])).toBe('limit of list asks for 1, and the answer has 0');
    expect(find(['b'])).toBeUndefined();
    // The base does not count these, or has no more than these.
    expect(find(['a', 'b'], { base: ['a', 'b', 'c'] })).toBeUndefined();
    expect(find(['a', 'd'])).toBeUndefined();
    expect(find(['a', 'b'], { more: ['a', 'b'] })).toBeUndefined();
  });

  it('finds a count of lines that is not kept to, where the last one is empty', () => {
    const whole = words('a\nb\nc\nd\n');
    const find = (head: string, base = 'd\n') => {
      const last = step('read', { tail: 2 }, { base: words(base), head: words(head) });
      const session: ExploredRequest[] = [{ kind: 'tool', tool: 'read', arguments: {} }];
      return findLost([last], keep([session, { base: whole, head: whole }]))?.what;
    };
    expect(find('b\nc\nd\n')).toBe('tail of read asks for 2, and the answer has 4');
    expect(find('c\nd')).toBeUndefined();
    expect(find('b\nc\nd\n', 'd')).toBeUndefined();
  });

  it('finds that a call without an argument is no longer answered as with its default', () => {
    const [long, short] = [words('2 bytes'), words('2')];
    const defaults = new Map([['size', { format: 'long' }]]);
    const find = (head: Outcome, { other = long, args = {} }: { other?: Outcome; args?: JsonObject } = {}) => {
      const last = step('size', { path: 'a.txt', ...args }, { base: long, head });
      const plain: ExploredRequest[] = [{ kind: 'tool', tool: 'size', arguments: { path: 'a.txt' } }];
      const contrasts = addDefaults(plain, defaults).map(
        ({ name, session }) => [writeSession(session), { session, base: long, head: other, defaultOf: name }] as const,
      );
      return findLost([last], new Map(contrasts))?.what;
    };
    expect(find(short)).toBe('without format, size no longer answers as with its default "long"');
    // The default does something else, too.
    expect(find(short, { other: short })).toBeUndefined();
    expect(find(short, { args: { unit: 'kB' } })).toBeUndefined();
    expect(find(short, { args: { format: 'long' } })).toBeUndefined();
  });

  it('finds a count that is no longer that of a list', () => {
    const list = (count: number, ...items: string[]) => answer({ count, items });
    const find = (head: Outcome, other = list(3, 'a', 'b', 'c')) => {
      const last = step('list', { sort: 'name' }, { base: list(2, 'a', 'b'), head });
      return findLost([last], keep([[{ kind: 'tool', tool: 'list', arguments: {} }], { base: other, head: other }]))
        ?.what;
    };
    expect(find(list(3, 'a', 'b'))).toBe('count is 3, and items has 2 items');
    expect(find(list(1, 'a'))).toBeUndefined();
    // It counts something else on the base, or is the same by chance.
    expect(find(list(3, 'a', 'b'), list(4, 'a', 'b', 'c'))).toBeUndefined();
    expect(find(list(3, 'a', 'b'), list(2, 'c', 'd'))).toBeUndefined();
  });

  it('finds a number that is no longer that of the lines with one first word', () => {
    const list = (files: number, directories: number, said = `${files} files, ${directories} directories`) =>
      words(
        [
          ...Array.from({ length: files }, (_, index) => `[FILE] ${index}.txt`),
          ...Array.from({ length: directories }, (_, index) => `[DIR] ${index}`),
          `Total: ${said}`,
        ].join('\n'),
      );
    const find = (head: Outcome, other = list(3, 0)) => {
      const last = step('list', { path: '.' }, { base: list(2, 1), head });
      const session: ExploredRequest[] = [{ kind: 'tool', tool: 'list', arguments: { path: 'notes' } }];
      return findLost([last], keep([session, { base: other, head: other }]))?.what;
    };
    expect(find(list(2, 1, '3 files, 1 directories'))).toBe(
      'it says 3 in "Total: # files, # directories", and has 2 lines with "[FILE]"',
    );
    expect(find(list(3, 1))).toBeUndefined();
    expect(find(list(2, 1, '3 files and 1 directory'))).toBeUndefined();
    // It counts something else on the base, or is the same by chance.
    expect(find(list(2, 1, '3 files, 1 directories'), list(3, 0, '4 files, 0 directories'))).toBeUndefined();
    expect(find(list(2, 1, '3 files, 1 directories'), list(2, 0))).toBeUndefined();
  });

  it('finds lines that are not the last ones, where a name asks for these', () => {
    const whole: ExploredRequest[] = [{ kind: 'tool', tool: 'read_file', arguments: {} }];
    const text = words('a\nb\nc\nd');
    const find = (head: string, tool = 'tail_file', base = 'c\nd') => {
      const last = step(tool, { lines: 2 }, { base: words(base), head: words(head) });
      return findLost([last], keep([whole, { base: text, head: text }]))?.what;
    };
    expect(find('a\nb')).toBe('the answer of tail_file has not the last lines or items');
    expect(find('b\nc\nd')).toBeUndefined();
    expect(find('c\ne')).toBeUndefined();
    expect(find('a\nb', 'read_lines')).toBeUndefined();
    expect(find('c\nd', 'read_first_lines', 'a\nb')).toContain('has not the first lines');
  });

  it('finds a total that a limit changes', () => {
    const list = (total: number, ...items: string[]) => answer({ total, items });
    const all = list(3, 'a', 'b', 'c');
    const find = (head: Outcome, { base = list(3, 'a', 'b'), alone = all } = {}) => {
      const last = step('list', { limit: 2 }, { base, head });
      const [less] = leaveArgumentsOut([last.request]);
      return findLost([last], keep([less?.session ?? [], { base: all, head: alone }]))?.what;
    };
    expect(find(list(2, 'a', 'b'))).toBe('total is 2 with limit of list, which does not change it on the base');
    expect(find(list(4, 'a', 'b'), { alone: list(4, 'a', 'b', 'c') })).toBeUndefined();
    expect(find(list(1, 'a', 'b'), { base: list(5, 'a', 'b') })).toBeUndefined();
  });

  it('finds an order that is reversed', () => {
    const list = (...items: string[]) => answer({ items });
    const find = (head: Outcome) => {
      const last = step('list', { sort: 'size' }, { base: list('d', 'b', 'a', 'c'), head });
      const [less] = leaveArgumentsOut([last.request]);
      const alone = list('a', 'b', 'c', 'd');
      return findLost([last], keep([less?.session ?? [], { base: alone, head: alone }]))?.what;
    };
    expect(find(list('c', 'a', 'b', 'd'))).toBe('the order that sort of list asks for is reversed');
    // Two that are of one size.
    expect(find(list('d', 'a', 'b', 'c'))).toBeUndefined();
    expect(find(list('c', 'a', 'b', 'e'))).toBeUndefined();
  });

  it('finds the answer to another call', () => {
    const files = { base: words('a.txt\nb.txt'), head: words('a.txt\nb.txt') };
    const others: ExploredRequest[] = [{ kind: 'tool', tool: 'search', arguments: { pattern: '*.json' } }];
    const find = (head: string, session = others) => {
      const last = step('search', { pattern: '*.txt' }, { base: files.base, head: words(head) });
      return findLost([last], keep([session, { base: words('c.json'), head: words('c.json') }]))?.what;
    };
    expect(find('c.json\nmore/b.txt')).toBe('it has "c.json", as the answer to another call, and not "a.txt"');
    // It may find more, or say it otherwise.
    expect(find('a.txt\nc.json')).toBeUndefined();
    expect(find('Two texts')).toBeUndefined();
    expect(find('c.json', [{ kind: 'tool', tool: 'list', arguments: {} }])).toBeUndefined();
    // The same call with an option.
    const option: ExploredRequest = { kind: 'tool', tool: 'search', arguments: { pattern: '*.txt', deep: true } };
    expect(find('c.json', [option])).toBeUndefined();
  });

  it('finds a second item of the same name', () => {
    const list = (...titles: string[]) => answer({ items: titles.map((title, id) => ({ id, title })) });
    const find = (head: Outcome, base = list('Green tea', 'Coffee')) =>
      findLost([make(tea), step('list', {}, { base, head })], new Map())?.what;
    expect(find(list('Green tea', 'Coffee', 'Green tea'))).toBe('items has two items whose title is "Green tea"');
    expect(find(list('Green tea', 'Coffee', 'Coffee'))).toBeUndefined();
    expect(find(list('Green tea', 'Water', 'Green tea'), list('Green tea', 'Green tea'))).toBeUndefined();
  });

  it('does not judge errors, which are broken', () => {
    const refused: Outcome = { kind: 'error', code: -32603, message: 'Out of order' };
    const last = search(refused);
    expect(findLost([make(tea), last], withoutOthers(last, none, refused))).toBeNull();
  });
});
