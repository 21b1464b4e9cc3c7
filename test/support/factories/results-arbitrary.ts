import * as fc from 'fast-check';
import type { SuiteResults } from '../../../src/model/results.ts';
import { createCaseResults, createRun, createSuiteResults } from './results-factory.ts';

const small = fc.nat({ max: 6 });
/** Mostly draws the usual value of a sound run, so that every outcome is common. */
const mostly = <T>(usual: T, others: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 12, arbitrary: fc.constant(usual) }, others);

const caseResults = fc
  .record({
    passed: small,
    failed: mostly(0, small),
    unscored: mostly(0, small),
    isRequired: fc.boolean(),
    plannedOff: mostly(0, fc.integer({ min: -1, max: 1 })),
    rounds: fc.array(fc.boolean(), { maxLength: 2 }),
  })
  .map(({ plannedOff, rounds, ...counts }) => {
    const planned = Math.max(0, counts.passed + counts.failed + counts.unscored + plannedOff);
    // Only failed iterations run again.
    const retries = counts.failed === 0 ? [] : rounds.map((isPassed) => ({ passed: isPassed ? 3 : 2, total: 3 }));
    return createCaseResults({ ...counts, planned, retries });
  });

/** Results of a suite, sound or with any kind of gap, and a minimum pass rate for their verdict. */
export const measuredSuites: fc.Arbitrary<{ results: SuiteResults; minimum: number }> = fc
  .record({
    cases: fc.array(caseResults, { maxLength: 4 }),
    minimum: fc.constantFrom(0, 0.5, 0.67, 0.8, 0.9, 1),
    status: mostly('completed', fc.constantFrom('failed', 'cancelled', 'timed_out', 'running', 'odd')),
    hasRun: mostly(true, fc.boolean()),
    hasSummary: fc.boolean(),
    totalOff: mostly(0, fc.integer({ min: -1, max: 1 })),
    passedOff: mostly(0, fc.integer({ min: -1, max: 1 })),
    overruled: mostly(0, fc.nat({ max: 2 })),
    isComplete: mostly(true, fc.boolean()),
    unknownIterations: mostly(0, fc.nat({ max: 1 })),
    tunnelBreaks: mostly(0, fc.nat({ max: 2 })),
    isInterrupted: mostly(false, fc.boolean()),
  })
  .map((draw) => {
    const sound = createSuiteResults({
      cases: draw.cases.map((member, index) => ({ ...member, id: `case-${index}` })),
      isComplete: draw.isComplete,
      unknownIterations: draw.unknownIterations,
      overruled: draw.overruled,
      tunnelBreaks: draw.tunnelBreaks,
      interruption: draw.isInterrupted ? { code: 'deadline', message: 'late' } : null,
    });
    const overruledAndOff = draw.overruled + draw.passedOff;
    const passed = draw.cases.reduce((total, member) => total + member.passed, 0) + overruledAndOff;
    const summary = { total: sound.iterationsRead + draw.totalOff, passed, failed: 0 };
    const run = createRun({ status: draw.status, summary: draw.hasSummary ? summary : null });
    return { minimum: draw.minimum, results: { ...sound, run: draw.hasRun ? run : null } };
  });

export const suiteResults = measuredSuites.map(({ results }) => results);
