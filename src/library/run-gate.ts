import { ConfigurationError } from '../base/errors.ts';
import { type Logger, silentLogger } from '../base/logger.ts';
import { createRedactor } from '../base/redaction.ts';
import { systemClock } from '../base/time.ts';
import { runPlan } from '../gate/job.ts';
import { listKnownSecrets, readGateOptions } from '../gate/options.ts';
import { toOptionKey } from '../gate/options/define-option.ts';
import { listOptions } from '../gate/options/list.ts';
import { planGate } from '../gate/plan/plan.ts';
import { extendEvidence } from '../gate/run/evidence-log.ts';
import type { ProgressListener } from '../gate/run/progress.ts';
import type { Report } from '../model/report.ts';
import type { IterationOutcome } from '../verdict/tally.ts';
import { type GivenOptions, writeOptionTexts } from './option-texts.ts';

/** An iteration that has a result. */
export interface FinishedIteration {
  suiteId: string;
  caseId: string;
  /** Counts from 1; null if the service does not number them. */
  iterationNumber: number | null;
  outcome: IterationOutcome;
  durationMs: number | null;
  /** Why it did not pass; null if it did. */
  error: string | null;
}

/** The options of `runGate`: those of the gate, and how this program takes part. */
export interface RunGateOptions extends GivenOptions {
  /** The directory that paths are relative to. Default: that of this process. */
  cwd?: string | undefined;
  /** The environment of the job. The server gets only an allow-listed part of it. Default: that of this process. */
  env?: Readonly<Record<string, string | undefined>> | undefined;
  /** Aborting stops everything that was started. The report then says that the gate is inconclusive. */
  signal?: AbortSignal | undefined;
  /** Gets the log of the gate. Default: no log. */
  logger?: Logger | undefined;
  /** Called for every iteration when it has a result. Must not throw. */
  onIteration?: ((iteration: FinishedIteration) => void) | undefined;
  /** Called for every step of the gate. Must not throw. */
  onProgress?: ProgressListener | undefined;
}

/**
 * Runs a gate and returns its report, whatever happens to the server. Writes the files of `reportDir` and posts the reports that the options
 * ask for. Writes nothing to the streams of this process, leaves its signals alone, and has stopped everything that it started when it
 * returns. Several gates may run at once.
 *
 * @throws {ConfigurationError} with everything that is wrong with options and files; nothing has started then
 */
export async function runGate(options: RunGateOptions): Promise<Report> {
  const { cwd = process.cwd(), env = process.env, signal, logger, onIteration, onProgress, policy, ...given } = options;
  const hasPolicyValue = typeof policy === 'object';
  const { texts, issues } = writeOptionTexts({ ...given, ...(!hasPolicyValue && { policy }) });
  if (issues.length > 0) throw new ConfigurationError(issues);
  const redactor = createRedactor();
  for (const secret of listKnownSecrets(texts, env)) redactor.add(secret);
  const plan = await readGateOptions(texts, { cwd })
    .then((read) => planGate(hasPolicyValue ? { ...read, policy } : read, { cwd, environment: env }))
    .catch(throwWithOwnNames);
  const { report } = await runPlan(plan, {
    clock: systemClock,
    logger: logger ?? silentLogger,
    redactor,
    signal: signal ?? new AbortController().signal,
    environment: env,
    ...(onProgress && { onProgress }),
    ...(onIteration && {
      watchEvidence: (within) =>
        extendEvidence(within, {
          addIteration: (suiteId, { iterationNumber, durationMs, error }, { caseId, outcome }) =>
            onIteration({ suiteId, caseId, iterationNumber, outcome, durationMs, error }),
        }),
    }),
  });
  return report;
}

/** A program knows options by their names in camel case. */
function throwWithOwnNames(error: unknown): never {
  if (!(error instanceof ConfigurationError)) throw error;
  const names = new Set(listOptions().map(({ name }) => name));
  const issues = error.issues.map((issue) =>
    issue.input !== undefined && names.has(issue.input) ? { ...issue, input: toOptionKey(issue.input) } : issue,
  );
  throw new ConfigurationError(issues, { cause: error });
}
