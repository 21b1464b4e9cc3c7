import { formatDuration } from '../base/deadline.ts';
import { ServerStartError } from '../base/errors.ts';
import { startProcess } from './process.ts';
import type { ServerProcess } from './process.ts';
import { describeUrl, watchRefusals } from './http-refusal.ts';
import { type HandshakeError, waitForHttpServer } from './ready-http.ts';
import { waitForReadiness } from './ready.ts';
import { createOutputRing } from './ring.ts';
import type { ReachedServer, ServerContext, StartContext, WantedProtocol } from './running-server.ts';
import { createExitError, createLostError, createRevisionError, tailLines } from './start-error.ts';

/** How long whoever holds the port may take to show that it is an MCP server. */
const foreignProbeMs = 2000;

/** Waits until the server at the URL answers, having started its command first where there is one. */
export async function openHttpServer(
  url: string,
  options: ServerContext & { readyTimeoutMs: number; protocol: WantedProtocol; start: StartContext | null },
): Promise<ReachedServer> {
  const { start, clock, protocol } = options;
  const ring = start?.ring ?? createOutputRing();
  if (start !== null) await refuseForeignServer(url, options);
  const server = start === null ? null : startHttpCommand(start);
  const { promise: exited, resolve: reportExit } = Promise.withResolvers<ServerStartError>();
  void server?.exited.then((exit) => reportExit(createExitError(start?.command ?? '', exit, { ring, remark: '' })));

  let lastFailure = 'it was not asked';
  const readStderr = () => ring.readLines(tailLines);
  const refusals = watchRefusals(url, { signal: options.signal, readStderr });
  const onFailure = async (failure: HandshakeError) => {
    // HTTP clients like to quote the URL they could not reach.
    lastFailure = failure.message.replaceAll(url, describeUrl(url));
    if (failure.offered !== null) throw createRevisionError(failure.offered, protocol, ring);
    const error = await refusals.explain(failure, clock.monotonicMs());
    if (error !== null) throw error;
  };
  try {
    const handshake = await waitForReadiness(
      (signal) => waitForHttpServer(url, { clock, signal, protocol: protocol.value, onFailure }),
      {
        ...options,
        exited,
        createTimeoutError: () => {
          const time = formatDuration(options.readyTimeoutMs);
          return new ServerStartError(
            `No MCP server answered at ${describeUrl(url)} within ${time}; last: ${lastFailure}.`,
            {
              stderrTail: readStderr(),
              hint: 'Check host, port and path (often /mcp), and that the server listens on that address; if it only needs longer, raise the ready timeout.',
            },
          );
        },
      },
    );
    const lost = Promise.withResolvers<ServerStartError>();
    let isStopping = false;
    void server?.exited.then((exit) => (isStopping ? undefined : lost.resolve(createLostError(exit, ring))));
    return {
      url,
      token: null,
      protocol: handshake.protocol,
      report: {
        transport: 'http',
        name: handshake.name,
        version: handshake.version,
        protocolVersion: handshake.protocolVersion,
        protocolVersions: [],
        isolation: handshake.protocol === 'modern' ? 'stateless' : 'session per iteration',
      },
      lost: lost.promise,
      [Symbol.asyncDispose]: async () => {
        isStopping = true;
        await server?.stop();
      },
    };
  } catch (error) {
    await server?.stop();
    throw error;
  }
}

/**
 * A server that answers before the command was started is another one: left over, or of another job. It would be tested in
 * place of the command's, which may not even notice that its port is taken.
 *
 * @throws {ServerStartError} when one answers.
 */
async function refuseForeignServer(url: string, { clock, signal }: ServerContext): Promise<void> {
  const over = new AbortController();
  const probe = waitForHttpServer(url, {
    clock,
    signal: AbortSignal.any([signal, over.signal]),
    onFailure: () => over.abort(),
  }).catch(() => null);
  const timeout = clock.sleep(foreignProbeMs, { signal: over.signal }).then(
    () => null,
    () => null,
  );
  const found = await Promise.race([probe, timeout]);
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

/** What an HTTP server prints to stdout is log as much as what it prints to stderr. */
function startHttpCommand(start: StartContext): ServerProcess {
  const server = startProcess(start.words, { ...start, readsStdin: false });
  server.stdout.on('data', (chunk: Buffer) => start.ring.append(chunk));
  return server;
}
