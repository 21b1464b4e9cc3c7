import { describe, expect, it } from 'vitest';
import { ServerStartError } from '../../src/base/errors.ts';
import { startHttpServer } from '../support/network/http-server.ts';
import { excessiveTools, moderateTools } from '../support/servers/endless-traffic.ts';
import { type RawCall, startRawMcpServer } from '../support/servers/raw-mcp-server.ts';
import { openTestServer } from '../support/servers/running-server.ts';

async function failToOpen(command: string | null, url: string | null): Promise<string> {
  const options = { command, url, readyTimeoutMs: 2000 };
  const error: unknown = await openTestServer(options).then(
    () => 'it opened',
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(ServerStartError);
  return (error as ServerStartError).message;
}

/** Leaves every later handshake without an answer: one flood is enough to be refused. */
function answerOnce(call: RawCall): RawCall {
  let isAnswered = false;
  return async (...request) => {
    if (isAnswered) return;
    isAnswered = true;
    await call(...request);
  };
}

describe('a server that answers its first handshake without end', () => {
  it.each([
    ['endless-body', /it sent more than 4 MiB in \d responses, the limit for a handshake\.$/],
    ['compressed-body', /it sent more than 4 MiB in \d responses, the limit for a handshake\.$/],
    ['endless-line', /it sent more than 4 MiB in \d responses, the limit for a handshake\.$/],
    ['endless-events', /it sent more than 1000 messages, the limit for a handshake\.$/],
    ['deep-result', /it sent JSON that is nested deeper than 1000 levels, the limit for a handshake\.$/],
  ])('is not ready over HTTP: %s', async (attack, last) => {
    await using server = await startRawMcpServer(moderateTools, {
      initialize: answerOnce(excessiveTools[attack]!.call),
    });
    const message = await failToOpen(null, server.url);
    expect(message).toMatch(/^No MCP server answered at http:\S+ within 2 s; last: /);
    expect(message).toMatch(last);
  });

  it('is ready over HTTP where the answer ends', async () => {
    await using server = await startRawMcpServer(moderateTools);
    await using opened = await openTestServer({ command: null, url: server.url });
    expect(opened.report.name).toBe('raw');
  });

  it.each([
    [
      'a line',
      `process.stdout.write("x".repeat(1e5))`,
      /was ended by SIGKILL before it was ready|did not answer initialize on stdio within 2 s/,
    ],
    // More bytes than one line may have; nothing ends this server but the timeout.
    [
      'lines',
      `process.stdout.write(("x".repeat(99) + "\\n").repeat(1e3))`,
      /did not answer initialize on stdio within 2 s/,
    ],
  ])('is not ready over stdio: %s', async (_, write, message) => {
    const script = `for (let i = 0; i < 1000; i += 1) ${write}; setInterval(() => {}, 1e6)`;
    expect(await failToOpen(`${process.execPath} -e '${script}'`, null)).toMatch(message);
  });
});

describe('a server that takes the connection and never answers', () => {
  it('is said not to have answered the handshake', async () => {
    await using silent = await startHttpServer(() => undefined);
    expect(await failToOpen(null, `${silent.origin}/mcp`)).toMatch(
      /within 2 s; last: it has not answered the handshake\.$/,
    );
  });
});
