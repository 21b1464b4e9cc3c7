import { isRecord } from '../../base/json.ts';
import { formatCount } from '../../base/text.ts';
import type { Outcome } from '../../explore/exploration.ts';
import { readResultTexts } from '../../explore/stability/texts.ts';
import { listOtherCalls } from './contrasts.ts';
import { listPairs, listRecords } from './pairs.ts';
import { type Evidence, type LostEffect, quote, readResult } from './seen.ts';

/** Finds a number that is no longer that of the items of a list, as it is in all answers of the base, also where these are others. */
export function findMiscounted({ last, contrasts }: Evidence): LostEffect | null {
  const others = listOtherCalls(contrasts, last.request).flatMap(({ base }) => [...listRecords(readResult(base))]);
  for (const { base, head } of listPairs(last)) {
    if (!isRecord(base) || !isRecord(head)) continue;
    for (const [name, list] of Object.entries(head)) {
      const before = base[name];
      if (!Array.isArray(list) || !Array.isArray(before)) continue;
      const found = Object.entries(head).find(
        ([key, count]) =>
          typeof count === 'number' &&
          count !== list.length &&
          base[key] === before.length &&
          isCounting(others, { key, name, than: before.length }),
      );
      if (found === undefined) continue;
      const [key, count] = found;
      const what = `${key} is ${String(count)}, and ${name} has ${formatCount(list.length, 'item')}`;
      return { what, isShownBy: (value) => value === base[key] };
    }
  }
  return null;
}

/** Checks if a member of objects is always the length of a list in them, also of one that is longer or shorter. */
function isCounting(
  records: ReadonlyArray<Record<string, unknown>>,
  { key, name, than }: { key: string; name: string; than: number },
): boolean {
  const counted = records.flatMap((record) => {
    const list = record[name];
    return Array.isArray(list) && typeof record[key] === 'number' ? [{ count: record[key], length: list.length }] : [];
  });
  return counted.every(({ count, length }) => count === length) && counted.some(({ length }) => length !== than);
}

/**
 * Finds a number in a text that is no longer that of the lines with one first word, as it is in all answers of the base, also where these have
 * another number of such lines.
 */
export function findMiscountedLines({ last, contrasts }: Evidence): LostEffect | null {
  const [base, ...bases] = last.bases.map(countLines);
  const head = countLines(last.head);
  const others = listOtherCalls(contrasts, last.request).map((other) => countLines(other.base));
  for (const [place, value] of base?.numbers ?? []) {
    const stated = head.numbers.get(place);
    if (stated === undefined || stated === value || bases.some(({ numbers }) => numbers.get(place) !== value)) continue;
    const isOther = others.some(({ numbers }) => (numbers.get(place) ?? value) !== value);
    const first = [...head.lines.keys()].find((word) => {
      const isCounting = ({ numbers, lines }: CountedLines) =>
        !numbers.has(place) || numbers.get(place) === (lines.get(word) ?? 0);
      return (
        head.lines.get(word) === value && [base, ...others].every((each) => each !== undefined && isCounting(each))
      );
    });
    if (!isOther || first === undefined) continue;
    const [, line = ''] = /^\d+ (.*)$/s.exec(place) ?? [];
    const what = `it says ${stated} in ${quote(line)}, and has ${formatCount(value, 'line')} with ${quote(first)}`;
    return { what, isShownBy: () => false };
  }
  return null;
}

interface CountedLines {
  /** The numbers by their places: which number of its line it is, and the line with all numbers masked. */
  numbers: ReadonlyMap<string, number>;
  /** How many lines have the same first word, or the same sign before an item. */
  lines: ReadonlyMap<string, number>;
}

const wholeNumber = /(?<![\d.,])\d+(?![\d.,]*\d)/g;

function countLines(outcome: Outcome): CountedLines {
  const numbers = new Map<string, number>();
  const lines = new Map<string, number>();
  const texts = outcome.kind === 'result' ? readResultTexts(outcome.result) : [];
  for (const line of texts.flatMap((text) => text.split('\n'))) {
    const masked = line.replaceAll(wholeNumber, '#');
    for (const [index, [number]] of [...line.matchAll(wholeNumber)].entries()) {
      const place = `${index} ${masked}`;
      if (!numbers.has(place)) numbers.set(place, Number(number));
    }
    const [first] = /\S+/.exec(line) ?? [];
    if (first !== undefined) lines.set(first, (lines.get(first) ?? 0) + 1);
  }
  return { numbers, lines };
}
