import { hostname } from 'node:os';
import { formatCount } from '../base/text.ts';
import { gate } from '../gate/gate.ts';
import { limitHeapGrowth } from '../gate/host-process.ts';
import { createJobContext } from '../gate/job.ts';
import { listKnownSecrets, readGateOptions } from '../gate/options.ts';
import { planGate } from '../gate/plan/plan.ts';
import type { SuiteCase } from '../cases/suite.ts';
import type { Report } from '../model/report.ts';
import { measureStrength } from '../mutate/measure-strength.ts';
import { observeCases } from '../mutate/observe-cases.ts';
import { renderStrength } from '../mutate/render-strength.ts';
import { printStrengthJson } from '../mutate/strength-json.ts';
import { suggestChecks } from '../mutate/suggest-checks.ts';
import { suggestReadings } from '../mutate/suggest-readings.ts';
import { createCaseRecorder, type TapedCase } from '../mutate/taped-case.ts';
import { isInheritedVariable } from '../server/environment.ts';
import {
  locateReadings,
  locateSuggestions,
  printReadings,
  printSuggestions,
  toPrinted,
  writeSuggestions,
} from './apply-suggestions.ts';
import { createTerminalLogger, redactText } from './command-logger.ts';
import type { GateProcess, RunFlags } from './run-flags.ts';

interface MutateFlags extends RunFlags {
  seed: number;
  /** True if the suggested checks are written into the evals files. */
  writes: boolean;
  /** True if assertions that fail on harmless changes are to be replaced. */
  fixes: boolean;
}

/** Runs the evals twice, measures what they notice, and prints it; returns the exit code. */
export async function runMutate(
  { texts, quiet, verbose, format, seed, writes, fixes }: MutateFlags,
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
  const options = await readGateOptions(
    { ...texts, 'report-to': 'none', 'report-formats': 'none' },
    { cwd: context.cwd },
  );
  const signal = context.openSignal();
  const hasMachineValue = findMachineValues([...listInheritedValues(environment), hostname()]);
  const { cwd, clock } = context;
  const run = async (): Promise<{ taped: readonly TapedCase[]; report: Report; cases: readonly SuiteCase[] }> => {
    const plan = await planGate(options, { cwd, environment, nowMs: clock.now() });
    const recorder = createCaseRecorder();
    const ran = await gate(plan, { clock, logger, redactor, environment, signal, runCase: recorder.runCase });
    const cases = plan.suites.flatMap((planned) => (planned.kind === 'file' ? planned.suite.cases : []));
    return { taped: recorder.list(), report: ran.report, cases };
  };
  const first = await run();
  if (first.taped.length === 0) {
    const [reason] = first.report.verdict.reasons;
    logger.error(`No case ran, so that there is no answer to change: ${reason?.message ?? 'the evals have no case'}`);
    return 3;
  }
  const second = await run();
  const observed = await observeCases(first.taped, second.taped);
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
  const located = locateSuggestions(suggestions, first.cases);
  const readings = locateReadings(suggestReadings(strength, observed), first.cases);
  const text =
    format === 'json'
      ? printStrengthJson(strength, { suggestions: located.map(toPrinted), readings })
      : renderStrength(strength);
  stdout.write(redactText(text, redactor));
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
