import type { CaseContent } from '../../../src/service/bodies/case-body.ts';
import type { CaseRecord } from './store/case-store.ts';

/** The ways to handle a case with the same content as another case of its suite. */
export const duplicatePolicies = ['block', 'warn', 'create_anyway'] as const;
export type DuplicatePolicy = (typeof duplicatePolicies)[number];

/** The cases that a suite already has, including earlier items of the batch. */
export class KnownCases {
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
