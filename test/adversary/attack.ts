import type { VerdictOutcome } from '../../src/model/verdict.ts';

export type Outcome = VerdictOutcome;

/** Who attacks: the server under test, the author of a pull request, the author of an artifact, or the hosted service. */
export type Attacker = 'server' | 'pull-request' | 'artifact' | 'service';

/** When a server attacks, seen from its call. */
export type Moment = 'start' | 'list' | 'call' | 'after';

/** What the server answers to the call: what the case asserts, or something else. */
export type Answer = 'true' | 'false';

export interface Attack {
  /** The attack and its variant: unique within its class. */
  name: string;
  class: string;
  attacker: Attacker;
  /** The verdict without the attack. `failed` also allows `inconclusive`, and never `passed`. */
  deserves: Outcome;
}

/** How the server of an attack is isolated. */
export const isolationLevels = ['none', 'isolated', 'confined'] as const;
export type IsolationLevel = (typeof isolationLevels)[number];

/** The input that reaches a level where the machine has a sandbox. */
export const sandboxOf: Readonly<Record<IsolationLevel, 'off' | 'auto' | 'required'>> = {
  none: 'off',
  isolated: 'auto',
  confined: 'required',
};

/** An attack that the gate withstands in another way at each level. */
export interface LevelledAttack extends Attack {
  level: IsolationLevel;
}

/** Null for an attack that no server makes. */
export const levelOf = (attack: Attack & { level?: IsolationLevel }): IsolationLevel | null => attack.level ?? null;

export interface ServerAttack extends Attack {
  attacker: 'server';
  /** The file of the payload below `payloads/`, its name in there, and what distinguishes its variants. */
  payload: { file: string; name: string; variant: string };
  moment: Moment;
  answer: Answer;
  /** Whether it hits more than its own case, so that it needs a gate of its own. */
  isAlone: boolean;
  /** The only exit codes that this attack may lead to; those of `deserves` unless given. Null stands for a signal. */
  exitCodes?: ReadonlyArray<number | null>;
  /** Without a sandbox, what it starts may survive: docs/hardening.md says so. */
  maySurvive?: boolean;
  /** It stays within its case and is still no answer: true answers deserve nothing. */
  isFatal?: boolean;
}

/** What one attack did to its gate; empty `problems` where the gate kept its promises. */
export interface AttackResult {
  attack: Attack;
  found: string;
  problems: string[];
}

/** Whether a verdict is one that answers deserve: a gate that establishes nothing is stricter, never more lenient. */
export function isDeserved(deserves: Outcome, found: Outcome): boolean {
  if (deserves === 'passed') return true;
  return deserves === found || found === 'inconclusive';
}

/** The exit codes that go with a verdict. */
export function listExitCodes(deserves: Outcome): ReadonlyArray<number | null> {
  return { passed: [0, 1, 3], failed: [1, 3], inconclusive: [3] }[deserves];
}
