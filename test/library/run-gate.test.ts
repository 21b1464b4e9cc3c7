import { describe, expect, it, vi } from 'vitest';
import { ConfigurationError } from '../../src/base/errors.ts';
import { type FinishedIteration, runGate } from '../../src/library/run-gate.ts';
import { compareText } from '../../src/suite/findings.ts';
import { memoryServerPath, plainServerCommand } from '../support/servers/bundled-servers.ts';
import { createWorkspace } from '../support/workspace.ts';

const cases = [
  { title: 'Counts', steps: [{ toolCall: 'count' }, { assert: { toolResultContains: '1' } }] },
  { title: 'Counts to two', steps: [{ toolCall: 'count' }, { assert: { toolResultContains: '2' } }] },
];

async function listIssues(options: object): Promise<string[]> {
  try {
    await runGate(options);
    return [];
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    return error.issues.map(({ input, message }) => `${input} ${message}`);
  }
}

describe('runGate', () => {
  it('returns a report with both verdicts, and calls for each iteration', async () => {
    await using workspace = await createWorkspace({});
    const iterations: FinishedIteration[] = [];
    const steps: string[] = [];
    const gate = { serverCommand: plainServerCommand, tests: cases, cwd: workspace.path, reportTo: 'none' };
    const failed = await runGate({
      ...gate,
      runs: 2,
      timeout: 120_000,
      onIteration: (iteration) => iterations.push(iteration),
      onProgress: ({ kind }) => steps.push(kind),
    });
    expect(failed.verdict.outcome).toBe('failed');
    expect(failed.cases.map(({ title, passed, total }) => [title, passed, total])).toEqual([
      ['Counts to two', 0, 2],
      ['Counts', 2, 2],
    ]);
    expect(iterations.map(({ outcome, error }) => `${outcome}: ${error === null}`).toSorted(compareText)).toEqual([
      ...Array.from({ length: 2 }, () => 'failed: false'),
      ...Array.from({ length: 2 }, () => 'passed: true'),
    ]);
    expect(steps).toEqual(expect.arrayContaining(['server-ready', 'run-finished']));
    const passed = await runGate({ ...gate, minPassRate: 0.5 });
    expect(passed.verdict.outcome).toBe('passed');
    expect((await runGate({ ...gate, policy: { minimumPassRate: '50%' } })).verdict.outcome).toBe('passed');
  });

  it('runs two gates at once, writes nothing to the streams, and leaves nothing behind', async () => {
    await using workspace = await createWorkspace({});
    const listeners = process.eventNames().map((name) => [name, process.listenerCount(name)]);
    const before = countResources();
    const written: unknown[] = [];
    const spies = [process.stdout, process.stderr].map((stream) =>
      vi.spyOn(stream, 'write').mockImplementation((text: unknown) => written.push(text) > 0),
    );
    try {
      const [counting, remembering] = await Promise.all([
        runGate({ serverCommand: plainServerCommand, tests: cases.slice(0, 1), cwd: workspace.path, reportDir: 'one' }),
        runGate({
          serverCommand: `${process.execPath} ${memoryServerPath}`,
          serverEnv: { MEMORY_FILE_PATH: `${workspace.path}/memory.json` },
          tests: [{ title: 'Reads', steps: [{ toolCall: 'read_graph' }] }],
          cwd: workspace.path,
          reportDir: 'two',
        }),
      ]);
      expect([counting.verdict.outcome, remembering.verdict.outcome]).toEqual(['passed', 'passed']);
    } finally {
      for (const spy of spies) spy.mockRestore();
    }
    expect(written).toEqual([]);
    expect(process.eventNames().map((name) => [name, process.listenerCount(name)])).toEqual(listeners);
    const listAdded = () => Object.entries(countResources()).filter(([name, count]) => count > (before[name] ?? 0));
    await expect.poll(listAdded).toEqual([]);
  });

  it.each(['before', 'during'])('ends in an inconclusive report if its signal aborts %s the gate', async (when) => {
    await using workspace = await createWorkspace({});
    const controller = new AbortController();
    const hang = [{ title: 'Hangs', steps: [{ toolCall: 'hang' }], timeout: '5m' }];
    if (when === 'before') controller.abort();
    const running = runGate({
      serverCommand: plainServerCommand,
      tests: hang,
      cwd: workspace.path,
      signal: controller.signal,
      onProgress: ({ kind }) => kind === 'run-started' && controller.abort(),
    });
    const report = await running;
    expect(report.verdict.outcome).toBe('inconclusive');
  });
});

describe('options that are wrong', () => {
  it('are all named, with what each of them takes', async () => {
    expect(
      await listIssues({
        serverComand: 'node server.js',
        evals: ['a.evals.yaml', 5],
        timeout: [],
        dryRun: 'yes please',
        runs: null,
        serverEnv: { A: 'b' },
        tags: ['a\nb'],
      }),
    ).toEqual([
      'serverComand is no option; did you mean `serverCommand`?',
      'evals has an entry 2 that is a number; give texts of one line',
      'timeout cannot be a list; give a number of milliseconds or a text',
      'runs cannot be null; give a number, an object or a text',
      'tags has an entry 1 that has a line break; give texts of one line',
    ]);
  });

  it('are checked by the rules of the command', async () => {
    await using workspace = await createWorkspace({});
    const given = { cwd: workspace.path, evals: 'none.yaml', minPassRate: 1.5, dryRun: 'yes' };
    expect(await listIssues(given)).toEqual([
      'dryRun "yes" is not a boolean; write true or false',
      'minPassRate 150% is more than 100%',
      expect.stringMatching(/^evals No file matches "none.yaml"/),
    ]);
    expect(await listIssues({ cwd: workspace.path, tests: cases })).toEqual([expect.stringMatching(/^serverCommand /)]);
  });
});

/** Counts what keeps this process running, apart from what the test runner has. */
function countResources(): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const name of process.getActiveResourcesInfo()) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}
