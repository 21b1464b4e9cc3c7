import { describe, expect, it } from 'vitest';
import { type Logger, silentLogger } from '../../src/base/logger.ts';
import { callReporters } from '../../src/gate/publish/reporters.ts';
import { runGate } from '../../src/library/functions.ts';
import { defineReporter } from '../../src/library/reporter.ts';
import { createReport } from '../support/factories/report-factory.ts';
import { plainServerCommand } from '../support/servers/bundled-servers.ts';
import { createWorkspace } from '../support/workspace.ts';

describe("reporters of one's own", () => {
  it('get the report at the end, and one that throws neither stops the others nor changes the verdict', async () => {
    await using workspace = await createWorkspace({});
    const warnings: string[] = [];
    const logger: Logger = { ...silentLogger, warning: (message) => warnings.push(message) };
    const seen: string[] = [];
    const report = await runGate({
      serverCommand: plainServerCommand,
      cwd: workspace.path,
      logger,
      tests: [{ title: 'Counts', steps: [{ toolCall: 'count' }] }],
      reporters: [
        defineReporter({
          name: 'changes',
          report: (own) => {
            own.verdict.outcome = 'failed';
            throw new Error('no disk');
          },
        }),
        defineReporter({
          name: 'later',
          report: async ({ verdict, cases }) => {
            await Promise.resolve();
            seen.push(verdict.outcome, ...cases.map(({ title }) => title));
          },
        }),
      ],
    });
    expect(seen).toEqual(['passed', 'Counts']);
    expect(report.verdict.outcome).toBe('passed');
    expect(warnings).toContain('The reporter changes failed: no disk');
  });

  it('are a warning if they do not end', async () => {
    const warnings: string[] = [];
    const logger: Logger = { ...silentLogger, warning: (message) => warnings.push(message) };
    const hangs = defineReporter({ name: 'hangs', report: () => new Promise<void>(() => {}) });
    await callReporters([hangs], createReport(), logger, 20);
    expect(warnings).toEqual(['The reporter hangs failed: it has not ended for 20 ms']);
  });

  it('are refused before anything starts if they are none', async () => {
    const gate = { serverCommand: plainServerCommand, evals: 'x', reporters: [{ name: 'csv' }] };
    await expect(runGate(gate as object)).rejects.toThrow(
      'reporters: has an entry 1 that is an object; give reporters that `defineReporter` made',
    );
  });
});
