import { type Clock, race } from '../../base/time.ts';
import {
  CancelledError,
  ConfigurationError,
  NetworkError,
  ProtocolError,
  ServiceError,
  TunnelError,
} from '../../base/errors.ts';
import type { Logger } from '../../base/logger.ts';
import type { ProxySettings } from '../../http/proxy.ts';
import type { Redactor, Secret } from '../../base/redaction.ts';
import type { TunnelGrant } from '../../service/tunnel-client.ts';
import { serverUnderTest } from '../../cases/step-server.ts';
import type { ServerAccess } from '../../mcp/access.ts';
import type { RunningServer } from '../../server/running-server.ts';
import { openTunnelHost } from '../../tunnel/host.ts';
import type { CleanupJournal, RemoteServer } from './cleanup-journal.ts';
import type { SeenRefusal } from './refusals.ts';
import type { Teardown } from './run-lifetime.ts';
import { watchPublicUrl } from './public-url.ts';

/** The server of this job as a service knows it. */
export interface RegisteredServer {
  id: string;
  name: string;
  /** The name of the server in steps. */
  alias: string;
  /**
   * Counts how often the tunnel to it has broken off, whether or not it was restored, with a call in progress since `sinceMs` on the
   * monotonic clock, or so soon after one that its answer may be lost. 0 without a tunnel.
   */
  countBreaks(sinceMs: number): number;
  /** Lists the first refusals of calls through the tunnel, the oldest first; empty without a tunnel. */
  listRefusals(): readonly SeenRefusal[];
  /** Explains which header or grant is missing. */
  explainRefusal: RunningServer['explainRefusal'];
  /**
   * Lists every revision of MCP that sessions of iterations have used with it so far, the oldest first; empty if another process executes
   * the iterations.
   */
  listSpoken(): string[];
  /** Lists the tools that it had when a run connected to it; null if they are not known. */
  listTools(): readonly string[] | null;
}

/** Grants tunnels. */
export interface TunnelGrants {
  /** The subprotocol of the relay's WebSocket. */
  readonly subprotocol: string;
  create(name: string): Promise<TunnelGrant>;
  /** Closes the tunnel of a server, and restores the earlier content of its record. `isHurried` is true if only seconds are left. */
  clear(server: RemoteServer, options: { signal: AbortSignal; isHurried: boolean }): Promise<void>;
}

export interface JobTunnelOptions {
  grants: TunnelGrants;
  journal: Pick<CleanupJournal, 'setServer' | 'removeServer'>;
  serverName: string;
  alias: string;
  /** True if no other job has the name. */
  isOwnServerName: boolean;
  /** True if the service itself is on this machine. Neither it nor its relay needs TLS then. */
  isServiceLocal: boolean;
  /** The URL at which the server listens on this machine. */
  targetUrl: string;
  /** The credentials for requests to it; null if it needs none. */
  access: ServerAccess | null;
  explainRefusal: RunningServer['explainRefusal'];
  /** True if every handshake waits for the one before it: a handshake during a run would then only measure that wait. */
  isOneAtATime: boolean;
  proxy: ProxySettings | undefined;
  teardown: Teardown;
  clock: Clock;
  logger: Logger;
  redactor: Redactor;
  signal: AbortSignal;
}

/** A tunnel through which the server of this job answers at its public URL. */
export interface JobTunnel extends RegisteredServer {
  /** Returns the URL at which it answers now; a renewed grant has another one. */
  publicUrl(): Secret;
  /** Resolves when the tunnel no longer works. Never rejects. */
  readonly lost: Promise<TunnelError>;
}

/** Short, because calls in progress at the end of the gate belong to a run that has ended or been cancelled. */
const drainTimeoutMs = 300;

/** The longest time until a silently lost connection is noticed; everything that it was to carry until then is lost, too. */
const longestSilenceMs = 10_000;

/** Limits the memory that a server which refuses every call can fill. */
const maxRefusals = 10_000;

/** Close codes by which the relay says that another host or another grant has the tunnel now. This job must not close it then. */
const takenCodes: ReadonlySet<number | undefined> = new Set([4001, 4002]);

/**
 * Gets a tunnel from the service, connects it to the server, and resolves when the server has answered an MCP handshake at the public URL.
 * The teardown undoes everything.
 *
 * @throws {TunnelError} if the relay cannot be reached, or the server cannot be reached through it
 * @throws {ConfigurationError} if the service refuses to grant a tunnel
 * @throws {ServiceError} if the service fails to grant it
 */
export async function openJobTunnel(options: JobTunnelOptions): Promise<JobTunnel> {
  const { grants, journal, serverName, isOwnServerName, teardown, clock, logger, redactor, signal } = options;
  signal.throwIfAborted();

  /** Null if this job has nothing to clear. */
  let remote: RemoteServer | null = {
    name: serverName,
    serverId: null,
    hasTunnel: true,
    isOwn: isOwnServerName,
    previous: null,
  };
  /** Notes the resource. A URL that may hold a secret is not saved; this process restores it nevertheless, as long as it runs. */
  const note = (next: RemoteServer | null) => {
    remote = next;
    if (next === null) journal.removeServer(serverName);
    else journal.setServer(hasSecret(next.previous?.url) ? { ...next, previous: null } : next);
  };
  const noteTaken = (error: unknown) => {
    if (error instanceof TunnelError && takenCodes.has(error.closeCode)) note(null);
  };
  /** Gets a grant. It does not stop when the job is cancelled: a grant that arrives later must still be closed. */
  const mint = async (describe: (grant: TunnelGrant) => RemoteServer): Promise<TunnelGrant> => {
    try {
      const grant = await grants.create(serverName);
      for (const secret of grant.secrets) redactor.add(secret);
      note(describe(grant));
      return grant;
    } catch (error) {
      if (remote?.serverId === null && isRefusal(error)) note(null);
      throw error;
    }
  };
  note(remote);
  const first = remote;
  let minting = mint((grant) => describeRemote(grant, first));
  let isStopping = false;
  let stopServing = async (): Promise<void> => {};
  teardown.add(`close the tunnel of ${serverName}`, async (teardownSignal, isHurried) => {
    isStopping = true;
    const stopped = stopServing();
    await race(
      minting.catch(() => {}),
      { signals: [teardownSignal] },
    );
    if (remote !== null) {
      await grants.clear(remote, { signal: teardownSignal, isHurried });
      note(null);
    }
    await stopped;
  });

  const grant = await race(minting, { signals: [signal] });
  const { serverId } = grant;
  if (!options.isServiceLocal) requireTls(grant);
  if (isOwnServerName ? isOfAnotherJob(grant) : grant.existed) warnAboutOverwrite(grant, options);

  const subject = options.alias === serverUnderTest ? 'The tunnel' : `The tunnel to the server ${options.alias}`;
  const { relayWsUrl, connectToken } = grant;
  let { url: publicUrl } = grant;
  /** For each break that may have cut off a call, the last time at which a call was in progress. */
  const cutAtMs: number[] = [];
  const refusals: SeenRefusal[] = [];
  const host = await openTunnelHost({
    relayWsUrl,
    connectToken,
    subprotocol: grants.subprotocol,
    target: { url: options.targetUrl, access: options.access },
    serverId,
    clock,
    logger,
    signal,
    drainTimeoutMs,
    proxy: options.proxy,
    onBreak: ({ lastCallAtMs, isFinal }) => {
      if (isStopping) return;
      if (lastCallAtMs !== null && clock.monotonicMs() - lastCallAtMs < longestSilenceMs) cutAtMs.push(lastCallAtMs);
      const next = isFinal ? '' : '; the relay is dialled again';
      logger.warning(`${subject} broke off, and the calls under way with it${next}.`);
    },
    onRefusal: (refusal) => {
      if (refusals.length < maxRefusals) refusals.push({ ...refusal, atMs: clock.now() });
    },
    remint: async () => {
      if (isStopping) throw new CancelledError('The tunnel is being closed.');
      minting = mint((next) => ({ ...(remote ?? first), serverId: next.serverId }));
      const next = await minting;
      publicUrl = next.url;
      return next;
    },
  }).catch((error: unknown) => {
    noteTaken(error);
    throw error;
  });
  void host.lost.then(noteTaken);
  const watching = watchPublicUrl(() => publicUrl, { ...options, hostLost: host.lost });
  stopServing = async () => {
    await Promise.all([watching[Symbol.asyncDispose](), host[Symbol.asyncDispose]()]);
  };
  await watching.ready;
  return {
    id: serverId,
    name: grant.name,
    alias: options.alias,
    countBreaks: (sinceMs) => cutAtMs.filter((atMs) => atMs >= sinceMs).length,
    listRefusals: () => refusals,
    explainRefusal: options.explainRefusal,
    listSpoken: () => [],
    listTools: () => null,
    publicUrl: () => publicUrl,
    lost: Promise.race([host.lost, watching.lost]),
  };
}

function describeRemote(grant: TunnelGrant, remote: RemoteServer): RemoteServer {
  const { serverId, previousUrl, previousTransportType } = grant;
  const previous =
    !grant.existed || previousUrl === null ? null : { url: previousUrl.reveal(), transportType: previousTransportType };
  return { ...remote, serverId, isOwn: remote.isOwn && !isOfAnotherJob(grant), previous };
}

/** Checks if the service has certainly granted nothing; another failure may have come after the grant. */
function isRefusal(error: unknown): boolean {
  const isAnswer =
    error instanceof ConfigurationError || error instanceof ServiceError || error instanceof NetworkError;
  return isAnswer && !error.mayHaveHappened;
}

/**
 * Checks if the record existed before, which means that it belongs to another user of the project. A record that led to this very tunnel was
 * made by an earlier attempt of this job without an answer, since jobs share no name of their own.
 */
function isOfAnotherJob({ existed, previousUrl }: TunnelGrant): boolean {
  return existed && previousUrl !== null;
}

/** @throws {ProtocolError} if the token or the secret of the URL would be sent unencrypted; the error quotes neither */
function requireTls({ relayWsUrl, url }: TunnelGrant): void {
  const isRelaySafe = URL.parse(relayWsUrl)?.protocol === 'wss:';
  if (isRelaySafe && URL.parse(url.reveal())?.protocol === 'https:') return;
  throw new ProtocolError('The service granted a tunnel without TLS, which alone protects its secrets.', {
    path: isRelaySafe ? 'url' : 'relayWsUrl',
  });
}

function hasSecret(url: string | undefined): boolean {
  const parsed = URL.parse(url ?? '');
  return parsed !== null && (parsed.search !== '' || parsed.username !== '' || parsed.password !== '');
}

function warnAboutOverwrite(grant: TunnelGrant, { serverName, logger }: JobTunnelOptions): void {
  const before = URL.parse(grant.previousUrl?.reveal() ?? '');
  const where = before === null ? '' : ` It led to ${before.origin}${before.pathname}, and will again at the end.`;
  logger.warning(
    `The project has a server called ${serverName} already; this job uses its record, and cuts off its current user.${where}`,
  );
}
