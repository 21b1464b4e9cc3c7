import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ServerStartError } from '../../src/base/errors.ts';
import { createEventClock } from '../support/clocks/bent-clock.ts';
import { startHttpServer } from '../support/network/http-server.ts';
import { waitForFile } from '../support/process/wait-for-file.ts';
import { excessiveTools, moderateTools } from '../support/servers/endless-traffic.ts';
import { type RawCall, startRawMcpServer } from '../support/servers/raw-mcp-server.ts';
import { openTestServer } from '../support/servers/running-server.ts';
import { createWorkspace } from '../support/workspace.ts';

const readyTimeoutMs = 2000;
/** The doctor has what its last step left of it. */
const doctorTimeoutMs = 5000;
const never = new Promise<void>(() => {});

/** Of one handshake; a busy machine takes longer for those of these tests. */
const attemptTimeoutMs = 10_000;

/**
 * Opens a server whose time to be ready ends with `timeout`. The doctor, which would ask it again, gets no time, and a handshake as much
 * as it takes.
 */
async function failToOpen(target: { command: string } | { url: string }, timeout: Promise<unknown>): Promise<string> {
  const clock = createEventClock((delayMs) => {
    if (delayMs === readyTimeoutMs) return timeout;
    if (delayMs === attemptTimeoutMs) return never;
    return delayMs > readyTimeoutMs && delayMs <= doctorTimeoutMs ? Promise.resolve() : undefined;
  });
  const error: unknown = await openTestServer({ command: null, url: null, ...target, readyTimeoutMs }, { clock }).then(
    () => 'it opened',
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(ServerStartError);
  return (error as ServerStartError).message;
}

/** Leaves every later handshake without an answer: one flood is enough to be refused. `again` resolves with the second handshake. */
function answerOnce(call: RawCall): { call: RawCall; again: Promise<void> } {
  let isAnswered = false;
  const again = Promise.withResolvers<void>();
  return {
    again: again.promise,
    call: async (...request) => {
      if (isAnswered) return again.resolve();
      isAnswered = true;
      await call(...request);
    },
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
    const initialize = answerOnce(excessiveTools[attack]!.call);
    await using server = await startRawMcpServer(moderateTools, { initialize: initialize.call });
    const message = await failToOpen({ url: server.url }, initialize.again);
    expect(message).toMatch(/^No MCP server answered at http:\S+ within 2 s; last: /);
    expect(message).toMatch(last);
  });

  it('is ready over HTTP where the answer ends', async () => {
    await using server = await startRawMcpServer(moderateTools);
    await using opened = await openTestServer({ command: null, url: server.url });
    expect(opened.report.name).toBe('raw');
  });

  const stayUp = 'setInterval(() => {}, 1e6)';

  it('is not ready over stdio: a line', async () => {
    const script = `for (let i = 0; i < 1000; i += 1) process.stdout.write("x".repeat(1e5)); ${stayUp}`;
    expect(await failToOpen({ command: `${process.execPath} -e '${script}'` }, never)).toMatch(
      /was ended by SIGKILL before it was ready/,
    );
  });

  it('is not ready over stdio: lines', async () => {
    await using workspace = await createWorkspace();
    const written = join(workspace.path, 'written');
    // More bytes than one line may have; nothing ends this server but the timeout.
    const script = `for (let i = 0; i < 700; i += 1) process.stdout.write(("x".repeat(9999) + "\\n").repeat(10)); process.stdout.write("end\\n", () => require("node:fs").writeFileSync("${written}", "")); ${stayUp}`;
    expect(await failToOpen({ command: `${process.execPath} -e '${script}'` }, waitForFile(written))).toMatch(
      /did not answer initialize on stdio within 2 s/,
    );
  });
});

describe('a server that takes the connection and never answers', () => {
  it('is said not to have answered the handshake', async () => {
    const asked = Promise.withResolvers<void>();
    await using silent = await startHttpServer(() => asked.resolve());
    expect(await failToOpen({ url: `${silent.origin}/mcp` }, asked.promise)).toMatch(
      /within 2 s; last: it has not answered the handshake\.$/,
    );
  });
});
