import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { buildReportJsonSchema } from '../../src/model/report.ts';
import { parseReport, renderReportJson } from '../../src/report/report-json.ts';
import {
  createFlakyReport,
  createGreenReport,
  createHostileReport,
  createInconclusiveReport,
  createRedReport,
  createReport,
  createStoppedReport,
} from '../support/factories/report-factory.ts';

const reports = [
  createGreenReport(),
  createRedReport(),
  createFlakyReport('pass'),
  createStoppedReport(),
  createInconclusiveReport(),
  createHostileReport('\u0000\uD800 __proto__ ##[error]'),
  createReport({ suites: [], server: null }),
];

describe('parseReport', () => {
  it('reads back what was written', () => {
    for (const report of reports) {
      expect(parseReport(JSON.parse(renderReportJson(report)))).toEqual(JSON.parse(JSON.stringify(report)));
    }
  });

  it('ignores fields that a later minor version adds', () => {
    expect(parseReport({ ...createReport(), later: 1 })).toEqual(createReport());
  });

  it.each([
    [{ ...createReport(), schemaVersion: '2' }, 'schemaVersion'],
    [{ ...createReport(), totals: { ...createReport().totals, passed: -1 } }, 'totals.passed'],
    [{ ...createReport(), verdict: { outcome: 'green', reasons: [] } }, 'verdict.outcome'],
    [null, ''],
  ])('names the place of the first mismatch', (value, path) => {
    expect(() => parseReport(value)).toThrow(expect.objectContaining({ code: 'PROTOCOL', path }));
  });
});

describe('buildReportJsonSchema', () => {
  const validate = new Ajv2020({ strict: false }).compile(buildReportJsonSchema());

  it('accepts every report, also with fields it does not know', () => {
    for (const report of reports) {
      expect([validate(JSON.parse(renderReportJson(report))), validate.errors]).toEqual([true, null]);
    }
    expect(validate({ ...createReport(), later: 1 })).toBe(true);
  });

  it('refuses what is no report', () => {
    expect(validate({ ...createReport(), verdict: undefined })).toBe(false);
    expect(validate({ ...createReport(), schemaVersion: '2' })).toBe(false);
  });
});
