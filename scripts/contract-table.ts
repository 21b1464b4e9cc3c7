// Says how many of the answers that the API lists have a test, from the titles of the tests in packages/eval-service/test/contract/. Each answer is
// asked for twice: through the typed client and as a bare HTTP request. With --table it prints which test shows which answer. Fails if an answer has
// neither a test nor an excuse.
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

/** Loads the tests of the contract without running them, so that titles with a placeholder are complete. */
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
