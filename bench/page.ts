import { findMedian } from './child.ts';
import { createRedactor } from '../lib/base/redaction.js';
import { keepTrace } from '../lib/gate/run/evidence-log.js';
import { type Evidence, type IterationMark, maxIterationMarks, maxTraces } from '../lib/model/evidence.js';
import type { Report } from '../lib/model/report.js';
import { renderHtml } from '../lib/report/html/page.js';
import { launchBrowser, missingBrowser, openFilePage } from '../test/support/browser.ts';
import { createReport } from '../test/support/factories/report-factory.ts';
import { createCaseResults, createFailure, createSuiteResults } from '../test/support/factories/results-factory.ts';

interface Shape {
  title: string;
  cases: number;
  runs: number;
  /** Every n-th case fails. */
  failing: number;
  traces: number;
}

const shapes: readonly Shape[] = [
  { title: '20 cases × 5', cases: 20, runs: 5, failing: 5, traces: 0 },
  { title: '100 cases × 10', cases: 100, runs: 10, failing: 5, traces: 0 },
  { title: '1000 cases × 10', cases: 1000, runs: 10, failing: 5, traces: 0 },
  { title: '1000 cases × 10, 50 large traces', cases: 1000, runs: 10, failing: 5, traces: maxTraces },
  { title: '10,000 cases × 1', cases: 10_000, runs: 1, failing: 10, traces: 0 },
  { title: '1000 cases × 100, all failed', cases: 1000, runs: 100, failing: 1, traces: maxTraces },
];

/** The number of times that each page is opened. */
const openings = 9;

/**
 * Measures the size of the report's page, the time to render it, and the median time until a reader sees its cases, compared
 * with the first page. The pages take turns, so that another process costs all of them the same.
 */
export async function measurePage(): Promise<void> {
  console.log(`\nreport.html: size, time to render, and in Chromium the time from opening it (median of ${openings})`);
  const pages = shapes.map((shape) => {
    const report = createLargeReport(shape);
    const evidence = createLargeEvidence(report, shape);
    const start = performance.now();
    const html = renderHtml(report, { evidence });
    const renderMs = performance.now() - start;
    const times: { usableMs: number[]; paintedMs: number[]; searchMs: number[] } = {
      usableMs: [],
      paintedMs: [],
      searchMs: [],
    };
    return { title: shape.title, html, renderMs, ...times };
  });
  if (missingBrowser === null) {
    await using browser = await launchBrowser();
    for (let opening = 0; opening < openings; opening += 1) {
      for (const { html, usableMs, paintedMs, searchMs } of pages) {
        await using open = await openFilePage(browser, html, { watch: markPaint });
        usableMs.push(await open.page.evaluate<number>('performance.getEntriesByName("usable")[0].startTime'));
        paintedMs.push(await open.page.evaluate<number>(findPaint));
        searchMs.push(await open.page.evaluate<number>(timeSearch));
      }
    }
  } else {
    console.log(`  Not opened: ${missingBrowser}.`);
  }
  const [smallest] = pages;
  for (const { title, html, renderMs, usableMs, paintedMs, searchMs } of pages) {
    const facts = [`${(Buffer.byteLength(html) / 1e3).toFixed(0)} kB`, `rendered in ${renderMs.toFixed(0)} ms`];
    if (usableMs.length > 0 && smallest !== undefined) {
      const compare = (times: readonly number[], first: readonly number[]) =>
        `${findMedian(times).toFixed(0)} ms (${(findMedian(times) / findMedian(first)).toFixed(2)} times the first)`;
      facts.push(`painted after ${compare(paintedMs, smallest.paintedMs)}`);
      facts.push(`scripts done after ${compare(usableMs, smallest.usableMs)}`);
      facts.push(`a search shown after ${findMedian(searchMs).toFixed(0)} ms`);
    }
    console.log(`  ${title}: ${facts.join(', ')}`);
  }
}

/** Marks the end of the frame after the one in which the page's script is done. */
const markPaint = `new PerformanceObserver((list) => {
  if (list.getEntriesByName('usable').length === 0) return;
  requestAnimationFrame(() => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => performance.mark('painted');
    port2.postMessage(null);
  });
}).observe({ type: 'mark' })`;

const findPaint = `new Promise((resolve) => {
  const find = () => {
    const [mark] = performance.getEntriesByName('painted');
    if (mark === undefined) requestAnimationFrame(find);
    else resolve(mark.startTime);
  };
  find();
})`;

const timeSearch = `new Promise((resolve) => {
  const search = document.querySelector('input[type=search]');
  const start = performance.now();
  search.value = 'number 7';
  search.dispatchEvent(new Event('input'));
  new MutationObserver(() => requestAnimationFrame(() => resolve(performance.now() - start)))
    .observe(document.querySelector('[role=status]'), { childList: true, characterData: true, subtree: true });
})`;

function createLargeReport({ cases, runs, failing }: Shape): Report {
  const results = Array.from({ length: cases }, (_, index) => {
    const isFailing = index % failing === 0;
    return createCaseResults({
      id: `case-${index}`,
      location: { file: 'evals/many.evals.yaml', line: index * 6 + 3, column: 5 },
      title: `Case number ${index} of many`,
      tags: [`tag-${index % 12}`],
      passed: isFailing ? 0 : runs,
      failed: isFailing ? runs : 0,
      durationsMs: [100 + (index % 900)],
      failures: isFailing
        ? Array.from({ length: Math.min(runs, 1000 / Math.min(1000, cases / failing)) }, (_, number) =>
            createFailure({
              iterationId: `it_${index}_${number + 1}`,
              iterationNumber: number + 1,
              reasons: [`Iteration ${number + 1}: ${'because '.repeat(30)}`],
              expectedToolCalls: [{ toolName: 'add', arguments: { a: index, b: 3 } }],
            }),
          )
        : [],
    });
  });
  return createReport({ suites: [createSuiteResults({ cases: results })] });
}

function createLargeEvidence(report: Report, { runs, traces }: Shape): Evidence {
  const iterations = report.cases.flatMap(({ suiteId, id, outcome: ofCase }) =>
    Array.from({ length: runs }, (_, index): IterationMark => {
      const number = index + 1;
      const outcome = ofCase === 'passed' ? 'passed' : 'failed';
      const iterationId = `it_${id.slice('case-'.length)}_${number}`;
      return {
        suiteId,
        caseId: id,
        iterationId,
        iterationNumber: number,
        outcome,
        isReplayed: false,
        durationMs: 50 + number * 7,
      };
    }),
  );
  const trace = {
    messages: Array.from({ length: 80 }, () => ({ role: 'assistant', content: 'A long text. '.repeat(120) })),
    spans: Array.from({ length: 200 }, (_, index) => ({
      name: 'tool',
      category: 'tool',
      startMs: index * 10,
      endMs: index * 10 + 9,
    })),
  };
  const kept = keepTrace(trace, createRedactor());
  const failed = iterations.filter(({ outcome }) => outcome === 'failed');
  return {
    iterations: iterations.slice(0, maxIterationMarks),
    definitions: report.cases.map(({ title }, index) => ({
      file: 'evals/many.evals.yaml',
      line: index * 6 + 3,
      text: `title: ${title}\nsteps:\n  - toolCall: add\n    arguments: { a: ${index}, b: 3 }\n  - assert: { toolResultContains: "${index + 3}" }`,
    })),
    traces: failed
      .slice(0, traces)
      .flatMap(({ suiteId, iterationId }) => (kept === null ? [] : [{ suiteId, iterationId, ...kept }])),
  };
}
