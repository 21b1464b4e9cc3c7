import { describeSource } from '../model/source.ts';
import type { SuiteRequirements } from '../model/policy.ts';
import type { Verdict } from '../model/verdict.ts';
import { listLenientRules } from './reason-rules.ts';

/** The meaning of the verdicts for the job: 0 it continues, 1 failed, 3 nothing was established. */
export interface ExitDecision {
  exitCode: 0 | 1 | 3;
  /** The verdicts other than `passed` that do not stop the job, one sentence each. */
  notes: string[];
  /** The notes that the user should act upon. */
  warnings: string[];
}

export interface JudgedExit {
  name: string;
  verdict: Verdict;
  requirements: Pick<SuiteRequirements, 'onInconclusive' | 'onNothingRun' | 'reportOnly'>;
}

/** Decides the exit code from the suites' verdicts and the effects that their policies give them. Does not change the verdicts. */
export function decideExit(suites: readonly JudgedExit[]): ExitDecision {
  const decisions = suites.map(decideSuiteExit);
  const codes = new Set(decisions.map(({ exitCode }) => exitCode));
  const nothingRan = suites.length === 0;
  return {
    exitCode: codes.has(1) ? 1 : codes.has(3) || nothingRan ? 3 : 0,
    notes: decisions.flatMap(({ notes }) => notes),
    warnings: decisions.flatMap(({ warnings }) => warnings),
  };
}

function decideSuiteExit({ name, verdict: { outcome, reasons }, requirements }: JudgedExit): ExitDecision {
  const { reportOnly } = requirements;
  if (outcome === 'passed') return { exitCode: 0, notes: [], warnings: [] };
  if (outcome === 'failed') {
    if (!reportOnly.value) return { exitCode: 1, notes: [], warnings: [] };
    const note = `${name} failed and is only reported (reportOnly, ${describeSource(reportOnly.source)}), so that the job goes on.`;
    return { exitCode: 0, notes: [note], warnings: [] };
  }
  const rules = listLenientRules(reasons);
  const asked = (rules ?? []).map((rule) => ({ rule, ...requirements[rule] }));
  if (rules === null || asked.some(({ value }) => value === 'fail')) return { exitCode: 3, notes: [], warnings: [] };
  const why = asked.map(({ rule, value, source }) => `${rule}: ${value}, ${describeSource(source)}`).join('; ');
  const what = rules.includes('onNothingRun') ? 'has no verdict, because results are missing' : 'is inconclusive';
  const note = `${name} ${what}; the job goes on all the same (${why}).`;
  return { exitCode: 0, notes: [note], warnings: asked.some(({ value }) => value === 'warn') ? [note] : [] };
}
