import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runEmbeddedGate } from '../support/gate/embedded-gate.ts';
import { type FixtureMcpServer, startFixtureMcpServer, text } from '../support/servers/fixture-mcp-server.ts';
import { createWorkspace } from '../support/workspace.ts';

// A server over HTTP that keeps notes of tenants and refuses duplicates.

const notes = new Map<string, string>();
let server: FixtureMcpServer;

beforeAll(async () => {
  server = await startFixtureMcpServer({
    create: {
      call: ({ args }) => {
        const key = JSON.stringify([args['tenant'], args['title']]);
        if (notes.has(key)) return { ...text(`${key} exists`), isError: true };
        const id = randomUUID();
        notes.set(key, id);
        return { ...text('created'), structuredContent: { id } };
      },
    },
    find: {
      call: ({ args }) => {
        const found = [...notes].find(([, id]) => id === args['id']);
        return text(found === undefined ? 'nothing' : found[0]);
      },
    },
  });
});

afterAll(async () => {
  await server[Symbol.asyncDispose]();
});

const evals = (capture: string) => `suite: Notes
cases:
  - title: Finds {{title}}
    id: find
    runs: 2
    each:
      - { title: Milk, length: 4 }
      - { title: "[Bread]", length: 7 }
    steps:
      - toolCall: create
        arguments: { tenant: "{{env.TENANT}}", title: "{{title}} {{uuid}}" }
        capture: { noteId: ${capture} }
      - toolCall: find
        arguments: { id: "{{noteId}}", length: "{{length}}" }
      - assert: { toolResultMatches: '^\\["{{env.TENANT}}","{{title}} {{uuid}}"\\]$', latest: true }
`;

const inputs = { 'server-command': '', 'server-url': '', 'server-ready-timeout': '5s' };

describe('values of cases', () => {
  it('pass from step to step, from rows and from variables, and every iteration has a UUID of its own', async () => {
    await using workspace = await createWorkspace({ 'x.evals.yaml': evals('/structuredContent/id') });
    const allowed = { ...inputs, 'server-url': server.url, 'server-env': 'TENANT' };
    const { report, exitCode } = await runEmbeddedGate(workspace, allowed, { environment: { TENANT: 'acme-4711' } });
    expect(report.cases.map(({ id, title, passed }) => [id, title, passed])).toEqual([
      ['find-1', 'Finds Milk', 2],
      ['find-2', 'Finds [Bread]', 2],
    ]);
    expect(exitCode).toBe(0);
    expect(notes.size).toBe(4);
    expect([...notes.keys()][0]).toMatch(/^\["acme-4711","Milk [0-9a-f-]{36}"\]$/);
  });

  it('that a result lacks fail the case at the line of its row, without a secret in the reason', async () => {
    await using workspace = await createWorkspace({ 'x.evals.yaml': evals('/structuredContent/noteId') });
    const allowed = { ...inputs, 'server-url': server.url, 'server-env': 'TENANT' };
    const { report, exitCode } = await runEmbeddedGate(workspace, allowed, { environment: { TENANT: 'acme-4711' } });
    expect(report.cases.map(({ failed, location }) => [failed, location?.line])).toEqual([
      [2, 7],
      [2, 8],
    ]);
    expect(report.cases[0]?.failures[0]?.reasons).toEqual([
      '"noteId" captures /structuredContent/noteId: /structuredContent has only "id".',
    ]);
    expect(JSON.stringify(report)).not.toContain('acme-4711');
    expect(exitCode).toBe(1);
  });

  it('end the gate before anything starts if `server-env` does not name a variable', async () => {
    await using workspace = await createWorkspace({ 'x.evals.yaml': evals('/structuredContent/id') });
    const running = runEmbeddedGate(workspace, { ...inputs, 'server-url': server.url, 'server-env': 'TENNANT=a' });
    await expect(running).rejects.toThrow(
      'x.evals.yaml:11:30: `{{env.TENANT}}` has no value, because `server-env` does not name TENANT; did you mean `TENNANT`?',
    );
  });

  it('are why a running server may have a `server-env`, which is refused where no case uses it', async () => {
    const plain = 'suite: s\ncases: [{ title: t, steps: [{ toolCall: find }] }]\n';
    await using workspace = await createWorkspace({ 'x.evals.yaml': plain });
    const running = runEmbeddedGate(workspace, { ...inputs, 'server-url': server.url, 'server-env': 'TENANT=a' });
    await expect(running).rejects.toThrow('has no effect without `server-command`');
  });

  it('cannot be filled in by a hosted service', async () => {
    await using workspace = await createWorkspace({ 'x.evals.yaml': evals('/structuredContent/id') });
    const hosted = {
      service: 'svc',
      'base-url': 'http://127.0.0.1:9/api/v1',
      'api-key': 'sk_test_0123456789',
      'server-env': 'TENANT=a',
    };
    const running = runEmbeddedGate(workspace, { ...inputs, 'server-url': server.url, ...hosted });
    await expect(running).rejects.toThrow('knows no `{{env.TENANT}}`; write the value, or use `service: embedded`');
  });
});
