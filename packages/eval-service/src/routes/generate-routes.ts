import { z } from 'zod';
import type { Clock } from '../../../../src/base/time.ts';
import type { GenerateBody } from '../../../../src/service/bodies/case-requests.ts';
import { caseOperations } from '../../../../src/service/operations/cases.ts';
import { formatModelName } from '../../../../src/models/model-name.ts';
import { explainModelError, type ModelParts, requireModel } from '../ask-model.ts';
import type { SuiteContent } from '../bodies/stored-suite.ts';
import { invalid } from '../envelope.ts';
import { createExactlyOnce } from '../exactly-once.ts';
import { askForCases } from '../generate/ask.ts';
import { createDraftedCases, type SkippedDraft } from '../generate/create-cases.ts';
import { type GenerationPlan, planGeneration } from '../generate/plan-cases.ts';
import { requireNamedServer, requireSuite } from '../lookup.ts';
import type { ServeOperation } from '../operation-routes.ts';
import { readModel } from '../plan-run-cases.ts';
import { describeRequest, type IdempotentRequest, keepAnswer, readIdempotencyKey } from '../request.ts';
import { type FindRunTarget, requireReachable, type RunTarget } from '../run-request.ts';
import { type ConnectServers, openServerTools } from '../server-tools.ts';
import type { Store } from '../store/open-store.ts';
import type { ServerRecord } from '../store/server-store.ts';
import { answerWithin } from '../time-limit.ts';
import { renderCase } from './cases-routes.ts';

/** The time limit for connecting to the servers and for both answers that a model may need. */
const timeoutMs = 180_000;

interface Generated {
  generationModel: string;
  created: Array<ReturnType<typeof renderCase>>;
  counts: { normal: number; negative: number };
  skipped?: SkippedDraft[];
}

interface Order {
  projectId: string;
  suite: { id: string; content: SuiteContent };
  body: GenerateBody;
  request: IdempotentRequest | undefined;
}

interface GenerateParts extends ModelParts {
  store: Store;
  clock: Clock;
  connect: ConnectServers;
  findTarget: FindRunTarget;
}

/** Serves the generation of cases: the request connects to servers, asks a model for cases for their tools, and creates them. */
export function serveGeneration(serve: ServeOperation, parts: GenerateParts): void {
  const { store, clock } = parts;
  const doOnce = createExactlyOnce(store);

  serve(caseOperations.generateEvalCases, async ({ ids: { projectId, suiteId }, body: sent, request }) => {
    const suite = requireSuite(store, projectId, suiteId);
    const { idempotencyKey, ...body } = sent;
    // The header takes precedence over the body here, as in the API, because a model may have written the body.
    const keyed = describeRequest(`generate:${suite.id}`, readIdempotencyKey(request) ?? idempotencyKey, body);
    const order = { projectId, suite, body, request: keyed };
    const { answer } = await doOnce(keyed, z.custom<Generated>(), () =>
      answerWithin((signal) => generate(parts, order, signal), {
        clock,
        timeoutMs,
        client: request.raw.signal,
        what: 'The generation of cases',
      }),
    );
    return answer;
  });
}

async function generate(parts: GenerateParts, order: Order, signal: AbortSignal): Promise<Generated> {
  const { content } = order.suite;
  const target = findEnvironment(parts.findTarget, order);
  const model = target === null ? content.model : (target.settings.model ?? null);
  const suiteModel = model === null ? null : readModel({ model });
  const chosen = requireModel(parts, { operation: 'The generation of cases', suiteModel });
  const plan = planGeneration(order.body);
  const opened = await openAll(selectServers(parts.store, order, target), { ...parts, signal });
  try {
    const toolNames = new Set(opened.flatMap(({ tools }) => [...tools.keys()]));
    if (toolNames.size === 0) throw invalid('The servers have no tools to write cases for.');
    const request = { servers: opened, plan, variesStyles: order.body.varyUserStyles === true };
    const drafts = await chosen
      .openSession()
      .then((session) => askForCases(session, request, { signal }))
      .catch((error: unknown) => {
        throw explainModelError(error);
      });
    // After the time limit, no client reads the answer.
    signal.throwIfAborted();
    return keepCases(parts, order, { drafts, plan, toolNames, generationModel: formatModelName(chosen.model) });
  } finally {
    await Promise.all(opened.map((server) => server[Symbol.asyncDispose]()));
  }
}

/** Opens all servers or none: if one fails, the opened ones are closed. */
async function openAll(servers: readonly ServerRecord[], options: Parameters<typeof openServerTools>[1]) {
  const opening = await Promise.allSettled(servers.map((server) => openServerTools(server, options)));
  const opened = opening.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
  const failed = opening.find((result) => result.status === 'rejected');
  if (failed === undefined) return opened;
  await Promise.all(opened.map((server) => server[Symbol.asyncDispose]()));
  throw failed.reason;
}

/**
 * Finds the environment in which runs of the suite take place; null if there is none or if the request names only servers. The model that
 * writes cases gets no skills.
 */
function findEnvironment(findTarget: FindRunTarget, { projectId, suite, body }: Order): RunTarget | null {
  const { environmentId, servers = [] } = body;
  if (servers.length > 0 && environmentId === undefined) return null;
  const named = { suiteId: suite.id, ...(environmentId !== undefined && { environmentId }) };
  return findTarget(projectId, suite, {
    ...named,
    ...(servers.length > 0 && { serverIds: servers }),
    skillsOverride: 'exclude',
  });
}

/** Selects the servers of the request; else the first server of the environment or the suite, to which prompts of its runs talk. */
function selectServers(store: Store, { projectId, suite, body }: Order, target: RunTarget | null): ServerRecord[] {
  const named = body.servers?.map((idOrName) => requireNamedServer(store, projectId, idOrName)) ?? [];
  const saved = target?.servers ?? suite.content.serverIds.flatMap((id) => store.servers.get(projectId, id) ?? []);
  const servers =
    named.length > 0 ? [...new Map(named.map((server) => [server.id, server])).values()] : saved.slice(0, 1);
  if (servers.length === 0) {
    throw invalid('The suite has no servers saved; send servers.', {
      reason: 'NO_SAVED_SERVER_SELECTION',
      suiteId: suite.id,
    });
  }
  for (const server of servers) requireReachable(server);
  return servers;
}

/** Creates the cases and keeps the answer, in one transaction. */
function keepCases(
  { store, clock }: GenerateParts,
  { projectId, suite, body, request }: Order,
  {
    drafts,
    plan,
    toolNames,
    generationModel,
  }: { drafts: readonly unknown[]; plan: GenerationPlan; toolNames: ReadonlySet<string>; generationModel: string },
): Generated {
  return store.transact(() => {
    // The suite may have been deleted while the model answered.
    requireSuite(store, projectId, suite.id);
    const { created, skipped } = createDraftedCases(drafts, {
      cases: store.cases,
      suiteId: suite.id,
      toolNames,
      models: body.caseModels,
      maxCases: plan.total,
      now: clock.now(),
    });
    const negative = created.filter(({ content }) => content.isNegative).length;
    const answer: Generated = {
      generationModel,
      created: created.map(renderCase),
      counts: { normal: created.length - negative, negative },
      ...(skipped.length === 0 ? {} : { skipped }),
    };
    keepAnswer(store, request, answer);
    return answer;
  });
}
