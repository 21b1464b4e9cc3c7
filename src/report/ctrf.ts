import type { CaseReport } from '../model/case-report.ts';
import type { Report, SuiteReport } from '../model/report.ts';
import { describeCaseCounts, describeExemption } from './wording.ts';
import { computePassRate } from '../model/rate.ts';
import { escapeJson } from './escape/json.ts';
import { stripControls } from './escape/plain.ts';
import { describeFailures } from './failures.ts';
import { truncateText } from './truncate.ts';

/** The version of the schema of the Common Test Report Format (github.com/ctrf-io/ctrf). */
const specVersion = '0.0.0';

const maxMessageLength = 1000;
const maxTraceLength = 20_000;

type CtrfStatus = 'passed' | 'failed' | 'skipped' | 'other';

interface CtrfTest {
  testId: string;
  name: string;
  status: CtrfStatus;
  rawStatus: string;
  /** In whole milliseconds. */
  duration: number;
  suite: string[];
  tags?: string[];
  filePath?: string;
  line?: number;
  message?: string;
  trace?: string;
  flaky?: true;
  extra?: Record<string, unknown>;
}

/**
 * Renders `ctrf.json`, one test per case. It agrees with the verdict: failures that a passing suite's minimum tolerates pass with a message,
 * and a suite's verdict that none of its cases explains becomes a separate test.
 */
export function renderCtrf(report: Report): string {
  const tests = listTests(report);
  const count = (status: CtrfStatus) => tests.filter((test) => test.status === status).length;
  const start = Date.parse(report.startedAt) || 0;
  const duration = Math.round(report.durationMs);
  const document = {
    reportFormat: 'CTRF',
    specVersion,
    ...(start === 0 ? {} : { timestamp: new Date(start + duration).toISOString() }),
    generatedBy: `${report.generator.name} ${report.generator.version}`,
    results: {
      tool: { name: report.generator.name, version: report.generator.version },
      summary: {
        tests: tests.length,
        passed: count('passed'),
        failed: count('failed'),
        skipped: count('skipped'),
        pending: 0,
        other: count('other'),
        flaky: tests.filter(({ flaky }) => flaky === true).length,
        suites: report.suites.length,
        start,
        stop: start + duration,
        duration,
      },
      tests,
      extra: {
        verdict: report.verdict.outcome,
        stopsJob: report.stopsJob,
        reasons: report.verdict.reasons.map(({ message }) => cut(message)),
        iterations: report.totals,
        ...(report.models === null ? {} : { models: report.models }),
      },
    },
  };
  return `${escapeJson(JSON.stringify(document, null, 2))}\n`;
}

function listTests(report: Report): CtrfTest[] {
  // Adds a test for a gate without suites: an empty file would look passed, whatever the verdict is.
  const gate = { id: gateId, name: report.generator.name, file: null, verdict: report.verdict, stoppedEarly: null };
  return (report.suites.length === 0 ? [gate] : report.suites).flatMap((suite) => {
    const tests = report.cases
      .filter(({ suiteId }) => suiteId === suite.id)
      .map((testCase) => buildTest(testCase, suite));
    const { outcome } = suite.verdict;
    const isExplained =
      (outcome === 'passed' && suite.id !== gateId) ||
      (outcome === 'failed' && tests.some(({ status }) => status === 'failed'));
    return isExplained ? tests : [buildVerdictTest(suite), ...tests];
  });
}

/** The id of the suite that stands for a gate without suites. */
const gateId = '';

type JudgedSuite = Pick<SuiteReport, 'id' | 'name' | 'file' | 'verdict' | 'stoppedEarly'>;

function buildVerdictTest({ id, name, file, verdict: { outcome, reasons } }: JudgedSuite): CtrfTest {
  return {
    testId: `${id}/`,
    name: 'verdict',
    status: outcome === 'inconclusive' ? 'other' : outcome,
    rawStatus: outcome,
    duration: 0,
    suite: [name],
    ...(file === null ? {} : { filePath: file }),
    message: cut(
      reasons.flatMap(({ message, output = [] }) => [message, ...output]).join('\n') || 'Nothing was established.',
    ),
  };
}

function buildTest(testCase: CaseReport, suite: JudgedSuite): CtrfTest {
  const { id, title, tags, location, durationMs, outcome, passed, failed, total, planned } = testCase;
  const { model, host, usage, cost, judges, replayed } = testCase;
  const status = chooseStatus(testCase, suite);
  const [reason] = testCase.failures.flatMap(({ reasons }) => reasons);
  const trace = describeFailures(testCase);
  return {
    testId: `${suite.id}/${id}`,
    name: title === '' ? id : title,
    status,
    rawStatus: [outcome, ...describeExemption(testCase)].join(', '),
    duration: Math.round(durationMs ?? 0),
    suite: [suite.name],
    ...(tags.length === 0 ? {} : { tags }),
    ...(location === null ? {} : { filePath: location.file, line: location.line }),
    ...(outcome === 'passed'
      ? {}
      : { message: cut(`${describeCaseCounts(testCase)}${reason === undefined ? '' : `: ${reason}`}`) }),
    ...(trace === '' ? {} : { trace: truncateText(stripControls(trace), maxTraceLength) }),
    ...(testCase.flaky !== null || (status === 'passed' && passed > 0 && failed > 0) ? { flaky: true } : {}),
    extra: {
      required: testCase.required,
      iterations: { planned, total, passed, failed },
      passRate: computePassRate(passed, total),
      ...(usage === null && model === null
        ? {}
        : { model, ...(host !== undefined && { host }), usage, cost, replayed: replayed.total }),
      ...(judges.length === 0 ? {} : { judges }),
    },
  };
}

function chooseStatus({ disposition, total, failures }: CaseReport, { stoppedEarly }: JudgedSuite): CtrfStatus {
  if (disposition === 'passed' || disposition === 'tolerated') return 'passed';
  if (disposition === 'excluded') return 'skipped';
  if (disposition === 'failed') return 'failed';
  // A case that never began adds nothing to the suite's own test.
  return stoppedEarly !== null || (total === 0 && failures.length === 0) ? 'skipped' : 'other';
}

function cut(text: string): string {
  return truncateText(stripControls(text), maxMessageLength);
}
