import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { silentLogger } from '../../../src/base/logger.ts';
import { createRedactor, Secret } from '../../../src/base/redaction.ts';
import { parseGateOptions } from '../../../src/gate/options.ts';
import { planGate } from '../../../src/gate/plan/plan.ts';
import { findExistingFiles, publishFiles } from '../../../src/gate/publish/publish-files.ts';
import { pageScript } from '../../../src/report/html/page-assets.ts';
import { parseReport } from '../../../src/report/report-json.ts';
import { createGreenReport } from '../../support/factories/report-factory.ts';
import { createWorkspace } from '../../support/workspace.ts';

const report = createGreenReport();

async function publish(
  cwd: string,
  options: { texts?: Record<string, string>; summaryPath?: string | null; secret?: string } = {},
) {
  const tests = '- title: Echoes\n  steps: [{ toolCall: echo }]\n';
  const texts = { tests, 'server-command': 'x', ...options.texts };
  const plan = await planGate(parseGateOptions(texts), { cwd, environment: {} });
  const warnings: string[] = [];
  const files = await publishFiles(report, plan, {
    logger: { ...silentLogger, warning: (text) => warnings.push(text) },
    redactor: createRedactor(options.secret === undefined ? [] : [new Secret(options.secret)]),
    summaryPath: options.summaryPath ?? null,
    evidence: null,
  });
  return { files, warnings };
}

const inReportDir = (name: string) => `mcp-eval-report/${name}`;

describe('publishFiles', () => {
  it('writes its files into a directory that it makes, and names them as the user would', async () => {
    await using workspace = await createWorkspace();
    const { files, warnings } = await publish(workspace.path, { texts: { 'report-dir': 'out/deep' } });
    expect(files).toEqual({
      reportPath: 'out/deep/report.json',
      junitPath: 'out/deep/junit.xml',
      htmlPath: 'out/deep/report.html',
      ctrfPath: null,
      badgePath: null,
    });
    expect(warnings).toEqual([]);
    expect(parseReport(JSON.parse(await workspace.read('out/deep/report.json')))).toEqual(report);
    expect(await workspace.read('out/deep/junit.xml')).toContain('<testsuites');
  });

  it('writes what it is asked for in addition to them, and nothing else', async () => {
    await using workspace = await createWorkspace();
    const { files } = await publish(workspace.path, { texts: { 'report-formats': 'badge, ctrf' } });
    expect([files.htmlPath, files.ctrfPath, files.badgePath]).toEqual([
      null,
      'mcp-eval-report/ctrf.json',
      'mcp-eval-report/badge.svg',
    ]);
    const none = await publish(workspace.path, { texts: { 'report-dir': 'out', 'report-formats': 'none' } });
    expect(none.warnings).toEqual([]);
    expect((await readdir(join(workspace.path, 'out'))).toSorted()).toEqual(['junit.xml', 'report.json']);
  });

  it('takes an absolute directory', async () => {
    await using workspace = await createWorkspace();
    const directory = join(workspace.path, 'absolute');
    const { files } = await publish('/', { texts: { 'report-dir': directory } });
    expect(files.reportPath).toBe(join(directory, 'report.json'));
    expect(await workspace.read('absolute/report.json')).toContain('"schemaVersion"');
  });

  it('warns about what it cannot write, and goes on', async () => {
    await using workspace = await createWorkspace({ taken: 'a file' });
    await mkdir(join(workspace.path, 'summary'));
    const { files, warnings } = await publish(workspace.path, {
      texts: { 'report-dir': 'taken' },
      summaryPath: join(workspace.path, 'summary'),
    });
    expect(files).toEqual({ reportPath: null, junitPath: null, htmlPath: null, ctrfPath: null, badgePath: null });
    expect(warnings.map((text) => text.split(':')[0])).toEqual([
      'Could not write taken/report.json',
      'Could not write taken/junit.xml',
      'Could not write taken/report.html',
      'Could not write the job summary',
    ]);
  });

  it('adds to a summary that is there, unless disabled', async () => {
    await using workspace = await createWorkspace({ 'summary.md': 'earlier\n' });
    const summaryPath = join(workspace.path, 'summary.md');
    await publish(workspace.path, { summaryPath, texts: { 'report-to': 'none' } });
    expect(await workspace.read('summary.md')).toBe('earlier\n');
    await publish(workspace.path, { summaryPath });
    expect(await workspace.read('summary.md')).toMatch(/^earlier\n## ✅ Eval gate passed\n/);
  });

  it('takes secrets out of every file', async () => {
    await using workspace = await createWorkspace({ 'summary.md': '' });
    const summaryPath = join(workspace.path, 'summary.md');
    const texts = { 'report-formats': 'html,ctrf,badge' };
    await publish(workspace.path, { texts, summaryPath, secret: 'Adds two numbers' });
    for (const file of ['summary.md', ...['report.json', 'junit.xml', 'report.html', 'ctrf.json'].map(inReportDir)]) {
      expect(await workspace.read(file)).toContain('***');
      expect(await workspace.read(file)).not.toContain('Adds two numbers');
    }
  });

  it('leaves the page’s own script as its policy names it, whatever a secret says', async () => {
    await using workspace = await createWorkspace();
    await publish(workspace.path, { secret: 'createElement' });
    expect(await workspace.read(inReportDir('report.html'))).toContain(`<script>${pageScript}</script>`);
  });
});

describe('findExistingFiles', () => {
  it('finds files, and neither directories nor what is not there', async () => {
    await using workspace = await createWorkspace({ 'evals/a.yaml': '', 'tests/unit.js': '' });
    await writeFile(join(workspace.path, 'b.yaml'), '');
    const places = [{ file: 'evals/a.yaml' }, { file: 'b.yaml' }, { file: 'tests' }, { file: 'c.yaml' }, {}, null];
    expect([...(await findExistingFiles(places, workspace.path))]).toEqual(['evals/a.yaml', 'b.yaml']);
  });
});
