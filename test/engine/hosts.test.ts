import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/time.ts';
import type { TestCase } from '../../src/cases/case.ts';
import { runCase } from '../../src/engine/run-case.ts';
import { identifyHost } from '../../src/hosts/find-host.ts';
import { findHostVersion } from '../hosts/find-host.ts';
import { assertStep, createCase } from '../support/factories/case-factory.ts';
import { createScriptedSession, type ScriptedAnswer } from '../support/models/scripted-session.ts';
import { createAbilityServer } from '../support/servers/ability-server.ts';
import { type FixtureMcpServer, refuse, startFixtureMcpServer, text } from '../support/servers/fixture-mcp-server.ts';

const id = { type: 'object' as const, properties: { id: { type: 'integer' } }, required: ['id'] };
const png = { type: 'image' as const, data: 'iVBORw==', mimeType: 'image/png' };
const long = Array.from({ length: 20_000 }, (_, index) => `line ${index}`).join('\n');

const codex = `codex ${findHostVersion('codex')}`;

let server: FixtureMcpServer;

beforeAll(async () => {
  server = await startFixtureMcpServer(
    {
      both: {
        outputSchema: { type: 'object', properties: { note: { type: 'string' } } },
        call: () => ({ ...text('a text'), structuredContent: { note: 'structured' } }),
      },
      alone: {
        outputSchema: { type: 'object', properties: { note: { type: 'string' } } },
        call: () => ({ content: [], structuredContent: { note: 'structured' } }),
      },
      fails: { call: () => ({ ...text('out of order'), isError: true }) },
      refuses: { call: () => refuse(-32_000, 'not today') },
      picture: { call: () => ({ content: [{ type: 'text', text: 'see' }, png] }) },
      sound: { call: () => ({ content: [{ type: 'audio', data: 'AAAA', mimeType: 'audio/wav' }] }) },
      link: { call: () => ({ content: [{ type: 'resource_link', name: 'a note', uri: 'note://7' }] }) },
      long: { call: () => text(long) },
      strict: { description: 'Reads a note by its number.', inputSchema: id, call: () => text('strict') },
      widget: { visibility: ['app'], call: () => text('shown') },
    },
    { era: 'legacy', instructions: 'Be brief.' },
  );
});

afterAll(async () => {
  await server[Symbol.asyncDispose]();
});

interface Asked {
  url?: string;
  checks?: TestCase['steps'];
  config?: TestCase['advancedConfig'];
}

/** Runs a case with one prompt in a host. */
async function ask(host: string, script: ScriptedAnswer[], { url = server.url, checks = [], config = {} }: Asked = {}) {
  const session = createScriptedSession(script);
  const identity = identifyHost(host);
  const advancedConfig = { ...config, ...(identity !== null && { host: identity }) };
  const steps: TestCase['steps'] = [{ id: 'ask', kind: 'prompt', prompt: 'Do it.' }, ...checks];
  const before = server.events.length;
  const outcome = await runCase(
    createCase(steps, { advancedConfig }),
    { url, serverName: 'notes', protocol: 'legacy' },
    { clock: systemClock, timeoutMs: 30_000, openModel: async () => session },
  );
  const calls = server.events.slice(before).filter((event) => event.startsWith('call'));
  return { outcome, asked: session.asked, calls };
}

const names: Record<string, string> = {
  generic: '',
  codex: 'mcp__notes__',
  'gemini-cli': 'mcp_notes_',
  'copilot-cli': 'notes-',
  goose: 'notes__',
  opencode: 'notes_',
};

/** Returns what the model is shown of the result of a tool. */
async function readResult(host: string, tool: string): Promise<unknown> {
  const call = { tool: `${names[host]}${tool}`, input: {} };
  const { asked } = await ask(host, [{ calls: [call] }, { text: 'Done.' }], { config: { failOnToolError: false } });
  const message = asked[1]?.prompt.find(({ role }) => role === 'tool');
  if (message?.role !== 'tool') throw new Error('The model got no result.');
  const [part] = message.content;
  if (part?.type !== 'tool-result') throw new Error('The message has no result.');
  const { output } = part;
  if (output.type === 'content') return output.value.map((each) => (each.type === 'text' ? each.text : each.type));
  return output.type === 'error-text' ? { error: output.value } : 'value' in output ? output.value : null;
}

describe('a host without a profile', () => {
  it('leaves the iteration without a result, and asks no model', async () => {
    const { outcome, asked } = await ask('nothing', []);
    expect(outcome).toMatchObject({ result: null, error: 'There is no profile of the host nothing.' });
    expect(asked).toEqual([]);
  });
});

describe('a result that a model sees in a host', () => {
  it.each([
    ['generic', 'both', 'a text\n{"note":"structured"}'],
    ['codex', 'both', '{"note":"structured"}'],
    ['gemini-cli', 'both', 'a text'],
    ['copilot-cli', 'both', 'a text\n{"note":"structured"}'],
    ['codex', 'alone', '{"note":"structured"}'],
    ['gemini-cli', 'alone', ''],
    ['goose', 'alone', '(empty result)'],
    ['generic', 'fails', { error: 'out of order' }],
    ['codex', 'fails', 'out of order'],
    ['gemini-cli', 'fails', { error: 'out of order' }],
    ['copilot-cli', 'fails', { error: 'MCP server "notes": out of order' }],
    ['codex', 'refuses', 'not today'],
    ['gemini-cli', 'refuses', { error: 'not today' }],
    ['generic', 'picture', ['see', 'file']],
    ['codex', 'picture', ['see', 'file']],
    ['copilot-cli', 'picture', 'see'],
    ['codex', 'sound', '(audio)'],
    ['gemini-cli', 'sound', '(audio)'],
    ['codex', 'link', '{"name":"a note","uri":"note://7","type":"resource_link"}'],
    ['gemini-cli', 'link', 'a note note://7'],
    ['copilot-cli', 'link', ''],
  ])('is in %s of the tool `%s` %j', async (host, tool, shown) => {
    expect(await readResult(host, tool)).toEqual(shown);
  });

  it.each([
    ['generic', long],
    ['codex', `${long.slice(0, 6000)}\n${long.slice(-6000)}`],
    [
      'gemini-cli',
      `${long.slice(0, 8000)}\n${long.slice(-32_000)}\n(a file with the result, which cannot be read here)`,
    ],
    ['copilot-cli', `${long.slice(0, 500)}\n(a file with the result, which cannot be read here)`],
    ['goose', long],
  ])('has in %s as much of a long text as the host shows', async (host, shown) => {
    expect(long.length).toBeGreaterThan(200_000);
    expect(await readResult(host, 'long')).toBe(shown);
  });

  it('is judged as the server sent it, and its size as the model saw it', async () => {
    const call = { calls: [{ tool: 'mcp__notes__long', input: {} }] };
    const checks = [assertStep({ type: 'toolResultContains', needle: 'line 10000\n' })];
    const cut = await ask('codex', [call, { text: 'Done.' }], { checks, config: { maxResultTokens: 3500 } });
    expect(cut.outcome).toMatchObject({ result: 'passed', error: null });
    const whole = await ask('goose', [{ calls: [{ tool: 'notes__long', input: {} }] }], {
      checks,
      config: { maxResultTokens: 3500 },
    });
    expect(whole.outcome.result).toBe('failed');
    expect(whole.outcome.error).toMatch(/^The result of long has about \d+ tokens/);
  });
});

describe('arguments that break the schema of a tool', () => {
  it.each([
    ['generic', 'strict', []],
    ['gemini-cli', 'mcp_notes_strict', []],
    ['codex', 'mcp__notes__strict', ['call strict']],
    ['goose', 'notes__strict', ['call strict']],
  ])('reach the server in %s only if the host passes them on', async (host, tool, calls) => {
    const result = await ask(host, [{ calls: [{ tool, input: { id: 'x' } }] }, { text: 'Done.' }]);
    expect(result.calls).toEqual(calls);
    expect(result.outcome.error ?? '').toMatch(calls.length === 0 ? /break its inputSchema/ : /^$/);
  });
});

describe('a name that the host does not give a tool', () => {
  it('reaches no server, and the error names the nearest one', async () => {
    const { outcome, calls } = await ask('codex', [
      { calls: [{ tool: 'strict', input: { id: 7 } }] },
      { text: 'Done.' },
    ]);
    expect(calls).toEqual([]);
    expect(outcome).toMatchObject({ result: 'failed', error: `${codex} shows no tool "strict".` });
    const near = await ask('codex', [{ calls: [{ tool: 'mcp__notes__stric', input: {} }] }, { text: 'Done.' }]);
    expect(near.outcome.error).toBe(`${codex} shows no tool "mcp__notes__stric"; did you mean "mcp__notes__strict"?`);
  });

  it('is that of a tool for apps where the host keeps it from models', async () => {
    const call = (tool: string) => [{ calls: [{ tool, input: {} }] }, { text: 'Done.' }];
    const hidden = await ask('codex', call('mcp__notes__widget'));
    expect(hidden.calls).toEqual([]);
    expect(hidden.outcome.error).toContain(`${codex} shows no tool "mcp__notes__widget"`);
    const shown = await ask('gemini-cli', call('mcp_notes_widget'));
    expect(shown.calls).toEqual(['call widget']);
    expect(shown.outcome).toMatchObject({ result: 'passed' });
  });

  it('is no name for a policy, which has those of the server', async () => {
    const { outcome, asked, calls } = await ask(
      'codex',
      [{ calls: [{ tool: 'mcp__notes__strict', input: { id: 7 } }] }, { text: 'Done.' }],
      { config: { toolPolicy: { deny: ['strict'] } } },
    );
    expect(asked[0]?.tools.map(({ name }) => name)).not.toContain('mcp__notes__strict');
    expect(calls).toEqual([]);
    expect(outcome.result).toBe('failed');
  });
});

describe('tools that a host cannot show', () => {
  const call = () => text('called');

  it('fail the case where the host gives two of them one name', async () => {
    await using own = await startFixtureMcpServer({ 'a.b': { call }, a_b: { call } });
    const { outcome, asked } = await ask('codex', [], { url: own.url });
    expect(outcome).toMatchObject({
      result: 'failed',
      error: `${codex} has one name for the tools "a.b" and "a_b": "mcp__notes__a_b".`,
    });
    expect(asked).toEqual([]);
    const { outcome: inGoose } = await ask('goose', [{ text: 'Done.' }], { url: own.url });
    expect(inGoose.result).toBe('passed');
  });

  it('are left out one by one where the host drops long names', async () => {
    const name = 'x'.repeat(58);
    await using own = await startFixtureMcpServer({ short: { call }, [name]: { call } });
    const script = [{ calls: [{ tool: name, input: {} }] }, { text: 'Done.' }];
    const { outcome, asked } = await ask('cursor', script, { url: own.url });
    expect(asked[0]?.tools.map((tool) => tool.name)).toEqual(['short']);
    expect(own.events.filter((event) => event.startsWith('call'))).toEqual([]);
    expect(outcome.error).toMatch(/^cursor shows no tool "x+/);
    const inCodex = await ask('goose', [{ calls: [{ tool: `notes__${name}`, input: {} }] }, { text: 'Done.' }], {
      url: own.url,
    });
    expect(inCodex.outcome.result).toBe('passed');
  });

  it('fail the case where the host does not accept their number', async () => {
    const many = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [`tool-${index}`, { call }]));
    await using tooMany = await startFixtureMcpServer(many(129));
    const { outcome } = await ask('vscode', [], { url: tooMany.url });
    expect(outcome.result).toBe('failed');
    expect(outcome.error).toContain('vscode accepts at most 128 tools in a request');
    await using fitting = await startFixtureMcpServer(many(128));
    expect((await ask('vscode', [{ text: 'Done.' }], { url: fitting.url })).outcome.result).toBe('passed');
  });
});

describe('a tool that appears during a turn', () => {
  it('is shown in the next answer, under the name that the host gives it', async () => {
    await using own = await startFixtureMcpServer(
      {},
      { era: 'legacy', create: () => createAbilityServer('legacy', () => {}) },
    );
    const { outcome, asked } = await ask(
      'codex',
      [
        { calls: [{ tool: 'mcp__notes__grow', input: {} }] },
        { calls: [{ tool: 'mcp__notes__harvest', input: {} }] },
        { text: 'Done.' },
      ],
      { url: own.url, checks: [assertStep({ type: 'toolResultContains', needle: 'harvested' })] },
    );
    expect(outcome).toMatchObject({ result: 'passed' });
    // Whether the second answer could see it depends on when the notification came.
    const offered = asked.map(({ tools }) => tools.some(({ name }) => name === 'mcp__notes__harvest'));
    expect([offered[0], offered[2]]).toEqual([false, true]);
  });
});

describe('the instructions of a server', () => {
  const places = async (host: string) => {
    const { asked } = await ask(host, [{ text: 'Done.' }, { text: 'Done.' }], { config: { system: 'Help.' } });
    return asked[0]?.prompt.map(({ role, content }) =>
      typeof content === 'string'
        ? [role, content]
        : [role, ...content.map((part) => ('text' in part ? part.text : ''))],
    );
  };

  it.each([
    [
      'generic',
      [
        ['system', 'Help.\n\nInstructions of the server:\nBe brief.'],
        ['user', 'Do it.'],
      ],
    ],
    [
      'codex',
      [
        ['system', 'Help.\n\nInstructions of the server:\nBe brief.'],
        ['user', 'Do it.'],
      ],
    ],
    [
      'copilot-cli',
      [
        ['system', 'Help.'],
        ['user', 'Do it.'],
      ],
    ],
    [
      'claude-code',
      [
        ['system', 'Help.'],
        ['user', 'Instructions of the server:\nBe brief.', 'Do it.'],
      ],
    ],
    [
      'qwen-code',
      [
        ['system', 'Help.'],
        ['user', 'Instructions of the server:\nBe brief.', 'Do it.'],
      ],
    ],
  ])('are in %s where the host puts them', async (host, expected) => {
    expect(await places(host)).toEqual(expected);
  });
});

describe('deferred tools', () => {
  const offered = ({ asked }: Awaited<ReturnType<typeof ask>>) =>
    asked.map(({ tools }) => tools.map(({ name }) => name));
  const read = { calls: [{ tool: 'mcp__notes__strict', input: { id: 7 } }] };
  const search = (query: string) => ({ calls: [{ tool: 'ToolSearch', input: { query } }] });

  it('are searched in Claude Code, and then called as other tools', async () => {
    const result = await ask('claude-code', [search('read a note by number'), read, { text: 'Done.' }], {
      checks: [assertStep({ type: 'toolCalledWith', toolName: 'strict', args: { args: { id: 7 } } })],
    });
    expect(result.outcome).toMatchObject({ result: 'passed', error: null });
    expect(offered(result)).toEqual([
      ['ToolSearch'],
      expect.arrayContaining(['ToolSearch', 'mcp__notes__strict']),
      expect.arrayContaining(['ToolSearch', 'mcp__notes__strict']),
    ]);
    const description = result.asked[0]?.tools[0]?.description ?? '';
    expect(description).toContain('- mcp__notes__strict');
    expect(description).not.toContain('by its number');
    expect(result.calls).toEqual(['call strict']);
  });

  it('are refused in Claude Code before they are found', async () => {
    const result = await ask('claude-code', [search('picture'), read, { text: 'Done.' }]);
    expect(result.calls).toEqual([]);
    expect(result.outcome).toMatchObject({
      result: 'failed',
      error: 'The tool mcp__notes__strict is not loaded; find it with ToolSearch first.',
    });
    expect(offered(result).at(-1)).toEqual(['ToolSearch', 'mcp__notes__picture']);
  });

  it('are called in Qwen Code through a tool of the host', async () => {
    const { outcome, asked, calls } = await ask(
      'qwen-code',
      [
        { calls: [{ tool: 'tool_search', input: { query: 'select:mcp__notes__strict' } }] },
        { calls: [{ tool: 'tool_call', input: { name: 'mcp__notes__strict', arguments: { id: 7 } } }] },
        { text: 'Done.' },
      ],
      { checks: [assertStep({ type: 'toolCalledWith', toolName: 'strict', args: { args: { id: 7 } } })] },
    );
    expect(outcome).toMatchObject({ result: 'passed', error: null });
    expect(calls).toEqual(['call strict']);
    expect(asked.map(({ tools }) => tools.map(({ name }) => name))).toEqual(
      Array.from({ length: 3 }, () => ['tool_search', 'tool_call']),
    );
    expect(asked[0]?.tools[0]?.description).toContain('- mcp__notes__strict: Reads a note by its number.');
  });

  it.each([
    ['mcp__notes__strict', { id: 7 }, 'Call mcp__notes__strict with tool_call.'],
    ['tool_call', { nam: 'x' }, 'The arguments of tool_call have no `name`.'],
    ['tool_call', { name: 'strict', arguments: {} }, 'qwen-code 0.24.4 shows no tool "strict".'],
  ])('are refused in Qwen Code as %s %j', async (tool, input, error) => {
    const { outcome, calls } = await ask('qwen-code', [{ calls: [{ tool, input }] }, { text: 'Done.' }]);
    expect(outcome).toMatchObject({ result: 'failed', error });
    expect(calls).toEqual([]);
  });
});
