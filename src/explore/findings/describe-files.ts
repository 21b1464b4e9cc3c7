import type { FileEffects } from '../exploration.ts';

/** Describes the files that a call changed, as the end of a sentence; null if it changed none. */
export function describeFiles({ added, changed, removed }: FileEffects): string | null {
  const parts = [
    [added, 'adds'],
    [changed, 'changes'],
    [removed, 'removes'],
  ] as const;
  const described = parts.flatMap(([names, verb]) => {
    const [first] = names;
    if (first === undefined) return [];
    return [`${verb} ${first}${names.length === 1 ? '' : ` and ${names.length - 1} more`}`];
  });
  return described.length === 0 ? null : described.join(', ');
}
