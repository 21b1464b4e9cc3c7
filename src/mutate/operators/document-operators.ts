import { isRecord, sortKeys } from '../../base/json.ts';
import {
  type AnswerView,
  type DocumentNode,
  type Path,
  printPath,
  printPointer,
  readAt,
  replaceAt,
} from '../answer-view.ts';
import { forbidsField } from '../tool-schema.ts';
import { type Change, defineHarmful, defineHarmless, type AnswerOperator } from './define-operator.ts';
import { changeDigits, changeWord, cutText, swapCase } from './change-text.ts';

/** Makes an operator that replaces single values of a document. `change` returns undefined for a value that it does not change. */
function onValues(
  change: (node: DocumentNode) => { value: unknown; what: string } | undefined,
): AnswerOperator['list'] {
  return ({ document, isError }) =>
    document === null || isError
      ? []
      : document.nodes.flatMap((node): Change[] => {
          const changed = change(node);
          if (changed === undefined) return [];
          const { value, what } = changed;
          const make = () => document.replace(replaceAt(document.root, node.path, value));
          return [{ at: printPointer(node.path), what, make }];
        });
}

const name = (path: Path) => (path.length === 0 ? 'its value' : `\`${printPath(path)}\``);
const nameList = (path: Path) => (path.length === 0 ? 'its list' : `\`${printPath(path)}\``);

const onNumbers = (change: (value: number, path: Path) => { value: number; what: string } | undefined) =>
  onValues(({ value, path, isVolatile }) =>
    typeof value === 'number' && !isVolatile ? change(value, path) : undefined,
  );
const onStrings = (change: (value: string, path: Path) => { value: string; what: string } | undefined) =>
  onValues(({ value, path, isVolatile }) =>
    typeof value === 'string' && value !== '' && !isVolatile ? change(value, path) : undefined,
  );
const onLists = (change: (list: readonly unknown[], path: Path) => { value: unknown; what: string } | undefined) =>
  onValues(({ value, path }) => (Array.isArray(value) && value.length > 0 ? change(value, path) : undefined));
/** Lists whose order is the same in both runs. */
const onStableLists = (
  change: (list: readonly unknown[], path: Path) => { value: unknown; what: string } | undefined,
) =>
  onValues(({ value, path, isVolatile }) =>
    Array.isArray(value) && value.length > 2 && !isVolatile ? change(value, path) : undefined,
  );

export const documentOperators: readonly AnswerOperator[] = [
  defineHarmful('drop-field', 'field', ({ document, isError }) =>
    document === null || isError
      ? []
      : document.nodes.flatMap(({ path }): Change[] => {
          if (typeof path.at(-1) !== 'string') return [];
          const make = () => document.replace(replaceAt(document.root, path, undefined));
          return [{ at: printPointer(path), what: `leave out ${name(path)}`, make }];
        }),
  ),
  defineHarmful(
    'change-number',
    'boundary',
    onNumbers((value, path) => ({
      value: value + 1,
      what: `return ${value + 1} instead of ${value} as ${name(path)}`,
    })),
  ),
  defineHarmful(
    'flip-sign',
    'condition',
    onNumbers((value, path) =>
      value === 0 ? undefined : { value: -value, what: `return ${-value} instead of ${value} as ${name(path)}` },
    ),
  ),
  defineHarmful(
    'flip-boolean',
    'condition',
    onValues(({ value, path, isVolatile }) =>
      typeof value === 'boolean' && !isVolatile
        ? { value: !value, what: `return ${!value} instead of ${value} as ${name(path)}` }
        : undefined,
    ),
  ),
  defineHarmful(
    'change-text',
    'condition',
    onStrings((value, path) => {
      const changed = changeWord(value);
      return changed === null ? undefined : { value: changed, what: `return another text as ${name(path)}` };
    }),
  ),
  defineHarmful(
    'cut-text',
    'text',
    onStrings((value, path) => {
      const cut = cutText(value);
      return cut === null ? undefined : { value: cut, what: `cut ${name(path)} short` };
    }),
  ),
  defineHarmful(
    'change-case',
    'text',
    onStrings((value, path) => {
      const swapped = swapCase(value);
      return swapped === value
        ? undefined
        : { value: swapped, what: `swap capital and small letters of ${name(path)}` };
    }),
  ),
  defineHarmful(
    'move-date',
    'boundary',
    onStrings((value, path) => {
      const moved = moveDate(value);
      return moved === null ? undefined : { value: moved, what: `return ${name(path)} a day later` };
    }),
  ),
  defineHarmful(
    'empty-list',
    'filter',
    onLists((_, path) => ({ value: [], what: `return no items in ${nameList(path)}` })),
  ),
  defineHarmful(
    'drop-item',
    'filter',
    onLists((list, path) => ({ value: list.slice(0, -1), what: `leave out the last item of ${nameList(path)}` })),
  ),
  defineHarmful(
    'repeat-item',
    'filter',
    onLists((list, path) => ({ value: [list[0], ...list], what: `return an item of ${nameList(path)} twice` })),
  ),
  defineHarmful(
    'reorder-list',
    'order',
    onStableLists((list, path) =>
      findOrder(list) === null
        ? undefined
        : { value: list.toReversed(), what: `return ${nameList(path)} in another order` },
    ),
  ),
  defineHarmful('disagree', 'field', ({ document, isError }) => {
    const replace = document?.replaceOne ?? null;
    if (document === null || replace === null || isError) return [];
    const node = document.nodes.find(
      ({ value, isVolatile }) => !isVolatile && typeof value === 'string' && value !== '',
    );
    const changed = typeof node?.value === 'string' ? changeWord(node.value) : null;
    if (node === undefined || changed === null) return [];
    const make = () => replace(replaceAt(document.root, node.path, changed));
    return [{ at: printPointer(node.path), what: 'return structured content that its text contradicts', make }];
  }),
  defineHarmless('add-field', 'field', ({ document, isError, kind, result, tool }) =>
    document === null || isError || kind === 'completion'
      ? []
      : document.nodes.flatMap(({ path, value }): Change[] => {
          if (!isRecord(value)) return [];
          const schema = document.root === result?.['structuredContent'] ? (tool?.outputSchema ?? null) : null;
          if (schema !== null && forbidsField(schema, path)) return [];
          const make = () => document.replace(replaceAt(document.root, path, { ...value, added: true }));
          const where = path.length === 0 ? '' : ` to ${name(path)}`;
          return [{ at: printPointer(path), what: `adds a field${where}`, make }];
        }),
  ),
  defineHarmless('reorder-fields', 'order', ({ document, isError }) => {
    if (document === null || isError) return [];
    const sorted = sortKeys(document.root);
    const root = JSON.stringify(sorted) === JSON.stringify(document.root) ? reverseKeys(document.root) : sorted;
    if (JSON.stringify(root) === JSON.stringify(document.root)) return [];
    return [{ at: '', what: 'writes the same fields in another order', make: () => document.replace(root) }];
  }),
  defineHarmless(
    'reorder-unordered',
    'order',
    onStableLists((list, path) =>
      findOrder(list) === null
        ? { value: list.toReversed(), what: `returns ${nameList(path)}, which has no order, in another order` }
        : undefined,
    ),
  ),
  defineHarmless('other-volatile', 'text', ({ document, isError, workspace }: AnswerView) =>
    document === null || isError
      ? []
      : document.nodes.flatMap(({ path, value, isVolatileElsewhere }): Change[] => {
          if (!isVolatileElsewhere || typeof value !== 'string') return [];
          const other = changeDigits(value, workspace);
          if (other === value) return [];
          const make = () => document.replace(replaceAt(document.root, path, other));
          return [{ at: printPointer(path), what: `returns another id or time as ${name(path)}`, make }];
        }),
  ),
];

function moveDate(value: string): string | null {
  const [date] = /^\d{4}-\d{2}-\d{2}/.exec(value) ?? [];
  if (date === undefined) return null;
  const day = new Date(`${date}T00:00:00Z`);
  if (Number.isNaN(day.getTime())) return null;
  day.setUTCDate(day.getUTCDate() + 1);
  return `${day.toISOString().slice(0, date.length)}${value.slice(date.length)}`;
}

const orderNames =
  /(?:^|_|[a-z])(?:name|title|label|id|key|path|uri|url|date|time|at|created|updated|modified|score|rank|index|position|order|priority|price|size|count|number)$/i;

/** Checks if nothing in a list, which is the same in each run, shows an order. */
export const hasNoOrder = (list: readonly unknown[]) => list.length > 2 && findOrder(list) === null;

/** Names the member that a list is sorted by, or `''` for its items themselves; null if it has no order. */
function findOrder(list: readonly unknown[]): string | null {
  if (list.every((item) => typeof item === 'number' || typeof item === 'string')) return isSorted(list) ? '' : null;
  const [first] = list;
  if (!isRecord(first)) return null;
  const sorted = Object.keys(first).find(
    (key) => orderNames.test(key) && isSorted(list.map((item) => readAt(item, [key]))),
  );
  return sorted ?? null;
}

function isSorted(values: readonly unknown[]): boolean {
  const steps = values.slice(1).map((value, index) => compare(values[index], value));
  const isStrict = steps.some((step) => step !== 0);
  return (
    isStrict && (steps.every((step) => step !== null && step <= 0) || steps.every((step) => step !== null && step >= 0))
  );
}

function compare(one: unknown, other: unknown): number | null {
  if (typeof one === 'number' && typeof other === 'number') return one - other;
  if (typeof one !== 'string' || typeof other !== 'string') return null;
  return one === other ? 0 : one < other ? -1 : 1;
}

function reverseKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reverseKeys);
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toReversed()
      .map(([key, member]) => [key, reverseKeys(member)]),
  );
}
