import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import {
  type ActionMetadata,
  isPostDue,
  type JobStatus,
  listInputVariables,
  readActionMetadata,
} from './action-metadata.ts';
import { createPushEvent, type RunnerEvent } from './events.ts';
import { createCommandFiles, listFileVariables, readKeyValues, readSummary } from './file-commands.ts';
import { listJobVariables, runtimeToken } from './job-variables.ts';
import { findTrackedProcesses, killQuietly, type ProcessEntry } from './processes.ts';
import { type RunningScript, runScript, type RunnerTimings, runnerTimings, type ScriptRun } from './run-script.ts';
import { createSecretMasker, type SecretMasker } from './secret-masker.ts';
import { type Annotation, createStepLog } from './step-log.ts';

export interface ActionRunOptions {
  /** GITHUB_WORKSPACE and working directory. The caller creates it and checks the written files. */
  workspace: string;
  /** The inputs under `with:`; others have the defaults of action.yml. */
  inputs: Record<string, string>;
  /** The directory that contains action.yml; by default, that of this repository. */
  actionDirectory?: string;
  event?: RunnerEvent;
  /** Variables of the job, which replace those of the runner. */
  env?: Record<string, string>;
  /** Secrets of the repository: masked from the first line, as the runner does with every secret of the job. */
  secrets?: string[];
  /** Called after every line with the whole output so far. Once it returns true, the run is cancelled as from GitHub's page. */
  cancelAfter?: (log: string) => boolean;
  /** Like `cancelAfter`, but only the main process is killed, as if the system ran out of memory: its children survive. */
  killMainAfter?: (log: string) => boolean;
  /** Gets the main process, for a signal at a moment that does not appear in its log. */
  onMain?: (main: RunningScript) => void;
  timings?: Partial<RunnerTimings>;
  /** Runs a stage; by default, in a separate process. */
  runStage?: typeof runScript;
}

/** The result of one stage of the action, `main` or `post`. */
export interface StageRun extends ScriptRun {
  annotations: Annotation[];
  /** Annotations that the runner counted and dropped. */
  droppedAnnotations: Annotation[];
  /** The job summary as shown, or null; `isSummaryDropped` if it was too large. */
  summary: string | null;
  isSummaryDropped: boolean;
  outputs: Record<string, string>;
  state: Record<string, string>;
  /** Variables exported to later steps. */
  exported: Record<string, string>;
  /** The output of the process, and the output that the log would show. */
  log: string;
  maskedLog: string;
  /** Uses of commands that the runner refuses or that this project must not use. */
  problems: string[];
  /** Processes of the job that are still alive after the stage. */
  leftovers: ProcessEntry[];
}

export interface ActionRun extends StageRun {
  /** The conclusion of the step on GitHub's page. */
  conclusion: JobStatus;
  /** Null if the action has no post stage or its condition is false. */
  post: StageRun | null;
  /** All values that were masked during the job: the secrets and the arguments of `add-mask`. */
  maskedValues: readonly string[];
}

interface Job {
  directory: string;
  trackingId: string;
  action: ActionMetadata;
  variables: Record<string, string>;
  masker: SecretMasker;
  options: ActionRunOptions;
}

const repositoryRoot = path.resolve(import.meta.dirname, '../../..');

/**
 * Runs an action as GitHub's runner does: `runs.main` on this Node in the workspace, then `runs.post` with the saved state. Commands and limits
 * apply to their output. Processes that outlive the job are reported and then killed.
 */
export async function runAction(options: ActionRunOptions): Promise<ActionRun> {
  const action = await readActionMetadata(options.actionDirectory ?? repositoryRoot);
  const directory = await mkdtemp(path.join(tmpdir(), 'runner-'));
  const trackingId = `github_${randomUUID()}`;
  try {
    const event = options.event ?? createPushEvent();
    const eventPath = path.join(directory, 'event.json');
    await writeFile(eventPath, JSON.stringify(event.payload));
    const home = path.join(directory, 'home');
    for (const name of ['home', 'temp', 'tools']) await mkdir(path.join(directory, name));
    const variables = {
      ...listJobVariables({ directory, eventPath, event, home, trackingId, workspace: options.workspace }),
      ...options.env,
      ...listInputVariables(action, options.inputs),
    };
    const job: Job = {
      directory,
      trackingId,
      action,
      variables,
      options,
      masker: createSecretMasker([runtimeToken, ...(options.secrets ?? [])]),
    };
    return await runStages(job);
  } finally {
    for (const { pid } of findTrackedProcesses(trackingId)) killQuietly(pid);
    await rm(directory, { recursive: true, force: true });
  }
}

async function runStages(job: Job): Promise<ActionRun> {
  const { action, masker } = job;
  const { cancelAfter, killMainAfter, onMain } = job.options;
  const main = await runStage(job, action.main, {}, { cancelAfter, killAfter: killMainAfter, onStart: onMain });
  const conclusion = judgeConclusion(main);
  const stateVariables = Object.entries(main.state).map(([name, value]) => [`STATE_${name}`, value]);
  const post =
    action.post !== null && isPostDue(action.postIf, conclusion)
      ? await runStage(job, action.post, { ...main.exported, ...Object.fromEntries(stateVariables) })
      : null;
  return { ...main, conclusion, post, maskedValues: masker.values };
}

async function runStage(
  job: Job,
  script: string,
  env: Record<string, string>,
  control: {
    cancelAfter?: ((log: string) => boolean) | undefined;
    killAfter?: ((log: string) => boolean) | undefined;
    onStart?: ((script: RunningScript) => void) | undefined;
  } = {},
): Promise<StageRun> {
  const files = await createCommandFiles(job.directory);
  const log = createStepLog(job.masker);
  const run = await (job.options.runStage ?? runScript)({
    script: path.join(job.action.directory, script),
    cwd: job.options.workspace,
    env: { ...job.variables, ...env, ...listFileVariables(files) },
    timings: { ...runnerTimings, ...job.options.timings },
    onLine: (line) => log.readLine(line),
    isCancelDue: () => control.cancelAfter?.(log.rawLines.join('\n')) ?? false,
    isKillDue: () => control.killAfter?.(log.rawLines.join('\n')) ?? false,
    onStart: (script) => control.onStart?.(script),
  });
  const summary = await readSummary(files.stepSummary, (line) => job.masker.mask(line));
  return {
    ...run,
    annotations: log.annotations,
    droppedAnnotations: log.droppedAnnotations,
    summary: summary.text,
    isSummaryDropped: summary.isDropped,
    outputs: await readKeyValues(files.output),
    state: await readKeyValues(files.state),
    exported: await readKeyValues(files.env),
    log: log.rawLines.join('\n'),
    maskedLog: log.shownLines.join('\n'),
    problems: log.problems,
    leftovers: findTrackedProcesses(job.trackingId),
  };
}

/** Judges the end of a step. A cancelled step is cancelled for any exit code, unless it was killed directly. Otherwise, the exit code decides. */
function judgeConclusion(run: ScriptRun): JobStatus {
  const [first = 'SIGKILL'] = run.sentSignals;
  if (first !== 'SIGKILL') return 'cancelled';
  return run.exitCode === 0 ? 'success' : 'failure';
}
