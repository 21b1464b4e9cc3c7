import { isJsonEqual, isRecord } from '../../base/json.ts';
import { maskForms } from '../../explore/stability/forms.ts';
import { mapTexts } from '../../workspace/placeholders.ts';
import { openDocument, readResult, type SeenStep } from './seen.ts';

/** Values of both sides at one place. */
export interface Pair {
  name: string;
  base: unknown;
  head: unknown;
}

/** Lists the values that all runs of the base have at a place, apart from times, ids and the like, with that of the change there. */
export const listPairs = ({ bases, head }: SeenStep) => [
  ...walkPairs('the answer', bases.map(readResult), readResult(head)),
];

function* walkPairs(name: string, bases: readonly unknown[], head: unknown): Generator<Pair> {
  const [lefts, right] = [bases.map(openDocument), openDocument(head)];
  const [base] = lefts;
  const masked = lefts.map((left) => mapTexts(left, maskForms));
  if (masked.every((left) => isJsonEqual(left, masked[0]))) yield { name, base, head: right };
  if (lefts.every(Array.isArray) && Array.isArray(right)) {
    for (const [index, item] of right.entries()) {
      if (lefts.every(({ length }) => index < length)) {
        yield* walkPairs(
          name,
          lefts.map((left) => left[index]),
          item,
        );
      }
    }
  } else if (lefts.every(isRecord) && isRecord(right)) {
    for (const [key, member] of Object.entries(right)) {
      if (lefts.every((left) => Object.hasOwn(left, key))) {
        yield* walkPairs(
          key,
          lefts.map((left) => left[key]),
          member,
        );
      }
    }
  }
}

/** Lists the objects in a value, with JSON in texts taken apart. */
export function* listRecords(value: unknown): Generator<Record<string, unknown>> {
  const read = openDocument(value);
  if (isRecord(read)) yield read;
  if (typeof read === 'object' && read !== null) for (const member of Object.values(read)) yield* listRecords(member);
}
