import { randomUUID } from 'node:crypto';
import {
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  inputRequired,
  type InputRequest,
  type InputRequiredResult,
  type CallToolResult,
  Server,
  type ServerContext,
  UrlElicitationRequiredError,
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import { isRecord } from '../../../src/base/json.ts';
import { answer, type AskedRequest, sendAsTask, serveTasks, startTask, taskCapabilities } from './asking-tasks.ts';

export type Need = 'elicitation' | 'url' | 'sampling' | 'roots';

/**
 * The way in which a tool asks its client: `input` like the SDK in both eras; `push` with the SDK's requests of the older era, which check the
 * client's announced abilities; `blind` with requests that do not check them; `softly` like `blind`, but a refused request is no error; `task`
 * with requests that the client runs as its own tasks if it can.
 */
export type Manner = 'input' | 'push' | 'blind' | 'softly' | 'task';

const form = {
  type: 'object' as const,
  properties: { name: { type: 'string' as const }, colour: { type: 'string' as const, default: 'blue' } },
  required: ['name'],
};
const formParams = { message: 'Who are you?', requestedSchema: form };
const sampleParams = {
  messages: [{ role: 'user' as const, content: { type: 'text' as const, text: 'Summarize the notes.' } }],
  maxTokens: 50,
};

const embedded: { readonly [Name in Need]: () => InputRequest } = {
  elicitation: () => inputRequired.elicit(formParams),
  url: () => inputRequired.elicitUrl({ message: 'Log in.', url: 'https://example.com/login' }),
  sampling: () => inputRequired.createMessage(sampleParams),
  roots: () => inputRequired.listRoots(),
};

const createUrlParams = () => ({
  mode: 'url' as const,
  message: 'Log in.',
  url: 'https://example.com/login',
  elicitationId: randomUUID(),
});

/** The requests of the older era. */
const requests: { readonly [Name in Need]: () => AskedRequest } = {
  elicitation: () => ({ method: 'elicitation/create', params: formParams }),
  url: () => ({ method: 'elicitation/create', params: createUrlParams() }),
  sampling: () => ({ method: 'sampling/createMessage', params: sampleParams }),
  roots: () => ({ method: 'roots/list' }),
};

/** Creates a server of the official SDK whose tools ask their client, and are hidden from clients without the ability. */
export function createAskingServer(): Server {
  const server = new Server({ name: 'asking', version: '1.0.0' }, { capabilities: { tools: {}, ...taskCapabilities } });
  const readCapabilities = ({ mcpReq }: ServerContext): ClientCapabilities => {
    const envelope: Record<string, unknown> = { ...mcpReq.envelope };
    const declared = envelope[CLIENT_CAPABILITIES_META_KEY];
    return isRecord(declared) ? declared : (server.getClientCapabilities() ?? {});
  };
  const push = async (need: Need, manner: Manner, context: ServerContext): Promise<unknown> => {
    if (manner === 'push') {
      if (need === 'elicitation') return await server.elicitInput({ mode: 'form', ...formParams });
      if (need === 'url') return await server.elicitInput(createUrlParams());
      return need === 'sampling' ? await server.createMessage(sampleParams) : await server.listRoots();
    }
    const request = requests[need]();
    if (manner === 'task' && need !== 'roots') return await sendAsTask(request, context);
    const sent = context.mcpReq.send(request, z.looseObject({}));
    return manner === 'softly' ? await sent.catch(() => 'refused') : await sent;
  };
  const ask = async (
    args: Record<string, unknown>,
    context: ServerContext,
  ): Promise<CallToolResult | InputRequiredResult> => {
    const needs = readNeeds(args['needs']);
    const manner = readManner(args['manner']);
    const { mcpReq } = context;
    if (manner !== 'input') {
      const answers: unknown[] = [];
      for (const need of needs) answers.push(await push(need, manner, context));
      return answer(answers);
    }
    // The tool asks one question after another: the state contains the answers so far.
    const state = mcpReq.requestState();
    const before: unknown[] = typeof state === 'string' ? JSON.parse(state) : [];
    const answers = mcpReq.inputResponses === undefined ? before : [...before, mcpReq.inputResponses['asked']];
    const next = needs[answers.length];
    if (next === undefined) return answer(answers);
    return inputRequired({ inputRequests: { asked: embedded[next]() }, requestState: JSON.stringify(answers) });
  };
  server.setRequestHandler('tools/list', (_, context) => {
    const announced = readCapabilities(context);
    const hidden = (['elicitation', 'sampling', 'roots'] as const).filter((name) => announced[name] !== undefined);
    const names = ['ask', taskTool, 'log-in', 'sum', ...hidden.map((name) => `hidden-${name}`)];
    const execution = { taskSupport: 'required' as const };
    const isLegacy = context.mcpReq.envelope === undefined;
    const describe = (name: string) => ({
      name,
      inputSchema: { type: 'object' as const },
      ...(name === taskTool && isLegacy && { execution }),
    });
    return { tools: names.map(describe) };
  });
  server.setRequestHandler('tools/call', { params: called, result: z.looseObject({}) }, async (params, context) => {
    const { name, arguments: args = {} } = params;
    if (name === taskTool) {
      const asked = context.mcpReq.envelope === undefined ? requests : embedded;
      return startTask(
        readNeeds(args['needs']).map((need) => asked[need]()),
        context,
      );
    }
    if (name === 'sum') return answer(Number(args['a']) + Number(args['b']));
    if (name === 'log-in') {
      if (loggedIn.delete(String(args['user']))) return answer('logged in');
      loggedIn.add(String(args['user']));
      const url = 'https://example.com/login';
      throw new UrlElicitationRequiredError([{ mode: 'url', message: 'Log in.', url, elicitationId: 'login' }]);
    }
    try {
      return await ask(name === 'ask' ? args : { needs: [name.replace('hidden-', '')] }, context);
    } catch (error) {
      const text = error instanceof Error ? error.message : String(error);
      return { content: [{ type: 'text', text }], isError: true };
    }
  });
  serveTasks(server);
  return server;
}

/** The tool that asks like `ask`, but in a task. */
const taskTool = 'ask-in-task';
const called = z.looseObject({ name: z.string(), arguments: z.record(z.string(), z.unknown()).optional() });

/** The users whose first call was refused. */
const loggedIn = new Set<string>();

function readNeeds(value: unknown): Need[] {
  return (Array.isArray(value) ? value : []).filter((need): need is Need => Object.hasOwn(embedded, String(need)));
}

function readManner(value: unknown): Manner {
  return value === 'push' || value === 'blind' || value === 'softly' || value === 'task' ? value : 'input';
}
