import type { ComparedRequest } from './bench.ts';

const references = /\{\{result\.(\d+)(?=\/)/g;

/** Leaves out a request of a session, and renumbers references to results; null if a later request uses its result. */
export function dropRequest(requests: readonly ComparedRequest[], index: number): ComparedRequest[] | null {
  let isUsed = false;
  const left = requests
    .filter((_, at) => at !== index)
    .map((each): ComparedRequest => {
      const text = JSON.stringify(each).replaceAll(references, (whole, step: string) => {
        isUsed ||= Number(step) === index;
        return Number(step) > index ? `{{result.${Number(step) - 1}` : whole;
      });
      // The text was printed from the same value.
      return JSON.parse(text) as ComparedRequest; // oxlint-disable-line typescript/no-unsafe-type-assertion
    });
  return isUsed ? null : left;
}

/** Finds a short session that still shows something: without each request before the last one that is not needed, tried one by one. */
export async function shrinkSession(
  requests: readonly ComparedRequest[],
  shows: (requests: readonly ComparedRequest[]) => Promise<boolean>,
): Promise<readonly ComparedRequest[]> {
  const last = requests.at(-1);
  if (last === undefined || requests.length === 1) return requests;
  const usesResults = JSON.stringify(last.request).includes('{{result.');
  if (!usesResults && (await shows([last]))) return [last];
  let shortest = requests;
  for (let index = requests.length - 2; index >= 0; index -= 1) {
    const shorter = dropRequest(shortest, index);
    if (shorter !== null && shorter.length > (usesResults ? 0 : 1) && (await shows(shorter))) shortest = shorter;
  }
  return shortest;
}
