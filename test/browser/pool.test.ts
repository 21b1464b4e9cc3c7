import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/time.ts';
import { createBrowserPool } from '../../src/browser/pool.ts';
import { isGroupAlive } from '../../src/server/process-tree.ts';
import { startChromium } from '../../src/browser/chromium.ts';
import { findChromiumForGate, missingBrowser } from '../support/browser.ts';

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
