import type { Logger } from '../../base/logger.ts';
import type { Redactor } from '../../base/redaction.ts';
import type { Clock } from '../../base/time.ts';
import type { ServerAccess } from '../../mcp/access.ts';
import type { ProgressListener } from './progress.ts';
import type { RunLifetime, Teardown } from './run-lifetime.ts';

/** What the server under test ends with, and where its progress is reported. */
export interface ServerScope {
  lifetime: RunLifetime;
  teardown: Teardown;
  clock: Clock;
  logger: Logger;
  redactor: Redactor;
  onProgress: ProgressListener;
}

/** How a server is registered. */
export interface ServerRegistration {
  /** The name of its record. */
  serverName: string;
  /** What steps call it. */
  alias: string;
  /** What lets requests to it in; null where it lets in every one. */
  access: ServerAccess | null;
}
