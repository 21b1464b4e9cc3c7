import { z } from 'zod';
import type { Clock } from '../../../../src/base/time.ts';
import { defaultMatchOptions } from '../../../../src/cases/case.ts';
import {
  type CaseContent,
  declaredIdPattern,
  patchCaseContent,
  toCaseContent,
} from '../../../../src/service/bodies/case-body.ts';
import { caseOperations } from '../../../../src/service/operations/cases.ts';
import { ApiError, invalid } from '../envelope.ts';
import { describeRequest, findAnswer, keepAnswer, readIdempotencyKey, renderFirstIssue } from '../request.ts';
import { type DuplicatePolicy, duplicatePolicies, KnownCases } from '../known-cases.ts';
import { requireCase, requireSuite } from '../lookup.ts';
import type { ServeOperation } from '../operation-routes.ts';
import { type CaseRecord, createCaseRecord } from '../store/case-store.ts';
import type { Store } from '../store/open-store.ts';
import type { SuiteRecord } from '../store/suite-store.ts';

/** Serves the cases of a suite. */
export function serveCases(serve: ServeOperation, { store, clock }: { store: Store; clock: Clock }): void {
  const findSuite = ({ projectId, suiteId }: { projectId: string; suiteId: string }): SuiteRecord =>
    requireSuite(store, projectId, suiteId);

  serve(caseOperations.listEvalCases, ({ ids }) => ({ items: store.cases.list(findSuite(ids).id).map(renderCase) }));

  serve(caseOperations.createEvalCase, ({ ids, body }) => {
    const suite = findSuite(ids);
    if (body.id !== undefined && store.cases.getDeclared(suite.id, body.id) !== undefined) {
      throw new ApiError('CONFLICT', `The suite has a case with id ${JSON.stringify(body.id)} already.`, {
        details: { reason: 'DUPLICATE_CASE_ID' },
      });
    }
    const record = createCaseRecord(suite.id, toCaseContent(body), clock.now(), { declaredId: body.id });
    store.cases.insert(record);
    return renderCase(record);
  });

  serve(caseOperations.getEvalCase, ({ ids }) => renderCase(requireCase(store, findSuite(ids), ids.caseId)));

  serve(caseOperations.updateEvalCase, ({ ids, body }) => {
    const before = requireCase(store, findSuite(ids), ids.caseId);
    const after = { ...before, content: patchCaseContent(before.content, body), updatedAt: clock.now() };
    const others = new KnownCases(store.cases.list(before.suiteId).filter(({ id }) => id !== before.id));
    if (others.hasContent(after.content) && !others.hasContent(before.content)) {
      throw new ApiError('CONFLICT', 'Another case of the suite says the same.', {
        details: { reason: 'DUPLICATE_CONTENT' },
      });
    }
    store.cases.update(after);
    return renderCase(after);
  });

  serve(caseOperations.deleteEvalCase, ({ ids }) => {
    const suite = findSuite(ids);
    const { id } = requireCase(store, suite, ids.caseId);
    if (suite.content.schedule?.enabled === true && store.cases.list(suite.id).length === 1) {
      throw new ApiError('CONFLICT', 'It is the only case of a suite with a schedule; disable the schedule first.');
    }
    store.cases.delete(id);
    return { id, deleted: true as const };
  });

  // Each case of a batch succeeds or fails separately. Two cases are duplicates if they have the same content, whatever their titles.
  serve(caseOperations.createEvalCases, ({ ids, body, request }) => {
    const suite = findSuite(ids);
    const duplicatePolicy = readPolicy(body.duplicatePolicy);
    if (duplicatePolicy.effectivePolicy === 'create_anyway' && body.overrideReason === undefined) {
      throw invalid('overrideReason: Required with create_anyway', { reason: 'OVERRIDE_REASON_REQUIRED' });
    }
    const keyed = describeRequest(`cases:${suite.id}`, readIdempotencyKey(request), body);
    const answered = findAnswer(store, keyed, z.custom<BatchAnswer>());
    if (answered !== undefined) {
      return { ...answered, created: answered.created.map((item) => ({ ...item, replayed: true })) };
    }

    const answer: BatchAnswer = { created: [], failed: [], duplicatePolicy };
    const known = new KnownCases(store.cases.list(suite.id));
    store.transact(() => {
      for (const [index, item] of body.cases.entries()) {
        const read = readItem(item);
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
      keepAnswer(store, keyed, answer);
    });
    return answer;
  });
}

/** Renders a case in the vocabulary of cases. Leaves out settings that only inline tests have. */
export function renderCase({ id, declaredId, content, createdAt, updatedAt }: CaseRecord) {
  const { advancedConfig: _advancedConfig, matchOptions, ...shown } = content;
  return {
    id,
    declaredId,
    ...shown,
    ...(matchOptions === undefined ? {} : { matchOptions: { ...defaultMatchOptions, ...matchOptions } }),
    createdAt,
    updatedAt,
  };
}

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

function readPolicy(requested: string | undefined): BatchAnswer['duplicatePolicy'] {
  if (requested === undefined) return { effectivePolicy: 'block', coerced: false };
  const known = duplicatePolicies.find((policy) => policy === requested);
  return { requestedPolicy: requested, effectivePolicy: known ?? 'block', coerced: known === undefined };
}

type ReadItem =
  | { content: CaseContent; declaredId: string | undefined }
  | { code: string; message: string; title?: string; declaredId?: string };

function readItem(item: unknown): ReadItem {
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
  const parsed = caseOperations.createEvalCase.body.safeParse(item);
  if (!parsed.success) return { ...label, code: 'INVALID_CASE', message: renderFirstIssue(parsed.error) };
  return { content: toCaseContent(parsed.data), declaredId: parsed.data.id };
}
