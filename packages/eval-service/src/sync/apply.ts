import { randomUUID } from 'node:crypto';
import { ProtocolError, ServiceError } from '../../../../src/base/errors.ts';
import { callOperation } from '../../../../src/service/call-operation.ts';
import type { ServiceClient } from '../../../../src/service/client.ts';
import { operations } from '../../../../src/service/operations/table.ts';
import { describeNewCase } from '../../../../src/suite/sync.ts';
import { writeLedger } from './ledger.ts';
import { placeholderTitle, type SuiteSyncPlan, wantedSettings } from './plan-sync.ts';
import { noModel } from './stored-suite.ts';

interface ApplyTarget {
  projectId: string;
  signal?: AbortSignal;
}

/**
 * Carries out exactly the given plan. The ledger is written before its cases, so that an interrupted sync still recognizes the cases that it
 * created. Resolves to the id of the suite.
 *
 * @throws {ProtocolError} with the cases that the service did not store
 */
export async function applySuiteSync(
  client: ServiceClient,
  plan: SuiteSyncPlan,
  { projectId, ...options }: ApplyTarget,
): Promise<string> {
  const { suite, stored, ledger } = plan;
  const created = stored === null ? await createEmptySuite(client, plan, { projectId, ...options }) : null;
  const suiteId = stored?.id ?? created?.suiteId ?? '';
  if (stored === null || plan.settings.length > 0) {
    const { minimumAccuracy, model, systemPrompt, temperature } = wantedSettings(suite);
    const executionConfig = {
      model: model ?? noModel,
      systemPrompt: systemPrompt ?? '',
      ...(temperature !== null && { temperature }),
    };
    const hasServers = plan.settings.some(({ name }) => name === 'servers');
    const servers = new Set([...(stored?.servers ?? []), ...plan.servers].map(({ id }) => id));
    const fields = {
      projectId,
      suiteId,
      description: writeLedger(stored?.text ?? '', ledger),
      executionConfig,
      settings: { minimumAccuracy, minimumIterations: null },
      ...(hasServers && { environment: { servers: [...servers] } }),
    };
    await callOperation(client, operations.suiteSettings.updateEvalSuite, fields, options);
  }
  for (const { caseId, changes } of plan.update) {
    const fields = { ...changes, projectId, suiteId, caseId };
    await callOperation(client, operations.cases.updateEvalCase, fields, options);
  }
  const gone = [...plan.replace, ...plan.delete].map(({ caseId }) => caseId);
  for (const caseId of gone) await deleteIfThere(client, { projectId, suiteId, caseId, ...options });
  await createAll(client, plan, { projectId, suiteId, ...options });
  // Deleted last, because the service may not accept a suite without a case.
  if (created !== null) await deleteIfThere(client, { projectId, ...created, ...options });
  return suiteId;
}

/** Creates a suite with a placeholder case: the API creates no suite without a case, and only cases that are added later can have their own ids. */
async function createEmptySuite(
  client: ServiceClient,
  { suite, servers, ledger }: SuiteSyncPlan,
  { projectId, ...options }: ApplyTarget,
): Promise<{ suiteId: string; caseId: string }> {
  const fields = {
    projectId,
    name: suite.name,
    description: writeLedger('', ledger),
    serverIds: servers.map(({ id }) => id),
    model: suite.model ?? noModel,
    tests: [
      {
        title: placeholderTitle,
        steps: [{ id: 'called', kind: 'assert' as const, assertion: { type: 'noToolErrors' } }],
        runs: 1,
      },
    ],
  };
  const once = { idempotencyKey: randomUUID(), isSetup: true, ...options };
  const { suiteId, caseUpsert } = await callOperation(client, operations.suites.createEvalSuite, fields, once);
  const caseId = caseUpsert.committed?.[0]?.id;
  if (caseId == null) throw new ProtocolError('The service created a suite and named none of its cases.');
  return { suiteId, caseId };
}

async function createAll(
  client: ServiceClient,
  { suite, create, replace, servers }: SuiteSyncPlan,
  { projectId, suiteId, ...options }: ApplyTarget & { suiteId: string },
): Promise<void> {
  const wanted = new Set([...create, ...replace.map(({ testCase }) => testCase)]);
  const { dialect, limits } = client.profile;
  const cases = suite.cases
    .filter((testCase) => wanted.has(testCase))
    .map((testCase) => describeNewCase(testCase, suite, { serverName: servers[0].name, dialect }));
  for (let start = 0; start < cases.length; start += limits.testsPerRequest) {
    const fields = {
      projectId,
      suiteId,
      cases: cases.slice(start, start + limits.testsPerRequest),
      // A duplicate of a case that another client created does not block the creation.
      duplicatePolicy: 'warn',
    };
    const once = { idempotencyKey: randomUUID(), ...options };
    const { failed } = await callOperation(client, operations.cases.createEvalCases, fields, once);
    if (failed.length === 0) continue;
    const reasons = failed.map(({ title, message }) => `${title ?? 'unnamed'}: ${message}`);
    throw new ProtocolError(
      `The service did not take ${failed.length} of ${cases.length} cases. ${reasons.join('; ')}`,
    );
  }
}

async function deleteIfThere(
  client: ServiceClient,
  { signal, ...at }: { projectId: string; suiteId: string; caseId: string; signal?: AbortSignal },
): Promise<void> {
  await callOperation(client, operations.cases.deleteEvalCase, at, { signal }).catch((error: unknown) => {
    if (!(error instanceof ServiceError && error.status === 404)) throw error;
  });
}
