import { describeError } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';
import type { Report } from '../model/report.ts';

/** A reporter of your own: what gets the report when a gate has ended. */
export interface Reporter {
  /** Names it in the log. */
  name: string;
  /** Gets a copy of the report. An error is a warning in the log, and never changes the verdict. */
  report(report: Report): void | Promise<void>;
}

/**
 * Defines a reporter for `runGate({ reporters })`. It is called once at the end of the gate, whatever the verdict, and `runGate` waits for it.
 *
 * @example
 * import { defineReporter, runGate } from 'mcp-eval-ci';
 *
 * const failures = defineReporter({
 *   name: 'failures',
 *   report: ({ cases }) => {
 *     for (const { title, outcome } of cases) if (outcome !== 'passed') console.log(title);
 *   },
 * });
 * await runGate({ serverCommand: 'node build/index.js', evals: 'evals/*.evals.yaml', reporters: [failures] });
 */
export function defineReporter(reporter: Reporter): Reporter {
  return reporter;
}

/** Hands a report to each reporter, one after the other. */
export async function callReporters(reporters: readonly Reporter[], report: Report, logger: Logger): Promise<void> {
  for (const reporter of reporters) {
    try {
      await reporter.report(structuredClone(report));
    } catch (error) {
      logger.warning(`The reporter ${reporter.name} failed: ${describeError(error)}`);
    }
  }
}
