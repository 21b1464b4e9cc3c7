import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/time.ts';
import { BrowserGoneError } from '../../src/browser/devtools.ts';
import { createBrowserPool } from '../../src/browser/pool.ts';
import { isGroupAlive } from '../../src/server/process-tree.ts';
import { startChromium } from '../../src/browser/chromium.ts';
import { findChromiumForGate, missingBrowser } from '../support/browser.ts';
import { writeScriptedBrowser } from '../support/scripted-browser.ts';
import { createWorkspace } from '../support/workspace.ts';

describe('createBrowserPool', () => {
  it('passes on why there is no browser', async () => {
    await using pool = createBrowserPool({ reason: 'None.' }, systemClock);
    expect(await pool.open()).toEqual({ reason: 'None.' });
  });

  it('says why a browser does not start, and tries once', async () => {
    const found = { executable: '/bin/false', isSandboxed: true, environment: {} };
    await using pool = createBrowserPool(found, systemClock);
    const answers = await Promise.all([pool.open(), pool.open()]);
    expect(answers[0]).toEqual(answers[1]);
    expect(answers[0]).toEqual({
      reason: expect.stringMatching(/^\/bin\/false did not start: The (browser ended|connection)/),
    });
  });

  it.skipIf(process.getuid?.() !== 0 || missingBrowser !== null)(
    'says what to do for root, which has no sandbox',
    async () => {
      await using pool = createBrowserPool({ ...findChromiumForGate(), isSandboxed: true }, systemClock);
      expect(await pool.open()).toEqual({ reason: expect.stringContaining('MCP_EVAL_CI_CHROMIUM_SANDBOX=off') });
    },
  );
});

describe.runIf(process.platform === 'linux')('a browser that has ended', () => {
  /** Opens a pool, ends its browser after a change of its file, and opens it again. */
  const reopen = async (change: (file: string, log: string) => Promise<void>) => {
    await using workspace = await createWorkspace();
    const [executable, log] = [join(workspace.path, 'chromium'), join(workspace.path, 'log')];
    await writeScriptedBrowser(executable, { log, line: 'as found' });
    await using pool = createBrowserPool({ executable, isSandboxed: true, environment: {} }, systemClock);
    const first = await pool.open();
    if (!('devtools' in first)) throw new Error(first.reason);
    await change(executable, log);
    await expect(first.devtools.send('Target.getTargets')).rejects.toThrow(BrowserGoneError);
    const second = await pool.open();
    return { reason: 'reason' in second ? second.reason : null, log: await workspace.read('log') };
  };

  it('is started again', async () => {
    expect(await reopen(async () => {})).toEqual({ reason: null, log: 'as found\nas found\n' });
  });

  it.each<[string, (file: string, log: string) => Promise<void>]>([
    ['was overwritten', (file, log) => writeScriptedBrowser(file, { log, line: 'planted' })],
    [
      'was replaced',
      async (file, log) => {
        await rm(file);
        await writeScriptedBrowser(file, { log, line: 'planted' });
      },
    ],
    ['is gone', (file) => rm(file)],
  ])('is not started again where its program %s', async (_, change) => {
    const { reason, log } = await reopen(change);
    expect(log).toBe('as found\n');
    expect(reason).toMatch(/chromium has changed since the gate started, and is not started again\.$/);
  });
});

describe.skipIf(missingBrowser !== null)('startChromium', () => {
  it('ends all processes and removes the profile when it is disposed', async () => {
    const chromium = await startChromium(findChromiumForGate(), systemClock);
    expect(await chromium.devtools.send('Browser.getVersion')).toHaveProperty('product');
    expect([isGroupAlive(chromium.pid), existsSync(chromium.profile)]).toEqual([true, true]);
    await chromium[Symbol.asyncDispose]();
    expect(isGroupAlive(chromium.pid)).toBe(false);
    expect(chromium.devtools.gone.aborted).toBe(true);
    expect(existsSync(chromium.profile)).toBe(false);
  });
});
