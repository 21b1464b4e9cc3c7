import { createHash } from 'node:crypto';
import {
  type RunGroupBody,
  runGroupOperations,
  type RunGroupReceipt,
  type RunGroupTarget,
} from '../../../../src/service/operations/run-groups.ts';
import type { RunCreateBody } from '../bodies/stored-suite.ts';
import type { RunCreator } from '../create-run.ts';
import type { Environments } from '../environments/environment-records.ts';
import { ApiError, invalid } from '../envelope.ts';
import type { Hosts } from '../hosts/host-records.ts';
import { createId } from '../../../../src/base/ids.ts';
import type { ServeOperation } from '../operation-routes.ts';
import { readIdempotencyKey } from '../request.ts';

type GroupCreator = Pick<RunCreator, 'createRunExactlyOnce' | 'checkRun' | 'wasCreated' | 'takeSlot'>;
type TargetReceipt = RunGroupReceipt['targets'][number];

interface GroupParts {
  creator: GroupCreator;
  environments: Environments;
  hosts: Hosts;
}

/** The run of one target. */
interface TargetOrder {
  target: RunGroupTarget;
  body: RunCreateBody;
  key: string | undefined;
}

/**
 * Serves groups of runs. All targets are checked before the first run starts. If a target fails after that, the others continue. The group
 * takes one slot for runs until its last run has ended.
 */
export function serveRunGroups(serve: ServeOperation, parts: GroupParts): void {
  const { creator } = parts;
  serve(runGroupOperations.createEvalRunGroup, async ({ ids: { projectId }, body, request }) => {
    const key = readIdempotencyKey(request, body.idempotencyKey);
    const runGroupId = key === undefined ? createId('grp') : digest([body.suiteId, key]);
    const orders = listTargets(body).map((target) =>
      describeOrder(target, { body, runGroupId, isKeyed: key !== undefined }),
    );
    const missing = orders.filter((order) => !creator.wasCreated(projectId, order.body, order.key));
    for (const order of missing) creator.checkRun(projectId, order.body);
    using slot = missing.length === 0 ? null : creator.takeSlot();
    const targets: TargetReceipt[] = [];
    for (const order of orders) {
      const target = { ...order.target, name: findName(parts, projectId, order.target) };
      const result = await createTargetRun(creator, order, { projectId, slot });
      targets.push({ target, ...result });
    }
    const started = targets.filter(({ status }) => status === 'started');
    const [first] = started;
    const failedCount = targets.length - started.length;
    return {
      runGroupId,
      suiteId: body.suiteId,
      outcome: first === undefined ? 'failed' : failedCount > 0 ? 'partial' : 'started',
      startedCount: started.length,
      failedCount,
      targets,
      ...(first !== undefined && { runId: first.runId, status: first.runStatus }),
    };
  });
}

async function createTargetRun(
  creator: GroupCreator,
  { body, key }: TargetOrder,
  { projectId, slot }: { projectId: string; slot: ReturnType<GroupCreator['takeSlot']> | null },
): Promise<Omit<TargetReceipt, 'target'>> {
  try {
    const { runId, status, deduped } = await creator.createRunExactlyOnce(projectId, body, key, slot);
    return { status: 'started', runId, runStatus: status, ...(deduped === true && { deduped }) };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const { code, message, details } = error;
    return { status: 'failed', error: { code, message, ...(Object.keys(details).length > 0 && { details }) } };
  }
}

/**
 * Lists each target once, in the order of the request.
 *
 * @throws {ApiError} VALIDATION_ERROR unless all targets are environments, or all are hosts.
 */
function listTargets({ targets }: RunGroupBody): RunGroupTarget[] {
  const unnamed = targets.findIndex(({ environmentId, namedHostId }) => (environmentId ?? namedHostId) === undefined);
  if (unnamed !== -1) throw invalid(`targets.${unnamed}: Expected environmentId or namedHostId`);
  const environments = targets.filter(({ environmentId }) => environmentId !== undefined).length;
  const hosts = targets.filter(({ namedHostId }) => namedHostId !== undefined).length;
  if (environments > 0 && hosts > 0) {
    throw invalid('targets: Expected environments alone, or hosts alone', { reason: 'HETEROGENEOUS_TARGETS' });
  }
  const byId = new Map(targets.map((target) => [target.environmentId ?? target.namedHostId, target]));
  return [...byId.values()];
}

/** Describes the run of one target. Its key is the same in each repeat of the request. */
function describeOrder(
  target: RunGroupTarget,
  { body, runGroupId, isKeyed }: { body: RunGroupBody; runGroupId: string; isKeyed: boolean },
): TargetOrder {
  const { targets: _targets, idempotencyKey: _key, ...shared } = body;
  const key = isKeyed ? digest([runGroupId, target.environmentId ?? '', target.namedHostId ?? '']) : undefined;
  return { target, body: { ...shared, ...target, runGroupId }, key };
}

function digest(texts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(texts)).digest('hex');
}

/** Finds the name of a target. If a repeat arrives after the record was deleted, the id is used. */
function findName({ environments, hosts }: GroupParts, projectId: string, target: RunGroupTarget): string {
  const { environmentId, namedHostId = '' } = target;
  if (environmentId === undefined) return hosts.get(projectId, namedHostId)?.content.name ?? namedHostId;
  return environments.list(projectId).find(({ id }) => id === environmentId)?.content.name ?? environmentId;
}
