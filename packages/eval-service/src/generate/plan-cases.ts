import type { CaseMix } from '../../../../src/service/bodies/case-requests.ts';

/** The kinds of cases that can be requested, as the prompt describes them. */
const kinds = {
  simple: 'one request that one call of one tool answers',
  multiTool: 'one request that needs two or more different tools',
  multiTurn: 'two or three turns of one conversation, of which a later one builds on an earlier one',
  complex: 'one request with several conditions or exact values that must reach the arguments',
  negative:
    'one plausible request that no tool is for; the assistant must call none (isNegative: true, no expected calls)',
} as const;

type Kind = keyof typeof kinds;
const kindNames = ['simple', 'multiTool', 'multiTurn', 'complex', 'negative'] as const;

/** The counts of kinds that a mix does not name, as in the API. */
const defaultMix: Readonly<Record<Kind, number>> = { simple: 2, multiTool: 2, multiTurn: 1, complex: 1, negative: 2 };
const negativesAlone = 5;

/** Counts by kind. The total is at least one. */
export interface GenerationPlan {
  counts: Readonly<Record<Kind, number>>;
  total: number;
}

/** Plans the counts. A mix takes precedence over the mode, as in the API, unless all its counts are 0. */
export function planGeneration({ mode, caseMix }: { mode?: 'normal' | 'negative'; caseMix?: CaseMix }): GenerationPlan {
  const isMixed = caseMix !== undefined && Object.values(caseMix).some((wanted) => wanted > 0);
  const none = { simple: 0, multiTool: 0, multiTurn: 0, complex: 0 };
  const ofMode = mode === 'negative' ? { ...none, negative: negativesAlone } : defaultMix;
  const counts = isMixed ? { ...defaultMix, ...caseMix } : ofMode;
  return { counts, total: kindNames.reduce((sum, kind) => sum + counts[kind], 0) };
}

/** Returns one line for each requested kind. */
export function describePlan({ counts }: GenerationPlan): string[] {
  return kindNames.filter((kind) => counts[kind] > 0).map((kind) => `- ${counts[kind]} × ${kinds[kind]}`);
}
