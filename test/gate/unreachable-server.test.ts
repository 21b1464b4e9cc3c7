import { expect, it } from 'vitest';
import { runEmbeddedGate, writeSayingCases } from '../support/gate/embedded-gate.ts';
import { findClosedPort, raw, startHttpServer } from '../support/network/http-server.ts';
import { shakesHands } from '../support/servers/mcp-handshake.ts';
import { createWorkspace } from '../support/workspace.ts';

it('names a server that answers once and never again, and no tunnel, since there is none', async () => {
  let handshakes = 0;
  await using http = await startHttpServer((response, request) => {
    if (request.body.includes('"initialize"')) handshakes += 1;
    const answer = handshakes > 1 ? raw(500, 'out of order') : shakesHands;
    return answer(response, request);
  });
  await using workspace = await createWorkspace({ 'x.evals.yaml': writeSayingCases('Math', ['sum']) });
  const inputs = { 'server-command': '', 'server-url': `${http.origin}/mcp`, 'server-name': 'math' };
  const { report, exitCode } = await runEmbeddedGate(workspace, inputs);
  const message = report.verdict.reasons[0]?.message.replaceAll(http.origin, 'ORIGIN');
  expect(message).toMatchInlineSnapshot(
    `"The MCP server math at ORIGIN did not complete the handshake: it answered HTTP 500: Error POSTing to endpoint: out of order. The server answered the gate when it was started. Check its output for the reason. It was tried 3 times."`,
  );
  expect(message).not.toContain('tunnel');
  expect(exitCode).toBe(3);
  expect(report.notes.map((note) => note.replaceAll(http.origin, 'ORIGIN'))).toEqual([
    expect.stringMatching(
      /^What the doctor found: probe ok \(Something answers at ORIGIN\/mcp .*\); .*initialization error \(.*HTTP 500.*\)\.$/,
    ),
  ]);
});

it('notes what the doctor found at a URL where no server answers', async () => {
  await using workspace = await createWorkspace({ 'x.evals.yaml': writeSayingCases('Math', ['sum']) });
  const inputs = {
    'server-command': '',
    'server-url': `http://127.0.0.1:${await findClosedPort()}/mcp?k=canary-canary`,
    'server-ready-timeout': '1s',
  };
  const { report, exitCode } = await runEmbeddedGate(workspace, inputs);
  expect(exitCode).toBe(3);
  expect(report.notes).toEqual([expect.stringMatching(/^What the doctor found: probe error \(.*ECONNREFUSED/)]);
  expect(JSON.stringify(report)).not.toContain('canary');
});
