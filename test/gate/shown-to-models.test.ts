import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { runEmbeddedGate } from '../support/gate/embedded-gate.ts';
import {
  openScriptedProvider,
  type ProviderRequest,
  type ScriptedProvider,
  type ScriptedReply,
} from '../support/models/scripted-provider.ts';
import {
  type FixtureMcpServer,
  type FixtureTool,
  startFixtureMcpServer,
} from '../support/servers/fixture-mcp-server.ts';
import { createWorkspace, type Workspace } from '../support/workspace.ts';

const evals = `suite: Stock
id: stock
model: anthropic/claude-test
system: You keep a shop.
cases:
  - id: counts
    title: Counts what is left
    steps:
      - prompt: How many pears are left?
      - assert: { toolCalledAtLeastOnce: count_stock }
      - assert: { responseContains: "left" }
`;

const recordingPath = 'recordings/stock/counts.anthropic-claude-test.jsonl';

let workspace: Workspace;
let provider: ScriptedProvider;

const call = { name: 'count_stock', arguments: {} };

/** Calls the tool, then reports the remaining number. */
function answer({ turn }: ProviderRequest): ScriptedReply {
  return turn === 1 ? { toolCalls: [call] } : { text: 'Some are left.' };
}

beforeAll(async () => {
  provider = await openScriptedProvider({ format: 'anthropic', answers: answer });
});

afterAll(async () => await provider[Symbol.asyncDispose]());

beforeEach(async () => {
  workspace = await createWorkspace({ 'a.evals.yaml': evals });
  return async () => await workspace[Symbol.asyncDispose]();
});

interface Shop {
  instructions?: string;
  result?: Awaited<ReturnType<FixtureTool['call']>>;
}

async function runShop(
  recordings: 'live' | 'record' | 'replay',
  { instructions, result = { content: [{ type: 'text', text: 'Counted.' }] } }: Shop,
) {
  const shop: FixtureMcpServer = await startFixtureMcpServer(
    { count_stock: { call: () => result } },
    instructions === undefined ? {} : { instructions },
  );
  await using server = shop;
  const environment = { ANTHROPIC_API_KEY: 'sk-canary', ANTHROPIC_BASE_URL: provider.baseUrl };
  const { report, exitCode } = await runEmbeddedGate(
    workspace,
    { 'server-url': server.url, 'report-dir': 'report', recordings },
    { environment },
  );
  const reasons = report.cases.flatMap(({ failures }) => failures.flatMap((failure) => failure.reasons)).join('\n');
  return { exitCode, reasons };
}

const count = (left: number) => ({
  content: [{ type: 'text' as const, text: 'Counted.' }],
  structuredContent: { left },
});

describe('the structured content of a result', () => {
  it('makes a recording stale when it changes next to the same text', async () => {
    expect((await runShop('record', { result: count(21) })).exitCode).toBe(0);
    expect((await runShop('replay', { result: count(21) })).exitCode).toBe(0);
    const changed = await runShop('replay', { result: count(35) });
    expect(changed.exitCode).toBe(3);
    expect(changed.reasons).toContain('21');
    expect(changed.reasons).toContain('35');
  });
});

describe('the instructions of a server', () => {
  it('make a recording stale when they change', async () => {
    expect((await runShop('record', { instructions: 'Count twice.' })).exitCode).toBe(0);
    expect((await runShop('replay', { instructions: 'Count twice.' })).exitCode).toBe(0);
    const changed = await runShop('replay', { instructions: 'Never count.' });
    expect(changed.exitCode).toBe(3);
    expect(changed.reasons).toContain('The system prompt changed');
  });
});

describe('a result with files', () => {
  const bytes = (length: number) => Buffer.alloc(length, 'canary').toString('base64');
  const resource = (mimeType: string, length: number) => ({
    type: 'resource' as const,
    resource: { uri: 'file:///shelf', mimeType, blob: bytes(length) },
  });

  it('is shown without a text of Base64, and with a picture as an image', async () => {
    const { length } = provider.requests;
    const content = [
      resource('application/pdf', 3000),
      { type: 'audio' as const, mimeType: 'audio/wav', data: bytes(600) },
      resource('image/png', 90),
    ];
    expect((await runShop('live', { result: { content } })).exitCode).toBe(0);
    const body = JSON.stringify(provider.requests.slice(length).at(-1)?.body);
    expect(body).not.toContain(bytes(3000).slice(0, 200));
    expect(body).not.toContain(bytes(600).slice(0, 200));
    expect(body).toContain('[application/pdf, 3000 bytes, which cannot be shown here]');
    expect(body).toContain('[audio/wav, 600 bytes, which cannot be shown here]');
    expect(body).toContain(`{"type":"base64","media_type":"image/png","data":"${bytes(90)}"}`);
  });
});

describe('a result with more tokens than the case allows', () => {
  it('fails the case, and names the tool and the size', async () => {
    await workspace.write('a.evals.yaml', evals.replace('system:', 'maxResultTokens: 250\nsystem:'));
    const content = (length: number) => ({ content: [{ type: 'text' as const, text: 'x'.repeat(length) }] });
    expect(await runShop('live', { result: content(1000) })).toEqual({ exitCode: 0, reasons: '' });
    const { length } = provider.requests;
    const { exitCode, reasons } = await runShop('live', { result: content(1001) });
    expect(exitCode).toBe(1);
    expect(reasons).toContain(
      'The result of count_stock has about 251 tokens (1001 bytes of text), and `maxResultTokens` allows 250.',
    );
    // The gate does not ask the provider again.
    expect(provider.requests.length).toBe(length + 1);
  });
});

describe('a recording of an older version', () => {
  it('is stale with that reason, and is made anew as a whole', async () => {
    await runShop('record', {});
    const made = await workspace.read(recordingPath);
    await workspace.write(recordingPath, made.replace('"format":3', '"format":2'));
    const old = await runShop('replay', {});
    expect(old.exitCode).toBe(3);
    expect(old.reasons).toContain('It has a format of an older version of mcp-eval-ci.');
    await runShop('record', {});
    expect(await workspace.read(recordingPath)).toContain('"format":3');
    expect((await runShop('replay', {})).exitCode).toBe(0);
  });
});
