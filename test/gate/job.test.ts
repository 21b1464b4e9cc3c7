import { access, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createRedactor, gate, parseGateOptions, planGate, systemClock } from '../../src/entries/parts.ts';
import { writeSayingCases } from '../support/gate/embedded-gate.ts';
import { startSayingServer } from '../support/servers/saying-server.ts';
import { createWorkspace } from '../support/workspace.ts';

const environment = { PATH: process.env['PATH'] ?? '' };

function createContext() {
  const warnings: string[] = [];
  const ignore = () => {};
  const logger = {
    debug: ignore,
    info: ignore,
    group: ignore,
    error: ignore,
    warning: (text: string) => void warnings.push(text),
  };
  const { signal } = new AbortController();
  return { warnings, context: { clock: systemClock, logger, redactor: createRedactor(), signal, environment } };
}

describe('a program that runs a gate', () => {
  it('gets the files and the history that its options ask for', async () => {
    await using workspace = await createWorkspace({ 'x.evals.yaml': writeSayingCases('Math', ['sum']) });
    await using server = await startSayingServer('sum');
    const options = parseGateOptions({
      'server-url': server.url,
      evals: 'x.evals.yaml',
      'report-dir': 'out',
      'report-formats': 'html, ctrf',
      'history-path': 'history.jsonl',
    });
    const plan = await planGate(options, { cwd: workspace.path, environment });
    const { warnings, context } = createContext();
    const shown: string[] = [];
    const result = await gate(plan, context, {
      onJudged: () => shown.push('judged'),
      onReport: ({ verdict }) => shown.push(verdict.outcome),
      onFiles: (_, { ctrfPath }) => shown.push(ctrfPath ?? 'none'),
      summaryPath: join(workspace.path, 'summary.md'),
    });
    expect([result.exitCode, warnings]).toEqual([0, []]);
    expect(shown).toEqual(['judged', 'passed', 'out/ctrf.json']);
    for (const file of [
      'out/report.json',
      'out/junit.xml',
      'out/report.html',
      'out/ctrf.json',
      'history.jsonl',
      'summary.md',
    ])
      await access(join(workspace.path, file));
  });

  it('gets a warning and the same verdict where a file cannot be written', async () => {
    await using workspace = await createWorkspace({ 'x.evals.yaml': writeSayingCases('Math', ['sum']) });
    await using server = await startSayingServer('sum');
    await mkdir(join(workspace.path, 'out/report.json'), { recursive: true });
    const options = parseGateOptions({ 'server-url': server.url, evals: 'x.evals.yaml', 'report-dir': 'out' });
    const { warnings, context } = createContext();
    const { exitCode, files } = await gate(await planGate(options, { cwd: workspace.path, environment }), context);
    expect([exitCode, files.reportPath, files.junitPath]).toEqual([0, null, 'out/junit.xml']);
    expect(warnings).toEqual([expect.stringMatching(/^Could not write out\/report\.json: .*The verdict stands\.$/)]);
  });
});
