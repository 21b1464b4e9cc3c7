import { ConfigurationError } from '../base/errors.ts';
import { appendAll } from '../base/lists.ts';
import { type Logger, silentLogger } from '../base/logger.ts';
import { createRedactor } from '../base/redaction.ts';
import { systemClock } from '../base/time.ts';
import { runPlan } from '../gate/job.ts';
import { listKnownSecrets, readGateOptions } from '../gate/options.ts';
import { planGate } from '../gate/plan/plan.ts';
import { callReporters, type Reporter } from '../gate/publish/reporters.ts';
import type { InlineSuite } from '../gate/plan/plan-suites.ts';
import { extendEvidence } from '../gate/run/evidence-log.ts';
import type { ProgressListener } from '../gate/run/progress.ts';
import type { OwnCheck } from '../checks/own-check.ts';
import { parseModelName } from '../models/model-name.ts';
import type { Report } from '../model/report.ts';
import type { ServerFactory } from '../server/in-process-server.ts';
import type { IterationOutcome } from '../verdict/tally.ts';
import { requireOptions, type GivenOptions, throwWithOwnNames, writeOptionTexts, writeSuite } from './option-texts.ts';
import type { OwnModel } from './own-model.ts';
import { checkParticipants, findProcessOptions, inProcessStand, participants } from './server-options.ts';

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
  /**
   * Makes the server in this process, instead of `serverCommand` and `serverUrl`: a `Server` or `McpServer` of an official SDK that is not
   * connected yet. Called once for each session, and once before them. Excludes options for processes, such as `base` and `sandbox`.
   */
  server?: ServerFactory | undefined;
  /** The directory that paths are relative to. Default: that of this process. */
  cwd?: string | undefined;
  /** The environment of the job. The server gets only an allow-listed part of it. Default: that of this process. */
  env?: Readonly<Record<string, string | undefined>> | undefined;
  /** Aborting stops everything that was started. The report then says that the gate is inconclusive. */
  signal?: AbortSignal | undefined;
  /** Gets the log of the gate. Default: no log. */
  logger?: Logger | undefined;
  /** Checks of your own, made with `defineCheck`. Cases use them by their names. */
  checks?: readonly OwnCheck[] | undefined;
  /** Models of your own, made with `defineModel`. Cases use them by their names. */
  models?: readonly OwnModel[] | undefined;
  /** Reporters of your own, made with `defineReporter`. Each gets the report at the end of the gate. */
  reporters?: readonly Reporter[] | undefined;
  /** Called for every iteration when it has a result. Must not throw. */
  onIteration?: ((iteration: FinishedIteration) => void) | undefined;
  /** Called for every step of the gate. Must not throw. */
  onProgress?: ProgressListener | undefined;
}

/**
 * `updatesSnapshots` writes the files of `toMatchFile` instead of comparing with them.
 *
 * @throws {ConfigurationError} with everything that is wrong with options and files; nothing has started then
 */
export async function runGateOf(
  options: RunGateOptions,
  { updatesSnapshots = false }: { updatesSnapshots?: boolean } = {},
): Promise<Report> {
  requireOptions(options);
  const {
    cwd = process.cwd(),
    env = process.env,
    signal,
    logger,
    checks = [],
    reporters = [],
    models = [],
    onIteration,
    onProgress,
    policy,
    ...others
  } = options;
  const { server, ...given } = others;
  const hasPolicyValue = typeof policy === 'object' && policy !== null;
  const { files, suites } = splitEvals(given.evals);
  const { texts, issues } = writeOptionTexts(
    { ...given, evals: files, ...(!hasPolicyValue && { policy }) },
    { others: participants },
  );
  appendAll(issues, [...checkParticipants({ ...options }), ...findProcessOptions(options)]);
  if (issues.length > 0) throw new ConfigurationError(issues);
  const redactor = createRedactor();
  for (const secret of listKnownSecrets(texts, env)) redactor.add(secret);
  // The rules of the options know neither of these values, so that each has a text that satisfies them.
  const stand = {
    ...(server !== undefined && inProcessStand),
    ...(suites.length > 0 && texts['tests'] === undefined && { tests: suites[0]?.text ?? '' }),
  };
  const values = {
    ...(server !== undefined && { serverCommand: null }),
    ...('tests' in stand && { tests: null }),
    ...(hasPolicyValue && { policy }),
  };
  const plan = await readGateOptions({ ...texts, ...stand }, { cwd, hasOwnChecks: checks.length > 0 })
    .then((read) =>
      planGate(
        { ...read, ...values },
        {
          cwd,
          environment: env,
          inlineSuites: suites,
          checks,
          models: groupModels(models),
          updatesSnapshots,
          ...(server && { inProcess: server }),
        },
      ),
    )
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
  await callReporters(reporters, report, logger ?? silentLogger);
  return report;
}

function groupModels(models: readonly OwnModel[]): Map<string, Map<string, OwnModel['model']>> {
  const named = models.map(({ name, model }) => ({ ...parseModelName(name), model }));
  const groups = Map.groupBy(named, ({ provider }) => provider);
  return new Map(
    [...groups].map(([provider, own]) => [provider, new Map(own.map(({ name, model }) => [name, model]))]),
  );
}

const createInlineSuite = (suite: object, file: string): InlineSuite => ({ text: writeSuite(suite, file), file });

/** Separates the suites that are values from the paths of files. */
function splitEvals(evals: unknown): { files: unknown; suites: InlineSuite[] } {
  const isSuite = (value: unknown): value is object =>
    typeof value === 'object' && value !== null && !Array.isArray(value);
  const list: readonly unknown[] = Array.isArray(evals) ? evals : [evals];
  const suites = list.flatMap((each, index) =>
    isSuite(each) ? [createInlineSuite(each, Array.isArray(evals) ? `evals[${index}]` : 'evals')] : [],
  );
  if (suites.length === 0) return { files: evals, suites };
  // A blank entry names no file, and keeps the others at their index.
  const files = list.map((each) => (isSuite(each) ? '' : each));
  return { files: files.every((each) => each === '') ? undefined : files, suites };
}
