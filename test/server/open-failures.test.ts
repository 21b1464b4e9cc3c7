import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

import { ConfigurationError, ServerStartError } from '../../src/base/errors.ts';
import type { ServerContext, ServerOptions } from '../../src/server/running-server.ts';
import { createEventClock, createJumpingClock, createSteppedClock } from '../support/clocks/bent-clock.ts';
import { findFreePort } from '../support/network/free-port.ts';
import { raw, startHttpServer } from '../support/network/http-server.ts';
import { conformanceServerPath } from '../support/servers/bundled-servers.ts';
import { shakesHands } from '../support/servers/mcp-handshake.ts';
import { waitForFile } from '../support/process/wait-for-file.ts';
import { listMarkedPids } from '../support/process/processes.ts';
import { openTestServer } from '../support/servers/running-server.ts';
import { createWorkspace } from '../support/workspace.ts';

const node = process.execPath;

/** How long the gate asks whether another server answers already. */
const foreignProbeMs = 2000;

/** Waits between attempts take a moment, in which the time has passed nevertheless. */
const retries = { fromMs: 50, toMs: 150, instead: 1 };

/** Opens what must not open, and checks that nothing of it is left. */
async function failToOpen(options: Partial<ServerOptions>, context: Partial<ServerContext> = {}): Promise<unknown> {
  const sessionMarker = `failing-${Math.random()}`;
  const error: unknown = await openTestServer({ sessionMarker, ...options }, context).then(
    () => 'it opened',
    (reason: unknown) => reason,
  );
  expect(listMarkedPids(sessionMarker)).toEqual([]);
  return error;
}

async function failToStart(
  options: Partial<ServerOptions>,
  context: Partial<ServerContext> = {},
): Promise<ServerStartError> {
  const error = await failToOpen(options, context);
  expect(error).toBeInstanceOf(ServerStartError);
  return error as ServerStartError;
}

describe('a command that does not become a server', () => {
  it('is named when it does not exist', async () => {
    const error = await failToStart({ command: 'no-such-command --flag' });
    expect(error.message).toBe('The server command "no-such-command --flag" could not be started.');
    expect(error.hint).toMatch(/^Check the spelling/);
  });

  it('is reported with exit code and the last 50 lines of stderr when it exits', async () => {
    const script = 'for (let i = 1; i <= 60; i++) console.error(`line ${i}`); process.exitCode = 3';
    const error = await failToStart({ command: `${node} -e '${script}'` });
    expect(error.message).toBe('The server under test exited with code 3 before it was ready.');
    expect(error.processExitCode).toBe(3);
    expect([error.stderrTail.length, error.stderrTail[0], error.stderrTail.at(-1)]).toEqual([50, 'line 11', 'line 60']);
  });

  it('is reported with a hint of its own when it exits with code 0', async () => {
    const error = await failToStart({ command: `${node} -e ''` });
    expect(error.message).toBe('The server under test exited with code 0 before it was ready.');
    expect(error.hint).toMatch(/keeps running until its stdin closes/);
  });

  it('is given up when it stays silent', async () => {
    const error = await failToStart({ command: `${node} -e 'setInterval(() => {}, 1000)'`, readyTimeoutMs: 300 });
    expect(error.message).toBe('The server under test did not answer initialize on stdio within 300 ms.');
  });

  it('is quoted when it logs to stdout', async () => {
    await using workspace = await createWorkspace();
    const logged = join(workspace.path, 'logged');
    const note = `require("node:fs").writeFileSync("${logged}", "")`;
    const script = `process.stdout.write("Listening on port 3000\\n", () => ${note}); setInterval(() => {}, 1000)`;
    const clock = createEventClock((delayMs) => (delayMs === 500 ? waitForFile(logged) : undefined));
    const error = await failToStart({ command: `${node} -e '${script}'`, readyTimeoutMs: 500 }, { clock });
    expect(error.message).toBe(
      'The server under test did not answer initialize on stdio within 500 ms. On stdout, where only MCP messages belong, it wrote: "Listening on port 3000".',
    );
    expect(error.hint).toMatch(/server-url/);
  });

  it('is quoted when its answer is no handshake', async () => {
    const script =
      'process.stdin.on("data", () => console.log(JSON.stringify({ jsonrpc: "2.0", id: 0, result: { hello: 1 } })))';
    const error = await failToStart({ command: `${node} -e '${script}'` });
    expect(error.message).toMatch(/with something else than an MCP handshake: \{.*"hello":1/);
  });

  it('is given up when it floods stdout', async () => {
    const script = 'const flood = () => process.stdout.write("x".repeat(65536), flood); flood()';
    const error = await failToStart({ command: `${node} -e '${script}'`, readyTimeoutMs: 30_000 });
    expect(error.message).toMatch(/was ended by SIGKILL before it was ready/);
    expect(error.stderrTail.at(-1)).toMatch(/A line on stdout is longer than/);
  });

  it('is stopped when the caller gives up first', async () => {
    const sessionMarker = `aborted-${Math.random()}`;
    const stop = new AbortController();
    const opening = openTestServer(
      { command: `${node} -e 'setInterval(() => {}, 1000)'`, sessionMarker },
      { signal: stop.signal },
    );
    stop.abort(new Error('enough'));
    await expect(opening).rejects.toThrow('enough');
    expect(listMarkedPids(sessionMarker)).toEqual([]);
  });
});

describe('a URL where no server answers', () => {
  it('is reported without its secrets', async () => {
    const port = await findFreePort();
    const url = `http://127.0.0.1:${port}/mcp?key=secret`;
    const error = await failToStart({ command: null, url, readyTimeoutMs: 300 });
    expect(error.message).toMatch(/^No MCP server answered at http:\/\/127\.0\.0\.1:\d+\/mcp within 300 ms; last: /);
    expect(JSON.stringify([error.message, error.hint, String(error.cause)])).not.toMatch(/secret/);
  });

  it('is not ready if it only answers a GET', async () => {
    const tried = Promise.withResolvers<void>();
    await using http = await startHttpServer((response) => {
      // An attempt takes two requests, so that one has failed by then.
      if (http.requests.length > 3) tried.resolve();
      response.end('<html>hello</html>');
    });
    const clock = createEventClock((delayMs) => (delayMs === 500 ? tried.promise : undefined));
    const error = await failToStart({ command: null, url: `${http.origin}/mcp`, readyTimeoutMs: 500 }, { clock });
    expect(error.message).toMatch(/No MCP server answered at .* within 500 ms; last: .*content/i);
  });

  it('ends the wait long before its end when the server there has nothing at the path', async () => {
    await using http = await startHttpServer(raw(404, '<h1>Not found</h1>'));
    const url = `${http.origin}/?key=secret`;
    const error = await failToStart({ command: null, url }, { clock: createJumpingClock(retries) });
    expect(error.message).toBe(`A server answers at ${http.origin}, but has nothing at the path / (HTTP 404).`);
    expect(error.hint).toBe('Give the path of its MCP endpoint in server-url, which often is /mcp.');
  });

  it('goes on waiting while the server there comes to know its routes', async () => {
    const isEarly = (count: number) => count < 40;
    await using http = await startHttpServer((response, request) => {
      const answer = isEarly(http.requests.length) ? raw(404, '') : shakesHands;
      return answer(response, request);
    });
    const url = `${http.origin}/mcp`;
    await using server = await openTestServer({ command: null, url }, { clock: createSteppedClock(retries) });
    expect(server.report.name).toBe('demo');
    expect(http.requests.length).toBeGreaterThan(40);
  });

  it('ends the wait as soon as its command exits', async () => {
    const port = await findFreePort();
    const command = `${node} -e 'console.log("port in use"); process.exit(1)'`;
    const error = await failToStart({ command, url: `http://127.0.0.1:${port}/mcp` });
    expect([error.processExitCode, error.stderrTail]).toEqual([1, ['port in use']]);
  });

  it('is rejected if another server answers there before the command starts', async () => {
    await using theirs = await openTestServer();
    // The time that it has to answer does not end.
    const clock = createEventClock((delayMs) => (delayMs === foreignProbeMs ? new Promise(() => {}) : undefined));
    const error = await failToStart(
      { command: `${node} -e 'setInterval(() => {}, 1000)'`, url: theirs.url },
      { clock },
    );
    expect(error.message).toMatch(
      /^An MCP server \(stdio-server\) answers at .* before the server command was started\.$/,
    );
    expect(error.hint).toMatch(/^Stop it or choose another port/);
  });

  it('is not found when the command listens elsewhere', async () => {
    const [port, other] = [await findFreePort(), await findFreePort()];
    const command = `${node} ${conformanceServerPath}`;
    const url = `http://127.0.0.1:${other}/mcp`;
    const error = await failToStart({ command, url, env: { PORT: String(port) }, readyTimeoutMs: 1500 });
    expect(error.hint).toMatch(/^Check host, port and path/);
  });
});

describe('options that name no server', () => {
  it.each([
    [{ command: null, url: null }, /neither a server command nor a server URL/],
    [{ command: '   ' }, /the command is empty/],
    [{ command: 'node "unfinished' }, /cannot be split into words/],
    [{ command: null, url: 'ftp://127.0.0.1/mcp' }, /not an http: or https: URL/],
    [{ command: null, url: 'http://user:hunter2@127.0.0.1/mcp' }, /^server-url: the URL holds a user name or password/],
    [{ command: null, url: 'not a url' }, /not an http: or https: URL/],
  ])('are a mistake in the configuration: %j', async (options, message) => {
    const error = await failToOpen(options);
    expect(error).toBeInstanceOf(ConfigurationError);
    expect((error as ConfigurationError).message).toMatch(message);
  });
});
