import type { Evidence, IterationTrace } from '../../model/evidence.ts';
import { type CaseReport, maxFailuresPerCase } from '../../model/case-report.ts';
import type { Report } from '../../model/report.ts';
import { type JudgedMinimum, judgeMinima } from '../document/coverage.ts';
import { stripControls } from '../escape/plain.ts';
import { fit } from '../document/fit.ts';
import { escapeScriptJson } from '../escape/html.ts';
import { truncateText } from '../truncate.ts';

/** The report without the fields that only a judgement reads, and without what the page has without its script. */
export type PageReport = Omit<Report, 'policy' | 'results' | 'hosts'>;

/** The data that the page's script draws. */
export interface PageData {
  /** The report with shortened and cleaned texts, and as many cases and failures as fit. */
  report: PageReport;
  /** The policy's requirements on the coverage, and whether they are met; empty if there are none. */
  minimumCoverage: JudgedMinimum[];
  /** The marks of each case, in the report's order; empty if single iterations are not known. */
  marks: PageMark[][];
  traces: IterationTrace[];
  /** The text of each case in its evals file, in the report's order; null where there is none, or no room. */
  definitions: Array<string | null>;
  /** The files that the report names lines of, each with its address in the repository at the tested commit. */
  files: Array<[file: string, url: string]>;
  /** The numbers of items that did not fit. */
  leftOut: { cases: number; failures: number; traces: number };
}

/** Number, outcome and duration of an iteration, and whether a recording answered in it; null without a model. */
export type PageMark = [
  iterationNumber: number | null,
  outcome: 'passed' | 'failed' | 'unscored',
  durationMs: number | null,
  isReplayed: boolean | null,
];

/** How much of the report the page's data holds. */
interface DataDetail {
  maxTextLength: number;
  maxTraces: number;
  maxFailures: number;
  hasToolCalls: boolean;
  hasMarks: boolean;
  maxCases: number;
  /** In UTF-16 units, of all definitions together. */
  maxDefinitions: number;
}

const fullDetail: DataDetail = {
  maxTextLength: 20_000,
  maxTraces: Infinity,
  maxFailures: maxFailuresPerCase,
  hasToolCalls: true,
  hasMarks: true,
  maxCases: Infinity,
  maxDefinitions: 16_000,
};

/** From the most to the least. */
const dataDetails: readonly DataDetail[] = [
  fullDetail,
  { ...fullDetail, maxTextLength: 4000 },
  { ...fullDetail, maxTextLength: 1000, maxTraces: 10 },
  { ...fullDetail, maxTextLength: 300, maxTraces: 0, maxFailures: 1, maxDefinitions: 0 },
  {
    ...fullDetail,
    maxTextLength: 300,
    maxTraces: 0,
    maxFailures: 1,
    hasToolCalls: false,
    maxCases: 5000,
    maxDefinitions: 0,
  },
  {
    maxTextLength: 120,
    maxTraces: 0,
    maxFailures: 0,
    hasToolCalls: false,
    hasMarks: false,
    maxCases: 100,
    maxDefinitions: 0,
  },
];

/** Renders the page's data as JSON for a script element, in at most `maxBytes` bytes of UTF-8 if that is possible. */
export function renderPageData(
  report: Report,
  { evidence, linkLine, maxBytes }: { evidence: Evidence | null; linkLine: LinkLine; maxBytes: number },
): string {
  const files = linkFiles(report, linkLine);
  return fit(dataDetails, maxBytes, (detail) =>
    escapeScriptJson(JSON.stringify(buildPageData(report, { evidence, files }, detail))),
  );
}

/** Finds the address of a line in the repository; null if it has none. */
export type LinkLine = (location: { file: string; line: number }) => string | null;

function linkFiles({ cases }: Report, linkLine: LinkLine): PageData['files'] {
  const files = new Set(
    cases.flatMap(({ location, failures }) =>
      [location, ...failures.map(({ source }) => source)].flatMap((place) => place?.file ?? []),
    ),
  );
  return [...files].flatMap((file) => {
    const url = linkLine({ file, line: 1 });
    return url === null ? [] : [[stripControls(file), url.replace(/#L1$/, '')] satisfies [string, string]];
  });
}

function buildPageData(
  { policy, results, hosts: _hosts, ...report }: Report,
  { evidence, files }: { evidence: Evidence | null; files: PageData['files'] },
  detail: DataDetail,
): PageData {
  const clear = (text: string) => truncateText(stripControls(text), detail.maxTextLength);
  const cases = report.cases.slice(0, detail.maxCases).map((testCase) => ({
    ...testCase,
    // The page has the rates of suites only.
    repeats: [],
    failures: testCase.failures
      .slice(0, detail.maxFailures)
      .map((failure) =>
        detail.hasToolCalls ? failure : { ...failure, expectedToolCalls: [], actualToolCalls: [], differences: [] },
      ),
  }));
  const { comparison, baseComparison } = report;
  const marks = groupMarks(detail.hasMarks ? evidence : null);
  const traces = (evidence?.traces ?? []).slice(0, detail.maxTraces);
  return {
    report: mapTexts(
      {
        ...report,
        cases,
        comparison: comparison === null ? null : { ...comparison, cases: comparison.cases.slice(0, detail.maxCases) },
        baseComparison:
          baseComparison === null ? null : { ...baseComparison, cases: baseComparison.cases.slice(0, detail.maxCases) },
      },
      clear,
    ),
    minimumCoverage: report.coverage === undefined ? [] : judgeMinima(report.coverage, { policy, results }),
    marks: cases.map(({ suiteId, id }) => marks.get(nameCase(suiteId, id)) ?? []),
    traces: mapTexts(traces, clear),
    definitions: chooseDefinitions(evidence, cases, detail.maxDefinitions).map((text) =>
      text === null ? null : clear(text),
    ),
    files,
    leftOut: {
      cases: report.cases.length - cases.length,
      failures: countFailures(report.cases) - countFailures(cases),
      traces: (evidence?.traces.length ?? 0) - traces.length,
    },
  };
}

/** Chooses the texts of the first cases, of which the report has the worst ones first. Variants of a case share its text. */
function chooseDefinitions(
  evidence: Evidence | null,
  cases: ReadonlyArray<Pick<CaseReport, 'location'>>,
  maxLength: number,
): Array<string | null> {
  const known = new Map(evidence?.definitions.map(({ file, line, text }) => [`${file}:${line}`, text]));
  let length = 0;
  return cases.map(({ location }) => {
    const text = location === null ? null : (known.get(`${location.file}:${location.line}`) ?? null);
    length += text?.length ?? 0;
    return length <= maxLength ? text : null;
  });
}

function groupMarks(evidence: Evidence | null): Map<string, PageMark[]> {
  const groups = Map.groupBy(evidence?.iterations ?? [], ({ suiteId, caseId }) => nameCase(suiteId, caseId));
  return new Map(
    [...groups].map(([name, members]) => [
      name,
      members
        .toSorted((a, b) => (a.iterationNumber ?? 0) - (b.iterationNumber ?? 0))
        .map(({ iterationNumber, outcome, durationMs, isReplayed }) => [
          iterationNumber,
          outcome,
          durationMs,
          isReplayed,
        ]),
    ]),
  );
}

function nameCase(suiteId: string, caseId: string): string {
  return JSON.stringify([suiteId, caseId]);
}

function countFailures(cases: Report['cases']): number {
  return cases.reduce((sum, { failures }) => sum + failures.length, 0);
}

/** Returns a copy of plain data with every text changed, including names of properties. */
function mapTexts<T>(value: T, change: (text: string) => string): T;
function mapTexts(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, change));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [change(name), mapTexts(item, change)]));
}
