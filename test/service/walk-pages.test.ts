import { describe, expect, it } from 'vitest';
import { walkPages } from '../../src/service/walk-pages.ts';
import type { Page } from '../../src/service/parse.ts';

type Pages = Record<string, Page<string>>;

async function walk(pages: Pages | ((cursor: string) => Page<string>)): Promise<{ items: string[][]; loads: number }> {
  const items: string[][] = [];
  let loads = 0;
  const loadPage = async (cursor = 'start') => {
    loads += 1;
    const page = typeof pages === 'function' ? pages(cursor) : pages[cursor];
    if (page === undefined) throw new Error(`There is no page ${cursor}.`);
    return page;
  };
  for await (const page of walkPages(loadPage, { what: 'letters', idOf: (item) => item })) items.push(page);
  return { items, loads };
}

describe('walkPages', () => {
  it.each([{}, { nextCursor: null }, { nextCursor: '' }, { nextCursor: undefined }])(
    'ends at a page with the cursor %j',
    async (last) => {
      expect(await walk({ start: { items: ['a'], nextCursor: '2' }, 2: { items: ['b'], ...last } })).toEqual({
        items: [['a'], ['b']],
        loads: 2,
      });
    },
  );

  it('returns every item once, even if pages repeat it', async () => {
    const pages: Pages = {
      start: { items: ['a', 'b', 'a'], nextCursor: '2' },
      2: { items: ['b', 'c'], nextCursor: '3' },
      3: { items: ['c', 'a'], nextCursor: '4' },
      4: { items: ['d'] },
    };
    expect((await walk(pages)).items).toEqual([['a', 'b'], ['c'], ['d']]);
  });

  it('returns an item again if a later page contradicts it', async () => {
    const pages: Array<Page<string>> = [
      { items: ['a passed', 'b passed'], nextCursor: '1' },
      { items: ['a passed', 'b failed', 'c passed'] },
    ];
    const walked: string[][] = [];
    const walking = walkPages(async (cursor = '0') => pages[Number(cursor)] ?? { items: [] }, {
      what: 'letters',
      idOf: (item) => item.slice(0, 1),
      contentOf: (item) => item,
    });
    for await (const page of walking) walked.push(page);
    expect(walked).toEqual([
      ['a passed', 'b passed'],
      ['b failed', 'c passed'],
    ]);
  });

  it('refuses pages that contradict each other without end', async () => {
    let next = 0;
    const walking = walkPages(async () => ({ items: [`a ${next}`], nextCursor: String((next += 1)) }), {
      what: 'letters',
      idOf: (item) => item.slice(0, 1),
      contentOf: (item) => item,
    });
    const walk = async () => {
      for await (const page of walking) expect(page).toHaveLength(1);
    };
    await expect(walk()).rejects.toThrow('pages 2 and 3 bring nothing new');
  });

  it('continues after one empty page', async () => {
    const pages: Pages = {
      start: { items: [], nextCursor: '2' },
      2: { items: ['a'], nextCursor: '3' },
      3: { items: [], nextCursor: '4' },
      4: { items: ['b'] },
    };
    expect((await walk(pages)).items).toEqual([['a'], ['b']]);
  });

  it.each<[string, Pages, string]>([
    [
      'a cursor that leads to itself',
      { start: { items: ['a'], nextCursor: '2' }, 2: { items: ['b'], nextCursor: '2' } },
      'page 2 leads back to an earlier one',
    ],
    [
      'a circle of cursors',
      {
        start: { items: ['a'], nextCursor: '2' },
        2: { items: ['b'], nextCursor: '3' },
        3: { items: ['c'], nextCursor: '2' },
      },
      'page 3 leads back to an earlier one',
    ],
  ])('refuses %s', async (_, pages, reason) => {
    await expect(walk(pages)).rejects.toMatchObject({
      code: 'PROTOCOL',
      message: `The list of letters does not end: ${reason}.`,
      path: 'nextCursor',
    });
  });

  it.each([
    ['empty pages', []],
    ['the same page', ['a']],
  ])('refuses %s under ever new cursors', async (_, items) => {
    let next = 0;
    await expect(walk(() => ({ items, nextCursor: String((next += 1)) }))).rejects.toThrow(
      /pages \d and \d bring nothing new/,
    );
    expect(next).toBeLessThanOrEqual(3);
  });

  it('stops after a limit of pages, each with new items', async () => {
    let next = 0;
    const inventPage = () => ({ items: [`item ${next}`], nextCursor: String((next += 1)) });
    await expect(walk(inventPage)).rejects.toThrow('10000 pages were read and there are more');
  });
});
