import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import type { FoundChromium } from '../../src/browser/find-chromium.ts';
import { buildChildEnvironment } from '../../src/server/environment.ts';

/** A page that is opened from a file. */
export interface OpenPage extends AsyncDisposable {
  page: Page;
  /** Errors, violations of the page's own policy, and requests for anything except the page itself. */
  complaints: string[];
}

const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'chrome'];

/** Finds a Chromium on this machine, `CHROME_PATH` first; undefined if there is none. */
function findChromium(): string | undefined {
  const named = process.env['CHROME_PATH'];
  const directories = (process.env['PATH'] ?? '').split(delimiter);
  const found = directories.flatMap((directory) => names.map((name) => join(directory, name)));
  return [...(named === undefined ? [] : [named]), ...found].find((file) => existsSync(file));
}

/** Finds a Chromium for the gate. Turns its own sandbox off, which containers and root do not have. */
export function findChromiumForGate(): FoundChromium {
  const environment = buildChildEnvironment(process.env, {});
  return { executable: findChromium() ?? '', isSandboxed: false, environment };
}

/** The reason why tests of pages are skipped; null if there is a browser. */
export const missingBrowser: string | null =
  findChromium() === undefined ? 'no Chromium in PATH or CHROME_PATH; install one to test the page in it' : null;

/** Starts the browser that `findChromium` found, headless. */
export async function launchBrowser(): Promise<Browser> {
  const executablePath = findChromium();
  if (executablePath === undefined) throw new Error(missingBrowser ?? '');
  // Containers have no user namespaces, little shared memory, and no graphics card, which the processor would have to emulate.
  const args = ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu'];
  return await chromium.launch({ executablePath, args });
}

/** Opens the text as a file in a separate context and waits until the page is usable. `watch` is a script that runs before those of the page. */
export async function openFilePage(
  browser: Browser,
  html: string,
  options: BrowserContextOptions & { anchor?: string; watch?: string } = {},
): Promise<OpenPage> {
  const { anchor = '', watch, ...contextOptions } = options;
  const directory = await mkdtemp(join(tmpdir(), 'mcp-eval-ci-page-'));
  const file = join(directory, 'report.html');
  await writeFile(file, html);
  const context = await browser.newContext(contextOptions);
  const page = await context.newPage();
  if (watch !== undefined) await page.addInitScript(watch);
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('console', (message) => complaints.push(message.text()));
  page.on('request', (request) => {
    if (!request.url().startsWith(pathToFileURL(file).href)) complaints.push(`request for ${request.url()}`);
  });
  await page.goto(pathToFileURL(file).href + anchor);
  if (contextOptions.javaScriptEnabled !== false)
    await page.waitForSelector(':root[data-ready]', { state: 'attached' });
  return {
    page,
    complaints,
    [Symbol.asyncDispose]: async () => {
      await context.close();
      await rm(directory, { recursive: true });
    },
  };
}
