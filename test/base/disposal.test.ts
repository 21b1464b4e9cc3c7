import { describe, expect, it } from 'vitest';
import { Disposer } from '../../src/base/disposal.ts';

const ending = (name: string, ended: string[]) => ({ [Symbol.dispose]: () => void ended.push(name) });

describe('Disposer', () => {
  it('ends the last one first, and waits for each', async () => {
    const ended: string[] = [];
    {
      await using disposer = new Disposer();
      disposer.use(ending('first', ended));
      disposer.use({
        [Symbol.asyncDispose]: async () => {
          await Promise.resolve();
          ended.push('second');
        },
      });
      disposer.defer(() => ended.push('third'));
      expect(disposer.use(null)).toBeNull();
      expect(ended).toEqual([]);
    }
    expect(ended).toEqual(['third', 'second', 'first']);
  });

  it('ends nothing after it has handed everything over', async () => {
    const ended: string[] = [];
    const open = async () => {
      await using disposer = new Disposer();
      disposer.use(ending('kept', ended));
      return disposer.move();
    };
    const moved = await open();
    expect(ended).toEqual([]);
    await moved[Symbol.asyncDispose]();
    await moved[Symbol.asyncDispose]();
    expect(ended).toEqual(['kept']);
  });

  it('ends the others where one fails, and fails then', async () => {
    const ended: string[] = [];
    const disposer = new Disposer();
    disposer.use(ending('first', ended));
    disposer.defer(() => Promise.reject(new Error('No.')));
    disposer.use(ending('third', ended));
    await expect(disposer[Symbol.asyncDispose]()).rejects.toThrow(/^No\.$/);
    expect(ended).toEqual(['third', 'first']);
  });

  it('keeps every failure of several', async () => {
    const disposer = new Disposer();
    for (const text of ['a', 'b']) disposer.defer(() => Promise.reject(new Error(text)));
    await expect(disposer[Symbol.asyncDispose]()).rejects.toMatchObject({
      errors: [{ message: 'b' }, { message: 'a' }],
    });
  });
});
