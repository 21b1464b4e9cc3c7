import type { Clock } from '../base/time.ts';
import type { Logger } from '../base/logger.ts';
import type { ServerWitnesses } from '../model/process-end.ts';
import type { BodyReader } from './request.ts';
import type { BodySchemas } from './bodies/suite.ts';
import type { ServiceLimits } from './limits.ts';
import type { ProtocolTable } from './connect.ts';
import type { RelayEdge } from './relay/edge.ts';
import type { Runner } from './runner.ts';
import type { RunScheduling } from './schedule.ts';
import type { Store } from './store/open.ts';

/** What the routes work with. */
export interface ServiceContext {
  clock: Clock;
  logger: Logger;
  limits: ServiceLimits;
  iterationTimeoutMs: number;
  readBody: BodyReader;
  bodies: BodySchemas;
  store: Store;
  runner: Runner;
  protocols: ProtocolTable;
  scheduling: Pick<RunScheduling, 'getConcurrency' | 'onScheduled'>;
  witnesses: ServerWitnesses | null;
  relay: Pick<RelayEdge, 'issue' | 'revoke'>;
}
