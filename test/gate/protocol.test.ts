import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ConfigurationError } from '../../src/base/errors.ts';
import { runEmbeddedGate } from '../support/gate/embedded-gate.ts';
import { type FixtureMcpServer, startFixtureMcpServer, text } from '../support/servers/fixture-mcp-server.ts';
import { answers, startSseServer } from '../support/servers/sse-server.ts';
import { stdioServerCommand } from '../support/servers/running-server.ts';
import { createWorkspace } from '../support/workspace.ts';

// A server with both protocol revisions that keeps its notes in the session, so that it forgets everything in 2026-07-28.

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
    const { report, exitCode } = await runEmbeddedGate(workspace, {
      'server-command': stdioServerCommand,
      'server-env': 'ERA=modern',
    });
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
    const { report, exitCode } = await runEmbeddedGate(workspace, { 'server-command': stdioServerCommand });
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

describe('both revisions', () => {
  const recalling = (expected: string, head = '') => `suite: Both
${head}cases:
  - id: recalls
    title: Recalls ${expected}
    runs: 2
    steps:
      - toolCall: remember
        arguments: { note: milk }
      - toolCall: recall
      - assert: { toolResultContains: ${expected} }
  - id: notes
    title: Notes
    steps:
      - toolCall: remember
        arguments: { note: tea }
      - assert: { toolResultContains: noted }
`;

  it('run every case in each of them, and a note names the cases whose results differ', async () => {
    await using workspace = await createWorkspace({ 'x.evals.yaml': recalling('milk', 'protocol: both\n') });
    const { report, exitCode } = await runEmbeddedGate(workspace, overHttp(both.url));
    expect(report.server?.protocolVersions).toEqual(['2025-11-25', '2026-07-28']);
    const counts = report.cases.map(({ id, title, passed, failed }) => [id, title, passed, failed]);
    expect(counts.toSorted(([a], [b]) => String(a).localeCompare(String(b)))).toEqual([
      ['notes--2025-11-25', 'Notes (2025-11-25)', 1, 0],
      ['notes--2026-07-28', 'Notes (2026-07-28)', 1, 0],
      ['recalls--2025-11-25', 'Recalls milk (2025-11-25)', 2, 0],
      ['recalls--2026-07-28', 'Recalls milk (2026-07-28)', 0, 2],
    ]);
    expect(report.notes).toEqual([
      'Both was run in MCP 2025-11-25 (session per iteration; from x.evals.yaml:2) and in MCP 2026-07-28 (stateless; from x.evals.yaml:2).',
      'Both has different results in the two revisions of MCP: "Recalls milk" passed 2 of 2 iterations in 2025-11-25 and 0 of 2 iterations in 2026-07-28.',
    ]);
    expect(exitCode).toBe(1);
  });

  it('are one case by its own name, for the selection and for the policy of the file', async () => {
    const head = 'policy: { cases: { recalls: 0% }, minimumPassRate: 50% }\n';
    await using workspace = await createWorkspace({ 'x.evals.yaml': recalling('milk', head) });
    const run = async (cases: string) => {
      const { report, exitCode } = await runEmbeddedGate(workspace, overHttp(both.url, { protocol: 'both', cases }));
      return { ids: report.cases.map(({ id }) => id).toSorted(), exitCode };
    };
    expect(await run('recalls')).toEqual({ ids: ['recalls--2025-11-25', 'recalls--2026-07-28'], exitCode: 0 });
    expect(await run('recalls--2026-07-28')).toEqual({ ids: ['recalls--2026-07-28'], exitCode: 1 });
  });

  it('are noted to have different tools', async () => {
    const call = () => text('ok');
    await using server = await startFixtureMcpServer(
      { echo: { call }, old: { call, era: 'legacy' }, new: { call, era: 'modern' }, newer: { call, era: 'modern' } },
      { era: 'both' },
    );
    const evals = 'suite: s\ncases: [{ title: t, steps: [{ toolCall: echo }] }]\n';
    await using workspace = await createWorkspace({ 'x.evals.yaml': evals });
    const { report, exitCode } = await runEmbeddedGate(workspace, overHttp(server.url, { protocol: 'both' }));
    expect(report.notes.slice(1)).toEqual([
      'Tools that the server lists in MCP 2025-11-25 only: old.',
      'Tools that the server lists in MCP 2026-07-28 only: new, newer.',
    ]);
    expect(exitCode).toBe(0);
  });

  it('are tested through tunnels, and of a server over stdio in a process each', async () => {
    await using workspace = await createWorkspace({ 'x.evals.yaml': recalling('noted') });
    const inputs = overHttp(both.url, { protocol: 'both', tunnel: 'always', cases: 'notes' });
    const tunnelled = await runEmbeddedGate(workspace, inputs);
    expect(tunnelled.report).toMatchObject({ totals: { passed: 2, failed: 0 }, notes: [expect.any(String)] });
    await using other = await createWorkspace({
      'x.evals.yaml': 'suite: s\ncases: [{ title: t, steps: [{ toolCall: echo, arguments: { value: hello } }] }]\n',
    });
    const { report, exitCode } = await runEmbeddedGate(other, {
      'server-command': stdioServerCommand,
      protocol: 'both',
    });
    expect(report.server?.protocolVersions).toEqual(['2025-11-25', '2026-07-28']);
    expect(exitCode).toBe(0);
  });

  it.each([
    ['2026-07-28', () => legacy, '2025-11-25'],
    ['2025-11-25', () => modern, '2026-07-28'],
  ] as const)('end the gate without a verdict if the server does not speak %s', async (missing, server, offered) => {
    await using workspace = await createWorkspace({ 'x.evals.yaml': recalling('milk') });
    const { report, exitCode } = await runEmbeddedGate(workspace, overHttp(server().url, { protocol: 'both' }));
    expect(report.verdict.reasons[0]?.message).toContain(
      `The server under test does not speak MCP ${missing}, which \`protocol\` asks for. It offers ${offered}.`,
    );
    expect(exitCode).toBe(3);
  });

  it('cannot be asked of a hosted service', async () => {
    await using workspace = await createWorkspace({ 'x.evals.yaml': recalling('milk', 'protocol: both\n') });
    const hosted = { service: 'svc', 'base-url': 'https://evals.example/api/v1', 'api-key': 'sk_1' };
    await expect(runEmbeddedGate(workspace, hosted)).rejects.toThrow(
      'x.evals.yaml:2:1: `protocol: both` cannot be enforced',
    );
  });
});
