import { DOMParser, onErrorStopParsing } from '@xmldom/xmldom';
import * as fc from 'fast-check';
import { SaxesParser } from 'saxes';
import { describe, expect, it } from 'vitest';
import type { Report } from '../../src/model/report.ts';
import { renderJunit } from '../../src/report/junit.ts';
import { hostileText, hostileTexts } from '../support/text/hostile-text.ts';
import {
  createGreenReport,
  createHostileReport,
  createInconclusiveReport,
  createPolicyReport,
  createRedReport,
  createReport,
} from '../support/factories/report-factory.ts';

/** Each element as `name` with its attributes, in document order. */
function parseStrictly(xml: string): Array<{ name: string; attributes: Record<string, string> }> {
  const elements: Array<{ name: string; attributes: Record<string, string> }> = [];
  const parser = new SaxesParser();
  parser.on('error', (error) => {
    throw error;
  });
  parser.on('opentag', ({ name, attributes }) => elements.push({ name, attributes }));
  parser.write(xml).close();
  new DOMParser({ onError: onErrorStopParsing }).parseFromString(xml, 'text/xml');
  return elements;
}

function countElements(report: Report) {
  const elements = parseStrictly(renderJunit(report));
  const count = (name: string) => elements.filter((element) => element.name === name).length;
  return {
    attributes: elements[0]?.attributes,
    found: { tests: count('testcase'), failures: count('failure'), errors: count('error'), skipped: count('skipped') },
  };
}

describe('renderJunit', () => {
  it.each([
    ['green', createGreenReport(), { tests: 4, failures: 0, errors: 0, skipped: 0 }],
    ['red', createRedReport(), { tests: 3, failures: 2, errors: 0, skipped: 0 }],
    ['inconclusive', createInconclusiveReport(), { tests: 4, failures: 0, errors: 2, skipped: 1 }],
    // Only the budget fails, which a testcase of its own reports; the case in quarantine is skipped.
    ['policy', createPolicyReport(), { tests: 6, failures: 1, errors: 0, skipped: 1 }],
    ['empty', createReport({ suites: [] }), { tests: 1, failures: 0, errors: 1, skipped: 0 }],
  ])('counts what it holds in the %s report, and agrees with its verdict', (_, report, expected) => {
    const { attributes, found } = countElements(report);
    expect(found).toEqual(expected);
    expect(attributes).toMatchObject(
      Object.fromEntries(Object.entries(expected).map(([key, value]) => [key, String(value)])),
    );
    expect(found.failures + found.errors > 0).toBe(report.verdict.outcome !== 'passed');
  });

  it('gives each case its place and its time in seconds', () => {
    const testcase = parseStrictly(renderJunit(createRedReport())).find(({ name }) => name === 'testcase');
    expect(testcase?.attributes).toEqual({
      name: 'Adds two numbers',
      classname: 'Math server',
      file: 'evals/math.evals.yaml',
      line: '7',
      time: '0.120',
    });
  });

  it('is read by two strict parsers, whatever the texts are', () => {
    const shape = (text: string) => parseStrictly(renderJunit(createHostileReport(text))).map(({ name }) => name);
    const expected = shape('harmless');
    for (const text of hostileTexts) expect(shape(text)).toEqual(expected);
    fc.assert(
      fc.property(hostileText, (text) => {
        expect(shape(text)).toEqual(expected);
      }),
      { numRuns: 500 },
    );
  });
});
