import type { Clock } from '../../base/time.ts';
import type { Logger } from '../../base/logger.ts';
import type { Redactor } from '../../base/redaction.ts';
import type { RunCase } from '../../runner/runner.ts';
import type { GatePlan } from '../plan/plan.ts';
import type { RemoteResources } from './cleanup-journal.ts';
import type { EvidenceCollector } from './evidence-log.ts';
import type { ProgressListener } from './progress.ts';

/** The surroundings that the gate needs. */
export interface GateContext {
  clock: Clock;
  logger: Logger;
  /** Receives every secret before anything could print it. */
  redactor: Redactor;
  /** Aborting stops everything that was started and makes the verdict inconclusive. */
  signal: AbortSignal;
  /** The start of the job; its day in UTC decides which quarantine entries apply. The default is the time of the call. */
  startedAt?: Date;
  /** The job's environment. The server under test gets only an allow-listed part of it. */
  environment: Readonly<Record<string, string | undefined>>;
  onProgress?: ProgressListener;
  /** Extends the collector of iterations. */
  watchEvidence?: (within: EvidenceCollector, plan: GatePlan) => EvidenceCollector;
  /** Runs each iteration in this process; the engine's function by default. */
  runCase?: RunCase;
  /** A marker in the environment of every process that is started, by which processes that outlive the gate can be found. */
  processMarker?: string;
  /** The command that runs the evals of the job again, without evals files and cases. */
  repeat?: string;
  /** The command line of the MCP Inspector for the server, without a method. */
  inspection?: string;
  /** Saves what a hosted service holds of this job, with every change, so that another process can clear it. */
  saveRemoteResources?: (resources: RemoteResources | null) => void;
}
