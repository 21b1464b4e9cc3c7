import type { CaseMix } from '../../../../src/service/bodies/case-requests.ts';

/** The kinds of cases that can be asked for, as the prompt describes them. */
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

/** Of a mix that names some kinds only, the others are as many as here. The API's own. */
const defaultMix: Readonly<Record<Kind, number>> = { simple: 2, multiTool: 2, multiTurn: 1, complex: 1, negative: 2 };
const negativesAlone = 5;

/** Counts by kind, at least one in total. */
export interface GenerationPlan {
  counts: Readonly<Record<Kind, number>>;
  total: number;
}

/** A mix goes before the mode, as in the API, unless it asks for nothing. */
export function planGeneration({ mode, caseMix }: { mode?: 'normal' | 'negative'; caseMix?: CaseMix }): GenerationPlan {
  const isMixed = caseMix !== undefined && Object.values(caseMix).some((wanted) => wanted > 0);
  const none = { simple: 0, multiTool: 0, multiTurn: 0, complex: 0 };
  const ofMode = mode === 'negative' ? { ...none, negative: negativesAlone } : defaultMix;
  const counts = isMixed ? { ...defaultMix, ...caseMix } : ofMode;
  return { counts, total: kindNames.reduce((sum, kind) => sum + counts[kind], 0) };
}

/** One line for each kind that is asked for. */
export function describePlan({ counts }: GenerationPlan): string[] {
  return kindNames.filter((kind) => counts[kind] > 0).map((kind) => `- ${counts[kind]} × ${kinds[kind]}`);
}
