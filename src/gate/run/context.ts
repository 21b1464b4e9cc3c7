import type { Clock } from '../../base/time.ts';
import type { Logger } from '../../base/logger.ts';
import type { Redactor } from '../../base/redaction.ts';
import type { GatePlan } from '../plan/plan.ts';
import type { RemoteResources } from './cleanup-journal.ts';
import type { EvidenceCollector } from './evidence.ts';
import type { ProgressListener } from './progress.ts';

/** What the gate needs of its surroundings. */
export interface GateContext {
  clock: Clock;
  logger: Logger;
  /** Receives every secret before anything could print it. */
  redactor: Redactor;
  /** Aborting stops everything that was started and makes the verdict inconclusive. */
  signal: AbortSignal;
  /** When the job started, whose day in UTC decides which quarantine entries hold; the time of the call unless given. */
  startedAt?: Date;
  /** The job's environment, of which the server under test gets an allow-listed part. */
  environment: Readonly<Record<string, string | undefined>>;
  onProgress?: ProgressListener;
  /** Adds to what is collected of iterations. */
  watchEvidence?: (within: EvidenceCollector, plan: GatePlan) => EvidenceCollector;
  /** Put into the environment of every process that is started, so that processes that outlive the gate can be found by it. */
  processMarker?: string;
  /** Receives what a hosted service holds of this job, with every change, so that another process can clear it. */
  saveRemoteResources?: (resources: RemoteResources | null) => void;
}
