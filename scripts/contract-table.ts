// Counts the answers listed by the API that have a test, from the titles of the tests in packages/eval-service/test/contract/. Each test asks
// twice: through the typed client and as a bare HTTP request. With --table, it also prints the test of each answer. Fails if an answer has
// neither a test nor an exception.
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createVitest } from 'vitest/node';
import { listOperations } from '../src/service/operations/table.ts';
import { httpOnly, impossibleCells } from '../test/support/service/impossible-cells.ts';
import { type ContractTest, judgeContract, readContractTest, renderCells, summarizeCells } from './contract-cells.ts';

const { cells, problems } = judgeContract(listOperations(), await collectTests(), {
  impossible: impossibleCells,
  httpOnly,
});

if (process.argv.includes('--table')) {
  const line = (row: readonly string[]) => `| ${row.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  const head = ['Operation', 'Status', 'Test', 'File', 'Ways'];
  console.log([head, head.map(() => '---'), ...renderCells(cells)].map(line).join('\n'));
}
console.log(summarizeCells(cells));
if (problems.length > 0) {
  console.error(problems.join('\n'));
  process.exitCode = 1;
}

/** Loads the tests of the contract without running them, so that placeholders in titles are replaced. */
async function collectTests(): Promise<ContractTest[]> {
  const include = ['packages/eval-service/test/contract/*.test.ts'];
  const root = fileURLToPath(new URL('../', import.meta.url));
  const vitest = await createVitest('test', {
    root,
    include,
    config: false,
    watch: false,
    isolate: false,
    reporters: [],
  });
  try {
    const { testModules, unhandledErrors } = await vitest.collect([], { staticParse: false });
    const errors = [...unhandledErrors, ...testModules.flatMap((module) => module.errors())];
    if (errors.length > 0) throw new Error('Test files of the contract cannot be loaded.', { cause: errors });
    return testModules
      .flatMap((module) =>
        [...module.children.allTests()].map(({ name }) => readContractTest(name, basename(module.moduleId))),
      )
      .filter((test) => test !== undefined)
      .toSorted((a, b) => (a.file < b.file ? -1 : a.file > b.file ? 1 : 0));
  } finally {
    await vitest.close();
  }
}
