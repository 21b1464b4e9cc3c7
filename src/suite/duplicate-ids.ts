import { isRecord } from '../base/json.ts';
import { readPart } from './alternatives.ts';
import type { Finding } from './findings.ts';
import type { DocumentPath, SourceDocument } from './source-document.ts';

/** Finds ids given twice, to cases of the suite or to steps of a case. Looks past whatever else is wrong. */
export function findDuplicateIds(document: SourceDocument): Finding[] {
  const cases = listItems(document.value, 'cases');
  return [
    ...findRepeatedIds(document, cases, { path: ['cases'], code: 'duplicate-case-id', what: 'case' }),
    ...cases.flatMap((item, index) =>
      findRepeatedIds(document, listItems(item, 'steps'), {
        path: ['cases', index, 'steps'],
        code: 'duplicate-step-id',
        what: 'step of this case',
      }),
    ),
  ];
}

function findRepeatedIds(
  document: SourceDocument,
  items: readonly unknown[],
  list: { path: DocumentPath; code: string; what: string },
): Finding[] {
  const firstIndexes = new Map<string, number>();
  return items.flatMap((item, index) => {
    const id = readPart(item, 'id');
    if (typeof id !== 'string') return [];
    const firstIndex = firstIndexes.get(id);
    if (firstIndex === undefined) {
      firstIndexes.set(id, index);
      return [];
    }
    const first = document.locateValue([...list.path, firstIndex, 'id']);
    const message = `The id \`${id}\` is taken by the ${list.what} at line ${first.line}`;
    return [{ ...document.locateValue([...list.path, index, 'id']), code: list.code, message }];
  });
}

function listItems(value: unknown, key: string): readonly unknown[] {
  const items = isRecord(value) ? readPart(value, key) : undefined;
  return Array.isArray(items) ? items : [];
}
