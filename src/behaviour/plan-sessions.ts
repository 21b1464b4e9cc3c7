import { formatCount } from '../base/text.ts';
import { checkSchema } from '../engine/schema-check.ts';
import { type ExploredRequest, nameRequest } from '../model/explored-request.ts';
import type { Inventory } from '../explore/inventory.ts';
import type { MeasuredBehaviour } from '../model/behaviour.ts';
import type { ComparedRequest } from './bench.ts';
import type { Corpus } from './corpus.ts';

/** A session that both sides can answer. */
export interface PlannedSession {
  requests: readonly ComparedRequest[];
}

export interface PlannedSessions {
  sessions: readonly PlannedSession[];
  uncompared: MeasuredBehaviour['uncompared'];
}

type Validity = boolean | null;

/**
 * Chooses the sessions of a corpus to compare. Those of tools, resources and prompts that one side does not list, and calls that only one of
 * the two input schemas allows, are left out: the comparison of the tool surface says that.
 */
export async function planSessions(
  corpus: Pick<Corpus, 'sessions' | 'harmless'>,
  { base, head }: { base: Inventory; head: Inventory },
): Promise<PlannedSessions> {
  const check = createChecker();
  const sessions: PlannedSession[] = [];
  const left = new Map<string, { subject: string; reason: string; count: number }>();
  for (const { phase, requests } of corpus.sessions) {
    const compared: ComparedRequest[] = [];
    let gap: { subject: string; reason: string } | null = null;
    for (const request of requests) {
      const [before, after] = [await check(base, request), await check(head, request)];
      gap ??= findMissing(request, base, head);
      if (request.kind === 'tool' && gap === null && before !== after) {
        gap = { subject: request.tool, reason: 'have arguments that only one of the two input schemas allows' };
      }
      const mayMake = request.kind === 'tool' && !corpus.harmless.includes(request.tool);
      compared.push({ request, isWrong: phase === 'errors' || before === false, mayMake });
    }
    if (gap === null) sessions.push({ requests: compared });
    else {
      const key = JSON.stringify(gap);
      left.set(key, { ...gap, count: (left.get(key)?.count ?? 0) + 1 });
    }
  }
  return {
    sessions,
    uncompared: [...left.values()].map(({ subject, reason, count }) => ({
      subject,
      reason: `${formatCount(count, 'session')} ${count === 1 ? singular(reason) : reason}`,
    })),
  };
}

const singular = (reason: string) => reason.replace(/^have /, 'has ').replace(/^need /, 'needs ');

function findMissing(
  request: ExploredRequest,
  base: Inventory,
  head: Inventory,
): { subject: string; reason: string } | null {
  const subject = nameRequest(request);
  const isListed = (inventory: Inventory) => listSubjects(request, inventory).includes(subject);
  if (!isListed(base) || isListed(head)) return null;
  return { subject, reason: 'need it, and the change does not list it' };
}

/** Lists what a request of this kind can name. */
function listSubjects(
  request: ExploredRequest,
  { tools, resources, templates, prompts }: Inventory,
): readonly string[] {
  if (request.kind === 'tool') return tools.map(({ name }) => name);
  if (request.kind === 'resource') return resources;
  return request.kind === 'completion' && request.of === 'resourceTemplate'
    ? templates.map(({ uri }) => uri)
    : prompts.map(({ name }) => name);
}

/** Creates a function that checks arguments against the input schema of a tool; null if that cannot be judged. */
function createChecker(): (inventory: Inventory, request: ExploredRequest) => Promise<Validity> {
  const known = new Map<string, Validity>();
  return async (inventory, request) => {
    if (request.kind !== 'tool') return null;
    const schema = inventory.tools.find(({ name }) => name === request.tool)?.inputSchema;
    if (schema === undefined) return null;
    const key = JSON.stringify([schema, request.arguments]);
    const earlier = known.get(key);
    if (earlier !== undefined) return earlier;
    const { kind } = await checkSchema(schema, request.arguments);
    const validity = kind === 'valid' || kind === 'invalid' ? kind === 'valid' : null;
    known.set(key, validity);
    return validity;
  };
}
