import { type CaseContent, type CaseModel, toCaseContent } from '../../../../src/service/bodies/case-body.ts';
import { caseOperations } from '../../../../src/service/operations/cases.ts';
import { KnownCases } from '../known-cases.ts';
import { renderFirstIssue } from '../request.ts';
import { type CaseRecord, createCaseRecord } from '../store/case-store.ts';
import type { Store } from '../store/open-store.ts';
import { findDraftProblem, readDraft, toCaseFields } from './draft.ts';

/** A draft that did not become a case, with the reason. */
export type SkippedDraft = {
  title: string;
  error: string;
};

interface DraftOptions {
  cases: Store['cases'];
  suiteId: string;
  toolNames: ReadonlySet<string>;
  /** The models of every case; undefined leaves the model to the suite. */
  models: CaseModel[] | undefined;
  /** The number of requested cases. Further drafts are skipped. */
  maxCases: number;
  now: number;
}

/** Creates the valid drafts as cases, and gives the reason for each other draft. */
export function createDraftedCases(
  drafts: readonly unknown[],
  options: DraftOptions,
): { created: CaseRecord[]; skipped: SkippedDraft[] } {
  const { cases, suiteId, maxCases, now } = options;
  const created: CaseRecord[] = [];
  const skipped: SkippedDraft[] = [];
  const known = new KnownCases(cases.list(suiteId));
  for (const draft of drafts.slice(0, maxCases)) {
    const read = readCase(draft, options);
    if ('skipped' in read) {
      skipped.push(read.skipped);
      continue;
    }
    const { content } = read;
    const refusal = known.refuse(content, undefined, 'block');
    if (refusal !== undefined) {
      skipped.push({ title: content.title, error: `${refusal.code}: ${refusal.message}` });
      continue;
    }
    const record = createCaseRecord(suiteId, content, now);
    cases.insert(record);
    known.add(record);
    created.push(record);
  }
  const excess = drafts.length - maxCases;
  if (excess > 0) skipped.push({ title: '', error: `The model wrote ${excess} more cases than it was asked for.` });
  return { created, skipped };
}

type ReadCase = { content: CaseContent } | { skipped: SkippedDraft };

function readCase(value: unknown, { toolNames, models }: DraftOptions): ReadCase {
  const read = readDraft(value);
  if ('error' in read) return skip(read.title, read.error);
  const { draft } = read;
  const problem = findDraftProblem(draft, toolNames);
  if (problem !== null) return skip(draft.title, problem);
  const { isNegative } = draft;
  // A draft passes the same checks as a case that a client sends.
  const parsed = caseOperations.createEvalCase.body.safeParse({
    ...toCaseFields(draft),
    isNegative,
    ...(models === undefined ? {} : { models }),
  });
  return parsed.success ? { content: toCaseContent(parsed.data) } : skip(draft.title, renderFirstIssue(parsed.error));
}

function skip(title: string, problem: string): ReadCase {
  return { skipped: { title, error: `INVALID_CASE: ${problem}` } };
}
