import { z } from 'zod';
import { agentOperations } from '../../../../src/service/operations/agent.ts';
import { formatModelName } from '../../../../src/models/model-name.ts';
import { createActionStore } from '../agent/actions.ts';
import { executeAction, type ExecutionParts } from '../agent/execute.ts';
import { listOperations, runSuiteOperation } from '../agent/operations.ts';
import { openProjectServers } from '../agent/project-servers.ts';
import { type AgentMessage, runTurn, type TurnAnswer } from '../agent/turn.ts';
import { collectTools, propose, type TurnContext, type TurnRecord } from '../agent/turn-tools.ts';
import type { ChatSessions } from '../chats/sessions.ts';
import { type ChosenModel, explainModelError, type ModelParts, requireModel } from '../ask-model.ts';
import { ApiError } from '../envelope.ts';
import { createExactlyOnce } from '../exactly-once.ts';
import type { ServeOperation } from '../operation-routes.ts';
import { describeRequest, keepAnswer } from '../request.ts';
import { answerWithin } from '../time-limit.ts';

/** The limits of the API. */
const maxConcurrentTurns = 4;
const turnTimeoutMs = 90_000;

/** Longer than the time limit of any operation. */
const executionTimeoutMs = 200_000;

type TurnReport = TurnAnswer & TurnRecord;
type AgentParts = ExecutionParts & ModelParts & { sessions: Pick<ChatSessions, 'record'> };

/** Serves the agent: a model with the operations of a project and the tools of its servers, one turn per request. */
export function serveAgent(serve: ServeOperation, parts: AgentParts): void {
  const { store, clock, dispatch, sessions } = parts;
  const actions = createActionStore(clock);
  const doOnce = createExactlyOnce(store);
  const takeSlot = createSlots();

  serve(agentOperations.runAgentTurn, async ({ ids: { projectId }, body: sent, caller, request }) => {
    const { idempotencyKey, ...body } = sent;
    const keyed = describeRequest(`agent:${projectId}`, idempotencyKey, body);
    const { answer } = await doOnce(keyed, z.custom<TurnReport>(), async () => {
      const chosen = requireModel(parts, { operation: 'The agent' });
      using _slot = takeSlot();
      const record: TurnRecord = { toolCalls: [], createdResources: [], proposedActions: [] };
      const context: TurnContext = {
        projectId,
        conversationId: body.conversationId ?? body.slackChannelId ?? null,
        turnKey: idempotencyKey,
        projectUrl: new URL(request.url.replace(/\/agent(?:\?.*)?$/, '')).href,
        record,
        dispatch,
        actions,
      };
      const limits = { clock, timeoutMs: turnTimeoutMs, client: request.raw.signal, what: 'The turn' };
      try {
        const answered = await answerWithin(
          (signal) => takeTurn(parts, { chosen, messages: body.messages, context }, signal),
          limits,
        );
        offerRuns(context);
        const report: TurnReport = { ...answered, ...record };
        store.transact(() => {
          keepAnswer(store, keyed, report);
          sessions.record({
            projectId,
            userId: caller.user.id,
            conversationId: context.conversationId,
            isShared: body.slackChannelId !== undefined,
            messages: body.messages,
          });
        });
        return report;
      } catch (error) {
        throw addRecord(explainModelError(error), record);
      }
    });
    return answer;
  });

  serve(agentOperations.executeProposedAction, async ({ ids: { projectId, actionId }, request }) => {
    const action = actions.claim(projectId, actionId);
    const result = await answerWithin((signal) => executeAction(action, parts, { projectId, signal }), {
      clock,
      timeoutMs: executionTimeoutMs,
      client: request.raw.signal,
      what: 'The action',
    });
    const { operation, kind } = action.proposal;
    return { actionId, operation, status: 'succeeded', kind, result };
  });
}

async function takeTurn(
  { store, clock, connect }: AgentParts,
  { chosen, messages, context }: { chosen: ChosenModel; messages: readonly AgentMessage[]; context: TurnContext },
  signal: AbortSignal,
): Promise<TurnAnswer> {
  const { projectId, conversationId, actions } = context;
  await using servers = await openProjectServers(store.servers.list(projectId), { connect, clock, signal });
  const session = await chosen.openSession();
  const input = {
    history: messages.slice(0, -1),
    prompt: messages.at(-1)?.content ?? '',
    tools: collectTools(listOperations(formatModelName(chosen.model)), servers.opened, context),
    actions: conversationId === null ? [] : actions.list({ projectId, conversationId }),
    unreachable: servers.unreachable,
  };
  return await runTurn(session, input, signal);
}

/** Proposes to run each suite that the turn created, as the API does. */
function offerRuns(context: TurnContext): void {
  if (context.conversationId === null) return;
  for (const { type, id } of context.record.createdResources) {
    const call = type === 'eval_suite' ? runSuiteOperation.read({ suiteId: id }) : null;
    if (call === null || 'problem' in call || call.approval === null) continue;
    const { approval, request } = call;
    propose(context, { operation: runSuiteOperation.name, approval, work: { kind: 'request', request } });
  }
}

/** Adds the record of the turn to its refusal, because a failed turn may have created something. */
function addRecord(error: unknown, { createdResources, proposedActions }: TurnRecord): unknown {
  if (!(error instanceof ApiError)) return error;
  const details = {
    ...error.details,
    ...(createdResources.length === 0 ? {} : { createdResources }),
    ...(proposedActions.length === 0 ? {} : { proposedActions }),
  };
  return new ApiError(error.code, error.message, { details, cause: error });
}

function createSlots(): () => Disposable {
  let taken = 0;
  return () => {
    if (taken >= maxConcurrentTurns) {
      const message = `${maxConcurrentTurns} turns are under way; wait until one has ended.`;
      throw new ApiError('RATE_LIMITED', message, { details: { maxConcurrentTurns } });
    }
    taken += 1;
    return {
      [Symbol.dispose]: () => {
        taken -= 1;
      },
    };
  };
}
