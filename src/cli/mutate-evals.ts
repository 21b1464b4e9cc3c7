import { hostname } from 'node:os';
import { findOutputRoot, writeOutput } from '../base/output-files.ts';
import { formatCount } from '../base/text.ts';
import { gate } from '../gate/gate.ts';
import { limitHeapGrowth } from '../gate/host-process.ts';
import { createJobContext } from '../gate/job.ts';
import { listKnownSecrets, readGateOptions } from '../gate/options.ts';
import { planGate } from '../gate/plan/plan.ts';
import { openSnapshots } from '../gate/run/snapshots.ts';
import type { SuiteCase } from '../cases/suite.ts';
import { matchTranscripts } from '../mutate/match-transcripts.ts';
import { measureStrength } from '../mutate/measure-strength.ts';
import { type LeftOut, observeCases } from '../mutate/observe-cases.ts';
import { renderStrength } from '../mutate/render-strength.ts';
import { printStrengthJson } from '../mutate/strength-json.ts';
import { renderStrengthPage } from '../mutate/strength-page.ts';
import { suggestChecks } from '../mutate/suggest-checks.ts';
import { suggestReadings } from '../mutate/suggest-readings.ts';
import { createCaseRecorder, type TapedCase } from '../mutate/taped-case.ts';
import { isInheritedVariable } from '../server/environment.ts';
import { compileSuite } from '../suite/compile.ts';
import {
  locateReadings,
  locateSuggestions,
  printReadings,
  printSuggestions,
  toPrinted,
  writeSuggestions,
} from './apply-suggestions.ts';
import { createTerminalLogger, redactText } from './command-logger.ts';
import { readTranscripts } from './read-transcripts.ts';
import type { GateProcess, RunFlags } from './run-flags.ts';

interface MutateFlags extends RunFlags {
  seed: number;
  /** True if the suggested checks are written into the evals files. */
  writes: boolean;
  /** True if assertions that fail on harmless changes are to be replaced. */
  fixes: boolean;
  /** The report whose answers are taken; null to run the evals. */
  fromReport: string | null;
  /** The file for the page; null for none. */
  page: string | null;
}

/** Runs the evals twice, measures what they notice, and prints it; returns the exit code. */
export async function runMutate(
  { texts, quiet, verbose, format, seed, writes, fixes, fromReport, page }: MutateFlags,
  { redactor, supervision }: GateProcess,
): Promise<number> {
  limitHeapGrowth();
  const { stdout, stderr, env: environment } = process;
  const logger = createTerminalLogger({
    write: (text) => void stderr.write(text),
    redactor,
    color: stderr.hasColors?.() ?? false,
    isQuiet: quiet,
    isVerbose: verbose,
  });
  for (const secret of listKnownSecrets(texts, environment)) redactor.add(secret);
  const context = createJobContext(process, { signals: supervision.signals, logger, redactor });
  const isServerNamed = ['server-command', 'server-url', 'mcp-config'].some((name) => (texts[name] ?? '') !== '');
  const options = await readGateOptions(
    {
      ...texts,
      // Nothing is started then, and the plan needs a server.
      ...(fromReport !== null && !isServerNamed && { 'server-command': 'none' }),
      'report-to': 'none',
      'report-formats': 'none',
    },
    { cwd: context.cwd },
  );
  const signal = context.openSignal();
  const hasMachineValue = findMachineValues([...listInheritedValues(environment), hostname()]);
  const { cwd, clock } = context;
  const plan = async () => {
    const planned = await planGate(options, { cwd, environment, nowMs: clock.now() });
    return { planned, suites: planned.suites.flatMap((each) => (each.kind === 'file' ? each.suite : [])) };
  };
  const run = async () => {
    const { planned } = await plan();
    const recorder = createCaseRecorder();
    const ran = await gate(planned, { clock, logger, redactor, environment, signal, runCase: recorder.runCase });
    return { taped: recorder.list(), report: ran.report };
  };
  const { planned, suites } = await plan();
  const cases = suites.flatMap((suite) => suite.cases);
  let runs: [readonly TapedCase[], readonly TapedCase[]];
  let leftOut: readonly LeftOut[] = [];
  if (fromReport === null) {
    const first = await run();
    if (first.taped.length === 0) {
      const [reason] = first.report.verdict.reasons;
      logger.error(`No case ran, so that there is no answer to change: ${reason?.message ?? 'the evals have no case'}`);
      return 3;
    }
    runs = [orderTaped(first.taped, cases), orderTaped((await run()).taped, cases)];
  } else {
    const compiled = suites.flatMap((suite) => compileSuite(suite, { dialect: 'embedded' }));
    const snapshots = planned.snapshots === null ? null : openSnapshots(planned.snapshots, redactor);
    ({ runs, leftOut } = await matchTranscripts(compiled, await readTranscripts(fromReport, cwd), { snapshots }));
    if (runs[1].length < runs[0].length) {
      logger.warning(
        'The report has one iteration of some cases, so that values which differ between two are not known. Run the evals with `--runs 2`.',
      );
    }
  }
  const seen = await observeCases(...runs);
  const observed = { ...seen, leftOut: [...leftOut, ...seen.leftOut] };
  const strength = await measureStrength(observed, { seed });
  const failed = observed.leftOut.filter(({ reason }) => reason === 'it did not pass').length;
  if (failed > 0) {
    logger.warning(
      `${formatCount(failed, 'case')} did not pass and ${failed === 1 ? 'is' : 'are'} left out; run the evals and mend them first.`,
    );
  }
  const suggestions = await suggestChecks(observed, {
    replacesBrittle: fixes,
    isPrivate: (text) => hasMachineValue(text) || redactor.redact(text) !== text,
  });
  const located = locateSuggestions(suggestions, cases);
  const readings = locateReadings(suggestReadings(strength, observed), cases);
  const text =
    format === 'json'
      ? printStrengthJson(strength, { suggestions: located.map(toPrinted), readings })
      : renderStrength(strength);
  stdout.write(redactText(text, redactor));
  if (page !== null) {
    const written = renderStrengthPage(strength, printSuggestions(located));
    writeOutput(page, redactText(written, redactor), { root: findOutputRoot(page, cwd) });
  }
  if (format === 'text' && readings.length > 0) {
    const heading =
      'Steps that read what a step did, to add before and after it. Then run mutate again for their checks:';
    const lines = ['', heading, ...printReadings(readings).map((line) => `  ${line}`), ''];
    stdout.write(redactText(lines.join('\n'), redactor));
  }
  if (writes) {
    const { added, removed, files } = await writeSuggestions(located, {
      cwd,
      warn: (message) => logger.warning(message),
    });
    const without = removed === 0 ? '' : `, and removed ${removed}`;
    logger.info(
      files.length === 0
        ? 'No check to write.'
        : `Added ${formatCount(added, 'check')}${without} in ${files.join(', ')}. Read the difference, and run mutate again to measure.`,
    );
  } else if (format === 'text' && located.length > 0) {
    const heading = fixes
      ? 'The fewest checks that notice more and tolerate more (`--fix --write` writes them):'
      : 'Checks to add (`--write` writes them):';
    const lines = ['', heading, ...printSuggestions(located).map((line) => `  ${line}`), ''];
    stdout.write(redactText(lines.join('\n'), redactor));
  }
  return strength.changes.length === 0 ? 3 : 0;
}

/**
 * Orders iterations as their cases are in the files. Cases that overlap start in another order in each run, and the draw of changes depends
 * on that order.
 */
function orderTaped(taped: readonly TapedCase[], cases: readonly SuiteCase[]): TapedCase[] {
  const positions = new Map(cases.map(({ title }, index) => [title, index]));
  const find = ({ testCase: { title } }: TapedCase) => positions.get(title) ?? cases.length;
  return taped.toSorted((a, b) => find(a) - find(b));
}

/** The values of the job's environment that the server gets. */
function listInheritedValues(environment: NodeJS.ProcessEnv): string[] {
  return Object.entries(environment).flatMap(([name, value]) =>
    isInheritedVariable(name) && value !== undefined ? [value] : [],
  );
}

/** Makes a function that finds values of the machine in a text. A plain word is also part of other texts, so it has to be the whole one. */
function findMachineValues(values: readonly string[]): (text: string) => boolean {
  const isDistinct = (value: string) => value.length > 3 && /[^a-z]/i.test(value);
  return (text) => values.some((value) => (isDistinct(value) ? text.includes(value) : text === value));
}
