import type { Clock } from '../../../../src/base/time.ts';
import { ApiError, invalid, notFound } from '../envelope.ts';
import { createId } from '../../../../src/base/ids.ts';
import type { Approval, RouteRequest } from './operations.ts';

/** The work that the approval of an action starts. */
export type ActionWork =
  | { kind: 'request'; request: RouteRequest }
  | { kind: 'tool'; serverId: string; toolName: string; args: Readonly<Record<string, unknown>> };

/** An action that awaits its approval, as clients see it. An approval carries only the id. */
export type ProposedAction = Approval & {
  actionId: string;
  operation: string;
};

/** The project and the conversation in which an action was proposed. */
export interface ActionScope {
  projectId: string;
  conversationId: string;
}

type ActionState = 'proposed' | 'executing' | 'succeeded' | 'failed';

export interface Action {
  readonly proposal: ProposedAction;
  readonly work: ActionWork;
  readonly state: ActionState;
  /** Its result as text, for later turns; null until it ends. */
  readonly outcome: string | null;
  /** Ends the execution. `proposed` is for a refused request: nothing was done, and the action can be approved again. */
  settle(state: Exclude<ActionState, 'executing'>, outcome: string | null): void;
}

export interface ActionStore {
  /** Keeps an action until it is approved or expires. Equal actions of a conversation are kept once. */
  propose(scope: ActionScope, proposal: { operation: string; approval: Approval; work: ActionWork }): ProposedAction;
  /**
   * Takes an action for execution, which is possible only once.
   *
   * @throws {ApiError} NOT_FOUND; VALIDATION_ERROR if it has expired; CONFLICT if it was already taken.
   */
  claim(projectId: string, actionId: string): Action;
  /** Lists the actions of a conversation that have not expired, oldest first. */
  list(scope: ActionScope): Action[];
}

/** The time within which an action can be approved. */
const lifetimeMs = 60 * 60_000;

/** The oldest actions are dropped beyond this number, because models propose them without a limit. */
const maxActions = 1000;

interface StoredAction extends Action {
  scope: ActionScope;
  identity: string;
  expiresAtMs: number;
  state: ActionState;
  outcome: string | null;
}

/** Keeps actions in memory, because an approval is valid only in this process. */
export function createActionStore(clock: Clock): ActionStore {
  const actions = new Map<string, StoredAction>();
  const isLive = ({ expiresAtMs }: StoredAction) => clock.monotonicMs() < expiresAtMs;
  return {
    propose: (scope, { operation, approval, work }) => {
      const identity = JSON.stringify([scope.projectId, scope.conversationId, operation, work]);
      const same = [...actions.values()].find(
        (action) => action.identity === identity && action.state === 'proposed' && isLive(action),
      );
      if (same !== undefined) return same.proposal;
      const action: StoredAction = {
        scope,
        identity,
        work,
        proposal: { actionId: createId('act'), operation, ...approval },
        expiresAtMs: clock.monotonicMs() + lifetimeMs,
        state: 'proposed',
        outcome: null,
        settle: (state, outcome) => {
          action.state = state;
          action.outcome = outcome;
        },
      };
      actions.set(action.proposal.actionId, action);
      const [oldest] = actions.keys();
      if (actions.size > maxActions && oldest !== undefined) actions.delete(oldest);
      return action.proposal;
    },
    claim: (projectId, actionId) => {
      const action = actions.get(actionId);
      if (action === undefined || action.scope.projectId !== projectId) throw notFound('Action');
      if (action.state !== 'proposed') {
        throw new ApiError('CONFLICT', `The action was approved before; it is ${action.state}.`);
      }
      if (!isLive(action)) throw invalid('The approval came too late; ask the agent again.');
      action.state = 'executing';
      return action;
    },
    list: ({ projectId, conversationId }) =>
      [...actions.values()].filter(
        (action) =>
          action.scope.projectId === projectId && action.scope.conversationId === conversationId && isLive(action),
      ),
  };
}
