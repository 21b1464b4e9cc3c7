import type { Logger } from '../../base/logger.ts';
import type { Redactor } from '../../base/redaction.ts';
import type { Clock } from '../../base/time.ts';
import type { ServerAccess } from '../../mcp/access.ts';
import type { ProgressListener } from './progress.ts';
import type { RunLifetime, Teardown } from './run-lifetime.ts';

/** The scope of the server under test: it ends the server and receives its progress. */
export interface ServerScope {
  lifetime: RunLifetime;
  teardown: Teardown;
  clock: Clock;
  logger: Logger;
  redactor: Redactor;
  onProgress: ProgressListener;
}

/** The registration of a server. */
export interface ServerRegistration {
  /** The name of its record in the service. */
  serverName: string;
  /** The name of the server in steps. */
  alias: string;
  /** Its name in the configuration of a host; `serverName` by default. */
  shownName?: string;
  /** The credentials for requests to it; null if it needs none. */
  access: ServerAccess | null;
}
