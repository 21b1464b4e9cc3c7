import type { PageData } from '../src/report/html/page-data.ts';
import { createBaseCard } from './base-card.ts';
import { createCaseSection } from './case-list.ts';
import { createCommand } from './command.ts';
import { createCoverageCard } from './coverage-card.ts';
import { createComparisonCard } from './comparison-card.ts';
import { create } from './dom.ts';
import { createModelsCard } from './models-card.ts';
import { openForPrint } from './print.ts';
import { createSurfaceCard } from './surface-card.ts';
import { createSuiteCard } from './suite-card.ts';
import { startTheme } from './theme.ts';
import { createTrendCard } from './trend-card.ts';

const tooOld =
  'This browser cannot unpack the cases of this report. Open it in Chrome or Edge 80, Firefox 113, Safari 16.4 or later, or read report.json.';

const [app, theme, repeat, source] = ['app', 'theme', 'repeat', 'data'].map((id) => document.getElementById(id));
if (theme != null) startTheme(theme);
repeat?.replaceWith(createCommand(repeat.textContent));
openForPrint();
if (app != null && source != null) {
  const { type, textContent } = source as HTMLScriptElement; // oxlint-disable-line typescript/no-unsafe-type-assertion
  if (type !== 'application/gzip') show(app, textContent);
  else if ('DecompressionStream' in globalThis) void decompress(textContent).then((json) => show(app, json));
  else refuse(app);
}

/** The verdict and its reasons stand above, and need no script. */
function refuse(app: HTMLElement): void {
  app.replaceChildren(create('p', { role: 'alert' }, tooOld));
  document.documentElement.dataset['ready'] = '';
}

async function decompress(base64: string): Promise<string> {
  const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  return await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'))).text();
}

function show(app: HTMLElement, json: string): void {
  // The same version of the gate wrote the data.
  const data = JSON.parse(json) as PageData; // oxlint-disable-line typescript/no-unsafe-type-assertion
  draw(app, data);
  document.documentElement.dataset['ready'] = '';
  performance.mark('usable');
}

function draw(app: HTMLElement, data: PageData): void {
  const { report } = data;
  const cards = [
    ...report.suites.map((suite) => createSuiteCard(suite, report.models?.currency ?? '')),
    createModelsCard(report),
    createSurfaceCard(report),
    createTrendCard(report),
    createBaseCard(report),
    createComparisonCard(report),
    createCoverageCard(report, data.minimumCoverage),
  ].filter((card) => card !== null);
  const overview = create('div', { class: 'cards' }, ...cards);
  const { section, openWanted } = createCaseSection(data);
  // Of a gate that failed, a reader wants to know first which case did, and why.
  app.replaceChildren(...(report.verdict.outcome === 'failed' ? [section, overview] : [overview, section]));
  openWanted();
}
