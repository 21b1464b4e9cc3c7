import { formatCount } from '../base/text.ts';
import { formatDuration } from '../base/time.ts';
import { formatMinimumPassRate, formatPassRate } from '../model/rate.ts';
import type { ConcurrencyReport, ConcurrencyRule } from '../model/concurrency.ts';
import type { RequirementReport, Report, SandboxReport, ServerReport, SuiteReport, Totals } from '../model/report.ts';
import type { ToolCall } from '../model/run.ts';
import type { ReasonCode, Verdict, VerdictOutcome, VerdictReason } from '../model/verdict.ts';
import { describeFlaky, describeRounds, describeProbation } from './rounds.ts';
import type { CaseReport } from '../model/case-report.ts';

/** Checks if no iteration of a case began. */
export function hasNotRun({ total, failures, planned }: CaseReport): boolean {
  return planned > 0 && total === 0 && failures.length === 0;
}

/** Counts the iterations of a case that passed: `2 of 3`, or `not run`. */
export function formatPassed(testCase: CaseReport): string {
  const { passed, total, planned } = testCase;
  return hasNotRun(testCase) ? 'not run' : `${passed} of ${Math.max(planned, total)}`;
}

/** Describes the results of a case: `2 of 3 passed`, `1 of 3 passed, 2 without a result`, `0 of 1 passed; run again: 1 of 1`, `not run`. */
export function describeCaseCounts(testCase: CaseReport): string {
  if (hasNotRun(testCase)) return 'not run';
  const missing = testCase.planned - testCase.total;
  return `${formatPassed(testCase)} passed${missing > 0 ? `, ${missing} without a result` : ''}${describeRounds(testCase)}`;
}

/** Describes the results of a suite: `7 passed, 2 failed (77.7%), minimum 90%`. */
export function describeSuiteRate({ verdict, totals, minimumPassRate, stoppedEarly }: SuiteReport): string {
  return `${describeRate(totals, verdict, stoppedEarly !== null)}, minimum ${formatMinimumPassRate(minimumPassRate)}`;
}

/** Says how many failures a suite passed with; null if none. */
export function describeAllowed({ verdict, totals, minimumPassRate }: SuiteReport): string | null {
  if (verdict.outcome !== 'passed' || totals.failed === 0) return null;
  const failures = formatCount(totals.failed, 'failure');
  return `${failures} allowed by the minimum of ${formatMinimumPassRate(minimumPassRate)}.`;
}

/**
 * Describes what ran and for how long: `9 iterations of 3 cases: 7 passed, 2 failed (77.7%), in 12.3 s`. Omits the rate if it is that of the
 * only suite, and decided the verdict: the verdict and the suite have it.
 */
export function describeTotals({ totals, verdict, durationMs, shard, suites, behaviour }: Report): string {
  if (suites.length === 0 && behaviour !== undefined) {
    return `Compared with the base, without evals, in ${formatDuration(durationMs)}`;
  }
  const isBiased = suites.some(({ stoppedEarly }) => stoppedEarly !== null);
  const part = shard === null ? '' : `Shard ${shard.index} of ${shard.total}: `;
  const isSaid = !isBiased && suites.length === 1 && verdict.reasons[0]?.code === 'below-minimum';
  const rate = isSaid ? '' : `: ${describeRate(totals, verdict, isBiased)}`;
  return `${part}${formatCount(totals.iterations, 'iteration')} of ${formatCount(totals.cases, 'case')}${rate}, in ${formatDuration(durationMs)}`;
}

/** Describes a rate. An inconclusive verdict gets none, because the rate of a part of the iterations would look like a result. */
function describeRate({ passed, failed, passRate }: Totals, { outcome }: Verdict, isBiased: boolean): string {
  const counts = `${passed} passed, ${failed} failed`;
  return outcome === 'inconclusive'
    ? counts
    : `${counts} (${formatPassRate(passRate)}${isBiased ? ' of what ran, biased' : ''})`;
}

/** Describes how the server was reached and what iterations share: `everything 2.0.0 over stdio, process per iteration`. */
export function describeServer(report: ServerReport): string {
  const { label, name, version, transport, isolation, sandbox } = report;
  const itself = [name ?? 'The server', version].filter((part) => part !== null).join(' ');
  const server = label === undefined ? itself : `${label}: ${itself}`;
  return `${server} over ${transport}${describeProtocol(report)}, ${isolation}${sandbox === null ? '' : `, ${describeSandbox(sandbox)}`}`;
}

/** Lists the servers of a report, in the order of the options. */
export function listServers({ server, otherServers }: Pick<Report, 'server' | 'otherServers'>): ServerReport[] {
  return server === null ? [] : [server, ...otherServers];
}

/** Describes the sandbox: `sandbox isolated (made with unshare)`, or `no sandbox (…)`. */
function describeSandbox({ level, network, why }: SandboxReport): string {
  if (level === 'none') return `no sandbox (${why})`;
  return `sandbox ${level}${network === 'loopback' ? ' without network' : ''} (${why})`;
}

function describeProtocol({ protocolVersion, protocolVersions }: ServerReport): string {
  if (protocolVersions.length > 0) return `, MCP ${protocolVersions.join(' and ')}`;
  return protocolVersion === null ? '' : `, MCP ${protocolVersion} at its start`;
}

/** Describes how many iterations of a suite ran at the same time, and why: `Ran one iteration at a time: …`. */
export function describeConcurrency({
  setting,
  source,
  rule,
  limit,
  tool,
  cases,
  serialCases,
}: ConcurrencyReport): string {
  const reasons: Record<ConcurrencyRule, string> = {
    given: `concurrency is ${setting} (${source})`,
    'one-process': 'one server process takes the sessions in turns',
    workspace: 'each iteration has a workspace of its own',
    independent: 'the suite says that its iterations are independent',
    'read-only': 'no case calls a tool that is not declared read-only',
    'not-read-only': `the tool ${JSON.stringify(tool)} is not declared read-only`,
    'tools-unknown': 'the server did not list its tools',
    command: `a case runs the command ${JSON.stringify(tool)}, which may change what others see`,
  };
  const isMixed = serialCases > 0 && serialCases < cases;
  const how = limit === 1 ? 'one iteration' : `up to ${formatCount(limit, 'iteration')}`;
  return isMixed
    ? `Ran ${serialCases} of ${formatCount(cases, 'case')} one iteration at a time, the rest up to ${limit} at a time: ${reasons[rule]}.`
    : `Ran ${how} at a time: ${reasons[rule]}.`;
}

/** Formats a tool call like a function call: `add({"a":1,"b":2})`. */
export function describeToolCall({ toolName, arguments: args }: ToolCall): string {
  return `${toolName}(${JSON.stringify(args)})`;
}

/** Names the subject of a requirement: `the suite`, `tag smoke`, `case Adds two numbers`, `budget tokens`. */
export function nameRequirement({ kind, scope, subject }: RequirementReport): string {
  if (kind === 'quarantine') return `quarantine of ${subject ?? 'a case'}`;
  return subject === null ? 'the suite' : `${scope} ${subject}`;
}

export interface NamedReason {
  /** The suite's name if the gate has several, so that the reason makes sense alone; else null. */
  suiteName: string | null;
  message: string;
  /** The last lines that the server wrote, if the reason is about its process. */
  output: readonly string[];
}

/** Names the verdict's reasons: each gets the name of its suite if more than one ran. */
export function nameReasons(report: Report, reasons: readonly VerdictReason[]): NamedReason[] {
  const names = new Map(report.suites.map(({ id, name }) => [id, name]));
  return reasons.map(({ suiteId, message, output = [] }) => ({
    suiteName: report.suites.length > 1 ? (names.get(suiteId ?? '') ?? null) : null,
    message,
    output,
  }));
}

/** The words for an outcome in the middle of a sentence about the gate. */
const outcomeWords: Record<VerdictOutcome, string> = {
  passed: 'passed',
  failed: 'failed',
  inconclusive: 'is inconclusive',
};

/** Describes a verdict and its subject: `Eval gate failed`, `Shard 2 of 4 failed`. */
export function describeVerdict({ shard, verdict: { outcome } }: Pick<Report, 'shard' | 'verdict'>): string {
  const what = shard === null ? 'Eval gate' : `Shard ${shard.index} of ${shard.total}`;
  return `${what} ${outcomeWords[outcome]}`;
}

/** Explains that a shard's verdict is not the gate's; null for a whole gate. */
export function describePart({ shard }: Pick<Report, 'shard'>): string | null {
  if (shard === null) return null;
  return `This shard has part of the cases. The verdict of the gate is that of all ${formatCount(shard.total, 'shard')}, judged where they are merged.`;
}

/** Advises what to do after an inconclusive verdict, depending on its reasons. */
export function adviseInconclusive({ reasons }: Verdict): string {
  const codes = reasons.map(({ code }) => code);
  const areAll = (code: ReasonCode) => codes.length > 0 && codes.every((each) => each === code);
  if (codes.includes('cancelled')) return 'The gate was cancelled before it had a verdict. Run it again.';
  if (areAll('minimum-unsettled')) {
    return 'The results do not settle whether this change is good or bad. Add cases, or more `runs` of them.';
  }
  if (areAll('only-probation')) {
    return 'The cases that ran count once they have passed in enough gates in a row.';
  }
  return 'The gate has no verdict about this change, neither good nor bad. Fix the cause above and run it again.';
}

/** Chooses the mark of a case, as the outcome that it looks like. A failure that stops nothing is not marked as a failure. */
export function chooseMark({ outcome, disposition }: CaseReport): VerdictOutcome {
  return disposition === 'failed' || outcome === 'passed' ? outcome : 'inconclusive';
}

/** Lists what is special about a case: that it is required, and why it may count differently from its outcome. */
export function listFlags(testCase: CaseReport): string[] {
  return [...(testCase.required ? ['required'] : []), ...describeExemption(testCase)];
}

/** Explains why a case may count differently from its outcome; empty for most cases. */
export function describeExemption(testCase: CaseReport): string[] {
  const words = [testCase.quarantine && 'in quarantine', describeProbation(testCase), describeFlaky(testCase)];
  return words.filter((word) => word !== null);
}
