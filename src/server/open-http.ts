import { ServerStartError } from '../base/errors.ts';
import { formatDuration, race } from '../base/time.ts';
import type { ServerAccess } from '../mcp/access.ts';
import { type HandshakeError, waitForHttpServer } from '../mcp/probe-http.ts';
import type { Handshake } from '../mcp/protocol.ts';
import type { ProcessWitness } from '../model/process-end.ts';
import { describeUrl, watchRefusals } from './http-refusal.ts';
import { createOutputTail } from './output-tail.ts';
import { startServerProcess } from './container-file.ts';
import { findForeignOwner, findOpenPort } from './port-owner.ts';
import type { ProcessExit, ServerProcess } from './process.ts';
import { waitForReadiness } from './ready.ts';
import type { ReachedServer, ServerContext, StartContext, WantedProtocol } from './running-server.ts';
import { createExitError, createLostError, createRestartError, createRevisionError, tailLines } from './start-error.ts';
import { recordVisits, type SharedProcessRecord, toProcessEnd } from './witness.ts';

/** The time within which a process that holds the port has to answer as an MCP server to be noticed. */
const foreignProbeMs = 2000;

type HttpOptions = ServerContext & {
  readyTimeoutMs: number;
  protocol: WantedProtocol;
  isSse?: boolean;
  access?: ServerAccess | null | undefined;
  ownsPort?: boolean;
};

/** Waits until the server at the URL answers. Starts its command first, if there is one. */
export async function openHttpServer(
  url: string,
  options: HttpOptions & { isWitnessed: boolean; start: StartContext | null },
): Promise<ReachedServer> {
  const { start } = options;
  if (start !== null) await refuseForeignServer(url, options);
  const server = start === null ? null : await startHttpCommand(start, { ...options, url });
  try {
    const handshake = await waitUntilReady(url, { ...options, server });
    const process = start === null || server === null ? null : keepRunning(server, url, { ...options, start });
    return {
      endpoint: { url },
      openUrl: async () => url,
      token: null,
      protocol: handshake.protocol,
      report: {
        transport: handshake.protocol === 'sse' ? 'sse' : 'http',
        name: handshake.name,
        version: handshake.version,
        protocolVersion: handshake.protocolVersion,
        protocolVersions: [],
        isolation: handshake.protocol === 'modern' ? 'stateless' : 'session per iteration',
      },
      planSessions: () => {},
      lost: process?.lost ?? new Promise(() => {}),
      findForeignOwner: () => process?.findForeignOwner() ?? null,
      witness: process?.witness ?? null,
      [Symbol.asyncDispose]: async () => await process?.stop(),
    };
  } catch (error) {
    await server?.stop();
    throw error;
  }
}

/**
 * Follows the process of a command that serves HTTP. If it ends by itself and a witness is used, it is started again with the next
 * iteration. Otherwise the server counts as lost, since calls of it may have been open.
 */
function keepRunning(
  first: ServerProcess,
  url: string,
  options: HttpOptions & { isWitnessed: boolean; start: StartContext },
): {
  lost: Promise<ServerStartError>;
  witness: ProcessWitness;
  findForeignOwner(): string | null;
  stop(): Promise<void>;
} {
  const { start, clock } = options;
  const lost = Promise.withResolvers<ServerStartError>();
  const visits = recordVisits(clock);
  let server = first;
  /** The processes that the gate stopped; their end has no meaning. */
  const stopped = new Set<ServerProcess>();
  const disposed = new AbortController();
  const signal = AbortSignal.any([options.signal, disposed.signal]);
  let restarting: Promise<void> | undefined;

  const follow = (process: ServerProcess) => {
    const record = visits.begin(process);
    void process.exited.then((exit) => (stopped.has(process) ? undefined : noteEnd(record, exit)));
  };
  const noteEnd = (record: SharedProcessRecord, exit: ProcessExit) => {
    record.end(toProcessEnd(exit));
    if (!options.isWitnessed) lost.resolve(createLostError(exit, start.tail));
  };
  const stop = async (process: ServerProcess) => {
    // One that has ended by itself is reported, though its output is still being read.
    if (!process.hasEnded) stopped.add(process);
    await process.stop();
  };
  const restart = async () => {
    // A process that it started may still run and hold the port.
    await stop(server);
    signal.throwIfAborted();
    try {
      server = await startHttpCommand(start, { ...options, url });
      await waitUntilReady(url, { ...options, signal, server });
    } catch (error) {
      await stop(server);
      if (signal.aborted || !(error instanceof ServerStartError)) throw error;
      const failure = createRestartError(error);
      lost.resolve(failure);
      throw failure;
    }
    follow(server);
  };
  follow(server);
  return {
    lost: lost.promise,
    findForeignOwner: () =>
      options.ownsPort === true
        ? findForeignOwner(url, { pid: server.pid, words: start.words, descendants: start.descendants })
        : null,
    witness: {
      isShared: true,
      visit: async ({ isAlone, isProbe = false }) => {
        await restarting;
        if (server.hasEnded || (isAlone && visits.isUsed)) {
          restarting ??= restart().finally(() => {
            restarting = undefined;
          });
          await restarting;
        }
        return visits.visit({ isProbe });
      },
    },
    stop: async () => {
      disposed.abort(new ServerStartError('The server under test is being stopped.'));
      await restarting?.catch(() => {});
      await stop(server);
    },
  };
}

/** @throws {ServerStartError} if the process ends, no MCP server answers in time, or the answer shows that waiting is pointless */
async function waitUntilReady(
  url: string,
  options: HttpOptions & { start: StartContext | null; server: ServerProcess | null },
): Promise<Handshake> {
  const { start, server, clock, protocol, readyTimeoutMs, isSse, access } = options;
  const tail = start?.tail ?? createOutputTail();
  const { promise: exited, resolve: reportExit } = Promise.withResolvers<ServerStartError>();
  void server?.exited.then((exit) => reportExit(createExitError(start?.command ?? '', exit, { tail, remark: '' })));

  let lastFailure = 'it has not answered the handshake';
  const readStderr = () => tail.readLines(tailLines);
  const refusals = watchRefusals(url, { clock, signal: options.signal, readStderr, access });
  const onFailure = async (failure: HandshakeError) => {
    // HTTP clients often quote the URL that they could not reach.
    lastFailure = failure.message.replaceAll(url, describeUrl(url));
    if (failure.offered !== null) throw createRevisionError(failure.offered, protocol, tail);
    const error = await refusals.explain(failure);
    if (error !== null) throw error;
  };
  const handshake = await waitForReadiness(
    (signal) => waitForHttpServer(url, { clock, signal, protocol: protocol.value, isSse, access, onFailure }),
    {
      ...options,
      exited,
      createTimeoutError: () => {
        const time = formatDuration(readyTimeoutMs);
        return new ServerStartError(
          `No MCP server answered at ${describeUrl(url)} within ${time}; last: ${lastFailure}.`,
          {
            isUnexplained: true,
            stderrTail: readStderr(),
            hint: 'Check host, port and path (often /mcp), and that the server listens on that address; if it only needs longer, raise the ready timeout.',
          },
        );
      },
    },
  );
  if (start !== null && server !== null && options.ownsPort === true) refuseForeignOwner(url, { start, server });
  return handshake;
}

/** @throws {ServerStartError} if a process that is not the server's holds its port */
function refuseForeignOwner(url: string, { start, server }: { start: StartContext; server: ServerProcess }): void {
  const { words, descendants } = start;
  const why = findForeignOwner(url, { pid: server.pid, words, descendants });
  if (why === null) return;
  throw new ServerStartError(`Another process answers at ${describeUrl(url)}: ${why}.`, { hint: choosePort });
}

const choosePort = 'Choose a port that no other process of the job uses.';

/**
 * Refuses a server that answers before the command is started. It is another server, left over or of another job. The gate would test it
 * instead of the command's server, which may not even notice that its port is taken.
 *
 * @throws {ServerStartError} if one answers
 */
async function refuseForeignServer(url: string, { clock, signal }: ServerContext): Promise<void> {
  const over = new AbortController();
  let refused: { name: string | null } | null = null;
  const probe = waitForHttpServer(url, {
    clock,
    signal: AbortSignal.any([signal, over.signal]),
    onFailure: ({ response }) => {
      // The probe has no access headers, since they are only for the server that the gate starts. So a refusal shows that another server
      // is there.
      if (response?.status === 401 || response?.status === 403) refused = { name: null };
      over.abort();
    },
  }).catch(() => refused);
  const found = await race(probe, { timeout: { clock, afterMs: foreignProbeMs, onTimeout: () => null } });
  over.abort();
  signal.throwIfAborted();
  if (found === null) return;
  throw new ServerStartError(
    `An MCP server${found.name === null ? '' : ` (${found.name})`} answers at ${describeUrl(url)} before the server command was started.`,
    {
      hint: 'Stop it or choose another port; to test that very server, give server-url alone.',
    },
  );
}

/** The server's own processes may take a moment to end. */
const closingMs = 2000;
const closingPollMs = 100;

/** Null once the port is closed; else the reason why it stays open. */
async function waitUntilClosed(url: string, { clock, signal }: ServerContext): Promise<string | null> {
  const endsAtMs = clock.monotonicMs() + closingMs;
  for (;;) {
    const why = await findOpenPort(url);
    if (why === null || clock.monotonicMs() >= endsAtMs) return why;
    await clock.sleep(closingPollMs, { signal });
  }
}

/**
 * Starts the command. The stdout of an HTTP server is log output, like its stderr.
 *
 * @throws {ServerStartError} if `ownsPort` is set and the port is not closed before
 */
async function startHttpCommand(
  start: StartContext,
  { url, ownsPort = false }: { url: string; ownsPort?: boolean },
): Promise<ServerProcess> {
  const why = ownsPort ? await waitUntilClosed(url, start) : null;
  if (why !== null) {
    throw new ServerStartError(`The port of ${describeUrl(url)} is not closed before the server starts: ${why}.`, {
      hint: choosePort,
    });
  }
  const server = startServerProcess(start, { readsStdin: false });
  server.stdout.on('data', (chunk: Buffer) => server.addOutput(chunk));
  return server;
}
