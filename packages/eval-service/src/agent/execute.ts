import { describeError } from '../../../../src/base/errors.ts';
import type { Clock } from '../../../../src/base/time.ts';
import { ApiError, type ErrorCode } from '../envelope.ts';
import { requireServer } from '../lookup.ts';
import { requireReachable } from '../run-request.ts';
import { type ConnectServers, openServerTools } from '../server-tools.ts';
import type { Store } from '../store/open-store.ts';
import type { Action, ActionWork } from './actions.ts';
import { callServerTool } from './server-call.ts';
import type { Dispatch } from './turn-tools.ts';

export interface ExecutionParts {
  store: Store;
  clock: Clock;
  connect: ConnectServers;
  dispatch: Dispatch;
}

interface ExecutionOptions {
  projectId: string;
  signal: AbortSignal;
}

/** The refusals after which the operation may still have done something. */
const maybeDone: ReadonlySet<ErrorCode> = new Set(['INTERNAL_ERROR', 'SERVER_UNREACHABLE', 'TIMEOUT']);

/**
 * Executes an approved action and settles it. If it is refused before anything was done, it can be approved again.
 *
 * @throws {ApiError} the refusal of the operation
 * @throws the signal's reason once it aborts
 */
export async function executeAction(
  action: Action,
  parts: ExecutionParts,
  options: ExecutionOptions,
): Promise<unknown> {
  try {
    const result = await execute(action, parts, options);
    action.settle('succeeded', JSON.stringify(result));
    return result;
  } catch (error) {
    if (error instanceof ApiError && !maybeDone.has(error.code)) action.settle('proposed', null);
    else action.settle('failed', describeError(error));
    throw error;
  }
}

async function execute(
  { work, proposal }: { work: ActionWork; proposal: { actionId: string } },
  { store, clock, connect, dispatch }: ExecutionParts,
  { projectId, signal }: ExecutionOptions,
): Promise<unknown> {
  if (work.kind === 'request') {
    return await dispatch(work.request, { projectId, idempotencyKey: proposal.actionId, signal });
  }
  const server = requireServer(store, projectId, work.serverId);
  requireReachable(server);
  await using opened = await openServerTools(server, { connect, clock, signal });
  return await callServerTool(opened, work, signal);
}
