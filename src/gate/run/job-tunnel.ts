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
import type { TunnelGrant } from '../../service/tunnels.ts';
import { serverUnderTest } from '../../model/step-server.ts';
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
  /** What steps call it. */
  alias: string;
  /**
   * How often the tunnel to it has broken off, whether or not it came back, with a call under way since `sinceMs` on the
   * monotonic clock, or so soon after one that its answer may be lost. 0 where there is no tunnel.
   */
  countBreaks(sinceMs: number): number;
  /** The first refusals of calls that the tunnel has carried, oldest first; none where there is no tunnel. */
  listRefusals(): readonly SeenRefusal[];
  /** Says which header or grant is missing. */
  explainRefusal: RunningServer['explainRefusal'];
  /** Every revision of MCP that sessions of iterations have spoken with it so far, oldest first; empty where another process executes them. */
  listSpoken(): string[];
  /** The tools that it listed when a run connected to it; null where that is not known. */
  listTools(): readonly string[] | null;
}

/** Where tunnels are granted. */
export interface TunnelGrants {
  /** Of the relay's WebSocket. */
  readonly subprotocol: string;
  create(name: string): Promise<TunnelGrant>;
  /** Closes the tunnel of a server, and has its record say again what it said before; `isHurried` where there are only seconds. */
  clear(server: RemoteServer, options: { signal: AbortSignal; isHurried: boolean }): Promise<void>;
}

export interface JobTunnelOptions {
  grants: TunnelGrants;
  journal: Pick<CleanupJournal, 'setServer' | 'removeServer'>;
  serverName: string;
  alias: string;
  /** Whether no other job has the name. */
  isOwnServerName: boolean;
  /** Whether the service itself is on this machine, where neither it nor its relay needs TLS. */
  isServiceLocal: boolean;
  /** Where the server listens on this machine. */
  targetUrl: string;
  /** What lets requests to it in; null where it lets in every one. */
  access: ServerAccess | null;
  explainRefusal: RunningServer['explainRefusal'];
  /** Whether every handshake waits for the one before it, so that asking for one during a run would only measure that. */
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
  /** Where it answers now; a grant that is renewed has another one. */
  publicUrl(): Secret;
  /** Resolves when the tunnel is of no use any more. Never rejects. */
  readonly lost: Promise<TunnelError>;
}

/** Calls under way when the gate is over belong to a run that has ended or been cancelled. */
const drainTimeoutMs = 300;

/** A connection that is lost without a word is missed only after a while, and whatever it was to carry by then is lost with it. */
const longestSilenceMs = 10_000;

/** A server that refuses every call must not fill the memory. */
const maxRefusals = 10_000;

/** Another host has the tunnel now, or another grant: this job must not close it any more. */
const takenCodes: ReadonlySet<number | undefined> = new Set([4001, 4002]);

/**
 * Has the service grant a tunnel, leads it to the server, and resolves once the server has answered an MCP handshake at the
 * public URL. Everything is undone by the teardown.
 *
 * @throws {TunnelError} when the relay cannot be reached, or the server not through it
 * @throws {ConfigurationError} when the service refuses to grant one
 * @throws {ServiceError} when it cannot
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
  /** What may hold a secret is not written down; it is restored all the same, as long as this process lives. */
  const note = (next: RemoteServer | null) => {
    remote = next;
    if (next === null) journal.removeServer(serverName);
    else journal.setServer(hasSecret(next.previous?.url) ? { ...next, previous: null } : next);
  };
  const noteTaken = (error: unknown) => {
    if (error instanceof TunnelError && takenCodes.has(error.closeCode)) note(null);
  };
  /** Not given up when the job is: a grant that arrives after that must be closed all the same. */
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
  /** When a call was last under way before each break that may have cut it off. */
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

/** Whether the service has granted nothing, as opposed to a failure that may have come after the grant. */
function isRefusal(error: unknown): boolean {
  const isAnswer =
    error instanceof ConfigurationError || error instanceof ServiceError || error instanceof NetworkError;
  return isAnswer && !error.mayHaveHappened;
}

/**
 * A record that was there before belongs to another user of the project, whatever its name. One that led to this very
 * tunnel was made by an attempt at the grant whose answer was lost, since jobs share no name of their own.
 */
function isOfAnotherJob({ existed, previousUrl }: TunnelGrant): boolean {
  return existed && previousUrl !== null;
}

/** @throws {ProtocolError} where the token or the secret of the URL would travel in the clear; neither is ever quoted */
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
