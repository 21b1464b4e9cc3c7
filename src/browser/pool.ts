import { statSync } from 'node:fs';
import { describeError } from '../base/errors.ts';
import type { Clock } from '../base/time.ts';
import { type Chromium, startChromium } from './chromium.ts';
import { BrowserGoneError, type DevTools } from './devtools.ts';
import type { FoundChromium } from './find-chromium.ts';

/** The browser of a run; it starts when it is first needed. */
export interface BrowserPool extends AsyncDisposable {
  /** Returns a running browser, or the reason why there is none with the remedy. */
  open(): Promise<{ devtools: DevTools } | { reason: string }>;
}

/** The most starts of a browser that crashes; then the machine cannot run it. */
const maxStarts = 3;

/** Shares one browser between the iterations of a run, and starts it again after it crashed. */
export function createBrowserPool(found: FoundChromium | { reason: string }, clock: Clock): BrowserPool {
  if ('reason' in found) return { open: async () => found, [Symbol.asyncDispose]: async () => {} };
  let current: Promise<Chromium> | null = null;
  let starts = 0;
  let isOver = false;
  const started: Chromium[] = [];
  const identity = identify(found.executable);
  const start = async () => {
    // A server without a sandbox could end the browser to have another program started instead.
    if (identify(found.executable) !== identity) {
      throw new BrowserGoneError(`${found.executable} has changed since the gate started, and is not started again.`);
    }
    starts += 1;
    const chromium = await startChromium(found, clock);
    started.push(chromium);
    chromium.devtools.gone.addEventListener('abort', () => (current = null), { once: true });
    return chromium;
  };
  return {
    open: async () => {
      if (isOver) return { reason: 'The run is over.' };
      if (current === null && starts === maxStarts)
        return { reason: `The browser crashed ${maxStarts} times, and is not started again.` };
      current ??= start();
      try {
        return { devtools: (await current).devtools };
      } catch (error) {
        // A failed start would fail for the next iteration, too, and take as long.
        return { reason: error instanceof BrowserGoneError ? error.message : describeError(error) };
      }
    },
    [Symbol.asyncDispose]: async () => {
      isOver = true;
      await current?.catch(() => {});
      await Promise.all(started.map(async (chromium) => await chromium[Symbol.asyncDispose]()));
    },
  };
}

/** Identifies a file and its content. No program can set the ctime. */
function identify(file: string): string {
  const stats = statSync(file, { bigint: true, throwIfNoEntry: false });
  return stats === undefined ? 'missing' : [stats.dev, stats.ino, stats.size, stats.ctimeNs].join(' ');
}
