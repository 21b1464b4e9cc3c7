import { describe, expect, it } from 'vitest';
import { printCases } from '../../src/cli/list-cases.ts';

const listed = {
  suite: 'Everything',
  id: 'sum',
  title: 'Adds',
  file: 'evals/a.yaml',
  line: 4,
  tags: ['smoke', 'fast'],
};

describe('run --list', () => {
  it('prints a line for each case, and the suites whose cases the service knows', () => {
    expect(
      printCases({ cases: [listed, { ...listed, file: 'b.yaml', tags: [] }], storedSuites: ['Daily'] }, 'text'),
    ).toEqual([
      'evals/a.yaml:4  Adds  [smoke, fast]',
      'b.yaml:4  Adds',
      'The suite Daily of the service, as it stands.',
      '2 cases in 2 files.',
    ]);
  });

  it('prints nothing that a terminal obeys', () => {
    const lines = printCases(
      { cases: [{ ...listed, title: 'a\u001B[31m\n::error::b\u202E' }], storedSuites: [] },
      'text',
    );
    expect(lines).toHaveLength(2);
    expect(lines.join('')).not.toMatch(/[\p{Cc}\p{Bidi_Control}]/u);
  });

  it('prints one JSON value', () => {
    const value = { cases: [listed], storedSuites: [] };
    expect(printCases(value, 'json').map((text) => JSON.parse(text))).toEqual([value]);
  });
});
