import { formatCount, formatMoney } from '../base/text.ts';
import { describeSource } from '../model/source.ts';
import type { FlakyEffect } from '../model/policy.ts';
import { formatPassRate } from '../model/rate.ts';
import type { CaseReport, RepeatRates } from '../model/case-report.ts';
import type { SuiteRepeats, SuiteReport } from '../model/report.ts';
import type { RoundsReport } from '../model/rounds.ts';
import { asCode, type Line } from './document/block.ts';

const effectWords: Record<FlakyEffect, string> = {
  fail: 'counts as failed',
  pass: 'counts as passed',
  report: 'does not count',
};

/** Describes how far a case is from being stable: `on probation, passed in 2 of 5 gates`; null for every other case. */
export function describeProbation({ probation }: Pick<CaseReport, 'probation'>): string | null {
  if (probation === null) return null;
  return `on probation, passed in ${probation.passedGates} of ${formatCount(probation.neededGates, 'gate')}`;
}

/** Describes how a flaky case counts: `flaky, counts as failed`; null for every other case. */
export function describeFlaky({ flaky }: Pick<CaseReport, 'flaky'>): string | null {
  return flaky === null ? null : `flaky, ${effectWords[flaky.effect]}`;
}

/** Describes the results of a case in its retries: `; run again: 0 of 2, 2 of 2`. Empty without retries. */
export function describeRounds({ retries }: Pick<CaseReport, 'retries'>): string {
  if (retries.length === 0) return '';
  return `; run again: ${retries.map(({ passed, total }) => `${passed} of ${total}`).join(', ')}`;
}

function listRetries({ id, retries }: SuiteReport, cases: readonly CaseReport[]): string[] {
  if (retries.length === 0) return [];
  const again = cases.filter((testCase) => testCase.suiteId === id && testCase.retries.length > 0);
  const [first] = again.flatMap(({ flaky }) => flaky ?? []);
  const flaky = again.filter((testCase) => testCase.flaky !== null).length;
  const failed = again.length - flaky;
  const rounds = new Set(retries.filter(({ shortfall }) => shortfall === null).map(({ round }) => round)).size;
  const parts = [
    ...(first === undefined ? [] : [`${flaky} flaky (${effectWords[first.effect]}, ${describeSource(first.source)})`]),
    ...(failed === 0 ? [] : [`${failed} failed in every round`]),
  ];
  return [
    ...(again.length === 0
      ? []
      : [
          `${formatCount(again.length, 'failed case')} run again, in ${formatCount(rounds, 'round')}: ${parts.join(', ')}.`,
        ]),
    ...retries.flatMap(({ round, cases, shortfall }) =>
      shortfall === null
        ? []
        : [
            `Round ${round}, of ${formatCount(cases, 'failed case')}, was not completed and counts for nothing: ${shortfall}`,
          ],
    ),
  ];
}

/**
 * Describes in one sentence how the requirements of a suite were decided round by round: `Decided after 4 of at most 30 rounds: …`; null if
 * its number of iterations was fixed.
 */
export function describeRoundsDecision({ rounds }: SuiteReport, currency: string): string | null {
  if (rounds === undefined) return null;
  const { ran, max, iterations, requirements } = rounds;
  const of = `of at most ${formatCount(max, 'round')}`;
  const open = requirements.filter(({ state }) => state === 'open');
  if (open.length > 0) {
    const [first] = open;
    const verb = open.length === 1 ? 'is' : 'are';
    const all =
      requirements.length === 1 ? 'the minimum is' : `${open.length} of ${requirements.length} minimums ${verb}`;
    const further =
      open.length > 1 || first?.further == null
        ? ''
        : `; about ${formatCount(first.further, 'further iteration')} would probably settle it`;
    return `Not decided after ${ran} ${of}: ${all} open${further}.`;
  }
  const rounded = requirements.flatMap(({ decidedAfter }) => decidedAfter ?? []);
  const spent = formatCount(iterations, 'iteration');
  if (rounded.length === 0) {
    return `Counted after ${ran} ${of}: ${spent}, recorded or deterministic, of which more would show nothing new.`;
  }
  return `Decided after ${Math.max(...rounded)} ${of}: ${spent}${describeSaving(rounds, currency)}.`;
}

function describeSaving({ fixed }: RoundsReport, currency: string): string {
  if (fixed === null) return '';
  const { iterations, saved, savedCost } = fixed;
  const money = savedCost === null || saved <= 0 ? '' : ` and about ${formatMoney(savedCost, currency)}`;
  const difference = saved > 0 ? ` (${saved}${money} saved)` : saved < 0 ? ` (${-saved} fewer)` : '';
  return `; a fixed number with the same power takes ${iterations}${difference}`;
}

/** Notes that a suite was stopped early, or which cases ran again and with which result; one sentence each, or none. */
export function listRoundNotes(suite: SuiteReport, cases: readonly CaseReport[]): string[] {
  return [...listEarlyStop(suite), ...listRetries(suite, cases)];
}

function listEarlyStop({ stoppedEarly }: SuiteReport): string[] {
  if (stoppedEarly === null) return [];
  const { planned, ran } = stoppedEarly;
  return [
    `Stopped early, after ${ran} of ${formatCount(planned, 'iteration')}, since the others could not change the verdict. The rate is of those that ran, and biased: what ran depends on what failed.`,
  ];
}

/**
 * Describes pass@k and pass^k of a suite: `pass@5 100%, pass^5 66.6% (3 cases with several iterations)`. The two names are code, since one
 * of them looks like a mention of a user.
 */
export function describeRepeats({ k, passAtK, passHatK, cases }: SuiteRepeats): Line {
  return [
    asCode(`pass@${k}`),
    ` ${formatPassRate(passAtK)}, `,
    asCode(`pass^${k}`),
    ` ${formatPassRate(passHatK)} (${formatCount(cases, 'case')} with several iterations)`,
  ];
}

/** Picks the rates of a case for the `k` of its suite; undefined if it has too few iterations, or no rates for this `k`. */
export function findRates({ repeats }: Pick<CaseReport, 'repeats'>, k: number | undefined): RepeatRates | undefined {
  return repeats.find((rates) => rates.k === k);
}
