import type { Reporter } from '../gate/publish/reporters.ts';

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
