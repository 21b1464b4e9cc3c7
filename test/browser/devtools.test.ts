import { PassThrough } from 'node:stream';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  BrowserGoneError,
  CommandError,
  createMessageSplitter,
  maxMessageBytes,
  openDevTools,
} from '../../src/browser/devtools.ts';

describe('createMessageSplitter', () => {
  it('finds the messages however their bytes are cut', () => {
    const texts = fc.array(fc.string({ unit: 'grapheme' }).map((text) => text.replaceAll('\0', '')));
    fc.assert(
      fc.property(texts, fc.infiniteStream(fc.integer({ min: 1, max: 7 })), (messages, sizes) => {
        const found: string[] = [];
        const split = createMessageSplitter(
          (text) => found.push(text),
          () => {},
        );
        const bytes = Buffer.from(messages.map((text) => `${text}\0`).join(''));
        for (let at = 0; at < bytes.length;) {
          const size = sizes.next().value ?? 1;
          split(bytes.subarray(at, at + size));
          at += size;
        }
        expect(found).toEqual(messages);
      }),
      { numRuns: 50 },
    );
  });

  it('gives up on a message that is too long, once', () => {
    const found: string[] = [];
    let excesses = 0;
    const split = createMessageSplitter(
      (text) => found.push(text),
      () => (excesses += 1),
    );
    const chunk = Buffer.alloc(maxMessageBytes / 4, 65);
    for (let count = 0; count < 5; count += 1) split(chunk);
    split(Buffer.from('\0{}\0'));
    expect([found, excesses]).toEqual([[], 1]);
  });
});

describe('openDevTools', () => {
  function open() {
    const input = new PassThrough();
    const output = new PassThrough();
    const say = (message: object) => output.write(`${JSON.stringify(message)}\0`);
    return { devtools: openDevTools(input, output), input, output, say };
  }

  it('gives each command its own answer, and a refused one its error', async () => {
    const { devtools, input, say } = open();
    const first = devtools.send('Page.enable', {}, 'session');
    const second = devtools.send('Nothing.here');
    const sent = String(input.read()).split('\0');
    expect(sent).toEqual([
      '{"id":1,"method":"Page.enable","params":{},"sessionId":"session"}',
      '{"id":2,"method":"Nothing.here","params":{}}',
      '',
    ]);
    say({ id: 2, error: { code: -32601, message: 'No such method' } });
    say({ id: 1, result: { done: true } });
    await expect(first).resolves.toEqual({ done: true });
    await expect(second).rejects.toEqual(new CommandError('No such method'));
  });

  it('gives events to those that listen, and skips what is no message', async () => {
    const { devtools, output, say } = open();
    const events: unknown[] = [];
    const stop = devtools.listen((event) => events.push(event));
    output.write('no JSON\0[]\0');
    say({ method: 'Log.entryAdded', params: { a: 1 }, sessionId: 's' });
    await new Promise((resolve) => setImmediate(resolve));
    stop();
    say({ method: 'Log.entryAdded', params: {} });
    await new Promise((resolve) => setImmediate(resolve));
    expect(events).toEqual([{ method: 'Log.entryAdded', params: { a: 1 }, sessionId: 's' }]);
  });

  it('fails what waits, and all that follows, when the browser ends', async () => {
    const { devtools, output } = open();
    const waiting = devtools.send('Browser.getVersion');
    output.destroy();
    await expect(waiting).rejects.toBeInstanceOf(BrowserGoneError);
    await expect(devtools.send('Browser.getVersion')).rejects.toBeInstanceOf(BrowserGoneError);
    expect(devtools.gone.aborted).toBe(true);
  });

  it('refuses what waits as soon as it is closed', async () => {
    const { devtools, input, output } = open();
    const waiting = devtools.send('Page.enable');
    devtools.close();
    expect(devtools.gone.aborted).toBe(true);
    await expect(waiting).rejects.toThrow(BrowserGoneError);
    expect([input.destroyed, output.destroyed]).toEqual([true, true]);
  });
});
