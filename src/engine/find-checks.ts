import { isRecord } from '../base/json.ts';
import type { TestCase } from '../cases/case.ts';
import { widgetAssertionKinds } from '../model/widget.ts';

const widgetKinds: ReadonlySet<unknown> = new Set([...widgetAssertionKinds, 'interact']);
const widgetTypes: ReadonlySet<unknown> = new Set([
  'widgetRendered',
  'widgetRenderLatencyUnder',
  'widgetNoConsoleErrors',
]);

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
  return findRecords(value).some(({ type, kind }) => widgetTypes.has(type) || widgetKinds.has(kind));
}

function findRecords(value: unknown): Array<Record<string, unknown>> {
  if (Array.isArray(value)) return value.flatMap(findRecords);
  if (!isRecord(value)) return [];
  return [value, ...Object.values(value).flatMap(findRecords)];
}
