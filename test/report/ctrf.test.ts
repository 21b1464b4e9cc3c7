import { Ajv } from 'ajv';
import { schema, validate } from 'ctrf';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { Report } from '../../src/model/report.ts';
import { renderCtrf } from '../../src/report/ctrf.ts';
import { hostileText } from '../support/text/hostile-text.ts';
import {
  createComparedReport,
  createGreenReport,
  createHostileReport,
  createInconclusiveReport,
  createPolicyReport,
  createRedReport,
  createReport,
} from '../support/factories/report-factory.ts';

const readSchema = z.object({
  results: z.object({
    summary: z.record(z.string(), z.number()),
    tests: z.array(z.looseObject({ name: z.string(), status: z.string(), message: z.string().optional() })),
  }),
});

/** The published schema, compiled once; what is not a text, such as a time, has its format checked by `read`. */
const validateTexts = new Ajv({ allErrors: true, validateFormats: false }).compile(schema);

function read(report: Report) {
  const document: unknown = JSON.parse(renderCtrf(report));
  // The format's own validator, with its published schema.
  expect(validate(document)).toEqual({ valid: true, errors: [] });
  return readSchema.parse(document).results;
}

describe('renderCtrf', () => {
  it.each([
    ['green', createGreenReport(), { passed: 4, failed: 0, skipped: 0, other: 0 }],
    ['red', createRedReport(), { passed: 1, failed: 2, skipped: 0, other: 0 }],
    ['compared', createComparedReport(), { passed: 4, failed: 2, skipped: 0, other: 0 }],
    ['inconclusive', createInconclusiveReport(), { passed: 1, failed: 0, skipped: 1, other: 2 }],
    ['policy', createPolicyReport(), { passed: 4, failed: 1, skipped: 1, other: 0 }],
    ['empty', createReport({ suites: [] }), { passed: 0, failed: 0, skipped: 0, other: 1 }],
  ])('is valid, and counts the tests of the %s report', (_, report, counts) => {
    const { summary, tests } = read(report);
    expect(summary).toMatchObject({ ...counts, tests: tests.length, pending: 0 });
    const sum = Object.values(counts).reduce((sum, count) => sum + count, 0);
    expect(sum).toBe(tests.length);
  });

  it('passes what a passing suite’s minimum tolerates, and says so', () => {
    const test = read(createGreenReport()).tests.find(({ name }) => name === 'Divides');
    expect(test).toMatchObject({ status: 'passed', flaky: true, message: expect.stringMatching(/^2 of 3 passed: /) });
  });

  it('gives an inconclusive gate a test `verdict` that did not pass, with the reason', () => {
    const [verdict] = read(createInconclusiveReport()).tests;
    expect(verdict).toMatchObject({
      name: 'verdict',
      status: 'other',
      message: expect.stringContaining('could not be started again.\nError: <b>no</b>'),
    });
  });

  it('stays valid whatever the texts are', () => {
    fc.assert(
      fc.property(hostileText, (text) => {
        const document: unknown = JSON.parse(renderCtrf(createHostileReport(text)));
        validateTexts(document);
        expect(validateTexts.errors).toBeNull();
        expect(readSchema.parse(document).results.tests).toHaveLength(5);
      }),
      { numRuns: 300 },
    );
  });
});
