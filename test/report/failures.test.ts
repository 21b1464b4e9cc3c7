import { expect, it } from 'vitest';

import { groupFailures } from '../../src/report/failures.ts';
import { createReport } from '../support/factories/report-factory.ts';
import { createCaseResults, createFailure, createSuiteResults } from '../support/factories/results-factory.ts';

function listLines(reason: string): string[] {
  const failures = [createFailure({ reasons: [reason], actualToolCalls: [] })];
  const cases = [createCaseResults({ passed: 0, failed: 1, failures })];
  const [member] = createReport({ suites: [createSuiteResults({ cases })] }).cases;
  return groupFailures(member!)[0]?.lines ?? [];
}

it('shows the lines below a reason, and of too many the last ones', () => {
  const lines = Array.from({ length: 40 }, (_, index) => `${index} ${'x'.repeat(200)}`);
  const shown = listLines(['The server exited.', ...lines].join('\n'));
  expect([shown[0], shown[1]?.slice(0, 3), shown.at(-1)?.slice(0, 3)]).toEqual(['The server exited.', '20 ', '39 ']);
});

it('compares calls with the expected ones only where the iteration has a result', () => {
  const list = (result: string) => {
    const expectedToolCalls = [{ toolName: 'search', arguments: {} }];
    const failures = [createFailure({ result, reasons: ['It is stale.'], expectedToolCalls, actualToolCalls: [] })];
    const [member] = createReport({ suites: [createSuiteResults({ cases: [createCaseResults({ failures })] })] }).cases;
    return groupFailures(member!)[0]?.lines;
  };
  expect(list('unscored')).toEqual(['It is stale.']);
  expect(list('failed')).toEqual(['It is stale.', 'expected  search({})', 'called    nothing']);
});

it('cuts a reason that is long itself', () => {
  const [first, ...others] = listLines('y'.repeat(5000));
  expect(first?.length).toBe(1000);
  expect(others).toEqual([]);
});
