import type { Operation } from '../src/service/operations/operation.ts';

/** An answer that the API lists for an operation: its success or one of its refusals. */
export interface Cell {
  operation: string;
  status: number;
}

/** A test of the contract, from its title `<operation> answers <status>: <when> (<way>)`. */
export interface ContractTest extends Cell {
  when: string;
  way: 'client' | 'http';
  /** The name of the test file. */
  file: string;
}

/** A cell that cannot occur in the embedded service, with the reason. */
export interface ImpossibleCell extends Cell {
  reason: string;
}

/** A cell with its state. */
export type JudgedCell = Cell &
  (
    | { state: 'tested'; when: string; file: string; ways: string }
    | { state: 'impossible'; reason: string }
    | { state: 'missing' }
  );

/** The table of the contract, and the mistakes in its exceptions. Without problems, the table is sound. */
export interface JudgedContract {
  cells: JudgedCell[];
  problems: string[];
}

/** The maximum share of impossible cells. */
const mostImpossible = 0.1;

/** Reads the title of a test; undefined if it is not a test of the contract. */
export function readContractTest(title: string, file: string): ContractTest | undefined {
  const found = /^(?<operation>\w+) answers (?<status>\d{3}): (?<when>.*) \((?<way>client|http)\)$/s.exec(
    title,
  )?.groups;
  if (found === undefined) return undefined;
  const { operation = '', status, when = '', way } = found;
  return { operation, status: Number(status), when, way: way === 'client' ? 'client' : 'http', file };
}

/**
 * Judges every cell: it is tested if one test, by its title, asks through the client and over HTTP. A refusal in `httpOnly` needs only HTTP.
 * Reports every cell that has neither a test nor an exception, and every exception that has no effect.
 */
export function judgeContract(
  operations: ReadonlyArray<Pick<Operation, 'name' | 'status' | 'errors'>>,
  tests: readonly ContractTest[],
  exceptions: { impossible: readonly ImpossibleCell[]; httpOnly: readonly string[] },
): JudgedContract {
  const { impossible, httpOnly } = exceptions;
  const byCell = Map.groupBy(tests, nameCell);
  const reasons = new Map(impossible.map((cell) => [nameCell(cell), cell.reason]));
  const cells = operations.flatMap(({ name, status, errors }) =>
    [status, ...errors].map((each): JudgedCell => {
      const cell = { operation: name, status: each };
      const test = findProof(byCell.get(nameCell(cell)) ?? [], httpOnly);
      if (test !== undefined) return { ...cell, state: 'tested', ...test };
      const reason = reasons.get(nameCell(cell));
      return reason === undefined ? { ...cell, state: 'missing' } : { ...cell, state: 'impossible', reason };
    }),
  );
  const states = new Map(cells.map((cell) => [nameCell(cell), cell.state]));
  const excused = cells.filter(({ state }) => state === 'impossible').length;
  return {
    cells,
    problems: [
      ...cells.flatMap((cell) =>
        cell.state === 'missing'
          ? [`No test is named "${cell.operation} answers ${cell.status}: … (client)", and one "… (http)".`]
          : [],
      ),
      ...impossible.flatMap((cell) =>
        states.get(nameCell(cell)) === 'impossible'
          ? []
          : [`${nameCell(cell)} is tested or not in the API. Remove it from the impossible cells.`],
      ),
      ...tests.flatMap((test) =>
        states.has(nameCell(test)) || operations.some(({ name }) => name === test.operation)
          ? []
          : [`${test.file}: no operation is named ${test.operation}.`],
      ),
      ...(excused > cells.length * mostImpossible
        ? [`${excused} of ${cells.length} cells are listed as impossible, more than 10 %.`]
        : []),
    ],
  };
}

/** Finds the first title with both ways, or with HTTP if the client cannot ask. */
function findProof(tests: readonly ContractTest[], httpOnly: readonly string[]) {
  const titles = [...Map.groupBy(tests, ({ when, file }) => `${file} ${when}`).values()].map((same) => ({
    when: same[0]?.when ?? '',
    file: same[0]?.file ?? '',
    ways: [...new Set(same.map(({ way }) => way))].toSorted().join(', '),
  }));
  return (
    titles.find(({ ways }) => ways === 'client, http') ??
    titles.find(({ ways, when }) => ways === 'http' && httpOnly.includes(when))
  );
}

function nameCell({ operation, status }: Cell): string {
  return `${operation} ${status}`;
}

/** Renders the rows of the table: operation, status, test or reason, file and ways. */
export function renderCells(cells: readonly JudgedCell[]): string[][] {
  return cells.map((cell) => [
    `\`${cell.operation}\``,
    String(cell.status),
    ...(cell.state === 'tested'
      ? [cell.when, cell.file, cell.ways]
      : cell.state === 'impossible'
        ? [`cannot occur: ${cell.reason}`, '', '']
        : ['**no test**', '', '']),
  ]);
}

/** Counts the cells in each state, as one sentence. */
export function summarizeCells(cells: readonly JudgedCell[]): string {
  const print = (wanted: JudgedCell['state']) => {
    const count = cells.filter(({ state }) => state === wanted).length;
    return `${count} (${((100 * count) / cells.length).toFixed(1)} %)`;
  };
  return `Of ${cells.length} answers, ${print('tested')} are tested, ${print('impossible')} cannot occur and ${print('missing')} have no test.`;
}
