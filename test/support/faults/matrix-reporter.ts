import type { Reporter, TestCase, TestModule } from 'vitest/node';

type Mark = '✓' | '✗' | '–';

/** Prints the fault matrix after all tests: a line per fault, a column per phase. */
export class FaultMatrixReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    const cells = tests.flatMap((test) => {
      const { cell } = test.meta();
      return cell === undefined ? [] : [{ ...cell, mark: markOf(test) }];
    });
    if (cells.length === 0) return;
    const columns = [...new Set(cells.map(({ phase }) => phase))].toSorted();
    const rows = Map.groupBy(
      cells.toSorted((a, b) => a.fault - b.fault),
      ({ fault, what }) => `${String(fault).padStart(2)} ${what}`,
    );
    const width = Math.max(...[...rows.keys()].map((title) => title.length));
    const lines = [...rows].map(([title, marks]) => {
      const found = columns.map((phase) =>
        (marks.find((cell) => cell.phase === phase)?.mark ?? '·').padEnd(phase.length),
      );
      return `${title.padEnd(width)}  ${found.join('  ')}`;
    });
    const green = cells.filter(({ mark }) => mark === '✓').length;
    const head = `${`Faults by phase, ${green} of ${cells.length} cells as they should be`.padEnd(width)}  ${columns.join('  ')}`;
    process.stdout.write(`\n${[head, ...lines].join('\n')}\n`);
  }
}

function markOf(test: TestCase): Mark {
  const { state } = test.result();
  return state === 'passed' ? '✓' : state === 'failed' ? '✗' : '–';
}
