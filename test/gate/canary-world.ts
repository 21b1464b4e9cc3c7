import type { CallToolResult, Tool } from '@modelcontextprotocol/server';
import type { ProviderRequest, ScriptedReply } from '../support/models/scripted-provider.ts';
import type { FixtureTool } from '../support/servers/fixture-mcp-server.ts';

/** Draws random secrets, each with the name of its location. */
export interface Canaries {
  /** Returns the secret of a location. The first call draws it. */
  at: (place: string) => string;
  list: () => Readonly<Record<string, string>>;
}

export function drawCanaries(round: number): Canaries {
  const drawn = new Map<string, string>();
  return {
    at: (place) => {
      const index = drawn.size;
      const canary = drawn.get(place) ?? `cn${round}${index}-Zq8${index}vK3mW7xT1pR5${(index * 7919 + round) % 9973}`;
      drawn.set(place, canary);
      return canary;
    },
    list: () => Object.fromEntries(drawn),
  };
}

/** Writes an evals file with a secret in each text that it may have. */
export function writeCanaryEvals({ at }: Canaries): string {
  const talk = {
    id: 'talk',
    title: `Talks ${at('case title')}`,
    system: `You keep ${at('system')}.`,
    decoys: [
      {
        name: 'send_mail',
        description: `Mails ${at('decoy description')}.`,
        inputSchema: { type: 'object', title: at('decoy schema') },
      },
    ],
    failOnToolError: false,
    steps: [
      { toolCall: 'read_note', arguments: { key: at('pinned argument') } },
      { prompt: `Read ${at('prompt')}.` },
      { assert: { toolCalledWith: 'read_note', arguments: { key: at('expected argument') } } },
      { prompt: `Again ${at('second prompt')}.` },
      { assert: { responseContains: at('expected text') } },
    ],
  };
  const failing = ['refused', 'broken', 'page', 'other'].map((id) => ({
    id,
    title: `Is ${id}`,
    ...(id === 'other' && { model: 'openai/gpt-5-mini' }),
    steps: [{ prompt: `${id}: hello` }, { assert: { responseContains: 'nothing' } }],
  }));
  return JSON.stringify({
    suite: `Canaries ${at('suite name')}`,
    id: 'canaries',
    model: 'anthropic/claude-test',
    // The first assertions fail with messages that quote everything; the conversation continues after that.
    cases: [talk, { ...talk, id: 'whole', steps: talk.steps.filter((step) => 'prompt' in step) }, ...failing],
  });
}

/** Creates tools with a secret in each of their texts and answers. */
export function createCanaryTools({ at }: Canaries): Record<string, FixtureTool> {
  const inputSchema: Tool['inputSchema'] = {
    type: 'object',
    description: at('schema description'),
    properties: {
      key: { type: 'string', description: at('parameter description'), default: at('parameter default') },
      [`p_${at('parameter name')}`]: { enum: [at('parameter value')] },
    },
  };
  const result: CallToolResult = {
    content: [
      { type: 'text', text: `The note says ${at('result text')}.` },
      { type: 'resource', resource: { uri: `note:${at('resource address')}`, text: at('resource text') } },
    ],
    structuredContent: { [at('result key')]: at('result value') },
  };
  const failure: CallToolResult = {
    content: [{ type: 'text', text: `Failed: ${at('tool error')}` }],
    isError: true,
  };
  return {
    read_note: {
      description: `Reads ${at('tool description')}.`,
      inputSchema,
      annotations: { title: at('tool title') },
      call: () => result,
    },
    fail: { call: () => failure },
    [`tool_${at('tool name')}`]: { call: () => failure },
  };
}

/** Creates a provider with a secret in each text that it may send. Its last answers quote the whole request. */
export function answerWithCanaries({ at }: Canaries): (request: ProviderRequest) => ScriptedReply {
  const calls: ScriptedReply = {
    text: `I read ${at('text before calls')}.`,
    reasoning: { text: `Think of ${at('reasoning')}.`, signature: at('signature') },
    toolCalls: [
      { id: `id_${at('call id')}`, name: 'read_note', arguments: { key: at('argument') } },
      { name: 'fail', arguments: { [at('argument name')]: 1 } },
      { name: `none_${at('unknown tool')}`, arguments: {} },
      { name: 'read_note', arguments: `{"key": ${at('broken argument')}` },
    ],
  };
  const replies: ReadonlyMap<string, ScriptedReply> = new Map<string, ScriptedReply>([
    ['refused', { status: 400, body: { error: { message: at('refusal message') } } }],
    ['broken', { status: 500, headers: { 'x-trace': at('error header') }, body: `Dump: ${at('error dump')}` }],
    ['page', { status: 502, headers: { 'content-type': 'text/html' }, body: `<h1>${at('error page')}</h1>` }],
    ['other', { text: `The other one says ${at('answer of another provider')}.` }],
  ]);
  const ending = { prefix: at('answer'), headers: { 'request-id': at('answer header') } };
  return ({ turn, userText, body }) => {
    const reply = replies.get(userText.replace(/:.*/, ''));
    if (reply !== undefined) return reply;
    if (turn === 1) return calls;
    return { text: `${ending.prefix}: ${JSON.stringify(body)}`, headers: ending.headers };
  };
}
