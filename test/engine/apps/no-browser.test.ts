import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/base/time.ts';
import { type BrowserPool, createBrowserPool } from '../../../src/browser/pool.ts';
import { runCase } from '../../../src/engine/run-case.ts';
import type { Step } from '../../../src/cases/step.ts';
import { findChromiumForGate, missingBrowser } from '../../support/browser.ts';
import { assertStep, callStep, createCase } from '../../support/factories/case-factory.ts';
import { createApp, startAppServer } from '../../support/servers/app-server.ts';
import { text } from '../../support/servers/fixture-mcp-server.ts';

const press: Step = { id: 'press', kind: 'interact', toolName: 'weather', action: { kind: 'key', key: 'Enter' } };
const sees = assertStep({ kind: 'textVisible', toolName: 'weather', text: '4 degrees' });

async function run(browser: BrowserPool, steps: Step[], onCrash = async () => {}) {
  await using server = await startAppServer({
    weather: { html: createApp('<p>4 degrees</p>') },
    crash: {
      call: async () => {
        await onCrash();
        return text('done');
      },
    },
  });
  const target = { url: server.url, serverName: 'apps', protocol: 'legacy' } as const;
  return await runCase(createCase(steps), target, { clock: systemClock, timeoutMs: 60_000, browser });
}

describe('a widget without a browser', () => {
  it.each<[string, Step]>([
    ['an interact step', press],
    ['an assertion on a widget', sees],
    ['widgetRendered', assertStep({ type: 'widgetRendered' })],
    ['widgetRenderLatencyUnder', assertStep({ type: 'widgetRenderLatencyUnder', ms: 5 })],
    ['widgetNoConsoleErrors', assertStep({ type: 'widgetNoConsoleErrors' })],
    ['a negation', assertStep({ type: 'not', assertion: { type: 'widgetRendered' } })],
  ])('leaves %s without a result, and says how to get a browser', async (_, step) => {
    await using browser = createBrowserPool({ reason: 'No Chromium is in PATH. Install one.' }, systemClock);
    const outcome = await run(browser, [callStep('weather'), step]);
    expect(outcome).toMatchObject({ status: 'failed', result: null });
    expect(outcome.error).toContain('No Chromium is in PATH. Install one.');
  });
});

describe.skipIf(missingBrowser !== null)('a browser that crashes', () => {
  it('leaves the iteration without a result, and the next one gets another browser', async () => {
    await using browser = createBrowserPool(findChromiumForGate(), systemClock);
    const crash = async () => {
      const opened = await browser.open();
      if (!('devtools' in opened)) throw new Error(opened.reason);
      await opened.devtools.send('Browser.crash').catch(() => {});
    };
    const noErrors = assertStep({ type: 'widgetNoConsoleErrors' });
    for (const step of [sees, press, noErrors]) {
      const outcome = await run(browser, [callStep('weather'), sees, callStep('crash'), step], crash);
      expect(outcome).toMatchObject({ status: 'failed', result: null });
      expect(outcome.error).toMatch(/The (browser ended|connection to the browser broke)\./);
      expect(outcome.steps.map(({ status }) => status)).toEqual(['ok', 'ok', 'ok', 'fail']);
    }
    const late = await run(browser, [callStep('weather'), sees]);
    expect(late).toMatchObject({ status: 'failed', result: null });
    expect(late.error).toContain('The browser crashed 3 times, and is not started again.');
  });
});
