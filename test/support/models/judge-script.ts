import type { Opinion } from '../../../src/models/judge-prompt.ts';
import type { ScriptedAnswer } from './scripted-session.ts';

/** The opinion of a judge that finds the rubric met, by default. */
export function createOpinion(overrides: Partial<Opinion> = {}): Opinion {
  return { reason: 'It names the city.', score: 0.9, passed: true, ...overrides };
}

export const refusal: Opinion = { reason: 'It names another city.', score: 0.1, passed: false };

/** The answers of a judge with these opinions, one after the other. */
export function scriptOpinions(...opinions: readonly Opinion[]): ScriptedAnswer[] {
  return opinions.map((input) => ({ calls: [{ tool: 'give_judgement', input }] }));
}
