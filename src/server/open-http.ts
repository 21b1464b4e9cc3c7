import { formatDuration } from '../base/deadline.ts';
import { ServerStartError } from '../base/errors.ts';
import { startProcess } from './process.ts';
import type { ServerProcess } from './process.ts';
import { waitForHttpServer } from './ready-http.ts';
import { waitForReadiness } from './ready.ts';
import { createOutputRing } from './ring.ts';
import type { ReachedServer, ServerContext, StartContext } from './running-server.ts';
import { createExitError, createLostError, tailLines } from './start-error.ts';

/** Waits until the server at the URL answers, having started its command first where there is one. */
export async function openHttpServer(
  url: string,
  options: ServerContext & { readyTimeoutMs: number; start: StartContext | null },
): Promise<ReachedServer> {
  const { start } = options;
  const ring = start?.ring ?? createOutputRing();
  const server = start === null ? null : startHttpCommand(start);
  const { promise: exited, resolve: reportExit } = Promise.withResolvers<ServerStartError>();
  void server?.exited.then((exit) => reportExit(createExitError(start?.command ?? '', exit, { ring, remark: '' })));

  let lastFailure = 'it was not asked';
  const onFailure = (reason: string) => {
    // HTTP clients like to quote the URL they could not reach.
    lastFailure = reason.replaceAll(url, describeUrl(url));
  };
  try {
    const handshake = await waitForReadiness(
      (signal) => waitForHttpServer(url, { clock: options.clock, signal, onFailure }),
      {
        ...options,
        exited,
        createTimeoutError: () => {
          const time = formatDuration(options.readyTimeoutMs);
          return new ServerStartError(
            `No MCP server answered at ${describeUrl(url)} within ${time}; last: ${lastFailure}.`,
            {
              stderrTail: ring.readLines(tailLines),
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

/** What an HTTP server prints to stdout is log as much as what it prints to stderr. */
function startHttpCommand(start: StartContext): ServerProcess {
  const server = startProcess(start.words, start);
  server.stdout.on('data', (chunk: Buffer) => start.ring.append(chunk));
  return server;
}

/** Without credentials and query, which may be secret. */
function describeUrl(url: string): string {
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname}`;
}
