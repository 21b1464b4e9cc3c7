import { Hono } from 'hono';
import { type ApiEnv, currentCaller } from '../callers.ts';
import { createHash } from 'node:crypto';
import { isRecord, isTooDeep, tryParseJson } from '../../../../src/base/json.ts';
import { clipText } from '../../../../src/base/text.ts';
import { renderError, renderForModel } from '../../../../src/engine/model-output.ts';
import type { ToolOutput } from '../../../../src/models/conversation.ts';
import type { ModelCall } from '../../../../src/models/language-model.ts';
import { describePart } from '../../../../src/models/model-messages.ts';
import { ApiError } from '../envelope.ts';
import type { ServerTools } from '../server-tools.ts';
import type { ActionScope, ActionStore, ActionWork, ProposedAction } from './actions.ts';
import { nameServerTools, type NamedServerTool } from './names.ts';
import type { Approval, OperationCall, ProjectOperation, RouteRequest } from './operations.ts';
import { callServerTool } from './server-call.ts';

/**
 * Answers a request of the project through the API's own routes, without the access checks of a client.
 *
 * @throws {ApiError} the refusal of the route
 */
export type Dispatch = (
  request: RouteRequest,
  options: { projectId: string; idempotencyKey?: string | undefined; signal: AbortSignal },
) => Promise<unknown>;

/** The calls, new records and proposals of a turn so far. They are reported even if the turn fails. */
export interface TurnRecord {
  toolCalls: Array<{ operation: string; server?: string; tool?: string }>;
  createdResources: Array<{ type: string; id: string; name: string; url: string }>;
  proposedActions: ProposedAction[];
}

export interface TurnContext {
  projectId: string;
  /** Null if no approval can be collected. The turn then gets no tool that needs one. */
  conversationId: string | null;
  /** The idempotency key of the turn. The keys of its writes are derived from it. */
  turnKey: string | undefined;
  /** The URL of the project without a slash at the end. */
  projectUrl: string;
  record: TurnRecord;
  dispatch: Dispatch;
  actions: ActionStore;
}

/** A tool in the form that the model gets. */
export interface AgentTool {
  definition: ModelCall['tools'][number];
  call(args: Record<string, unknown>, signal: AbortSignal): Promise<ToolOutput>;
}

/** The maximum number of tools that providers accept. */
const maxTools = 128;
/** Maximum characters of a description, a schema and a result for the model, and of the arguments that it writes. */
const longestDescription = 4000;
const longestSchema = 10_000;
const longestResult = 50_000;
const longestArguments = 100_000;

/** Collects the tools of a turn by name: operations of the project, then the tools of its servers. */
export function collectTools(
  operations: readonly ProjectOperation[],
  servers: readonly ServerTools[],
  context: TurnContext,
): ReadonlyMap<string, AgentTool> {
  const canApprove = context.conversationId !== null;
  const offered = operations.filter(({ needsApproval }) => canApprove || !needsApproval);
  const ofServers = nameServerTools(servers, new Set(operations.map(({ name }) => name))).filter(
    ({ declaration }) => canApprove || declaration.isReadOnly,
  );
  const tools = [
    ...offered.map((operation) => toOperationTool(operation, context)),
    ...ofServers.map((tool) => toServerTool(tool, context)),
  ];
  return new Map(tools.slice(0, maxTools).map((tool) => [tool.definition.name, tool]));
}

/** Calls a tool for the model. A mistake in the call becomes an error result, which the model can read. */
export async function callAgentTool(
  { toolName, input }: { toolName: string; input: string },
  tools: ReadonlyMap<string, AgentTool>,
  signal: AbortSignal,
): Promise<ToolOutput> {
  const tool = tools.get(toolName);
  if (tool === undefined) return renderError(`There is no tool ${JSON.stringify(toolName.slice(0, 200))}.`);
  if (input.length > longestArguments) {
    return renderError(`The arguments of ${toolName} have more than ${longestArguments} characters.`);
  }
  const args = input.trim() === '' ? {} : tryParseJson(input);
  if (!isRecord(args) || isTooDeep(args)) {
    return renderError(`The arguments of ${toolName} are not a JSON object, or nest too deep.`);
  }
  try {
    return await tool.call(args, signal);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof ApiError) return renderError(error.message);
    throw error;
  }
}

function toOperationTool(operation: ProjectOperation, context: TurnContext): AgentTool {
  const { name, description, inputSchema, needsApproval } = operation;
  return {
    definition: { type: 'function', name, description: describeTier(description, needsApproval), inputSchema },
    call: async (args, signal) => {
      context.record.toolCalls.push({ operation: name });
      const call = operation.read(args);
      if ('problem' in call) return renderError(`The arguments of ${name} are not valid. ${call.problem}`);
      const { approval, request } = call;
      if (approval !== null) return propose(context, { operation: name, approval, work: { kind: 'request', request } });
      return await execute(name, call, context, signal);
    },
  };
}

function describeTier(description: string, needsApproval: boolean): string {
  if (!needsApproval) return description;
  return `${description} A person must approve it: the call proposes the action and does not execute it.`;
}

async function execute(
  name: string,
  call: OperationCall,
  { projectId, projectUrl, turnKey, record, dispatch }: TurnContext,
  signal: AbortSignal,
): Promise<ToolOutput> {
  // A repeated turn derives the same keys, so each write gets the answer that was kept.
  const idempotencyKey = turnKey === undefined ? undefined : hash([turnKey, name, call.input]);
  const answer = await dispatch(call.request, { projectId, idempotencyKey, signal });
  for (const { path, ...created } of call.listCreated(answer)) {
    record.createdResources.push({ ...created, url: `${projectUrl}${path}` });
  }
  return renderText(JSON.stringify(call.show(answer)));
}

function hash(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex');
}

function toServerTool({ name, server, toolName, declaration }: NamedServerTool, context: TurnContext): AgentTool {
  const { id, content } = server.server;
  const { isReadOnly } = declaration;
  const isUsable =
    !isTooDeep(declaration.inputSchema) && JSON.stringify(declaration.inputSchema).length <= longestSchema;
  const inputSchema = isUsable ? declaration.inputSchema : { type: 'object' as const };
  const origin = `Tool ${JSON.stringify(toolName)} of server ${JSON.stringify(content.name)} (${id}).`;
  const description = describeTier(
    `${origin} ${clipText(declaration.description ?? '', longestDescription)}`.trim(),
    !isReadOnly,
  );
  return {
    definition: { type: 'function', name, description, inputSchema },
    call: async (args, signal) => {
      context.record.toolCalls.push({ operation: 'call_server_tool', server: content.name, tool: toolName });
      if (!isReadOnly) {
        const approval = describeServerCall(content.name, toolName, args);
        const work = { kind: 'tool' as const, serverId: id, toolName, args };
        return propose(context, { operation: 'call_server_tool', approval, work });
      }
      const result = await callServerTool(server, { toolName, args }, signal);
      const shown = renderForModel({ kind: 'result', result, toolError: null, answeredAtMs: 0 });
      const text = shown.content.map(describePart).join('\n');
      return { ...renderText(text), isError: shown.isError };
    },
  };
}

const longestPreview = 300;

/** Describes a call of a server's tool to the person who approves it. The model wrote the arguments, so they are on one line and cut. */
function describeServerCall(server: string, toolName: string, args: Record<string, unknown>): Approval {
  const preview = JSON.stringify(args);
  return {
    description: clipText(
      `Call ${JSON.stringify(toolName)} of ${JSON.stringify(server)} with ${preview}`,
      longestPreview,
    ),
    buttonLabel: 'Call the tool',
    kind: 'external',
    confirmSeverity: 'external',
    target: { type: 'server_tool', selector: toolName },
  };
}

/** Proposes an action. Reports it to the client only once. */
export function propose(
  { projectId, conversationId, record, actions }: TurnContext,
  proposal: { operation: string; approval: Approval; work: ActionWork },
): ToolOutput {
  if (conversationId === null) return renderError('There is no conversation that an approval could come from.');
  const scope: ActionScope = { projectId, conversationId };
  const proposed = actions.propose(scope, proposal);
  if (!record.proposedActions.includes(proposed)) record.proposedActions.push(proposed);
  return renderText(
    `The action is proposed as ${proposed.actionId} and awaits approval. It is not executed yet; do not say that it is.`,
  );
}

function renderText(text: string): ToolOutput {
  return { content: [{ type: 'text', text: clipText(text, longestResult) }], isError: false };
}

/** Makes a function that sends requests of the current caller, who passed the access checks, to `routes`. A refusal of a route is thrown. */
export function createDispatch(routes: Hono<ApiEnv>): Dispatch {
  const inside = new Hono<ApiEnv>();
  inside.use(async (context, next) => {
    const caller = currentCaller.getStore();
    if (caller === undefined) throw new Error('The agent acts for no caller.');
    context.set('caller', caller);
    await next();
  });
  inside.route('/', routes);
  inside.onError((error) => {
    throw error;
  });
  return async ({ method, path, body }, { projectId, idempotencyKey, signal }) => {
    const init = {
      method,
      signal,
      ...(idempotencyKey === undefined ? {} : { headers: { 'x-svc-idempotency-key': idempotencyKey } }),
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    };
    const withoutSocket: ApiEnv['Bindings'] = {};
    const response = await inside.request(`/projects/${encodeURIComponent(projectId)}${path}`, init, withoutSocket);
    if (!response.ok) throw new Error(`No route answers ${method} ${path}.`);
    return await response.json();
  };
}
