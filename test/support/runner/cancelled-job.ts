import { setTimeout as sleep } from 'node:timers/promises';
import type { ContractService } from '../service/contract-service.ts';
import { type ActionRun, runAction } from './run-action.ts';
import type { RunningScript } from './run-script.ts';
import { findRemains, type ServiceRemains } from '../service/service-remains.ts';
import { type HeldRequest, openServiceTap, type ServiceTap } from '../service/service-tap.ts';
import { addingServerPath, createWorkspace } from '../workspace.ts';

/** A moment of a hosted job: a request that is held, the first one after those of `after`, or a line of its log. */
type Moment = { hold: RegExp; stage: 'asked' | 'answered'; after?: readonly RegExp[] } | { line: string };

const slow =
  '- title: slow\n  steps:\n    - toolCall: trigger-long-running-operation\n      arguments: { duration: 60, steps: 2 }\n';
const quick = '- title: quick\n  steps:\n    - toolCall: echo\n      arguments: { message: hello }\n';

interface Setting {
  tests: string;
  /** Further options of the job. */
  options?: keyof typeof options;
}

/** A server that leaves a child process. */
const serverCommand = `bash -c 'setsid sleep 300 & exec node ${addingServerPath}'`;

const options = {
  base: { 'base-server-command': serverCommand },
  // One round is not enough for a decision.
  rounds: { runs: '2..30', policy: 'confident.yaml' },
};

const grant = /^POST .*\/tunnels$/;
const launch = /^POST .*\/eval-runs$/;

/** In the order in which a job reaches them. */
export const phases = {
  'before the project is known': { hold: /^GET .*\/projects$/, stage: 'asked', tests: quick },
  'as the server starts': { line: 'Starting the server', tests: quick },
  'as a grant is asked for': { hold: grant, stage: 'asked', tests: quick },
  'as a grant is answered': { hold: grant, stage: 'answered', tests: quick },
  'as the relay is dialled': { hold: /^UPGRADE /, stage: 'asked', tests: quick },
  'as the public URL is asked': { hold: /^POST \/api\/mcp\//, stage: 'asked', tests: quick },
  'as the suite is written': { hold: /^POST .*\/eval-suites$|^GET .*\/cases$/, stage: 'asked', tests: quick },
  'as a run is asked for': { hold: launch, stage: 'asked', tests: slow },
  'as a run is answered': { hold: launch, stage: 'answered', tests: slow },
  'as the run is polled': { hold: /^GET .*\/eval-runs\/[^/]+$/, stage: 'answered', tests: slow },
  'as pages are read': { hold: /^GET .*\/iterations\b/, stage: 'asked', tests: quick },
  'as it clears up': { hold: /^POST .*\/close$/, stage: 'asked', tests: quick },
  // The change has one grant and run, and its base has the other.
  'as the second grant is answered': { hold: grant, after: [grant], stage: 'answered', tests: quick, options: 'base' },
  'as the second run is answered': { hold: launch, after: [launch], stage: 'answered', tests: quick, options: 'base' },
  'as the second run is polled': {
    hold: /^GET .*\/eval-runs\/[^/]+$/,
    after: [launch, launch],
    stage: 'answered',
    tests: quick,
    options: 'base',
  },
  'as a further round is answered': {
    hold: launch,
    after: [launch],
    stage: 'answered',
    tests: quick,
    options: 'rounds',
  },
} as const satisfies Record<string, Moment & Setting>;

/** The signals at that moment. After the last two endings, the post step cleans up. */
export const endings = {
  SIGINT: ['SIGINT'],
  SIGTERM: ['SIGTERM'],
  'SIGINT twice': ['SIGINT', 'SIGINT'],
  SIGKILL: ['SIGKILL'],
} as const satisfies Record<string, ReadonlyArray<'SIGINT' | 'SIGTERM' | 'SIGKILL'>>;

export type Phase = keyof typeof phases;
export type Ending = keyof typeof endings;

export interface CancelledJob {
  run: ActionRun;
  /** The deviations from the expected result. */
  faults: string[];
}

/** The time for which a network keeps the held request after the job was cancelled, and the time between two signals. */
const lagMs = 300;
const betweenSignalsMs = 100;

let jobs = 0;

/** Runs `dist/` as a job whose server leaves a child process, and ends it at the given moment. */
export async function runCancelledJob(service: ContractService, phase: Phase, ending: Ending): Promise<CancelledJob> {
  await using workspace = await createWorkspace({ 'confident.yaml': 'minimumPassRate: 50%\nconfidence: 95%\n' });
  await using tap = await openServiceTap(service);
  const { tests, options: added, ...moment }: Moment & Setting = phases[phase];
  let wasReached = false;
  const cancel = async (main: RunningScript) => {
    const held = await waitFor(moment, main, tap);
    wasReached = true;
    for (const [index, signal] of endings[ending].entries()) {
      if (index > 0) await sleep(betweenSignalsMs);
      main.send(signal);
    }
    await sleep(lagMs);
    held?.release();
  };
  jobs += 1;
  const run = await runAction({
    workspace: workspace.path,
    inputs: {
      service: 'svc',
      'base-url': tap.service.baseUrl,
      'api-key': service.apiKey,
      'server-command': serverCommand,
      ...(added !== undefined && options[added]),
      tests,
    },
    env: { GITHUB_RUN_ID: String(1000 + jobs) },
    onMain: (main) => void cancel(main),
    timings: { outputMs: 500 },
  });
  const faults = [
    ...(wasReached ? [] : ['the moment never came']),
    ...findFaults(run, ending, await findRemains(service, tap)),
    // A job that ends while it asks for a run never learns the run's id, so the post step must search for the run.
    ...(isPolite(ending) && phase !== 'as a run is asked for' && run.state['leftovers']
      ? ['it left work to post']
      : []),
  ];
  return { run, faults };
}

/** True if the job gets the time to clean up itself. */
function isPolite(ending: Ending): boolean {
  return ending === 'SIGINT' || ending === 'SIGTERM';
}

function findFaults(
  { exitCode, signal, leaveMs, leftovers, post }: ActionRun,
  ending: Ending,
  remains: ServiceRemains,
) {
  const listCommands = (place: string, processes: ActionRun['leftovers']) =>
    processes.map(({ command }) => `${place}: ${command}`);
  const ended = { SIGINT: [130, null], SIGTERM: [143, null], 'SIGINT twice': [130, null], SIGKILL: [null, 'SIGKILL'] };
  const [expectedCode, expectedSignal] = ended[ending];
  return [
    ...(exitCode === expectedCode && signal === expectedSignal ? [] : [`it ended with ${exitCode ?? signal}`]),
    // After this time, the runner sends SIGTERM.
    ...(leaveMs !== null && leaveMs < 7500 ? [] : [`it took ${leaveMs} ms`]),
    ...(isPolite(ending) ? listCommands('alive after main', leftovers) : []),
    ...(post?.exitCode === 0 ? [] : [`post ended with ${post?.exitCode ?? post?.signal}`]),
    ...listCommands('alive after post', post?.leftovers ?? []),
    ...Object.entries<string[]>({ ...remains }).flatMap(([what, names]) => names.map((name) => `${what}: ${name}`)),
  ];
}

async function waitFor(moment: Moment, main: RunningScript, tap: ServiceTap): Promise<HeldRequest | null> {
  if ('line' in moment) {
    await main.printed(moment.line);
    return null;
  }
  for (const pattern of moment.after ?? []) {
    const passed = tap.hold(pattern, 'answered');
    await passed.reached;
    passed.release();
  }
  const held = tap.hold(moment.hold, moment.stage);
  await held.reached;
  return held;
}
