import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { joinCoverage } from '../../src/model/coverage.ts';
import { type CoverageItem, coverageKinds, type CoverageReport } from '../../src/model/coverage-report.ts';
import { judgeCoverage } from '../../src/verdict/judge-coverage.ts';

const item = (kind: CoverageItem['kind'], name: string, isCovered: boolean): CoverageItem => ({
  kind,
  path: [name],
  isCovered,
});
const createReport = (overrides: Partial<CoverageReport> = {}): CoverageReport => ({
  unread: null,
  isPartial: false,
  unreadTraces: 0,
  items: [item('tools', 'a', true), item('tools', 'b', false), item('errors', 'a', false)],
  ...overrides,
});
const require = (name: CoverageItem['kind'], value: number) => [{ name, value, source: 'policy.yaml:1' }];
const judge = (
  coverage: CoverageReport | undefined,
  minimumCoverage: ReturnType<typeof require>,
  { isComplete = true } = {},
) => judgeCoverage(coverage, { minimumCoverage }, { isComplete });

describe('judgeCoverage', () => {
  it('names what is missing below a minimum, and where that stands', () => {
    expect(judge(createReport(), require('tools', 0.6))).toEqual([
      {
        code: 'below-minimum-coverage',
        message:
          'The evals cover 1 of 2 tools (50%); minimumCoverage.tools is 60% (from policy.yaml:1). Not covered: b.',
      },
    ]);
  });

  it.each<[string, CoverageReport | undefined, ReturnType<typeof require>]>([
    ['a share that is exactly the minimum', createReport(), require('tools', 0.5)],
    ['a kind that the server does not have', createReport(), require('prompts', 1)],
    ['a minimum of nothing', createReport(), require('errors', 0)],
    ['a part of the cases', createReport({ isPartial: true }), require('tools', 1)],
    ['no minimum, whatever is known', createReport({ unread: 'gone' }), []],
    ['no measurement that was asked for', undefined, []],
  ])('has nothing against %s', (_what, coverage, minimum) => {
    expect(judge(coverage, minimum)).toEqual([]);
  });

  it.each<[string, CoverageReport | undefined, CoverageItem['kind'], boolean]>([
    ['a surface that is not known', createReport({ unread: 'it was silent.' }), 'tools', true],
    ['a report without coverage', undefined, 'tools', true],
    ['results that are missing', createReport(), 'tools', false],
    ['traces that are missing, of error paths', createReport({ unreadTraces: 1 }), 'errors', true],
  ])('leaves a minimum open with %s', (_what, coverage, kind, isComplete) => {
    const reasons = judge(coverage, require(kind, 1), { isComplete });
    expect(reasons.map(({ code }) => code)).toEqual(['coverage-unread']);
  });

  it('needs no trace to judge calls of tools', () => {
    const reasons = judge(createReport({ unreadTraces: 1 }), require('tools', 1));
    expect(reasons.map(({ code }) => code)).toEqual(['below-minimum-coverage']);
  });
});

describe('joinCoverage', () => {
  const items = fc.uniqueArray(
    fc.record({
      kind: fc.constantFrom(...coverageKinds),
      path: fc.array(fc.constantFrom('a', 'b'), { minLength: 1, maxLength: 2 }),
      isCovered: fc.boolean(),
    }),
    { selector: ({ kind, path }) => JSON.stringify([kind, ...path]) },
  );
  const covered = (report: CoverageReport | undefined) =>
    new Set(report?.items.flatMap(({ kind, path, isCovered }) => (isCovered ? [JSON.stringify([kind, ...path])] : [])));

  it('covers what any part covers, in whatever order they come', () => {
    fc.assert(
      fc.property(items, items, (left, right) => {
        const parts = [createReport({ items: left, isPartial: true }), createReport({ items: right, isPartial: true })];
        const joined = joinCoverage(parts);
        expect(covered(joined)).toEqual(covered(createReport({ items: [...left, ...right] })));
        expect(covered(joinCoverage(parts.toReversed()))).toEqual(covered(joined));
        expect(joined?.isPartial).toBe(false);
      }),
    );
  });

  it('knows nothing where no part measured it, and not all where one could not', () => {
    expect(joinCoverage([])).toBeUndefined();
    expect(joinCoverage([createReport(), createReport({ unread: 'gone' })])?.unread).toBe('gone');
  });
});
