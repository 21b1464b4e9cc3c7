import type { LanguageModelV4Message } from '@ai-sdk/provider';
import { z } from 'zod';
import type { TestCase } from '../../src/cases/case.ts';
import type { Step } from '../../src/cases/step.ts';
import type { ModelAnswer, ModelCall } from '../../src/models/language-model.ts';
import { assertStep, createCase } from '../support/factories/case-factory.ts';
import { startHttpServer } from '../support/network/http-server.ts';

/** A tool of the server: the description decides whether the model takes it, the parameter what the model calls it with. */
export interface WorldTool {
  name: string;
  description: string;
  parameter: string;
  result: string;
}

/** Everything that decides what a model answers to the case. */
export interface World {
  system: string;
  temperature: number;
  prompts: [first: string, second: string];
  tools: WorldTool[];
  decoys: Array<{ name: string; description: string }>;
}

export function createWorld(): World {
  return {
    system: 'You help people with notes. Your name is Ada',
    temperature: 0,
    prompts: ['Please read note 7', 'Now count box 3'],
    tools: [
      { name: 'delete_note', description: 'Can delete a note.', parameter: 'id', result: 'gone' },
      { name: 'read_note', description: 'Can read a note.', parameter: 'id', result: 'buy milk' },
      { name: 'count_notes', description: 'Can count what is in a box.', parameter: 'box', result: '12 notes' },
    ],
    decoys: [{ name: 'send_mail', description: 'Can mail a note.' }],
  };
}

const says = (needle: string): Step => assertStep({ type: 'responseContains', needle });
const calls = (toolName: string, args: Record<string, number>): Step =>
  assertStep({ type: 'toolCalledWith', toolName, args: { args } });

/** The assertions of a turn, each next to whether it holds for the calls and the last message up to there. */
interface Expectation {
  step: Step;
  holds: (turn: Turn) => boolean;
}

/** What had happened by the end of a turn. */
export interface Turn {
  calls: string[];
  text: string;
}

const expectations: readonly [readonly Expectation[], readonly Expectation[]] = [
  [
    { step: calls('read_note', { id: 7 }), holds: (turn) => turn.calls.includes('read_note {"id":7}') },
    { step: says('buy milk'), holds: ({ text }) => text.includes('buy milk') },
    { step: says('Ada'), holds: ({ text }) => text.includes('Ada') },
    { step: says('exactly'), holds: ({ text }) => text.includes('exactly') },
  ],
  [
    { step: calls('count_notes', { box: 3 }), holds: (turn) => turn.calls.includes('count_notes {"box":3}') },
    {
      step: assertStep({ type: 'toolNeverCalled', toolName: 'delete_note' }),
      holds: (turn) => !turn.calls.some((call) => call.startsWith('delete_note ')),
    },
    { step: says('12 notes'), holds: ({ text }) => text.includes('12 notes') },
  ],
];

/** The case, whose steps are a prompt and its assertions, twice. Errors of tools are left to the assertions. */
export function createWorldCase({ system, temperature, prompts, decoys }: World): TestCase {
  const steps = expectations.flatMap((turn, index): Step[] => [
    { id: `prompt-${index}`, kind: 'prompt', prompt: prompts[index] ?? '' },
    ...turn.map(({ step }) => step),
  ]);
  const named = steps.map((step, index) => ({ ...step, id: `step-${index}` }));
  return createCase(named, { advancedConfig: { system, temperature, decoys, failOnToolError: false } });
}

/** Whether each step of the case would pass, by what the turns really come to. Prompts do. */
export function judgeTruly(turns: readonly Turn[]): boolean[] {
  return expectations.flatMap((turn, index) => [
    true,
    ...turn.map(({ holds }) => holds(turns[index] ?? { calls: [], text: '' })),
  ]);
}

/**
 * A model that is a pure function of the call. It takes the first tool that can do what the last word but one of the prompt asks for,
 * calls it with the number in the prompt, and says what came back, its name, and how sure it is.
 */
export function answerWorld(call: ModelCall): ModelAnswer {
  const asked = call.prompt.findLastIndex(({ role }) => role === 'user');
  const results = call.prompt.slice(asked).flatMap(readResults);
  const [, verb = '', number = '0'] = /(\w+) \w+ (\d+)/.exec(readText(call.prompt[asked])) ?? [];
  const tool = call.tools.find(({ description = '' }) => description.includes(`Can ${verb} `));
  const [parameter = 'none'] = Object.keys(tool?.inputSchema['properties'] ?? {});
  const name = readText(call.prompt[0]).split(' ').at(-1);
  const certainty = call.temperature === 0 ? 'exactly' : 'roughly';
  const isDone = results.length > 0 || tool === undefined;
  const text = isDone ? `${name} says ${certainty}: ${tool === undefined ? 'no tool' : results.join()}` : 'I look.';
  const toolCall = {
    type: 'tool-call' as const,
    toolCallId: `call-${call.prompt.length}`,
    toolName: tool?.name ?? '',
    input: JSON.stringify({ [parameter]: Number(number) }),
  };
  return {
    content: [{ type: 'text', text }, ...(isDone ? [] : [toolCall])],
    finishReason: { unified: isDone ? 'stop' : 'tool-calls', raw: undefined },
    usage: {
      inputTokens: { total: 10, noCache: 10, cacheRead: undefined, cacheWrite: undefined },
      outputTokens: { total: 5, text: 5, reasoning: undefined },
    },
    isReplayed: false,
  };
}

function readText(message: LanguageModelV4Message | undefined): string {
  if (message === undefined || message.role === 'tool' || message.role === 'assistant') return '';
  if (message.role === 'system') return message.content;
  return message.content.map((part) => (part.type === 'text' ? part.text : '')).join('');
}

function readResults(message: LanguageModelV4Message): string[] {
  if (message.role !== 'tool') return [];
  return message.content.map((part) =>
    part.type === 'tool-result' && part.output.type === 'text' ? part.output.value : '',
  );
}

const requestSchema = z.looseObject({
  id: z.union([z.number(), z.string()]),
  method: z.string(),
  params: z.looseObject({ name: z.string().optional() }),
});

/** What every result of this revision has. */
const meta = {
  resultType: 'complete',
  _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'world', version: '1' } },
};
const fresh = { ...meta, ttlMs: 0, cacheScope: 'private' };

export interface WorldServer extends AsyncDisposable {
  url: string;
  /** What the server has from now on. */
  setTools(tools: readonly WorldTool[]): void;
  /** Handshakes so far. */
  sessions(): number;
}

/** Starts an MCP server (2026-07-28) over the tools of a world, by hand: it is called thousands of times. */
export async function startWorldServer(): Promise<WorldServer> {
  let tools: readonly WorldTool[] = [];
  let sessions = 0;
  const answer = (method: string, name: string | undefined): object => {
    if (method === 'tools/list') return { ...fresh, tools: tools.map(declare) };
    if (method === 'tools/call') {
      const text = tools.find((tool) => tool.name === name)?.result ?? 'Unknown tool.';
      return { ...meta, content: [{ type: 'text', text }] };
    }
    sessions += 1;
    return { ...fresh, supportedVersions: ['2026-07-28'], capabilities: { tools: {} } };
  };
  const server = await startHttpServer((response, { body }) => {
    const { id, method, params } = requestSchema.parse(JSON.parse(body));
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ jsonrpc: '2.0', id, result: answer(method, params.name) }));
  });
  return {
    url: `${server.origin}/mcp`,
    setTools: (next) => {
      tools = next;
    },
    sessions: () => sessions,
    [Symbol.asyncDispose]: async () => await server[Symbol.asyncDispose](),
  };
}

function declare({ name, description, parameter }: WorldTool): object {
  const inputSchema = { type: 'object', properties: { [parameter]: { type: 'number' } }, required: [parameter] };
  return { name, description, inputSchema };
}
