import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { renderSummary } from '../../src/report/summary.ts';
import { findHostVersion } from '../hosts/find-host.ts';
import type { GateInputs } from '../support/gate/gate-inputs.ts';
import { runEmbeddedGate } from '../support/gate/embedded-gate.ts';
import {
  openScriptedProvider,
  type ProviderRequest,
  type ScriptedProvider,
  type ScriptedReply,
} from '../support/models/scripted-provider.ts';
import { startFixtureMcpServer, text } from '../support/servers/fixture-mcp-server.ts';
import { createWorkspace, type Workspace } from '../support/workspace.ts';

const evals = `suite: Notes
id: notes
model: anthropic/claude-test
system: You find notes.
cases:
  - id: reads
    title: Reads the note
    steps:
      - prompt: What does note 7 say?
      - assert: { toolCalledWith: notes.read, arguments: { id: 7 } }
      - assert: { responseContains: milk }
`;

const instructions = `Ask for one note at a time. ${'Notes are short. '.repeat(300)}`;

const schema = {
  type: 'object' as const,
  properties: { id: { type: 'integer', minimum: 1 }, note: { type: 'string', pattern: '^a' } },
  required: ['id'],
};

/** A server with a name that hosts change, bounds that they drop, and instructions that they cut. */
function startNotes(properties: Record<string, unknown> = {}) {
  return startFixtureMcpServer(
    {
      'notes.read': {
        description: 'Reads a note.',
        inputSchema: { ...schema, properties: { ...schema.properties, ...properties } },
        outputSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
        call: () => ({ content: [{ type: 'text', text: 'Note 7 says: milk.' }], structuredContent: { text: 'milk' } }),
      },
      widget: { description: 'For the app.', visibility: ['app'], call: () => text('shown') },
    },
    { era: 'legacy', instructions },
  );
}

/** Searches if it has to, calls the first tool whose name ends as that of the server's tool does, and then answers. */
function answer({ turn, body }: ProviderRequest): ScriptedReply {
  const name = listTools(body).find((tool) => /notes[._]read$/.test(tool.name))?.name;
  const hasSearch = listTools(body).some((tool) => tool.name === 'ToolSearch');
  if (hasSearch && name === undefined)
    return { toolCalls: [{ name: 'ToolSearch', arguments: { query: 'read note' } }] };
  if (turn > (hasSearch ? 2 : 1) || name === undefined) return { text: 'Note 7 says milk.' };
  return { toolCalls: [{ name, arguments: { id: 7 } }] };
}

interface SentTool {
  name: string;
  description?: string;
  schema: unknown;
}

const toolSchema = z.object({ name: z.string(), description: z.string().exactOptional(), input_schema: z.unknown() });

function listTools({ tools = [] }: ProviderRequest['body']): SentTool[] {
  return z
    .array(toolSchema)
    .parse(tools)
    .map(({ input_schema: schema, ...tool }) => ({ ...tool, schema }));
}

const resultSchema = z.object({ type: z.literal('tool_result'), content: z.unknown() });
const textSchema = z.object({ text: z.string() });

/** Returns the texts of the results in a conversation. */
function readResults({ messages }: ProviderRequest['body']): unknown[] {
  const list = z.array(z.object({ content: z.unknown() })).parse(messages);
  const parts = list.flatMap(({ content }) => (Array.isArray(content) ? content : []));
  return parts.flatMap((part) => {
    const { content } = resultSchema.safeParse(part).data ?? {};
    if (content === undefined) return [];
    return Array.isArray(content) ? [content.map((each) => textSchema.parse(each).text).join('\n')] : [content];
  });
}

async function run(
  workspace: Workspace,
  provider: ScriptedProvider,
  inputs: GateInputs,
  server: { url: string },
): Promise<Awaited<ReturnType<typeof runEmbeddedGate>>> {
  return await runEmbeddedGate(
    workspace,
    { 'server-url': server.url, 'report-dir': 'report', ...inputs },
    { environment: { ANTHROPIC_API_KEY: 'sk-canary-hosts', ANTHROPIC_BASE_URL: provider.baseUrl } },
  );
}

/** Runs the case in a host, live, and returns what the provider was sent and how it ended. */
async function ask(inputs: GateInputs, { properties = {} } = {}) {
  await using workspace = await createWorkspace({ 'a.evals.yaml': evals });
  await using provider = await openScriptedProvider({ format: 'anthropic', answers: answer });
  await using server = await startNotes(properties);
  const { report } = await run(workspace, provider, { recordings: 'live', ...inputs }, server);
  const bodies = provider.requests.map(({ body }) => body);
  const [first = {}] = bodies;
  return { report, bodies, tools: listTools(first), events: server.events, reasons: listReasons(report) };
}

function listReasons({ cases }: Awaited<ReturnType<typeof run>>['report']): string[] {
  return cases.flatMap(({ failures }) => failures.flatMap(({ reasons }) => reasons));
}

const calls = (events: readonly string[]) => events.filter((event) => event.startsWith('call'));

describe('what a model is sent in a host', () => {
  it('is in the own loop of the gate what it was without a host', async () => {
    const [none, generic] = [await ask({}), await ask({ host: 'generic' })];
    expect(generic.bodies).toEqual(none.bodies);
    expect(generic.tools).toEqual([{ name: 'notes_read', description: 'Reads a note.', schema }]);
    expect(JSON.stringify(generic.bodies[0]?.['system'])).toContain(instructions.trim());
    expect(generic.report.cases[0]).toMatchObject({ outcome: 'passed' });
    expect(generic.report.cases[0]).not.toHaveProperty('host');
  });

  it('has in Codex the namespace and the name, no bounds, and 250 characters of instructions', async () => {
    const { report, bodies, tools, events } = await ask({ host: 'codex' });
    const properties = { id: { type: 'integer' }, note: { type: 'string' } };
    expect(tools).toEqual([
      { name: 'mcp__server__notes_read', description: 'Reads a note.', schema: { ...schema, properties } },
    ]);
    const system = JSON.stringify(bodies[0]?.['system']);
    expect(system).toContain('You find notes.');
    expect(system).toContain(instructions.slice(0, 250));
    expect(system).not.toContain(instructions.slice(0, 251));
    // The check names the server's tool, and the call reached it under that name.
    expect(calls(events)).toEqual(['call notes.read']);
    expect(report.cases[0]).toMatchObject({
      outcome: 'passed',
      host: { id: 'codex', version: findHostVersion('codex') },
    });
  });

  it('has in Gemini CLI another name, and tools that the server keeps for its apps', async () => {
    const { report, tools, bodies, events } = await ask({ host: 'gemini-cli' });
    expect(tools.map(({ name }) => name)).toEqual(['mcp_server_notes_read', 'mcp_server_widget']);
    expect(tools[0]?.schema).toEqual(schema);
    expect(JSON.stringify(bodies[0]?.['system'])).toContain(instructions.trim());
    expect(calls(events)).toEqual(['call notes.read']);
    expect(report.cases[0]).toMatchObject({ outcome: 'passed' });
  });

  it('has in Claude Code a search instead of tools, then the tool it found, and structured content only', async () => {
    const { report, bodies, tools, events } = await ask({ host: 'claude-code' });
    expect(tools.map(({ name }) => name)).toEqual(['ToolSearch']);
    expect(tools[0]?.description).toMatch(/\n- mcp__server__notes_read$/);
    expect(listTools(bodies[1] ?? {})[1]).toEqual({
      name: 'mcp__server__notes_read',
      description: 'Reads a note.',
      schema,
    });
    const system = JSON.stringify(bodies[0]?.['system']);
    const messages = JSON.stringify(bodies[0]?.['messages']);
    expect(system).not.toContain('one note at a time');
    expect(messages).toContain(instructions.slice(0, 4096));
    expect(messages).not.toContain(instructions.slice(0, 4097));
    expect(readResults(bodies[2] ?? {}).at(-1)).toBe('{"text":"milk"}');
    expect(calls(events)).toEqual(['call notes.read']);
    expect(report.cases[0]).toMatchObject({
      outcome: 'passed',
      host: { id: 'claude-code', version: findHostVersion('claude-code') },
    });
  });

  it('has of a result what the host shows', async () => {
    const results: Record<string, unknown> = {};
    for (const host of ['generic', 'codex', 'gemini-cli']) {
      const { bodies } = await ask({ host });
      results[host] = readResults(bodies[1] ?? {}).at(-1);
    }
    expect(results).toEqual({
      generic: 'Note 7 says: milk.\n{"text":"milk"}',
      codex: '{"text":"milk"}',
      'gemini-cli': 'Note 7 says: milk.',
    });
  });

  it('has in Copilot CLI no instructions, and the name of the server that the configuration gives', async () => {
    await using workspace = await createWorkspace({ 'a.evals.yaml': evals });
    await using provider = await openScriptedProvider({ format: 'anthropic', answers: answer });
    await using server = await startNotes();
    const config = JSON.stringify({ mcpServers: { diary: { url: server.url } } });
    await workspace.write('mcp.json', config);
    await runEmbeddedGate(
      workspace,
      { 'mcp-config': 'mcp.json', 'server-url': '', recordings: 'live', host: 'copilot-cli' },
      { environment: { ANTHROPIC_API_KEY: 'sk-canary-hosts', ANTHROPIC_BASE_URL: provider.baseUrl } },
    );
    const body = provider.requests[0]?.body ?? {};
    expect(listTools(body).map(({ name }) => name)).toEqual(['diary-notes_read', 'diary-widget']);
    expect(JSON.stringify(body)).toContain('You find notes.');
    expect(JSON.stringify(body)).not.toContain('one note at a time');
  });
});

describe('a host that drops a server', () => {
  it('fails the case with the reason, and asks no model', async () => {
    const { report, bodies, reasons } = await ask({ host: 'gemini-cli' }, { properties: { any: true } });
    expect(report.cases[0]).toMatchObject({ outcome: 'failed', failed: 1 });
    expect(reasons.join()).toContain(
      'gemini-cli 0.61.0 drops all tools of the server, because a property has the schema `true` (in notes.read).',
    );
    expect(bodies).toEqual([]);
  });

  it('does not, in another host', async () => {
    const { report } = await ask({ host: 'codex' }, { properties: { any: true } });
    expect(report.cases[0]).toMatchObject({ outcome: 'passed' });
  });
});

describe('hosts of a gate', () => {
  it('make a case each, with a recording each, and reports name them', async () => {
    await using workspace = await createWorkspace({ 'a.evals.yaml': evals });
    await using provider = await openScriptedProvider({ format: 'anthropic', answers: answer });
    await using server = await startNotes();
    const hosts = 'generic,codex,claude-code,gemini-cli';
    const recorded = await run(workspace, provider, { host: hosts, recordings: 'record' }, server);
    expect(recorded.report.cases.map(({ id, outcome }) => `${id}: ${outcome}`).toSorted()).toEqual([
      'reads--claude-code: passed',
      'reads--codex: passed',
      'reads--gemini-cli: passed',
      'reads--generic: passed',
    ]);
    const folder = join(workspace.path, 'recordings', 'notes');
    const codexFile = 'reads.anthropic-claude-test@codex.jsonl';
    const [header = ''] = (await workspace.read(`recordings/notes/${codexFile}`)).split('\n');
    expect(JSON.parse(header)).toMatchObject({ host: { id: 'codex', version: findHostVersion('codex') } });
    const own = await workspace.read('recordings/notes/reads.anthropic-claude-test.jsonl');
    expect(JSON.parse(own.split('\n')[0] ?? '')).not.toHaveProperty('host');

    const made = provider.requests.length;
    const replayed = await run(workspace, provider, { host: hosts, recordings: 'replay' }, server);
    expect(provider.requests).toHaveLength(made);
    expect(replayed.report.totals).toEqual(recorded.report.totals);
    expect(replayed.report.models?.models.map(({ host }) => host?.id ?? null)).toEqual([
      null,
      'codex',
      'claude-code',
      'gemini-cli',
    ]);
    const summary = renderSummary(replayed.report);
    expect(summary).toContain(`anthropic/claude-test in codex ${findHostVersion('codex')}`);
    expect(summary).toMatch(/`Reads the note` *(?:\| *1 of 1 *){4}/);

    // The recording of a case without a host is that of the gate's own loop.
    const alone = await run(workspace, provider, { recordings: 'replay' }, server);
    expect(alone.report.totals).toMatchObject({ passed: 1, failed: 0 });

    await copyFile(join(folder, codexFile), join(folder, 'reads.anthropic-claude-test@gemini-cli.jsonl'));
    await copyFile(join(folder, codexFile), join(folder, 'reads.anthropic-claude-test.jsonl'));
    for (const [host, asked] of [
      ['gemini-cli', 'the host gemini-cli 0.61.0'],
      ['generic', 'no host'],
    ] as const) {
      const { report } = await run(workspace, provider, { host, recordings: 'replay' }, server);
      expect(report.cases[0]).toMatchObject({ outcome: 'inconclusive' });
      const reason = `The recording is stale. It was made with the host codex ${findHostVersion('codex')}, and the case asks for ${asked}.`;
      expect(listReasons(report).join()).toContain(reason);
    }
    expect(provider.requests).toHaveLength(made);
  });

  it('are refused where there is no such host, with the nearest name', async () => {
    await using workspace = await createWorkspace({ 'a.evals.yaml': evals });
    await expect(runEmbeddedGate(workspace, { host: 'gemini' })).rejects.toMatchObject({
      issues: [{ input: 'host', message: expect.stringContaining('"gemini" is no known host') }],
    });
  });
});
