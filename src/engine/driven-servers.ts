import { isRecord, type JsonObject } from '../base/json.ts';
import { isForbidden, type ToolPolicy } from '../cases/case.ts';
import { clipReason } from '../checks/reasons.ts';
import type { AnswerMcp, McpAnswer } from '../host-drivers/mcp-socket.ts';
import type { DrivenRun } from './driven-run.ts';
import { type Connection, explainFailedRequest } from './process-loss.ts';
import { explainNoList } from './prompt-step.ts';
import { describeNoAnswer, giveUpByLoss } from './step-outcome.ts';
import { callTool, showResult } from './tool-call.ts';
import { describeMissing, lookUpTool } from './tool-list.ts';

const methodNotFound = -32_601;
const internalError = -32_603;

/** The revisions in which a host may speak. */
const revisions = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'];

/** Answers the requests of the host to one server, from the session of the iteration. */
export function answerMcp(connection: Connection, run: DrivenRun): AnswerMcp {
  const { session, signal } = connection;
  const list = async (
    method: 'tools/list' | 'resources/list' | 'resources/templates/list' | 'prompts/list',
    params: JsonObject,
  ) => {
    const { cursor } = params;
    const result = await session.request({ method, page: typeof cursor === 'string' ? { cursor } : {} }, { signal });
    return { result: method === 'tools/list' ? leaveOut(result, run.turn.toolPolicy) : result };
  };
  const answers: Readonly<Record<string, (params: JsonObject) => Promise<McpAnswer>>> = {
    initialize: async ({ protocolVersion }) => ({ result: describeServer(connection, protocolVersion) }),
    ping: async () => ({ result: {} }),
    'logging/setLevel': async () => ({ result: {} }),
    'tools/list': async (params) => {
      run.listed.add(connection);
      return await list('tools/list', params);
    },
    'resources/list': async (params) => await list('resources/list', params),
    'resources/templates/list': async (params) => await list('resources/templates/list', params),
    'prompts/list': async (params) => await list('prompts/list', params),
    'resources/read': async ({ uri }) => ({
      result: await session.request({ method: 'resources/read', params: { uri: String(uri) } }, { signal }),
    }),
    'prompts/get': async ({ name, arguments: args }) => {
      const given = isRecord(args) ? Object.entries(args).map(([key, value]) => [key, String(value)] as const) : [];
      const params = { name: String(name), arguments: Object.fromEntries(given) };
      return { result: await session.request({ method: 'prompts/get', params }, { signal }) };
    },
    'tools/call': async (params) => await answerCall(params, connection, run),
  };
  return async (method, params) => {
    const answer = Object.hasOwn(answers, method) ? answers[method] : undefined;
    if (answer === undefined) return { error: { code: methodNotFound, message: `Method not found: ${method}` } };
    try {
      return await answer(params);
    } catch (error) {
      if (signal.aborted) return { error: { code: internalError, message: 'The iteration is over.' } };
      const fault = await explainFailedRequest(error, connection);
      if (fault.kind === 'lost') run.stop({ outcome: giveUpByLoss(fault.witnessed, method) });
      else if (fault.kind === 'unreachable') {
        run.stop({ outcome: { status: 'fail', reason: describeNoAnswer(method, fault.message), effect: 'give-up' } });
      }
      const code = 'code' in fault && fault.code !== null ? fault.code : internalError;
      return { error: { code, message: 'message' in fault ? fault.message : 'The process of the server ended.' } };
    }
  };
}

/** Describes the server as it described itself to this session. */
function describeServer({ session, target }: Connection, asked: unknown): JsonObject {
  const { capabilities, instructions, handshake } = session;
  const { tools, resources, prompts } = capabilities;
  return {
    protocolVersion: typeof asked === 'string' && revisions.includes(asked) ? asked : revisions[0],
    capabilities: {
      ...(tools !== undefined && { tools: {} }),
      ...(resources !== undefined && { resources: {} }),
      ...(prompts !== undefined && { prompts: {} }),
    },
    serverInfo: { name: handshake.name ?? target.serverName, version: handshake.version ?? '0' },
    ...(instructions !== null && { instructions }),
  };
}

/** Leaves out the tools that the policy of the case does not offer. */
function leaveOut(result: unknown, { deny = [] }: ToolPolicy): unknown {
  if (!isRecord(result) || !Array.isArray(result['tools'])) return result;
  const tools: unknown[] = result['tools'];
  return { ...result, tools: tools.filter((tool) => !isRecord(tool) || !deny.includes(String(tool['name']))) };
}

async function answerCall(params: JsonObject, connection: Connection, run: DrivenRun): Promise<McpAnswer> {
  const { recording, origin, turn, tools } = run;
  const { transcript } = recording;
  const toolName = String(params['name']);
  const call = { toolName, arguments: isRecord(params['arguments']) ? params['arguments'] : {} };
  if (isForbidden(toolName, turn.toolPolicy)) {
    const text = `Calls of ${toolName} are not allowed here.`;
    transcript.refuseHostCall(call, text);
    return { result: { content: [{ type: 'text', text }], isError: true } };
  }
  const known = tools.lists.get(connection.target.serverName)?.get(toolName);
  const tool = known === undefined ? await lookUpTool(toolName, connection) : { kind: 'listed' as const, ...known };
  if (tool.kind === 'lost' || tool.kind === 'unreachable' || tool.kind === 'refused') {
    run.stop({ outcome: explainNoList(tool) });
    return { error: { code: internalError, message: 'The server lists no tools.' } };
  }
  if (tool.kind === 'missing') transcript.unlistedTools.push({ toolName, stepIndex: origin.stepIndex });
  const record = transcript.beginHostCall(call, { ...origin, isListed: tool.kind === 'listed' });
  if (tool.kind === 'missing') {
    const message = describeMissing(toolName, tools.list);
    const toolError = clipReason(message);
    record.complete({ kind: 'error', message, toolError, code: null, answeredAtMs: transcript.elapsedMs() });
    return { error: { code: -32_602, message } };
  }
  const answer = await callTool(call, connection, { ...recording, record, tool });
  const failed = { error: { code: internalError, message: 'The server gave no answer.' } };
  if (answer.kind === 'lost') {
    run.stop({ outcome: giveUpByLoss(answer.witnessed, toolName, { name: toolName, args: call.arguments }) });
    return failed;
  }
  if (answer.kind === 'unreachable' || answer.kind === 'unmeasured') {
    const reason = answer.kind === 'unmeasured' ? answer.reason : describeNoAnswer(toolName, answer.message);
    run.stop({ outcome: { status: 'fail', reason, effect: 'give-up' } });
    return failed;
  }
  const { isFatal, ...output } = answer;
  const { toolError } = record.complete(output);
  await showResult(call, output, { connection, declaration: tool, widgets: recording.widgets });
  if (isFatal) run.stop({ outcome: { status: 'fail', reason: toolError, effect: 'stop' } });
  if (output.kind === 'result') return { result: output.result };
  return { error: { code: output.code ?? internalError, message: output.message } };
}
