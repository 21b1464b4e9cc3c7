import { Hono } from 'hono';
import { z } from 'zod';
import { declaredIdPattern, toCaseContent, type CaseContent } from '../bodies/case.ts';
import { renderFirstIssue } from '../bodies/read.ts';
import type { BodySchemas } from '../bodies/schemas.ts';
import type { ServiceContext } from '../context.ts';
import { invalid } from '../envelope.ts';
import { describeRequest, findAnswer, keepAnswer, readIdempotencyKey } from '../idempotency.ts';
import { requireProject, requireSuite } from '../lookup.ts';
import { createCaseRecord, type CaseRecord } from '../store/cases.ts';

const policies = ['block', 'warn', 'create_anyway'] as const;
type DuplicatePolicy = (typeof policies)[number];

interface BatchAnswer {
  created: Array<{
    index: number;
    id: string;
    declaredId: string;
    title: string;
    replayed: boolean;
    warnings?: string[];
  }>;
  failed: Array<{ index: number; title?: string; declaredId?: string; code: string; message: string }>;
  duplicatePolicy: { requestedPolicy?: string; effectivePolicy: DuplicatePolicy; coerced: boolean };
}

/**
 * Many cases at once, each on its own: the answer lists the cases that were created and those that were not, and is 201 either
 * way. Two cases are duplicates when they say the same, whatever they are called.
 */
export function createCaseBatchRoutes({ store, clock, limits, bodies, readBody }: ServiceContext): Hono {
  const routes = new Hono();
  const batchSchema = z.strictObject({
    cases: z.array(z.unknown()).min(1).max(limits.testsPerRequest),
    /** An unknown one is not refused but read as `block`, and the answer says so. */
    duplicatePolicy: z.string().exactOptional(),
    overrideReason: z.string().min(1).exactOptional(),
  });

  routes.post('/projects/:projectId/eval-suites/:suiteId/cases/batch', async (c) => {
    const project = requireProject(store, c.req.param('projectId'));
    const suite = requireSuite(store, project.id, c.req.param('suiteId'));
    const body = await readBody(c.req, batchSchema);
    const duplicatePolicy = readPolicy(body.duplicatePolicy);
    if (duplicatePolicy.effectivePolicy === 'create_anyway' && body.overrideReason === undefined) {
      throw invalid('overrideReason: Required with create_anyway', { reason: 'OVERRIDE_REASON_REQUIRED' });
    }
    const request = describeRequest(`cases:${suite.id}`, readIdempotencyKey(c.req), body);
    const answered = findAnswer(store, request, z.custom<BatchAnswer>());
    if (answered !== undefined) {
      return c.json({ ...answered, created: answered.created.map((item) => ({ ...item, replayed: true })) }, 201);
    }

    const answer: BatchAnswer = { created: [], failed: [], duplicatePolicy };
    const known = new KnownCases(store.cases.list(suite.id));
    store.transact(() => {
      for (const [index, item] of body.cases.entries()) {
        const read = readItem(item, bodies.cases.create);
        if ('code' in read) {
          answer.failed.push({ index, ...read });
          continue;
        }
        const { content, declaredId } = read;
        const refusal = known.refuse(content, declaredId, duplicatePolicy.effectivePolicy);
        const { title } = content;
        if (refusal !== undefined) {
          answer.failed.push({ index, title, ...(declaredId === undefined ? {} : { declaredId }), ...refusal });
          continue;
        }
        const warnings = known.hasContent(content) ? ['Another case of the suite says the same.'] : [];
        const record = createCaseRecord(suite.id, content, clock.now(), { declaredId });
        store.cases.insert(record);
        known.add(record);
        const created = { index, id: record.id, declaredId: record.declaredId, title, replayed: false };
        answer.created.push(warnings.length === 0 ? created : { ...created, warnings });
      }
      keepAnswer(store, request, answer);
    });
    return c.json(answer, 201);
  });
  return routes;
}

/** What a suite holds already, the batch's earlier items included. */
class KnownCases {
  readonly #declaredIds = new Set<string>();
  readonly #contents = new Set<string>();

  constructor(records: readonly CaseRecord[]) {
    for (const record of records) this.add(record);
  }

  add({ declaredId, content }: CaseRecord): void {
    this.#declaredIds.add(declaredId);
    this.#contents.add(JSON.stringify(content));
  }

  hasContent(content: CaseContent): boolean {
    return this.#contents.has(JSON.stringify(content));
  }

  refuse(content: CaseContent, declaredId: string | undefined, policy: DuplicatePolicy) {
    if (declaredId !== undefined && this.#declaredIds.has(declaredId)) {
      return {
        code: 'DUPLICATE_CASE_ID',
        message: `The suite has a case with id ${JSON.stringify(declaredId)} already.`,
      };
    }
    if (policy === 'block' && this.hasContent(content)) {
      return { code: 'DUPLICATE_CONTENT', message: 'Another case of the suite says the same.' };
    }
    return undefined;
  }
}

function readPolicy(requested: string | undefined): BatchAnswer['duplicatePolicy'] {
  if (requested === undefined) return { effectivePolicy: 'block', coerced: false };
  const known = policies.find((policy) => policy === requested);
  return { requestedPolicy: requested, effectivePolicy: known ?? 'block', coerced: known === undefined };
}

type ReadItem =
  | { content: CaseContent; declaredId: string | undefined }
  | { code: string; message: string; title?: string; declaredId?: string };

function readItem(item: unknown, schema: BodySchemas['cases']['create']): ReadItem {
  const named = z.looseObject({ title: z.unknown().optional(), id: z.unknown().optional() }).safeParse(item);
  if (!named.success) return { code: 'INVALID_ITEM', message: 'Expected an object.' };
  const { title, id } = named.data;
  const label = {
    ...(typeof title === 'string' ? { title } : {}),
    ...(typeof id === 'string' ? { declaredId: id } : {}),
  };
  if (id !== undefined && !(typeof id === 'string' && declaredIdPattern.test(id))) {
    return { ...label, code: 'INVALID_CASE_ID', message: 'id: Expected 1 to 128 of A-Z, a-z, 0-9, _ and -' };
  }
  const parsed = schema.safeParse(item);
  if (!parsed.success) return { ...label, code: 'INVALID_CASE', message: renderFirstIssue(parsed.error) };
  return { content: toCaseContent(parsed.data), declaredId: parsed.data.id };
}
