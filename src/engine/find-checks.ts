import { isRecord } from '../base/json.ts';
import type { TestCase } from '../cases/case.ts';
import type { SessionNeed } from '../checks/define-check.ts';
import { checkRegistry } from '../checks/registry.ts';

const widgetKinds: ReadonlySet<unknown> = new Set([...checkRegistry.elements.map(({ kind }) => kind), 'interact']);

/** Every check and step of a case, those in other ones included, with whatever else has fields. */
export function findChecks({
  steps,
  predicates,
}: Pick<TestCase, 'steps' | 'predicates'>): Array<Record<string, unknown>> {
  return findRecords([steps, predicates]);
}

/** Whether something in a case is about a widget, so that apps have to be shown. */
export function needsWidgets(testCase: Pick<TestCase, 'steps' | 'predicates'>): boolean {
  return namesWidgets([testCase.steps, testCase.predicates]);
}

/** Whether something in a value is about a widget: in a suite, or in cases of any form. */
export function namesWidgets(value: unknown): boolean {
  return findRecords(value).some(({ type, kind }) => needsOf(type).includes('browser') || widgetKinds.has(kind));
}

/** What a session has to do for a check of this type. */
export function needsOf(type: unknown): readonly SessionNeed[] {
  return checkRegistry.find(type)?.sessionNeeds ?? [];
}

function findRecords(value: unknown): Array<Record<string, unknown>> {
  if (Array.isArray(value)) return value.flatMap(findRecords);
  if (!isRecord(value)) return [];
  return [value, ...Object.values(value).flatMap(findRecords)];
}
