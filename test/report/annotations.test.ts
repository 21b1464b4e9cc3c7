import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { planAnnotations } from '../../src/report/annotations.ts';
import type { SuiteResults } from '../../src/model/results.ts';
import { hostileText } from '../support/text/hostile-text.ts';
import { atLeast, createPolicy } from '../support/factories/policy-factory.ts';
import {
  createGreenReport,
  createHostileReport,
  createInconclusiveReport,
  createPolicyReport,
  createRedReport,
  createReport,
} from '../support/factories/report-factory.ts';
import { createCaseResults, createFailure, createSuiteResults } from '../support/factories/results-factory.ts';

function createFailingReport(count: number) {
  const cases = Array.from({ length: count }, (_, index) =>
    createCaseResults({ id: `case-${index}`, title: `Case ${index}`, failed: 1, isRequired: index === count - 1 }),
  );
  return createReport({ suites: [createSuiteResults({ cases })] });
}

describe('planAnnotations', () => {
  it('annotates nothing for a gate that passed, failures that it tolerates included', () => {
    expect(planAnnotations(createGreenReport())).toEqual([]);
  });

  it('warns only where the policy lets the job go on', () => {
    const report = { ...createRedReport(), stopsJob: false };
    expect(new Set(planAnnotations(report).map(({ level }) => level))).toEqual(new Set(['warning']));
    expect(new Set(planAnnotations(createRedReport()).map(({ level }) => level))).toEqual(new Set(['error']));
  });

  it('blames no case in quarantine', () => {
    const titles = planAnnotations(createPolicyReport()).map(({ title }) => title);
    expect(titles).toEqual(['Eval gate failed']);
  });

  it('names the cause of an inconclusive gate and blames no case', () => {
    expect(planAnnotations(createInconclusiveReport())).toMatchObject([
      { level: 'error', title: 'Eval gate is inconclusive', message: /^The server under test exited with code 1/ },
    ]);
  });

  it('gives the verdict first, then each failed case at its place', () => {
    expect(planAnnotations(createRedReport()).map(({ title, file, startLine }) => [title, file, startLine])).toEqual([
      ['Eval gate failed', undefined, undefined],
      ['Adds two numbers: 1 of 3 passed, required', 'evals/math.evals.yaml', 7],
      ['Asks for the weather in Paris: 1 of 3 passed', 'src/weather.ts', 3],
    ]);
  });

  it('leaves out cases of a suite that passed in a gate that did not', () => {
    const tolerated = createSuiteResults({
      suiteId: 'tolerant',
      cases: [createCaseResults({ title: 'Tolerated', failed: 1 })],
    });
    const failed = createSuiteResults({ cases: [createCaseResults({ title: 'Blamed', failed: 1 })] });
    const policy = ({ suiteId }: SuiteResults) => createPolicy(suiteId === 'tolerant' ? atLeast(0.5) : {});
    const report = createReport({ suites: [tolerated, failed], policy });
    expect(planAnnotations(report).map(({ title }) => title)).toEqual(['Eval gate failed', 'Blamed: 3 of 4 passed']);
  });

  it.each([
    [9, ['Case 8: 3 of 4 passed, required', 'Case 7: 3 of 4 passed']],
    [10, ['Case 9: 3 of 4 passed, required', '+2 more failed cases']],
    [1000, ['Case 999: 3 of 4 passed, required', '+992 more failed cases']],
  ])('keeps to ten with %i failed cases, required ones first', (count, [first, last]) => {
    const titles = planAnnotations(createFailingReport(count)).map(({ title }) => title);
    expect(titles).toHaveLength(10);
    expect([titles[1], titles.at(-1)]).toEqual([first, last]);
  });

  it('names a file only if it exists', () => {
    const fileExists = (path: string) => path !== 'evals/math.evals.yaml' && path !== 'src/weather.ts';
    expect(planAnnotations(createRedReport(), { fileExists }).map(({ file }) => file)).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });

  it.each(['/etc/passwd', '../x.yaml', 'a/../../x.yaml', 'C:\\x', '\\\\host\\x', 'a\nb', ''])(
    'names no file outside of the workspace: %j',
    (file) => {
      const location = { file, line: 1, column: 1 };
      const cases = [createCaseResults({ failed: 1, location })];
      expect(planAnnotations(createReport({ suites: [createSuiteResults({ cases })] }))[1]?.file).toBeUndefined();
    },
  );

  it('keeps messages within 4,000 characters', () => {
    const failures = [1, 2, 3, 4, 5].map((iterationNumber) =>
      createFailure({ iterationNumber, reasons: [`${iterationNumber} ${'x'.repeat(5000)}`] }),
    );
    const cases = [createCaseResults({ failed: 5, failures })];
    const annotation = planAnnotations(createReport({ suites: [createSuiteResults({ cases })] }))[1];
    expect(annotation?.message).toHaveLength(4000);
    expect(annotation?.message).toMatch(/… \(\d+ more characters\)$/);
  });

  it('carries no control characters and no empty message, whatever the texts are', () => {
    fc.assert(
      fc.property(hostileText, (text) => {
        for (const { title, message } of planAnnotations(createHostileReport(text))) {
          expect(title).not.toMatch(/[\p{Cc}\p{Cs}\p{Bidi_Control}]/u);
          expect(message).not.toMatch(/(?![\n\t])[\p{Cc}\p{Cs}\p{Bidi_Control}]/u);
          expect(message).not.toBe('');
        }
      }),
      { numRuns: 1000 },
    );
  });
});
