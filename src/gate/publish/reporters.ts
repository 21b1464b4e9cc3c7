import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ConfigurationError, type ConfigurationIssue, describeError } from '../../base/errors.ts';
import { isRecord } from '../../base/json.ts';
import { appendAll } from '../../base/lists.ts';
import type { Logger } from '../../base/logger.ts';
import { formatDuration } from '../../base/time.ts';
import type { Report } from '../../model/report.ts';

/** A reporter of your own: what gets the report when a gate has ended. */
export interface Reporter {
  /** Names it in the log. */
  name: string;
  /** Gets a copy of the report. An error is a warning in the log, and never changes the verdict. */
  report(report: Report): void | Promise<void>;
}

/** A reporter that never ends must not keep a job running. */
const reporterTimeoutMs = 60_000;

/** Hands a report to each reporter, one after the other. One that takes too long is a warning, as one that throws. */
export async function callReporters(
  reporters: readonly Reporter[],
  report: Report,
  logger: Logger,
  timeoutMs = reporterTimeoutMs,
): Promise<void> {
  for (const reporter of reporters) {
    const late = Promise.withResolvers<never>();
    const timer = setTimeout(
      () => late.reject(new Error(`it has not ended for ${formatDuration(timeoutMs)}`)),
      timeoutMs,
    );
    try {
      await Promise.race([reporter.report(structuredClone(report)), late.promise]);
    } catch (error) {
      logger.warning(`The reporter ${reporter.name} failed: ${describeError(error)}`);
    } finally {
      clearTimeout(timer);
    }
  }
}

/** Checks if a value has the members of a reporter. */
export function isReporter(value: unknown): value is Reporter {
  return isRecord(value) && typeof value['name'] === 'string' && typeof value['report'] === 'function';
}

/**
 * Loads files that export reporters, each in this process.
 *
 * @throws {ConfigurationError} with every file that cannot be loaded or exports no reporter
 */
export async function loadReporters(files: readonly string[], cwd: string): Promise<Reporter[]> {
  const issues: ConfigurationIssue[] = [];
  const reporters: Reporter[] = [];
  for (const file of files) {
    const refuse = (why: string) => {
      issues.push({ input: '--reporter', code: 'bad-reporter', message: `${JSON.stringify(file)} ${why}` });
    };
    try {
      const exported: Readonly<Record<string, unknown>> = await import(pathToFileURL(resolve(cwd, file)).href);
      const found = [...new Set(Object.values(exported))].filter(isReporter);
      if (found.length === 0) refuse('exports no reporter; export one that `defineReporter` made');
      appendAll(reporters, found);
    } catch (error) {
      refuse(`cannot be loaded: ${describeError(error)}`);
    }
  }
  if (issues.length > 0) throw new ConfigurationError(issues);
  return reporters;
}
