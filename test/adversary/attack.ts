import type { VerdictOutcome } from '../../src/model/verdict.ts';

export type Outcome = VerdictOutcome;

/** The attacker: the server under test, the author of a pull request, the author of an artifact, or the hosted service. */
export type Attacker = 'server' | 'pull-request' | 'artifact' | 'service';

/** The time at which a server attacks, relative to its call. */
export type Moment = 'start' | 'list' | 'call' | 'after';

/** The answer of the server to the call: `true` is the one that the case asserts. */
export type Answer = 'true' | 'false';

export interface Attack {
  /** The attack and its variant, unique within its class. */
  name: string;
  class: string;
  attacker: Attacker;
  /** The verdict without the attack. `failed` also allows `inconclusive`, and never `passed`. */
  deserves: Outcome;
}

/** The levels of isolation of an attacking server. */
export const isolationLevels = ['none', 'isolated', 'confined'] as const;
export type IsolationLevel = (typeof isolationLevels)[number];

/** The input that results in a level if the machine has a sandbox. */
export const sandboxOf: Readonly<Record<IsolationLevel, 'off' | 'auto' | 'required'>> = {
  none: 'off',
  isolated: 'auto',
  confined: 'required',
};

/** An attack that the gate withstands differently at each level. */
export interface LevelledAttack extends Attack {
  level: IsolationLevel;
}

/** The level of an attack; null for an attack that is not made by a server. */
export const levelOf = (attack: Attack & { level?: IsolationLevel }): IsolationLevel | null => attack.level ?? null;

export interface ServerAttack extends Attack {
  attacker: 'server';
  /** The file of the payload below `payloads/`, its name in that file, and its variant. */
  payload: { file: string; name: string; variant: string };
  moment: Moment;
  answer: Answer;
  /** True if it affects more than its own case, so that it needs its own gate. */
  isAlone: boolean;
  /** The only exit codes that this attack may result in. Default: those of `deserves`. Null stands for a signal. */
  exitCodes?: ReadonlyArray<number | null>;
  /** True if processes that it starts may survive without a sandbox, as docs/hardening.md says. */
  maySurvive?: boolean;
  /** True if it stays within its case and gives no valid answer, so that even a true answer deserves no pass. */
  isFatal?: boolean;
}

/** The effect of one attack on its gate. `problems` is empty if the gate kept its promises. */
export interface AttackResult {
  attack: Attack;
  found: string;
  problems: string[];
}

/** Checks if the answers deserve a verdict. An inconclusive gate is stricter, so that it is always allowed. */
export function isDeserved(deserves: Outcome, found: Outcome): boolean {
  if (deserves === 'passed') return true;
  return deserves === found || found === 'inconclusive';
}

/** Lists the exit codes that fit a verdict. */
export function listExitCodes(deserves: Outcome): ReadonlyArray<number | null> {
  return { passed: [0, 1, 3], failed: [1, 3], inconclusive: [3] }[deserves];
}
