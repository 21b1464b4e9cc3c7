import { describe, expect, it } from 'vitest';

import { planAnnotations } from '../../src/report/annotations.ts';
import { groupFailures } from '../../src/report/failures.ts';
import { renderJunit } from '../../src/report/junit.ts';
import { renderSummary } from '../../src/report/summary.ts';
import { renderTerminal } from '../../src/report/terminal.ts';
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
  expect(list('failed')).toEqual(['It is stale.', 'called    nothing']);
});

it('cuts a reason that is long itself', () => {
  const [first, ...others] = listLines('y'.repeat(5000));
  expect(first?.length).toBe(1000);
  expect(others).toEqual([]);
});

describe('the last lines of a server', () => {
  const loss = (sentence: string, ...lines: string[]) => [sentence, 'Its last lines on stderr:', ...lines].join('\n');
  const failed = (title: string, ...reasons: string[]) =>
    createCaseResults({
      id: title.toLowerCase(),
      title,
      passed: 0,
      failed: reasons.length,
      failures: reasons.map((reason) => createFailure({ reasons: [reason], actualToolCalls: [] })),
    });
  const cases = [
    failed('One', loss('It ended.', 'boom', 'bye'), loss('It ended again.', 'boom', 'bye')),
    failed('Two', loss('It ended.', 'boom', 'bye')),
    failed('Three', loss('It ended.', 'another end')),
    failed('Four', loss('It ended.', 'request 17 failed')),
    failed('Five', loss('It ended.', 'request 18 failed')),
  ];
  const report = createReport({ suites: [createSuiteResults({ cases })] });
  const count = (text: string, part: string) => text.split(part).length - 1;

  it('are printed once in a text that is read as a whole, and the others name the place', () => {
    for (const text of [renderTerminal(report, { color: false }), renderSummary(report)]) {
      expect([count(text, 'boom'), count(text, 'another end'), count(text, 'request 1')]).toEqual([1, 1, 1]);
      expect(count(text, 'Its last lines on stderr are those above, under "One".')).toBe(2);
      expect(count(text, 'Its last lines on stderr are those above, under "Four", but for numbers.')).toBe(1);
    }
  });

  it('are printed once for each case where a reader sees single cases', () => {
    expect(count(renderJunit(report), 'boom')).toBe(2);
    expect(count(renderJunit(report), 'those above, under "One".')).toBe(1);
    const annotations = planAnnotations(report).map(({ message }) => message);
    expect(annotations.filter((message) => message.includes('boom')).map((text) => count(text, 'boom'))).toEqual([
      1, 1,
    ]);
  });

  it('are not repeated where the verdict has them', () => {
    const reasons = [loss('It ended under this iteration.', 'boom', 'bye')];
    const unscored = createCaseResults({
      passed: 0,
      failed: 0,
      unscored: 1,
      failures: [createFailure({ result: 'unscored', reasons, actualToolCalls: [] })],
    });
    const text = renderSummary(createReport({ suites: [createSuiteResults({ cases: [unscored] })] }));
    expect([count(text, 'boom'), count(text, 'those above, under the verdict.')]).toEqual([1, 1]);
  });
});
