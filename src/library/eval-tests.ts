import { resolve } from 'node:path';
import { ConfigurationError, type ConfigurationIssue } from '../base/errors.ts';
import { isRecord } from '../base/json.ts';
import type { Suite, SuiteCase } from '../cases/suite.ts';
import type { CaseReport } from '../model/case-report.ts';
import type { Report } from '../model/report.ts';
import { describeFailures } from '../report/failures.ts';
import { loadSuites } from '../suite/load.ts';
import { readSuite } from '../suite/read.ts';
import type { SuiteInput } from '../suite/suite-schema.ts';
import { refuseType, requireOptions, writeSuite } from './option-texts.ts';
import { type RunGateOptions, runGateOf } from './run-gate.ts';

/** What a test runner decides: the cases that run, and when they stop. */
const runnerOptions = ['evals', 'tests', 'suite', 'cases', 'tags', 'shard', 'dryRun', 'signal'] as const;

/** The options of a gate whose cases are tests of a test runner, which chooses the cases and stops them. */
export type EvalTestOptions = Omit<RunGateOptions, (typeof runnerOptions)[number]>;

/** Paths or globs of evals files, or a suite as a value. */
export type Evals = string | readonly string[] | SuiteInput;

/** A suite of evals as tests. */
export interface EvalTests {
  name: string;
  cases: ReadonlyArray<Pick<SuiteCase, 'id' | 'title'>>;
  /** Runs these cases, by their ids, in one gate. */
  run(this: void, ids: readonly string[], options: EvalTestRun): Promise<EvalTestResults>;
}

interface EvalTestRun {
  signal?: AbortSignal | undefined;
  /** True if the results become the snapshots of `toMatchFile`. */
  updatesSnapshots?: boolean | undefined;
  /** The command that updates the snapshots, such as `vitest -u`. */
  updateCommand: string;
}

/** The results of a gate as tests. */
export interface EvalTestResults {
  /** Says why a case does not count, such as its quarantine; null if it counts. @throws {EvalFailure} if it has not passed */
  checkCase(this: void, id: string): string | null;
  /** @throws {EvalFailure} if every case that ran has passed and the gate has not, such as for a change of the surface */
  checkVerdict(this: void): void;
}

/** Thrown for evals that have not passed. Its stack names the case in the evals file. */
export class EvalFailure extends Error {
  override readonly name = 'EvalFailure';
}

/**
 * Lists the cases of evals as tests. Nothing has started then.
 *
 * @throws {ConfigurationError} with every mistake in the evals
 */
export async function listEvalTests(evals: Evals, options: EvalTestOptions): Promise<EvalTests[]> {
  requireOptions(options);
  const issues = [...checkEvals(evals), ...findRunnerOptions(options)];
  if (issues.length > 0) throw new ConfigurationError(issues);
  const cwd = options.cwd ?? process.cwd();
  const reading = { cwd, hasOwnChecks: (options.checks ?? []).length > 0 };
  const { suites, findings } = await readEvals(evals, reading);
  if (findings.length > 0) throw new ConfigurationError(findings);
  return suites.map((suite) => ({
    name: suite.name,
    cases: suite.cases,
    run: async (ids, { signal, updatesSnapshots = false, updateCommand }) => {
      const ran = suite.cases.filter(({ id }) => ids.includes(id));
      const isFile = !isSuite(evals);
      const given = {
        reportTo: 'none',
        ...options,
        // A file for each suite: test runners run gates at the same time.
        reportDir: `${options.reportDir ?? 'mcp-eval-report'}/${suite.id}`,
        evals: isFile ? suite.location.file : evals,
        ...(ran.length < suite.cases.length && { cases: ran.map(({ id }) => id) }),
        signal,
      };
      const advise = (text: string) => text.replaceAll(snapshotCommand, `\`${updateCommand}\``);
      const report = await runGateOf(given, { updatesSnapshots }).catch((error: unknown) => {
        if (!(error instanceof ConfigurationError)) throw error;
        const named = error.issues.map((issue) => ({ ...issue, message: advise(issue.message) }));
        throw new ConfigurationError(named, { cause: error });
      });
      return createResults(report, { ran, advise, locate: isFile ? (file) => resolve(cwd, file) : null });
    },
  }));
}

function createResults(
  report: Report,
  {
    ran,
    advise,
    locate,
  }: { ran: readonly SuiteCase[]; advise: (text: string) => string; locate: ((file: string) => string) | null },
): EvalTestResults {
  const judge = (id: string): { failure: EvalFailure | null; note: string | null } => {
    const found = ran.find((each) => each.id === id);
    const results = found === undefined ? [] : listResults(found, report.cases);
    const excluded = results.find(({ disposition }) => disposition === 'excluded');
    if (excluded !== undefined) return { failure: null, note: describeExclusion(excluded) };
    const broken = results.filter(({ disposition }) => disposition === 'failed' || disposition === 'unscored');
    if (results.length > 0 && broken.length === 0) return { failure: null, note: null };
    const message =
      broken.map((each) => describeCase(each, results.length > 1)).join('\n') ||
      `The case has no result. ${describeVerdict(report)}`;
    return {
      failure: createFailure(advise(message), locate === null ? null : (found?.location ?? null), locate),
      note: null,
    };
  };
  return {
    checkCase: (id) => {
      const { failure, note } = judge(id);
      if (failure !== null) throw failure;
      return note;
    },
    checkVerdict: () => {
      const { outcome } = report.verdict;
      if (outcome === 'passed' || ran.some(({ id }) => judge(id).failure !== null)) return;
      throw createFailure(`The gate is ${outcome}. ${describeVerdict(report)}`, null, null);
    },
  };
}

/** A case is several of the report if the options have several models, hosts or revisions for it. */
function listResults({ id, location: { file, line } }: SuiteCase, cases: readonly CaseReport[]): CaseReport[] {
  const same = cases.filter((each) => each.id === id);
  if (same.length > 0) return same;
  return cases.filter(({ location }) => location?.file === file && location.line === line);
}

function describeExclusion({ quarantine, probation }: CaseReport): string {
  if (quarantine !== null) return `in quarantine: ${quarantine.reason}`;
  return probation === null ? 'flaky, which the policy only reports' : 'on probation';
}

function describeCase(testCase: CaseReport, isNamed: boolean): string {
  const { title, passed, total } = testCase;
  const failures = describeFailures(testCase) || `${passed} of ${total} iterations passed.`;
  return isNamed ? `${title}\n${failures}` : failures;
}

function describeVerdict({ verdict: { reasons } }: Report): string {
  return reasons.map(({ message }) => message).join('\n');
}

function createFailure(
  message: string,
  location: SuiteCase['location'] | null,
  locate: ((file: string) => string) | null,
): EvalFailure {
  const failure = new EvalFailure(message);
  const frame =
    location === null || locate === null ? '' : `\n    at ${locate(location.file)}:${location.line}:${location.column}`;
  // A stack of this library says nothing about evals.
  failure.stack = `${failure.name}: ${message}${frame}`;
  return failure;
}

async function readEvals(
  evals: Evals,
  reading: { cwd: string; hasOwnChecks: boolean },
): Promise<{ suites: Suite[]; findings: readonly ConfigurationIssue[] }> {
  if (!isSuite(evals)) return await loadSuites([evals].flat(), reading);
  const { suite, findings } = readSuite(writeSuite(evals, 'evals'), { ...reading, file: 'evals' });
  return { suites: suite === null ? [] : [suite], findings };
}

function isSuite(evals: Evals): evals is SuiteInput {
  return isRecord(evals);
}

function checkEvals(evals: unknown): ConfigurationIssue[] {
  if (isRecord(evals) || [evals].flat().every((path) => typeof path === 'string')) return [];
  const message = refuseType(evals, 'paths or globs of evals files, or one suite as a value');
  return [{ input: 'evals', code: 'bad-option-type', message }];
}

/** How the gate names the command that updates snapshots. A test runner has its own. */
const snapshotCommand = /the command with --update-snapshots|`mcp-eval-ci run --update-snapshots`/g;

function findRunnerOptions(options: object): ConfigurationIssue[] {
  const given = new Map(Object.entries(options));
  return runnerOptions
    .filter((key) => given.get(key) !== undefined)
    .map((input) => ({
      input,
      code: 'option-of-runner',
      message: 'is what the test runner decides; remove it, and choose tests by their names',
    }));
}
