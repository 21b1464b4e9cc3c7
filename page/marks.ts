import type { VerdictOutcome } from '../src/model/verdict.ts';
import type { CaseGroup } from './filter.ts';

/** Symbols that distinguish outcomes without their colours. */
export const outcomeMarks: Record<VerdictOutcome, string> = { passed: '✓', failed: '✗', inconclusive: '?' };

export const groupMarks: Record<CaseGroup, string> = { ...outcomeMarks, tolerated: '!', 'set-aside': '‖' };
