import { realpathSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { borrowProcess, runBorrowed } from '../support/process/borrowed-process.ts';
import { createWorkspace } from '../support/workspace.ts';

const describeProcess = () => ({
  cwd: process.cwd(),
  env: { ...process.env },
  argv: process.argv,
  writes: [process.stdout, process.stderr].map((stream) => Reflect.get(stream, 'write')),
  listeners: [process, process.stdout, process.stderr].map((emitter) =>
    ['SIGINT', 'uncaughtException', 'error', 'newListener'].map((event) => emitter.listenerCount(event)),
  ),
});

describe('a run that borrows the process of its test', () => {
  it('has the directory, the variables, the script and the streams that it is given', async () => {
    await using workspace = await createWorkspace();
    const surroundings = { cwd: workspace.path, env: { GIVEN: 'yes' }, script: 'publish.js' };
    const result = await runBorrowed(surroundings, async () => {
      const { GIVEN, VITEST } = process.env;
      expect([process.cwd(), GIVEN, VITEST]).toEqual([realpathSync(workspace.path), 'yes', undefined]);
      expect(process.argv.slice(1)).toEqual(['publish.js']);
      process.stdout.write('out');
      await new Promise<void>((resolve) => process.stderr.write(Buffer.from('err'), () => resolve()));
      return 7;
    });
    expect(result).toEqual({ exitCode: 7, stdout: 'out', stderr: 'err' });
  });

  it('keeps what both streams print, in its order', () => {
    using borrowed = borrowProcess({ cwd: process.cwd(), env: {} });
    for (const stream of [process.stdout, process.stderr, process.stdout]) stream.write('a line\n');
    expect(process.env).toEqual({});
    expect(borrowed.printed()).toBe('a line\n'.repeat(3));
    expect(borrowed.output).toEqual({ stdout: 'a line\n'.repeat(2), stderr: 'a line\n' });
  });

  it.each([
    ['ends', async () => 0],
    [
      'throws',
      async () => {
        throw new Error('It fails.');
      },
    ],
  ])('gives everything back when it %s', async (_, end) => {
    await using workspace = await createWorkspace();
    const before = describeProcess();
    await runBorrowed({ cwd: workspace.path, env: { GIVEN: 'yes' }, script: 'a.js' }, async () => {
      process.on('SIGINT', () => {}).on('uncaughtException', () => {});
      process.stdout.on('error', () => {});
      process.env['LEFT'] = 'behind';
      delete process.env['PATH'];
      return await end();
    }).catch((error: unknown) => expect(error).toEqual(new Error('It fails.')));
    expect(describeProcess()).toEqual(before);
  });

  it('waits for the one before it, even if that fails', async () => {
    const order: string[] = [];
    const start = async (name: string) =>
      await runBorrowed({ cwd: process.cwd() }, async () => {
        order.push(`${name} starts`);
        process.stdout.write(name);
        await new Promise((resolve) => setImmediate(resolve));
        order.push(`${name} ends`);
        if (name === 'a') throw new Error('It fails.');
        return 0;
      });
    const [first, second] = await Promise.allSettled([start('a'), start('b')]);
    expect(first.status).toBe('rejected');
    expect(second).toMatchObject({ status: 'fulfilled', value: { stdout: 'b' } });
    expect(order).toEqual(['a starts', 'a ends', 'b starts', 'b ends']);
  });
});
