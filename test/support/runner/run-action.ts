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
  /** GITHUB_WORKSPACE and working directory; made by the caller, who also looks at what was written to it. */
  workspace: string;
  /** As under `with:`; inputs left out take the defaults of action.yml. */
  inputs: Record<string, string>;
  /** The directory that holds action.yml; this repository's unless a test brings an action of its own. */
  actionDirectory?: string;
  event?: RunnerEvent;
  /** Variables of the job, over those of the runner. */
  env?: Record<string, string>;
  /** Secrets of the repository: masked from the first line, as the runner does with every secret of the job. */
  secrets?: string[];
  /** Asked after every line with all output so far; once it is true, the run is cancelled as from GitHub's page. */
  cancelAfter?: (log: string) => boolean;
  /** As `cancelAfter`, but the main process alone is killed, as when the system runs out of memory: its children live on. */
  killMainAfter?: (log: string) => boolean;
  /** Gets the main process, to signal it at a moment that its log does not tell of. */
  onMain?: (main: RunningScript) => void;
  timings?: Partial<RunnerTimings>;
  /** Runs a stage; a process of its own unless given. */
  runStage?: typeof runScript;
}

/** What one stage of the action, `main` or `post`, did. */
export interface StageRun extends ScriptRun {
  annotations: Annotation[];
  /** What the runner counted and threw away. */
  droppedAnnotations: Annotation[];
  /** The job summary as shown, or null; `isSummaryDropped` where it was too large. */
  summary: string | null;
  isSummaryDropped: boolean;
  outputs: Record<string, string>;
  state: Record<string, string>;
  /** Variables exported to later steps. */
  exported: Record<string, string>;
  /** What the process printed, and what the log would show of it. */
  log: string;
  maskedLog: string;
  /** Uses of commands that the runner refuses or that this project has no business with. */
  problems: string[];
  /** Processes of the job still alive when the stage was over. */
  leftovers: ProcessEntry[];
}

export interface ActionRun extends StageRun {
  /** How the step ends on GitHub's page. */
  conclusion: JobStatus;
  /** Null where the action has no post stage or its condition does not hold. */
  post: StageRun | null;
  /** Every value masked in the course of the job: the secrets, and what `add-mask` named. */
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
 * Runs an action the way GitHub's runner does: `runs.main` on this Node in the workspace, then `runs.post` with the saved
 * state, commands and limits applied to what they print. Processes that outlive the job are reported and then killed.
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

/** A cancelled step is cancelled however its process ended; one that was killed outright is not. Everything else follows from the exit code. */
function judgeConclusion(run: ScriptRun): JobStatus {
  const [first = 'SIGKILL'] = run.sentSignals;
  if (first !== 'SIGKILL') return 'cancelled';
  return run.exitCode === 0 ? 'success' : 'failure';
}
