import { describe, expect, it } from 'vitest';
import { renderCodeQuality } from '../../src/report/code-quality.ts';
import { createPolicy, ofPolicy } from '../support/factories/policy-factory.ts';
import { createInconclusiveReport, createRedReport, createReport } from '../support/factories/report-factory.ts';
import { createCaseResults, createFailure, createSuiteResults } from '../support/factories/results-factory.ts';

/** Everything that GitLab requires of an entry. */
const entry = {
  description: expect.stringMatching(/./),
  check_name: expect.stringMatching(/^[a-z-]+$/),
  fingerprint: expect.stringMatching(/^[0-9a-f]{32}$/),
  severity: expect.stringMatching(/^(?:critical|major|minor)$/),
  location: { path: expect.stringMatching(/^[^/]/), lines: { begin: expect.any(Number) } },
};

function render(...args: Parameters<typeof renderCodeQuality>) {
  const issues: unknown = JSON.parse(renderCodeQuality(...args));
  return Array.isArray(issues) ? issues : [];
}

const failing = (passed: number, line: number) =>
  createReport({
    suites: [
      createSuiteResults({
        cases: [
          createCaseResults({
            passed,
            failed: 2,
            location: { file: 'evals/math.yaml', line, column: 5 },
            failures: [createFailure({ reasons: ['first line\nsecond line'] })],
          }),
        ],
      }),
    ],
  });

describe('renderCodeQuality', () => {
  it('is an empty list for a gate that passed', () => {
    expect(renderCodeQuality(createReport())).toBe('[]\n');
  });

  it('has an entry for each failed case, at its line', () => {
    const issues = render(failing(0, 7));
    expect(issues).toEqual([entry]);
    expect(issues).toMatchObject([
      { check_name: 'eval-case', severity: 'major', location: { path: 'evals/math.yaml', lines: { begin: 7 } } },
    ]);
    expect(issues[0].description).toMatch(/: first line$/);
  });

  it('has the fingerprint of a case whatever its line and its counts are', () => {
    const [before, after] = [render(failing(0, 7)), render(failing(1, 9))];
    expect(after[0].fingerprint).toBe(before[0].fingerprint);
    expect(after[0].description).not.toBe(before[0].description);
  });

  it('has different fingerprints for different cases', () => {
    const prints = render(createRedReport()).map(({ fingerprint }) => fingerprint);
    expect(prints.length).toBeGreaterThan(1);
    expect(new Set(prints).size).toBe(prints.length);
  });

  it('calls a gate that only reports minor', () => {
    const suites = [createSuiteResults({ cases: [createCaseResults({ passed: 0, failed: 2 })] })];
    const issues = render(
      createReport({ policy: createPolicy({ reportOnly: ofPolicy(true) }), suites, stopsJob: false }),
    );
    expect(issues.map(({ severity }) => severity)).toEqual(['minor']);
  });

  it('has the verdict of an inconclusive gate, and blames no case', () => {
    const issues = render(createInconclusiveReport());
    expect(issues).toEqual([entry]);
    expect(issues).toMatchObject([{ check_name: 'eval-verdict', severity: 'critical' }]);
  });

  it('takes paths relative to the top of the repository, and none that lead out of it', () => {
    const relocate = (to: string) => render(failing(0, 7), { relocate: (path) => `${to}${path}` })[0].location;
    expect(relocate('packages/a/')).toEqual({ path: 'packages/a/evals/math.yaml', lines: { begin: 7 } });
    expect(relocate('../')).toEqual({ path: 'report.json', lines: { begin: 1 } });
  });
});
