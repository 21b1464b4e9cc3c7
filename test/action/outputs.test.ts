import { describe, expect, it } from 'vitest';
import { listOutputs, outputTable, writeOutput } from '../../src/action/outputs.ts';
import { silentLogger } from '../../src/base/logger.ts';
import { createComparedReport, createFlakyReport, createReport } from '../support/factories/report-factory.ts';

const files = {
  reportPath: 'out/report.json',
  junitPath: 'out/junit.xml',
  htmlPath: 'out/report.html',
  ctrfPath: null,
  badgePath: null,
};

describe('listOutputs', () => {
  it('lists every output, in the order of the table', () => {
    expect(listOutputs(createReport(), files).map(({ name }) => name)).toEqual(outputTable.map(({ name }) => name));
  });

  it.each([
    [1, '1'],
    [0, '0'],
    [2 / 3, '0.6666'],
    [0.99996, '0.9999'],
    [null, ''],
  ])('writes the pass rate %s as "%s", never rounded up', (passRate, text) => {
    const report = createReport();
    const outputs = listOutputs({ ...report, totals: { ...report.totals, passRate } }, files);
    expect(outputs.find(({ name }) => name === 'pass-rate')?.value).toBe(text);
  });

  it.each([
    ['nothing was compared or run again', createReport(), '', '0'],
    ['one case regressed', createComparedReport(), '1', '0'],
    ['one was flaky', createFlakyReport('pass'), '', '1'],
  ])('counts regressions and flaky cases where %s', (_, report, regressions, flaky) => {
    const values = new Map(listOutputs(report, files).map(({ name, value }) => [name, value]));
    expect([values.get('regressions'), values.get('flaky')]).toEqual([regressions, flaky]);
  });

  it.each(['mcp-eval-report/report.json', '/tmp/a b/report.json', 'Prüfbericht/report.json', 'C:\\out\\report.json'])(
    'writes the path %s',
    (reportPath) => {
      expect(readPath(reportPath)).toBe(reportPath);
    },
  );

  it.each(['$(id)/report.json', '`id`/report.json', "a';id;'/report.json", 'a\nverdict=passed/report.json', null])(
    'leaves the path %j out',
    (reportPath) => {
      expect(readPath(reportPath)).toBe('');
    },
  );
});

describe('writeOutput', () => {
  it('warns about a file that cannot be written, and throws nothing', () => {
    const warnings: string[] = [];
    const before = process.env['GITHUB_OUTPUT'];
    process.env['GITHUB_OUTPUT'] = '/nowhere/output';
    try {
      writeOutput({ name: 'verdict', value: 'passed' }, { ...silentLogger, warning: (text) => warnings.push(text) });
    } finally {
      if (before === undefined) delete process.env['GITHUB_OUTPUT'];
      else process.env['GITHUB_OUTPUT'] = before;
    }
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toMatch(/^Could not write the output verdict: .*\/nowhere\/output/);
  });
});

function readPath(reportPath: string | null): string | undefined {
  return listOutputs(createReport(), { ...files, reportPath }).find(({ name }) => name === 'report-path')?.value;
}
