import type { Clock } from '../../../src/base/time.ts';
import { silentLogger } from '../../../src/base/logger.ts';
import { createRedactor } from '../../../src/base/redaction.ts';
import { gate, type GateResult } from '../../../src/gate/gate.ts';
import type { RemoteResources } from '../../../src/gate/run/cleanup-journal.ts';
import { planGate } from '../../../src/gate/plan/plan.ts';
import type { GateProgress } from '../../../src/gate/run/progress.ts';
import { createJumpingClock } from '../clocks/bent-clock.ts';
import type { ContractService } from '../service/contract-service.ts';
import { type GateInputs, readGateInputs } from './gate-inputs.ts';
import { createWorkspace } from '../workspace.ts';

export interface HostedGateOptions {
  files?: Record<string, string>;
  /** The variables of the job; by default, it is on a branch of a repository. */
  environment?: Record<string, string>;
  signal?: AbortSignal;
  clock?: Clock;
  onProgress?: (progress: GateProgress) => void | Promise<void>;
}

export interface HostedGateResult extends GateResult {
  /** Warnings, and groups with their titles. */
  log: string[];
  /** The final cleanup journal for another process. */
  leftovers: RemoteResources | null | undefined;
}

/** Shortens the client's pace of one request per second, which the services of tests do not require. */
export const clientPace = { fromMs: 20, toMs: 2500, instead: 20, limitsMs: [1000] };

export const jobOnBranch = {
  GITHUB_REPOSITORY: 'your-org/your-server',
  GITHUB_RUN_ID: '41',
  GITHUB_RUN_ATTEMPT: '1',
  GITHUB_JOB: 'evals',
  GITHUB_REF_NAME: 'change',
};

/** Runs a gate against a service as if it were hosted elsewhere. */
export async function runHostedGate(
  service: ContractService,
  inputs: GateInputs,
  options: HostedGateOptions = {},
): Promise<HostedGateResult> {
  await using workspace = await createWorkspace(options.files);
  const hosted = { service: 'svc', 'base-url': service.baseUrl, 'api-key': service.apiKey };
  const plan = await planGate(readGateInputs({ ...hosted, ...inputs }), {
    cwd: workspace.path,
    environment: options.environment ?? jobOnBranch,
  });
  const log: string[] = [];
  let leftovers: RemoteResources | null | undefined;
  const result = await gate(plan, {
    clock: options.clock ?? createJumpingClock(clientPace),
    logger: {
      ...silentLogger,
      warning: (message) => void log.push(message),
      group: (title, lines) => void log.push(title, ...lines),
    },
    redactor: createRedactor(),
    signal: options.signal ?? new AbortController().signal,
    environment: process.env,
    saveRemoteResources: (next) => {
      leftovers = next;
    },
    onProgress: (progress) => void options.onProgress?.(progress),
  });
  return { ...result, log, leftovers };
}
