import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/base/json.ts';
import { shrinkArguments } from '../../src/explore/findings/shrink-arguments.ts';

const parameters = [
  { name: 'title', isRequired: true },
  { name: 'tags', isRequired: false },
  { name: 'note', isRequired: false },
];

describe('shrinkArguments', () => {
  const shrink = async (args: JsonObject, shows: (args: JsonObject) => boolean) => {
    let asked = 0;
    const smallest = await shrinkArguments(args, parameters, async (smaller) => {
      asked += 1;
      return await Promise.resolve(shows(smaller));
    });
    return { smallest, asked };
  };

  it('drops optional arguments, items and characters that the finding does not need', async () => {
    const args = { title: 'a title that is much too long', tags: ['one', 'two'], note: 'a note of some length' };
    const { smallest } = await shrink(args, ({ tags }) => Array.isArray(tags) && tags.length > 0);
    expect(smallest).toEqual({ title: 'a title ', tags: ['one'] });
  });

  it('keeps what the finding needs, and placeholders', async () => {
    const args = { title: '{{workspace}}/notes.txt', note: 'x'.repeat(100) };
    const { smallest } = await shrink(args, ({ note }) => typeof note === 'string' && note.length > 20);
    expect(smallest).toEqual({ title: '{{workspace}}/notes.txt', note: 'x'.repeat(25) });
  });

  it('asks at most eight times', async () => {
    const { smallest, asked } = await shrink({ title: 'x'.repeat(2 ** 20), tags: [], note: '' }, () => true);
    expect(asked).toBe(8);
    expect(JSON.stringify(smallest).length).toBeLessThan(2 ** 10);
  });
});
