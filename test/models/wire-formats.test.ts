import type Anthropic from '@anthropic-ai/sdk';
import type OpenAI from 'openai';
import { expect, it } from 'vitest';
import { isCutOff, type ModelCall } from '../../src/models/language-model.ts';
import { toAssistantMessage, toToolMessage } from '../../src/models/model-messages.ts';
import { readProviders } from '../../src/models/providers.ts';
import { buildCall, openEnd, openTestSource, testModels, testProviderKey } from '../support/models/model-source.ts';
import {
  openScriptedProvider,
  type ModelReply,
  type ProviderFormat,
  type ProviderRequest,
} from '../support/models/scripted-provider.ts';

/** A pixel. */
const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII=';

const call = {
  prompt: [
    { role: 'system', content: 'You help people find their notes.' },
    { role: 'user', content: [{ type: 'text', text: 'What do my notes say?' }] },
  ],
  tools: [
    {
      type: 'function',
      name: 'read_note',
      description: 'Reads a note.',
      inputSchema: { type: 'object', properties: { id: { type: 'number' } }, required: ['id'] },
    },
  ],
  temperature: 0,
  maxOutputTokens: 500,
} satisfies ModelCall;

const parallelCalls: ModelReply = {
  reasoning: { text: 'There are two notes.', signature: 'c2lnbmF0dXJl' },
  text: 'I read both.',
  toolCalls: [
    { id: 'call_a', name: 'read_note', arguments: { id: 1 } },
    { id: 'call_b', name: 'read_note', arguments: { id: 2 } },
    { id: 'call_c', name: 'no_such_tool', arguments: {} },
  ],
};

const results = toToolMessage([
  { toolCallId: 'call_a', toolName: 'read_note', content: [{ type: 'text', text: 'Buy milk' }], isError: false },
  {
    toolCallId: 'call_b',
    toolName: 'read_note',
    content: [
      { type: 'text', text: 'A drawing:' },
      { type: 'file', mediaType: 'image/png', data: png },
    ],
    isError: false,
  },
  { toolCallId: 'call_c', toolName: 'no_such_tool', content: [{ type: 'text', text: 'No such tool.' }], isError: true },
]);

/** The formats that a model can be asked in without a host. */
type TestFormat = keyof typeof testModels;

/** Has the model call tools, answers the calls, and returns the second request. */
async function holdConversation(
  format: TestFormat,
  reply = parallelCalls,
  options: { provider?: string } = {},
): Promise<ProviderRequest | undefined> {
  await using provider = await openScriptedProvider({ format, answers: [reply, { text: 'Milk.' }] });
  const { provider: name = testModels[format].provider } = options;
  const prefix = name.toUpperCase();
  const environment = {
    [`${prefix}_API_KEY`]: testProviderKey,
    [`${prefix}_BASE_URL`]: provider.baseUrl,
    ...(format === 'responses' && { [`${prefix}_API`]: 'responses' }),
  };
  await using source = openTestSource(
    { format: 'compatible', baseUrl: provider.baseUrl },
    { providers: readProviders({ environment }) },
  );
  const session = await source.openSession({
    model: { provider: name, name: testModels[format].name },
    caseId: 'case_1',
    iterationNumber: 1,
    apiKeys: new Map(),
  });
  const answer = await session.answer(call, openEnd);
  await session.answer({ ...call, prompt: [...call.prompt, toAssistantMessage(answer), results] }, openEnd);
  return provider.requests[1];
}

/** The package describes the newest models only, which refuse a temperature; this one takes it. */
type SampledParams = Anthropic.MessageCreateParamsNonStreaming & { temperature: number };

it('writes a conversation as the Messages API describes it', async () => {
  const request = await holdConversation('anthropic');
  expect(request?.body).toEqual({
    model: 'claude-haiku-4-5',
    max_tokens: 500,
    temperature: 0,
    system: [{ type: 'text', text: 'You help people find their notes.', cache_control: { type: 'ephemeral' } }],
    tools: [
      {
        name: 'read_note',
        description: 'Reads a note.',
        input_schema: { type: 'object', properties: { id: { type: 'number' } }, required: ['id'] },
        cache_control: { type: 'ephemeral' },
      },
    ],
    messages: [
      { role: 'user', content: [{ type: 'text', text: 'What do my notes say?' }] },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'There are two notes.', signature: 'c2lnbmF0dXJl' },
          { type: 'text', text: 'I read both.' },
          { type: 'tool_use', id: 'call_a', name: 'read_note', input: { id: 1 }, caller: { type: 'direct' } },
          { type: 'tool_use', id: 'call_b', name: 'read_note', input: { id: 2 }, caller: { type: 'direct' } },
          { type: 'tool_use', id: 'call_c', name: 'no_such_tool', input: {}, caller: { type: 'direct' } },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'call_a', content: 'Buy milk' },
          {
            type: 'tool_result',
            tool_use_id: 'call_b',
            content: [
              { type: 'text', text: 'A drawing:' },
              { type: 'image', source: { type: 'base64', media_type: 'image/png', data: png } },
            ],
          },
          { type: 'tool_result', tool_use_id: 'call_c', content: 'No such tool.', is_error: true },
        ],
      },
    ],
  } satisfies SampledParams);
  expect(request?.headers).toMatchObject({ 'x-api-key': testProviderKey, 'anthropic-version': '2023-06-01' });
});

it('marks for the cache of Anthropic only the last tool and the system prompt, and nothing of a call without them', async () => {
  const format = 'anthropic';
  await using provider = await openScriptedProvider({ format, answers: [{ text: 'Hi.' }, { text: 'Hi.' }] });
  await using source = openTestSource({ format, baseUrl: provider.baseUrl });
  const session = await source.openTestSession();
  const tools = ['a', 'b'].map((name) => ({
    type: 'function' as const,
    name,
    inputSchema: { type: 'object' as const },
  }));
  await session.answer({ ...call, tools }, openEnd);
  await session.answer(buildCall('Hello'), openEnd);
  const [marked, bare] = provider.requests.map(({ body }) => body);
  const ephemeral = { type: 'ephemeral' };
  expect(marked?.['tools']).toMatchObject([{ name: 'a' }, { name: 'b', cache_control: ephemeral }]);
  expect(marked?.['system']).toMatchObject([{ cache_control: ephemeral }]);
  expect(JSON.stringify(marked).match(/cache_control/g)).toHaveLength(2);
  expect(JSON.stringify(bare)).not.toContain('cache_control');
});

/** What providers other than OpenAI want back, in addition to what OpenAI describes. */
type ReasoningParams = Omit<OpenAI.ChatCompletionCreateParamsNonStreaming, 'messages'> & {
  messages: Array<
    | Exclude<OpenAI.ChatCompletionMessageParam, { role: 'assistant' }>
    | (OpenAI.ChatCompletionAssistantMessageParam & { reasoning_content?: string })
  >;
};

const toolCalls = [
  { id: 'call_a', type: 'function', function: { name: 'read_note', arguments: '{"id":1}' } },
  { id: 'call_b', type: 'function', function: { name: 'read_note', arguments: '{"id":2}' } },
  { id: 'call_c', type: 'function', function: { name: 'no_such_tool', arguments: '{}' } },
] satisfies OpenAI.ChatCompletionMessageToolCall[];

const toolMessages = [
  { role: 'tool', tool_call_id: 'call_a', content: 'Buy milk' },
  { role: 'tool', tool_call_id: 'call_b', content: 'A drawing:\n[image 1 of the next message]' },
  { role: 'tool', tool_call_id: 'call_c', content: 'No such tool.' },
  {
    role: 'user',
    content: [
      { type: 'text', text: 'The images of the tool results above, in their order:' },
      { type: 'image_url', image_url: { url: `data:image/png;base64,${png}` } },
    ],
  },
] satisfies OpenAI.ChatCompletionMessageParam[];

const { reasoning: _reasoning, ...withoutReasoning } = parallelCalls;

it('writes a conversation as the Chat Completions API describes it, with the limit of output that OpenAI reads', async () => {
  const request = await holdConversation('compatible', withoutReasoning);
  expect(request?.body).toEqual({
    model: 'gpt-5-mini',
    max_completion_tokens: 500,
    temperature: 0,
    tools: [
      {
        type: 'function',
        function: {
          name: 'read_note',
          description: 'Reads a note.',
          parameters: { type: 'object', properties: { id: { type: 'number' } }, required: ['id'] },
        },
      },
    ],
    messages: [
      { role: 'system', content: 'You help people find their notes.' },
      { role: 'user', content: 'What do my notes say?' },
      { role: 'assistant', content: 'I read both.', tool_calls: toolCalls },
      ...toolMessages,
    ],
  } satisfies OpenAI.ChatCompletionCreateParamsNonStreaming);
  expect(request?.headers).toMatchObject({ authorization: `Bearer ${testProviderKey}` });
});

it('sends reasoning back to a compatible provider, and names the limit of output as it does', async () => {
  const request = await holdConversation('compatible', parallelCalls, { provider: 'deepseek' });
  const messages: ReasoningParams['messages'] = [
    { role: 'system', content: 'You help people find their notes.' },
    { role: 'user', content: 'What do my notes say?' },
    {
      role: 'assistant',
      content: 'I read both.',
      reasoning_content: 'There are two notes.',
      tool_calls: toolCalls,
    },
    ...toolMessages,
  ];
  expect(request?.body).toMatchObject({ max_tokens: 500, messages });
  expect(request?.body).not.toHaveProperty('max_completion_tokens');
});

it('writes a conversation as the Responses API describes it, stores nothing, and sends encrypted reasoning back', async () => {
  const request = await holdConversation('responses');
  expect(request?.body).toEqual({
    model: 'gpt-5-mini',
    max_output_tokens: 500,
    store: false,
    include: ['reasoning.encrypted_content'],
    tools: [
      {
        type: 'function',
        name: 'read_note',
        description: 'Reads a note.',
        parameters: { type: 'object', properties: { id: { type: 'number' } }, required: ['id'] },
        strict: false,
      },
    ],
    input: [
      { role: 'developer', content: 'You help people find their notes.' },
      { role: 'user', content: [{ type: 'input_text', text: 'What do my notes say?' }] },
      {
        type: 'reasoning',
        id: 'rs_1',
        encrypted_content: 'c2lnbmF0dXJl',
        summary: [{ type: 'summary_text', text: 'There are two notes.' }],
      },
      { role: 'assistant', content: 'I read both.' },
      { type: 'function_call', call_id: 'call_a', name: 'read_note', arguments: '{"id":1}' },
      { type: 'function_call', call_id: 'call_b', name: 'read_note', arguments: '{"id":2}' },
      { type: 'function_call', call_id: 'call_c', name: 'no_such_tool', arguments: '{}' },
      { type: 'function_call_output', call_id: 'call_a', output: 'Buy milk' },
      {
        type: 'function_call_output',
        call_id: 'call_b',
        output: [
          { type: 'input_text', text: 'A drawing:' },
          { type: 'input_image', image_url: `data:image/png;base64,${png}` },
        ],
      },
      { type: 'function_call_output', call_id: 'call_c', output: '{"error":"No such tool."}' },
    ],
  } satisfies OpenAI.Responses.ResponseCreateParamsNonStreaming);
  expect(request?.headers).toMatchObject({ authorization: `Bearer ${testProviderKey}` });
});

it('reads an answer of the Responses API that was cut, with its tokens', async () => {
  const usage = { input: 11, output: 22, cacheRead: 33, reasoning: 4 };
  await using provider = await openScriptedProvider({
    format: 'responses',
    answers: [{ text: 'Mi', finishReason: 'length', usage }],
  });
  const environment = { MINE_BASE_URL: provider.baseUrl, MINE_API: 'responses' };
  await using source = openTestSource(
    { format: 'compatible', baseUrl: provider.baseUrl },
    { providers: readProviders({ environment }) },
  );
  const model = { provider: 'mine', name: 'a-model' };
  const session = await source.openSession({ model, caseId: 'case_1', iterationNumber: 1, apiKeys: new Map() });
  const answer = await session.answer(call, openEnd);
  expect(isCutOff(answer)).toBe(true);
  expect(answer.usage).toMatchObject({
    inputTokens: { total: 44, noCache: 11, cacheRead: 33 },
    outputTokens: { total: 22, reasoning: 4 },
  });
});

it('sends no reasoning back to Mistral, which refuses it', async () => {
  const request = await holdConversation('compatible', parallelCalls, { provider: 'mistral' });
  expect(JSON.stringify(request?.body)).not.toContain('There are two notes.');
  expect(request?.body['messages']).toMatchObject([
    {},
    {},
    { role: 'assistant', tool_calls: toolCalls },
    {},
    {},
    {},
    {},
  ]);
});

it('sends the signature of a thought back to Google', async () => {
  const signature = 'dGhvdWdodA==';
  const withSignature = {
    id: 'chatcmpl_1',
    choices: [
      {
        index: 0,
        finish_reason: 'tool_calls',
        message: {
          role: 'assistant',
          content: null,
          tool_calls: [{ ...toolCalls[0], extra_content: { google: { thought_signature: signature } } }],
        },
      },
    ],
  };
  await using provider = await openScriptedProvider({
    format: 'compatible',
    answers: [{ status: 200, body: withSignature }, { text: 'Milk.' }],
  });
  const environment = { GEMINI_API_KEY: testProviderKey, GEMINI_BASE_URL: provider.baseUrl };
  await using source = openTestSource(
    { format: 'compatible', baseUrl: provider.baseUrl },
    { providers: readProviders({ environment }) },
  );
  const model = { provider: 'google', name: 'gemini-3-flash' };
  const session = await source.openSession({ model, caseId: 'case_1', iterationNumber: 1, apiKeys: new Map() });
  const answer = await session.answer(call, openEnd);
  const result = { toolCallId: 'call_a', toolName: 'read_note', content: [], isError: false };
  const prompt = [...call.prompt, toAssistantMessage(answer), toToolMessage([result])];
  await session.answer({ ...call, prompt }, openEnd);
  expect(provider.requests[1]?.body['messages']).toMatchObject([
    {},
    {},
    { tool_calls: [{ id: 'call_a', extra_content: { google: { thought_signature: signature } } }] },
    { role: 'tool', tool_call_id: 'call_a', content: '' },
  ]);
});

it('sends the reasoning details of OpenRouter back with the message', async () => {
  const details = [
    { type: 'reasoning.encrypted', data: 'b3BhcXVl', id: 'rs_1', format: 'openai-responses-v1', index: 0 },
  ];
  const withDetails = {
    id: 'chatcmpl_1',
    choices: [
      {
        index: 0,
        finish_reason: 'tool_calls',
        message: { role: 'assistant', content: null, reasoning_details: details, tool_calls: [toolCalls[0]] },
      },
    ],
  };
  await using provider = await openScriptedProvider({
    format: 'compatible',
    answers: [{ status: 200, body: withDetails }, { text: 'Milk.' }, { text: 'Bread.' }],
  });
  const environment = { OPENROUTER_API_KEY: testProviderKey, OPENROUTER_BASE_URL: provider.baseUrl };
  await using source = openTestSource(
    { format: 'compatible', baseUrl: provider.baseUrl },
    { providers: readProviders({ environment }) },
  );
  const model = { provider: 'openrouter', name: 'openai/gpt-5-mini' };
  const session = await source.openSession({ model, caseId: 'case_1', iterationNumber: 1, apiKeys: new Map() });
  const first = await session.answer(call, openEnd);
  const result = { toolCallId: 'call_a', toolName: 'read_note', content: [], isError: false };
  const prompt = [...call.prompt, toAssistantMessage(first), toToolMessage([result])];
  const second = await session.answer({ ...call, prompt }, openEnd);
  await session.answer({ ...call, prompt: [...prompt, toAssistantMessage(second)] }, openEnd);
  expect(provider.requests[1]?.body['messages']).toEqual([
    expect.anything(),
    expect.anything(),
    { role: 'assistant', content: null, reasoning_details: details, tool_calls: [toolCalls[0]] },
    { role: 'tool', tool_call_id: 'call_a', content: '' },
  ]);
  // An answer without any sends none.
  expect(provider.requests[2]?.body['messages']).toMatchObject([
    {},
    {},
    {},
    {},
    { role: 'assistant', content: 'Milk.' },
  ]);
  expect(JSON.stringify(provider.requests[2]?.body['messages']).match(/reasoning_details/g)).toHaveLength(1);
});

it.each<ProviderFormat>(['anthropic', 'compatible'])(
  'lets a model see arguments that were no object, in the %s format',
  async (format) => {
    const request = await holdConversation(format, {
      toolCalls: [
        { id: 'call_a', name: 'read_note', arguments: '{"id":' },
        { id: 'call_b', name: 'read_note', arguments: '' },
        { id: 'call_c', name: 'no_such_tool', arguments: '[1]' },
      ],
    });
    const text = JSON.stringify(request?.body);
    expect(text.match(/INVALID_JSON/g)?.length).toBe(format === 'anthropic' ? 3 : 2);
  },
);

it.each<ProviderFormat>(['anthropic', 'compatible'])(
  'sends the headers of the environment with every call, next to its own, in the %s format',
  async (format) => {
    await using provider = await openScriptedProvider({ format, answers: [{ text: 'Hi.' }, { text: 'Hi.' }] });
    const { provider: name, name: model } = testModels[format];
    const prefix = name.toUpperCase();
    const environment = { [`${prefix}_API_KEY`]: testProviderKey, [`${prefix}_BASE_URL`]: provider.baseUrl };
    const headers = { [`${prefix}_HEADERS`]: 'X-Gateway-Key: gw-1\nX-Tags: a, b' };
    for (const variables of [{ ...environment, ...headers }, environment]) {
      await using source = openTestSource(
        { format, baseUrl: provider.baseUrl },
        { providers: readProviders({ environment: variables }) },
      );
      const request = { model: { provider: name, name: model }, caseId: 'a', iterationNumber: 1, apiKeys: new Map() };
      await (await source.openSession(request)).answer(buildCall('Hello'), openEnd);
    }
    const [withHeaders, without] = provider.requests;
    expect(withHeaders?.headers).toMatchObject({ 'x-gateway-key': 'gw-1', 'x-tags': 'a, b' });
    expect(JSON.stringify(withHeaders?.headers)).toContain(testProviderKey);
    expect(withHeaders?.headers['content-type']).toBe('application/json');
    expect(without?.headers).not.toHaveProperty('x-gateway-key');
  },
);

it.each<ProviderFormat>(['anthropic', 'compatible'])(
  'lets a call decide about tools, in the %s format',
  async (format) => {
    await using provider = await openScriptedProvider({ format, answers: [{ text: 'Hi.' }, { text: 'Hi.' }] });
    await using source = openTestSource({ format, baseUrl: provider.baseUrl });
    const session = await source.openTestSession();
    const toolChoice = { type: 'tool', toolName: 'read_note' } as const;
    await session.answer(buildCall('Hello', { tools: call.tools, toolChoice }), openEnd);
    await session.answer(buildCall('Hello', { toolChoice }), openEnd);
    expect(provider.requests.map(({ body }) => body['tool_choice'])).toEqual([
      format === 'anthropic'
        ? ({ type: 'tool', name: 'read_note' } satisfies Anthropic.ToolChoice)
        : ({ type: 'function', function: { name: 'read_note' } } satisfies OpenAI.ChatCompletionToolChoiceOption),
      undefined,
    ]);
  },
);
