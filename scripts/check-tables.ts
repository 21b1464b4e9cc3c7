import { checkRegistry, type CheckRegistry } from '../src/checks/registry.ts';
import { wrapperDocs } from '../src/checks/wrappers.ts';

const head = ['Assertion', 'Passes when'];

/**
 * Fills in the tables of assertions in a page of Markdown: every row gets what the definition of its kind says. The page decides which
 * kinds stand in which table.
 *
 * @throws {Error} where a kind stands in no table, or a row is of none
 */
export function fillCheckTables(page: string, registry: CheckRegistry = checkRegistry): string {
  const docs = new Map<string, string>([
    ...registry.checks.map(({ type, docs }) => [type, docs] as const),
    ...Object.entries(wrapperDocs),
    ...registry.elements.map(({ kind, docs }) => [kind, docs] as const),
  ]);
  const missing = new Set(docs.keys());
  const filled = page.replaceAll(/^\| Assertion +\| Passes when +\|\n\|[^\n]*\|\n(?:\|[^\n]*\|\n)+/gm, (table) => {
    const names = [...table.matchAll(/^\| `(\w+)`/gm)].map(([, name = '']) => name);
    const rows = names.map((name) => {
      const text = docs.get(name);
      if (text === undefined) throw new Error(`No assertion is called ${name}.`);
      missing.delete(name);
      return [`\`${name}\``, text];
    });
    return `${renderAligned(rows)}\n`;
  });
  if (missing.size > 0) throw new Error(`No table of assertions has ${[...missing].join(', ')}.`);
  return filled;
}

/** A table as the formatter leaves it. */
function renderAligned(rows: readonly string[][]): string {
  const widths = head.map((title, column) =>
    Math.max(title.length, ...rows.map((cells) => cells[column]?.length ?? 0)),
  );
  const line = (cells: readonly string[], fill = ' ') =>
    `| ${widths.map((width, column) => (cells[column] ?? '').padEnd(width, fill)).join(' | ')} |`;
  return [line(head), line([], '-'), ...rows.map((cells) => line(cells))].join('\n');
}
