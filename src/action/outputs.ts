import { statSync } from 'node:fs';
import { saveState, setOutput } from '@actions/core';
import { describeError } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';
import type { WrittenFiles } from '../gate/publish/publish-files.ts';
import type { Report } from '../model/report.ts';

interface OutputDefinition {
  name: string;
  description: string;
  /** The pattern that a value must match. Outputs are used in `run:` scripts of workflows, so none carries free text. */
  pattern: RegExp;
  read: (report: Report, files: WrittenFiles) => string | null;
}

const count = /^\d{1,15}$/;
/** Excludes quotes, `$`, backticks, semicolons and the like, which no report directory needs. */
const path = /^[\p{L}\p{M}\p{N} _./@+:~,=\\-]{1,1024}$/u;

/** Matches only what `ServiceProfile.composeRunUrl` builds from ids; plain http leads to this machine. */
const runUrl = /^https?:\/\/[\w.:[\]-]{1,255}\/[\w./~%-]{1,600}\?project=[\w.~%-]{1,200}$/;

/** Every output of the action, in the order in which the documentation lists them. */
export const outputTable: readonly OutputDefinition[] = [
  {
    name: 'verdict',
    description:
      '`passed`, `failed` or `inconclusive`. Inconclusive means that nothing was established, also because the configuration is wrong.',
    pattern: /^(?:passed|failed|inconclusive)$/,
    read: (report) => report.verdict.outcome,
  },
  {
    name: 'pass-rate',
    description:
      'The share of scored iterations that passed, over all suites, as a fraction from 0 to 1 with up to four decimals; empty where none was scored.',
    pattern: /^(?:0(?:\.\d{1,4})?|1)$/,
    // Cut, not rounded: 0.99996 must not read as a full score.
    read: ({ totals: { passRate } }) =>
      passRate === null ? null : String(Math.floor(passRate * 10_000 + 1e-6) / 10_000),
  },
  {
    name: 'passed',
    description: 'The number of iterations that passed.',
    pattern: count,
    read: (report) => String(report.totals.passed),
  },
  {
    name: 'failed',
    description: 'The number of iterations that failed.',
    pattern: count,
    read: (report) => String(report.totals.failed),
  },
  {
    name: 'total',
    description: 'The number of scored iterations: passed and failed together.',
    pattern: count,
    read: (report) => String(report.totals.iterations),
  },
  {
    name: 'regressions',
    description:
      'The number of cases that regressed since the baseline, or against the base. Empty if nothing was compared.',
    pattern: count,
    read: ({ comparison, baseComparison }) => {
      if (comparison !== null) return String(comparison.counts.regressed);
      if (baseComparison === null || baseComparison.problem !== null) return null;
      return String(baseComparison.cases.filter(({ isWorse }) => isWorse).length);
    },
  },
  {
    name: 'flaky',
    description: 'The number of cases that failed at first and passed when `retryFailed` ran them again.',
    pattern: count,
    read: ({ cases }) => String(cases.filter(({ classification }) => classification === 'flaky').length),
  },
  {
    name: 'run-id',
    description: 'The id of the eval run; of the first one where several suites ran. Empty where no run was created.',
    pattern: /^[\w-]{1,128}$/,
    read: (report) => report.run?.id ?? null,
  },
  {
    name: 'run-url',
    description:
      'The page on which the hosted service shows the run; of the first one where several suites ran. Empty with the embedded service.',
    pattern: runUrl,
    read: (report) => report.run?.url ?? null,
  },
  {
    name: 'report-path',
    description:
      'The path of report.json, below `report-dir`; empty where it could not be written, or holds what a shell would act on.',
    pattern: path,
    read: (_, files) => files.reportPath,
  },
  {
    name: 'junit-path',
    description:
      'The path of junit.xml, below `report-dir`; empty where it could not be written, or holds what a shell would act on.',
    pattern: path,
    read: (_, files) => files.junitPath,
  },
  {
    name: 'html-path',
    description:
      'The path of report.html, below `report-dir`; empty where it was not asked for or could not be written, or holds what a shell would act on.',
    pattern: path,
    read: (_, files) => files.htmlPath,
  },
];

/** Reads the value of every output from a report. A value that does not match its pattern becomes empty. */
export function listOutputs(report: Report, files: WrittenFiles): Array<{ name: string; value: string }> {
  return outputTable.map(({ name, pattern, read }) => {
    const value = read(report, files) ?? '';
    return { name, value: pattern.test(value) ? value : '' };
  });
}

/** Lists the values of every output if there is no report, because the configuration is wrong or the gate could not go on. */
export function listUnjudgedOutputs(): Array<{ name: string; value: string }> {
  const known: Readonly<Record<string, string>> = { verdict: 'inconclusive', passed: '0', failed: '0', total: '0' };
  return outputTable.map(({ name }) => ({ name, value: known[name] ?? '' }));
}

/** Sets one output. Warns if it cannot write the output: publishing a verdict never changes it. */
export function writeOutput({ name, value }: { name: string; value: string }, logger: Logger): void {
  try {
    checkCommandFile('GITHUB_OUTPUT');
    setOutput(name, value);
  } catch (error) {
    logger.warning(`Could not write the output ${name}: ${describeError(error)}. The verdict stands.`);
  }
}

/**
 * Refuses a file of the runner that something has replaced by a named pipe: opening a pipe waits for a reader for ever.
 *
 * @throws if the file that the variable names is a named pipe
 */
function checkCommandFile(variable: 'GITHUB_OUTPUT' | 'GITHUB_STATE'): void {
  const path = process.env[variable] ?? '';
  const found = path === '' ? undefined : statSync(path, { throwIfNoEntry: false });
  if (found?.isFIFO() === true) throw new Error(`${path} is a named pipe`);
}

/**
 * Saves what the post step needs to clear up after a main step that was killed. Warns once if it cannot: a main step that ends by itself
 * clears up by itself, and its verdict stands.
 */
export function createStateWriter(logger: Logger): (name: string, value: string) => void {
  let isWritable = true;
  return (name, value) => {
    if (!isWritable) return;
    try {
      checkCommandFile('GITHUB_STATE');
      saveState(name, value);
    } catch (error) {
      isWritable = false;
      logger.warning(
        `The state of the action cannot be saved: ${describeError(error)}. Should this step be killed, what it started stays behind.`,
      );
    }
  };
}
