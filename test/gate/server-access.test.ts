import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type GateInputs } from '../support/gate/gate-inputs.ts';
import { runEmbeddedGate } from '../support/gate/embedded-gate.ts';
import { type FixtureTool, startFixtureMcpServer, text } from '../support/servers/fixture-mcp-server.ts';
import { guardWithTokens, oauthClient, type OAuthServer, startOAuthServer } from '../support/servers/oauth-server.ts';
import { findEncodedLeaks } from '../support/text/leak-forms.ts';
import { createWorkspace, type Workspace } from '../support/workspace.ts';

const evals = `suite: Guarded
cases:
  - id: greet
    title: Greets
    runs: 3
    steps:
      - toolCall: greet
      - assert: { toolResultContains: hello }
`;

const greeting: Record<string, FixtureTool> = { greet: { call: () => text('hello') } };
const secret = 'hv-Zq81vK3mW7xT1pR5';

/** Creates a guard that accepts requests with the header. */
const guardWithHeader = (name: string, value: string) => (request: Request) =>
  request.headers.get(name) === value ? null : new Response('', { status: 401 });

const nameClient = ({ issuer }: OAuthServer): GateInputs => ({
  'server-oauth': `client-id=${oauthClient.id}\nissuer=${issuer}`,
  'server-oauth-secret': oauthClient.secret,
});

async function runGuarded(workspace: Workspace, url: string, inputs: GateInputs) {
  const usual = { 'server-command': '', 'server-url': url, 'report-dir': 'report', isolation: 'iteration' };
  return await runEmbeddedGate(workspace, { ...usual, ...inputs });
}

async function readAll(workspace: Workspace): Promise<Record<string, string>> {
  const entries = await readdir(workspace.path, { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return Object.fromEntries(
    await Promise.all(paths.map(async (path) => [path, await readFile(path, 'utf8')] as const)),
  );
}

describe('a gate on a server that needs a header', () => {
  it.each([
    ['auto', 'legacy'],
    ['auto', 'modern'],
    ['always', 'legacy'],
    ['always', 'modern'],
  ] as const)('passes with it, with the tunnel %s and in the %s era', async (tunnel, era) => {
    await using workspace = await createWorkspace({ 'x.evals.yaml': evals });
    const guard = guardWithHeader('authorization', `Bearer ${secret}`);
    await using server = await startFixtureMcpServer(greeting, { era, guard });
    const headers = `Authorization: Bearer ${secret}`;
    const { report } = await runGuarded(workspace, server.url, { tunnel, 'server-headers': headers });
    expect(report.verdict).toMatchObject({ outcome: 'passed' });
  });

  it('is inconclusive at once without it', async () => {
    await using workspace = await createWorkspace({ 'x.evals.yaml': evals });
    await using server = await startFixtureMcpServer(greeting, { guard: guardWithHeader('x-key', secret) });
    const { report, exitCode } = await runGuarded(workspace, server.url, {});
    expect(report.verdict.reasons[0]?.message).toContain('asks for authorization: it answered HTTP 401');
    expect(report.verdict.reasons[0]?.message).toContain('`server-headers`');
    expect(exitCode).toBe(3);
  });
});

describe('a gate with an OAuth client', () => {
  it.each(['auto', 'always'])('gets one token for all iterations, with the tunnel %s', async (tunnel) => {
    await using oauth = await startOAuthServer({ lifetimeS: 3600 });
    await using workspace = await createWorkspace({ 'x.evals.yaml': evals });
    await using server = await startFixtureMcpServer(greeting, { guard: guardWithTokens(oauth) });
    const { report } = await runGuarded(workspace, server.url, { tunnel, ...nameClient(oauth) });
    expect(report.verdict).toMatchObject({ outcome: 'passed' });
    expect(oauth.tokens).toHaveLength(1);
  });

  it('sends the secret to a token endpoint of another origin only where an option names that', async () => {
    await using tokens = await startOAuthServer();
    await using oauth = await startOAuthServer({ tokenOrigin: tokens.issuer });
    await using workspace = await createWorkspace({ 'x.evals.yaml': evals });
    await using server = await startFixtureMcpServer(greeting, {
      guard: guardWithTokens({ ...tokens, issuer: oauth.issuer }),
    });
    const refused = await runGuarded(workspace, server.url, nameClient(oauth));
    expect(refused.exitCode).toBe(3);
    expect(JSON.stringify(refused.report.verdict)).toContain('names a token endpoint of another origin');
    expect(tokens.requests).toEqual([]);
    const allowed = { ...nameClient(oauth), 'oauth-token-origin': tokens.issuer };
    expect((await runGuarded(workspace, server.url, allowed)).exitCode).toBe(0);
    expect(tokens.requests).not.toEqual([]);
  });

  it.each(['auto', 'always'])('replaces a token that is revoked on the way, with the tunnel %s', async (tunnel) => {
    await using oauth = await startOAuthServer();
    await using workspace = await createWorkspace({ 'x.evals.yaml': evals });
    const tools = { greet: { call: () => (oauth.revoke(), text('hello')) } };
    await using server = await startFixtureMcpServer(tools, { guard: guardWithTokens(oauth) });
    const { report } = await runGuarded(workspace, server.url, { tunnel, ...nameClient(oauth) });
    expect(report.verdict).toMatchObject({ outcome: 'passed' });
    expect(oauth.tokens.length).toBeGreaterThan(1);
  });

  it.each([
    ['auto', 'legacy', 401],
    ['auto', 'modern', 401],
    ['auto', 'legacy', 403],
    ['auto', 'modern', 403],
    ['always', 'legacy', 401],
  ] as const)(
    'leaves iterations unscored that are refused on the way: tunnel %s, %s, %i',
    async (tunnel, era, status) => {
      await using oauth = await startOAuthServer();
      await using workspace = await createWorkspace({ 'x.evals.yaml': evals });
      const guard = guardWithTokens(oauth);
      await using server = await startFixtureMcpServer(greeting, {
        era,
        guard: async (request) => {
          // The first list belongs to the start; calls follow the second one.
          const isOver = server.events.filter((event) => event === 'list').length > 1;
          const error = { jsonrpc: '2.0', id: null, error: { code: -32_000, message: 'Not any more' } };
          return isOver ? Response.json(error, { status }) : await guard(request);
        },
      });
      const { report, exitCode } = await runGuarded(workspace, server.url, { tunnel, ...nameClient(oauth) });
      expect(report.cases[0]).toMatchObject({ passed: 0, failed: 0 });
      expect(exitCode).toBe(3);
    },
  );
});

it('keeps headers, secrets of clients and tokens out of everything that it writes', async () => {
  await using oauth = await startOAuthServer({ lifetimeS: 3600 });
  const red = evals.replace('contains: hello', 'contains: nothing').replace('Contains: hello', 'Contains: goodbye');
  await using workspace = await createWorkspace({ 'x.evals.yaml': red });
  // A server that answers with everything that it received.
  const received: string[] = [];
  const guard = guardWithTokens(oauth);
  await using server = await startFixtureMcpServer(
    { greet: { call: () => text(received.join('\n')) } },
    {
      guard: (request) => {
        received.push(JSON.stringify(Object.fromEntries(request.headers)));
        return guard(request);
      },
    },
  );
  const { report, warnings, infos } = await runGuarded(workspace, server.url, {
    ...nameClient(oauth),
    'server-headers': `X-Key: ${secret}\nCookie: session=cookie-Zq81vK3mW7xT1`,
    'report-formats': 'html, ctrf, badge, otlp, iterations, transcripts',
  });
  expect(report.cases[0]).toMatchObject({ failed: 3 });
  expect(received.join()).toContain(oauth.tokens[0]);
  const canaries = {
    header: secret,
    cookie: 'cookie-Zq81vK3mW7xT1',
    client: oauthClient.secret,
    token: oauth.tokens[0] ?? '',
  };
  const texts = { ...(await readAll(workspace)), log: [...warnings, ...infos].join('\n') };
  expect(Object.keys(texts).length).toBeGreaterThan(5);
  expect(findEncodedLeaks(canaries, texts)).toEqual([]);
});
