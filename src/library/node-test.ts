import { after, describe, it } from 'node:test';
import type { Evals, EvalTestOptions, EvalTestResults, EvalTests } from './eval-tests.ts';
import { nameEvals } from './name-evals.ts';

/**
 * Makes a test of `node:test` of each case of evals files, or of a suite as a value. The cases of a suite run in one gate when the first of its
 * tests runs, also those that a pattern of `node --test` leaves out. A case that does not count, such as one in quarantine, is skipped. If all
 * cases pass and the gate does not, such as for a change of the surface, the suite fails. With `--test-update-snapshots`, results become the
 * snapshots of `toMatchFile`. Reports are in a folder of `reportDir` for each suite.
 *
 * @example
 * import { describeEvals } from 'mcp-eval-ci/node-test';
 *
 * describeEvals('evals/*.evals.yaml', { serverCommand: 'node build/index.js' });
 */
export function describeEvals(evals: Evals, options: EvalTestOptions): void {
  const name = nameEvals(evals);
  void describe(name, async () => {
    const { listEvalTests } = await import('./eval-tests.ts');
    for (const suite of await listEvalTests(evals, options)) {
      if (suite.name === name) defineTests(suite);
      else void describe(suite.name, () => defineTests(suite));
    }
  });
}

const updateCommand = 'node --test --test-update-snapshots';

function defineTests({ cases, run }: EvalTests): void {
  const ids = cases.map(({ id }) => id);
  const updatesSnapshots = process.execArgv.includes('--test-update-snapshots');
  let results: Promise<EvalTestResults> | undefined;
  for (const { id, title } of cases) {
    void it(title, async (test) => {
      results ??= run(ids, { signal: test.signal, updatesSnapshots, updateCommand });
      const note = (await results).checkCase(id);
      if (note !== null) test.skip(note);
    });
  }
  // A gate that did not start has failed its tests.
  after(async () => (await results?.catch(() => undefined))?.checkVerdict());
}
