import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ConfigurationError } from '../../src/base/errors.ts';
import { runEmbeddedGate } from '../support/gate/embedded-gate.ts';
import { type FixtureMcpServer, startFixtureMcpServer, text } from '../support/servers/fixture-mcp-server.ts';
import { answers, startSseServer } from '../support/servers/sse-server.ts';
import { createWorkspace } from '../support/workspace.ts';

// A server of both eras that keeps its notes in the session, so that it forgets everything in 2026-07-28.

const notes = new Map<string, string>();
let both: FixtureMcpServer;
let legacy: FixtureMcpServer;
let modern: FixtureMcpServer;

beforeAll(async () => {
  const tools = {
    remember: {
      call: ({ args, sessionId }: { args: Record<string, unknown>; sessionId: string | undefined }) => {
        if (sessionId !== undefined) notes.set(sessionId, String(args['note']));
        return text('noted');
      },
    },
    recall: {
      call: ({ sessionId }: { sessionId: string | undefined }) => text(notes.get(sessionId ?? '') ?? 'nothing'),
    },
  };
  [both, legacy, modern] = await Promise.all([
    startFixtureMcpServer(tools, { era: 'both' }),
    startFixtureMcpServer(tools, { era: 'legacy' }),
    startFixtureMcpServer(tools, { era: 'modern' }),
  ]);
});

afterAll(async () => {
  await Promise.all([both, legacy, modern].map((server) => server[Symbol.asyncDispose]()));
});

const expecting = (name: string, expected: string, head = '') => `suite: ${name}
${head}cases:
  - title: ${name} recalls ${expected}
    runs: 2
    steps:
      - toolCall: remember
        arguments: { note: milk }
      - toolCall: recall
      - assert: { toolResultContains: ${expected} }
`;

const overHttp = (url: string, inputs: Record<string, string> = {}) => ({
  'server-command': '',
  'server-url': url,
  'server-ready-timeout': '5s',
  ...inputs,
});

describe('a server over HTTP that speaks both eras', () => {
  it('is tested in the revision that it negotiated when it was found, and the report names it', async () => {
    await using workspace = await createWorkspace({ 'x.evals.yaml': expecting('Session', 'milk') });
    const { report, exitCode } = await runEmbeddedGate(workspace, overHttp(both.url));
    expect(report).toMatchObject({
      totals: { passed: 2, failed: 0 },
      server: { protocolVersion: '2025-11-25', protocolVersions: ['2025-11-25'], isolation: 'session per iteration' },
    });
    expect(exitCode).toBe(0);
  });

  it.each([
    ['2025-11-25', 'milk', 'session per iteration'],
    ['2026-07-28', 'nothing', 'stateless'],
  ])('is tested in %s where the option pins it', async (protocol, expected, isolation) => {
    const evals = expecting('Pinned', expected, 'protocol: auto\n');
    await using workspace = await createWorkspace({ 'x.evals.yaml': evals });
    const { report, exitCode } = await runEmbeddedGate(workspace, overHttp(both.url, { protocol }));
    expect(report.server).toMatchObject({ protocolVersion: protocol, protocolVersions: [protocol], isolation });
    expect(exitCode).toBe(0);
  });

  it('is tested through a tunnel in the pinned revision', async () => {
    await using workspace = await createWorkspace({ 'x.evals.yaml': expecting('Tunnelled', 'nothing') });
    const inputs = overHttp(both.url, { protocol: '2026-07-28', tunnel: 'always' });
    const { report, exitCode } = await runEmbeddedGate(workspace, inputs);
    expect(report.server?.protocolVersions).toEqual(['2026-07-28']);
    expect(exitCode).toBe(0);
  });

  it('is tested in both revisions if suites pin different ones', async () => {
    await using workspace = await createWorkspace({
      'a.evals.yaml': expecting('Old', 'milk', 'protocol: 2025-11-25\n'),
      'b.evals.yaml': expecting('New', 'nothing', 'protocol: 2026-07-28\n'),
      'c.evals.yaml': expecting('Any', 'milk'),
    });
    const { report, exitCode } = await runEmbeddedGate(workspace, overHttp(both.url));
    expect(report.server?.protocolVersions).toEqual(['2025-11-25', '2026-07-28']);
    expect(report.notes).toEqual([
      'Old was run in MCP 2025-11-25 (session per iteration; from a.evals.yaml:2).',
      'New was run in MCP 2026-07-28 (stateless; from b.evals.yaml:2).',
      'Any was run in MCP 2025-11-25 (session per iteration; the default).',
    ]);
    expect(exitCode).toBe(0);
  });
});

describe('a server over HTTP+SSE', () => {
  const looking = (needle: string) => `suite: Old
cases:
  - title: Looks
    runs: 2
    steps:
      - toolCall: look
      - assert: { toolResultContains: ${needle} }
`;

  it.each([
    ['passes', 'seen', 0],
    ['fails', 'unseen', 1],
  ])('is tested like any other, and %s a case', async (_, needle, expected) => {
    await using http = await startSseServer(answers);
    await using workspace = await createWorkspace({ 'x.evals.yaml': looking(needle) });
    const { report, exitCode } = await runEmbeddedGate(workspace, overHttp(`${http.origin}/sse`));
    expect(report.server).toMatchObject({ transport: 'sse', protocolVersions: ['2024-11-05'] });
    expect(exitCode).toBe(expected);
  });

  it('is refused where it would have to be tested through a tunnel', async () => {
    await using http = await startSseServer(answers);
    await using workspace = await createWorkspace({ 'x.evals.yaml': looking('seen') });
    const running = runEmbeddedGate(workspace, overHttp(`${http.origin}/sse`, { tunnel: 'always' }));
    await expect(running).rejects.toMatchObject({
      issues: [{ input: 'server-url', code: 'sse-through-tunnel' }],
    });
  });
});

describe('a pinned revision that the server does not speak', () => {
  it.each([
    ['2026-07-28', () => legacy, '2025-11-25'],
    ['2025-11-25', () => modern, '2026-07-28'],
  ] as const)('over HTTP ends the gate without a verdict (%s)', async (protocol, server, offered) => {
    await using workspace = await createWorkspace({ 'x.evals.yaml': expecting('Pinned', 'milk') });
    const { report, exitCode } = await runEmbeddedGate(workspace, overHttp(server().url, { protocol }));
    expect(report.verdict.reasons[0]?.message).toBe(
      `The server under test does not speak MCP ${protocol}, which \`protocol\` asks for. It offers ${offered}. Set \`protocol\` to a revision that the server offers, or to \`auto\`.`,
    );
    expect(exitCode).toBe(3);
  });

  it('over stdio names the line that pins it', async () => {
    const evals = expecting('Pinned', 'milk', 'protocol: 2025-11-25\n');
    await using workspace = await createWorkspace({ 'x.evals.yaml': evals });
    const { report, exitCode } = await runEmbeddedGate(workspace, { 'server-env': 'ERA=modern' });
    expect(report.verdict.reasons[0]?.message).toBe(
      'The server under test does not speak MCP 2025-11-25, which x.evals.yaml:2 asks for. It offers 2026-07-28. Set `protocol` to a revision that the server offers, or to `auto`.',
    );
    expect(exitCode).toBe(3);
  });
});

describe('a server over stdio that speaks both eras', () => {
  it('is started once per revision that suites pin', async () => {
    const evals = (name: string, protocol: string) => `suite: ${name}
protocol: ${protocol}
cases:
  - title: ${name} answers
    steps:
      - toolCall: echo
        arguments: { value: hello }
      - assert: { toolResultContains: hello }
`;
    await using workspace = await createWorkspace({
      'a.evals.yaml': evals('Old', '2025-11-25'),
      'b.evals.yaml': evals('New', '2026-07-28'),
    });
    const { report, exitCode } = await runEmbeddedGate(workspace);
    expect(report.server?.protocolVersions).toEqual(['2025-11-25', '2026-07-28']);
    expect(report.notes).toEqual([
      'Old was run in MCP 2025-11-25 (one process for the run; from a.evals.yaml:2).',
      'New was run in MCP 2026-07-28 (stateless; from b.evals.yaml:2).',
    ]);
    expect(exitCode).toBe(0);
  });
});

describe('a pin with a hosted service', () => {
  const hosted = { service: 'svc', 'base-url': 'https://evals.example/api/v1', 'api-key': 'sk_1' };

  it('is refused as an option', async () => {
    await using workspace = await createWorkspace({ 'x.evals.yaml': expecting('Pinned', 'milk') });
    const refused = runEmbeddedGate(workspace, { ...hosted, protocol: '2026-07-28' });
    await expect(refused).rejects.toThrow(ConfigurationError);
    await expect(refused).rejects.toThrow(
      'protocol: cannot be enforced, because the service svc chooses the revision itself; leave it out, or use `service: embedded` (needs-embedded-service)',
    );
  });

  it('is refused in an evals file with its line', async () => {
    const evals = expecting('Pinned', 'milk', 'protocol: 2026-07-28\n');
    await using workspace = await createWorkspace({ 'x.evals.yaml': evals });
    await expect(runEmbeddedGate(workspace, hosted)).rejects.toThrow(
      'x.evals.yaml:2:1: `protocol: 2026-07-28` cannot be enforced, because the service svc chooses the revision itself; set the key to auto, override it with the flag `--protocol auto`, or use `service: embedded` (needs-embedded-service)',
    );
  });
});

describe('the value both', () => {
  it.each([
    [{ protocol: 'both' }, ''],
    [{}, 'protocol: both\n'],
  ])('is refused with what to do instead: %j %j', async (inputs, head) => {
    await using workspace = await createWorkspace({ 'x.evals.yaml': expecting('Both', 'milk', head) });
    await expect(runEmbeddedGate(workspace, inputs as Record<string, string>)).rejects.toThrow(
      /`both` is not supported yet; run the gate once with 2025-11-25 and once with 2026-07-28/,
    );
  });
});
