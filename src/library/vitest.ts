import { dirname, resolve } from 'node:path';
import { afterAll, describe, expect, it, type TestAPI, test } from 'vitest';
import type { ToolResult } from '../checks/evidence.ts';
import type { Evals, EvalTestOptions, EvalTestResults, EvalTests } from './eval-tests.ts';
import { nameEvals } from './name-evals.ts';
import type { TestedServer, TestedServerOptions } from './tested-server.ts';

declare module 'vitest' {
  interface Matchers<R extends void | Promise<void>, T> {
    /** The result of a tool fits an assertion as an evals file has it. A text stands for `toolResultContains`. */
    toHaveToolResult(expected: unknown): Promise<void>;
    /** The server shows what a surface file says. The path is relative to the test; the default is `surface.json`. `-u` writes the file. */
    toMatchSurface(file?: string): Promise<void>;
  }
}

/**
 * Makes a test of each case of evals files, or of a suite as a value. The cases of a suite run in one gate when the first of its tests runs,
 * and only those that vitest runs. A case that does not count, such as one in quarantine, is skipped. If all cases pass and the gate does
 * not, such as for a change of the surface, the suite fails. With `-u`, results become the snapshots of `toMatchFile`. Reports are in a folder
 * of `reportDir` for each suite.
 */
export function describeEvals(evals: Evals, options: EvalTestOptions): void {
  const name = nameEvals(evals);
  describe(name, async () => {
    const { listEvalTests } = await import('./eval-tests.ts');
    for (const suite of await listEvalTests(evals, options)) {
      if (suite.name === name) {
        defineTests(suite);
      } else {
        describe(suite.name, () => {
          defineTests(suite);
        });
      }
    }
  });
}

function defineTests({ cases, run }: EvalTests): void {
  let results: Promise<EvalTestResults> | undefined;
  for (const { id, title } of cases) {
    // The gate has a time limit of its own.
    it(title, { timeout: 0 }, async ({ task, signal, skip }) => {
      const tasks = task.suite?.tasks ?? [];
      const ids = cases.filter((_, index) => tasks[index]?.mode !== 'skip').map((each) => each.id);
      const updatesSnapshots = expect.getState().snapshotState.snapshotUpdateState === 'all';
      results ??= run(ids, { signal, updatesSnapshots, updateCommand: 'vitest -u' });
      const note = (await results).checkCase(id);
      if (note !== null) skip(note);
    });
  }
  // A gate that did not start has failed its tests.
  afterAll(async () => (await results?.catch(() => undefined))?.checkVerdict());
}

/** Makes a `test` of vitest with the fixture `server`. The server starts for each test that uses it, and stops at the end of the test. */
export function createServerTest(options: TestedServerOptions): TestAPI<{ server: TestedServer }> {
  return test.extend<{ server: TestedServer }>({
    // oxlint-disable-next-line no-empty-pattern -- vitest reads the names of other fixtures from the pattern
    server: async ({}, use) => {
      const { openTestedServer } = await import('./tested-server.ts');
      await using server = await openTestedServer(options);
      await use(server);
    },
  });
}

expect.extend({
  async toHaveToolResult(result: ToolResult, expected: unknown) {
    const { judgeToolResult } = await import('./tested-server.ts');
    const { pass, reason, compared } = await judgeToolResult(result, expected);
    return { pass, message: () => reason, ...compared };
  },
  async toMatchSurface(server: TestedServer, file = 'surface.json') {
    if (this.isNot) throw new TypeError('toMatchSurface cannot be used with `not`, as any snapshot.');
    const { describeSurface, requireMember } = await import('./tested-server.ts');
    requireMember(server, 'readSurface', 'the fixture `server`');
    const path = resolve(dirname(this.testPath ?? ''), file);
    const known = await this.snapshotState.environment.readSnapshotFile(path);
    const { text, changes } = describeSurface(
      await server.readSurface(),
      known === null ? null : { text: known, path: file },
    );
    try {
      // Writes the file as vitest writes its own snapshots, and counts it among them.
      await expect(text).toMatchFileSnapshot(path);
    } catch (error) {
      if (changes.length === 0) throw error;
      const message = `The server does not show what ${file} says. If the change is meant, run vitest with -u.`;
      return { pass: false, message: () => [message, ...changes.map((change) => `  ${change}`)].join('\n') };
    }
    return { pass: true, message: () => `The server shows what ${file} says.` };
  },
});
