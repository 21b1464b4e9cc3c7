import { isRecord } from '../base/json.ts';
import type { TestCase } from '../cases/case.ts';
import type { SessionNeed } from '../checks/define-check.ts';
import { checkRegistry } from '../checks/registry.ts';

const widgetKinds: ReadonlySet<unknown> = new Set([...checkRegistry.elements.map(({ kind }) => kind), 'interact']);

/** Lists every check and step of a case, including inner ones, together with all other objects in them. */
export function findChecks({
  steps,
  predicates,
}: Pick<TestCase, 'steps' | 'predicates'>): Array<Record<string, unknown>> {
  return findRecords([steps, predicates]);
}

/** Checks if a case has a step or check about a widget, so that apps must be shown. */
export function needsWidgets(testCase: Pick<TestCase, 'steps' | 'predicates'>): boolean {
  return namesWidgets([testCase.steps, testCase.predicates]);
}

/** Checks if a value of any form, such as a suite or a case, contains a step or check about a widget. */
export function namesWidgets(value: unknown): boolean {
  return findRecords(value).some(({ type, kind }) => needsOf(type).includes('browser') || widgetKinds.has(kind));
}

/** Lists what a session must prepare for a check of this type. */
export function needsOf(type: unknown): readonly SessionNeed[] {
  return checkRegistry.find(type)?.sessionNeeds ?? [];
}

function findRecords(value: unknown): Array<Record<string, unknown>> {
  if (Array.isArray(value)) return value.flatMap(findRecords);
  if (!isRecord(value)) return [];
  return [value, ...Object.values(value).flatMap(findRecords)];
}
