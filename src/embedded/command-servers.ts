import type { ServerRecord } from './store/servers.ts';

/** Starts the commands of server records, and keeps what it started until it is disposed. */
export interface CommandServers extends AsyncDisposable {
  /**
   * Resolves with the URL at which the server answers; each session there has a process of its own.
   *
   * @throws {ServerStartError} where it does not start
   * @throws {ConfigurationError} where its command cannot be read
   */
  open(server: ServerRecord): Promise<string>;
}
