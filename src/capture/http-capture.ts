import { ConfigurationError, describeError } from '../base/errors.ts';
import { anyProtocol } from '../model/protocol.ts';
import { openServer } from '../server/open-server.ts';
import type { ServerContext } from '../server/running-server.ts';
import type { Frame } from './frames.ts';
import { openHttpProxy } from './http-proxy.ts';

/** A server over HTTP in front of another one. Disposing it stops what it started. */
export interface HttpCapture extends AsyncDisposable {
  /** The URL for clients, on 127.0.0.1. */
  readonly url: string;
}

interface HttpCaptureOptions {
  /** A command that serves on stdio, or the URL of a server. */
  server: { command: string } | { url: string };
  cwd: string;
  /** All variables of the command. */
  env: Readonly<Record<string, string | undefined>>;
  /** 0 for a free one. */
  port: number;
  /** Gets each message of both sides. */
  onFrame: (frame: Frame) => void;
}

/**
 * Serves a command on stdio, or a server at a URL, over HTTP on this machine, and passes on what both sides send.
 *
 * @throws {ConfigurationError} for a URL or a port that cannot be used
 * @throws {ServerStartError} if the command does not answer
 */
export async function openHttpCapture(
  { server, cwd, env, port, onFrame }: HttpCaptureOptions,
  context: ServerContext,
): Promise<HttpCapture> {
  const given = 'url' in server ? URL.parse(server.url) : null;
  if ('url' in server && (given === null || !/^https?:$/.test(given.protocol)))
    fail('url', `${JSON.stringify(server.url)} is no URL of HTTP`);
  const running =
    'url' in server
      ? null
      : await openServer(
          {
            command: server.command,
            url: null,
            cwd,
            env: Object.fromEntries(
              Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
            ),
            readyTimeoutMs: 30_000,
            protocol: anyProtocol,
            isolation: 'iteration',
            sessions: { count: null, warmProcesses: 0, isExclusive: false },
            isWitnessed: false,
          },
          context,
        );
  try {
    const address = given ?? new URL((await running?.openUrl()) ?? '');
    const proxy = await openHttpProxy({
      port,
      target: (path) => (given === null ? address : new URL(path, address.origin)),
      onMessage: (from, text, origin) => {
        // A line break in JSON is white space.
        const bytes = Buffer.from(`${text.replaceAll(/[\r\n]+/g, ' ')}\n`);
        onFrame({ from, timeMs: Date.now(), ...origin, bytes });
      },
    }).catch((error: unknown) => fail('port', describeError(error)));
    return {
      url: `http://127.0.0.1:${proxy.port}${given?.pathname ?? '/mcp'}`,
      [Symbol.asyncDispose]: async () => {
        await proxy[Symbol.asyncDispose]();
        await running?.[Symbol.asyncDispose]();
      },
    };
  } catch (error) {
    await running?.[Symbol.asyncDispose]();
    throw error;
  }
}

function fail(input: string, message: string): never {
  throw new ConfigurationError([{ input, code: 'invalid-value', message }]);
}
