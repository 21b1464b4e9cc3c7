import {
  acceptedContent,
  createRequestStateCodec,
  inputRequired,
  type InputRequiredResult,
  McpServer,
  type CallToolResult,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { z } from 'zod';

type Era = 'legacy' | 'modern';
type Answer = CallToolResult | InputRequiredResult;

const text = (value: string): CallToolResult => ({ content: [{ type: 'text', text: value }] });

const registration = {
  type: 'object' as const,
  properties: {
    name: { type: 'string' as const, title: 'Name' },
    plan: { type: 'string' as const, enum: ['free', 'team'], default: 'free' },
    seats: { type: 'integer' as const, minimum: 1, default: 1 },
  },
  required: ['name'],
};

/** A single question, whose field has the name of the requested value. */
const ask = (field: string, message: string) => ({
  message,
  requestedSchema: {
    type: 'object' as const,
    properties: { [field]: { type: 'string' as const } },
    required: [field],
  },
});

const lookUp = { name: 'look-up', description: 'Looks up a word', inputSchema: { type: 'object' as const } };
const answerSchema = z.looseObject({ content: z.unknown() });
const blockSchema = z.looseObject({ type: z.string(), text: z.string().optional(), name: z.string().optional() });

/** Reads the blocks of a sampled message, which has one block or a list of blocks. */
function readBlocks(answer: unknown): Array<z.infer<typeof blockSchema>> {
  const { content } = answerSchema.parse(answer);
  return z.array(blockSchema).parse(Array.isArray(content) ? content : [content]);
}

/** Creates a request for a model's answer. After the model has called the tool, it requests an answer to the result. */
function createSampling(called: boolean) {
  const question = { role: 'user' as const, content: { type: 'text' as const, text: 'What is tea?' } };
  const use = { type: 'tool_use' as const, id: 'call-1', name: lookUp.name, input: {} };
  const result = {
    type: 'tool_result' as const,
    toolUseId: use.id,
    content: [{ type: 'text' as const, text: 'a drink' }],
  };
  const round = [
    { role: 'assistant' as const, content: use },
    { role: 'user' as const, content: result },
  ];
  return { messages: called ? [question, ...round] : [question], tools: [lookUp], maxTokens: 100 };
}

/** The codec for the state of several rounds, which only this server can create. */
const codec = createRequestStateCodec<string>({ key: 'k'.repeat(32) });

/**
 * A server on the official SDK's `McpServer`, with a tool, prompt or resource for each client ability and each notification. It asks with
 * requests in the older era, and with `input_required` results in the newer one.
 *
 * @param onToolsChanged reports a change of the tools to clients of the newer era.
 */
export function createAbilityServer(era: Era, onToolsChanged: () => void): Server {
  const isLegacy = era === 'legacy';
  const capabilities = { logging: {}, tools: { listChanged: true } };
  const server = new McpServer(
    { name: 'abilities', version: '1.0.0' },
    { capabilities, requestState: { verify: (state, context) => codec.verify(state, context) } },
  );
  const tool = (name: string, call: (context: ServerContext) => Promise<Answer>) =>
    server.registerTool(name, { description: name }, call);

  tool('register', async ({ mcpReq }) => {
    const form = { message: 'Please register', requestedSchema: registration };
    if (isLegacy) {
      const { action, content } = await mcpReq.elicitInput({ mode: 'form', ...form });
      return text(`${action} ${JSON.stringify(content ?? null)}`);
    }
    const given = mcpReq.inputResponses?.['form'];
    if (given === undefined) return inputRequired({ inputRequests: { form: inputRequired.elicit(form) } });
    return text(JSON.stringify(acceptedContent(mcpReq.inputResponses, 'form') ?? given));
  });

  tool('plan-trip', async ({ mcpReq }) => {
    const [where, when] = [ask('place', 'Where to?'), ask('day', 'When?')];
    if (isLegacy) {
      const first = await mcpReq.elicitInput({ mode: 'form', ...where });
      const second = await mcpReq.elicitInput({ mode: 'form', ...when });
      return text(`${String(first.content?.['place'])} on ${String(second.content?.['day'])}`);
    }
    const place = mcpReq.requestState<string>() ?? acceptedContent(mcpReq.inputResponses, 'where')?.['place'];
    if (typeof place !== 'string') return inputRequired({ inputRequests: { where: inputRequired.elicit(where) } });
    const day = acceptedContent(mcpReq.inputResponses, 'when')?.['day'];
    if (typeof day === 'string') return text(`${place} on ${day}`);
    const requestState = await codec.mint(place);
    return inputRequired({ requestState, inputRequests: { when: inputRequired.elicit(when) } });
  });

  tool('link-account', async ({ mcpReq }) => {
    const page = { message: 'Log in', url: 'https://example.com/login' };
    if (isLegacy) {
      const elicitationId = 'login-1';
      const { action } = await mcpReq.elicitInput({ mode: 'url', ...page, elicitationId });
      if (action === 'accept') await server.server.createElicitationCompletionNotifier(elicitationId)();
      return text(`linked: ${action}`);
    }
    const given = mcpReq.inputResponses?.['page'];
    if (given === undefined) return inputRequired({ inputRequests: { page: inputRequired.elicitUrl(page) } });
    return text(`linked: ${z.looseObject({ action: z.string() }).parse(given).action}`);
  });

  tool('research', async ({ mcpReq }) => {
    const finish = (answer: unknown) => text(readBlocks(answer)[0]?.text ?? 'no text');
    if (isLegacy) {
      const first = await mcpReq.requestSampling(createSampling(false));
      const usesTool = readBlocks(first).some(({ type }) => type === 'tool_use');
      return finish(usesTool ? await mcpReq.requestSampling(createSampling(true)) : first);
    }
    const given = mcpReq.inputResponses?.['answer'];
    const usesTool = given !== undefined && readBlocks(given).some(({ type }) => type === 'tool_use');
    if (given !== undefined && !usesTool) return finish(given);
    return inputRequired({ inputRequests: { answer: inputRequired.createMessage(createSampling(usesTool)) } });
  });

  tool('list-folders', async ({ mcpReq }) => {
    if (isLegacy) return text(JSON.stringify(await server.server.listRoots()));
    const given = mcpReq.inputResponses?.['roots'];
    if (given === undefined) return inputRequired({ inputRequests: { roots: inputRequired.listRoots() } });
    return text(JSON.stringify(given));
  });

  tool('brew', async ({ mcpReq }) => {
    const { progressToken } = mcpReq._meta ?? {};
    for (const progress of [1, 2]) {
      const params = { progressToken: progressToken ?? 'none', progress, total: 2, message: `Cup ${progress}` };
      await mcpReq.notify({ method: 'notifications/progress', params });
    }
    await mcpReq.log('warning', { kettle: 'hot' }, 'kitchen');
    return text('brewed');
  });

  const harvest = server.registerTool('harvest', { description: 'Harvests' }, async () => text('harvested'));
  harvest.disable();
  tool('grow', async () => {
    if (isLegacy) harvest.enable();
    else onToolsChanged();
    return text('grown');
  });

  server.registerPrompt('letter', { description: 'A letter' }, async ({ mcpReq }) => {
    const write = (to: unknown) => ({
      messages: [{ role: 'user' as const, content: { type: 'text' as const, text: `Dear ${String(to)}` } }],
    });
    const form = ask('to', 'To whom?');
    if (isLegacy) return write((await mcpReq.elicitInput({ mode: 'form', ...form })).content?.['to']);
    const given = acceptedContent(mcpReq.inputResponses, 'to');
    return given === undefined
      ? inputRequired({ inputRequests: { to: inputRequired.elicit(form) } })
      : write(given['to']);
  });

  server.registerResource('diary', 'diary://today', {}, async (uri, { mcpReq }) => {
    const open = (word: unknown) => ({ contents: [{ uri: uri.href, text: word === 'tea' ? 'Rain.' : 'Locked.' }] });
    const form = ask('word', 'The password?');
    if (isLegacy) return open((await mcpReq.elicitInput({ mode: 'form', ...form })).content?.['word']);
    const given = acceptedContent(mcpReq.inputResponses, 'word');
    return given === undefined
      ? inputRequired({ inputRequests: { word: inputRequired.elicit(form) } })
      : open(given['word']);
  });
  return server.server;
}
