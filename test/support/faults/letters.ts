import { CancelledError } from '../../../src/base/errors.ts';
import { makesAllDraws } from '../property-runs.ts';
import { afterwards } from './answers.ts';
import { createRandom } from './borrowed-globals.ts';
import type { ConnectFault } from './connections.ts';
import type { FaultWorld } from './fault-world.ts';
import type { Route } from './routes.ts';
import type { Fault } from './service-front.ts';

/** One way for a request to come to nothing, or to something else than it should. */
export type Blow = { answer: (world: FaultWorld) => Fault } | { connect: (world: FaultWorld) => ConnectFault };

/** The request that a phase stands or falls with, how often it is made when nothing is wrong, and how often at most. */
export interface Phase {
  route: Route;
  usual: number;
  /** Attempts at one call, the first one included. */
  attempts: number;
  inputs?: Record<string, string>;
}

export interface Expectation {
  exitCode: number;
  /** Attempts at the phase's request. */
  requests?: number | readonly [least: number, most: number];
  says?: RegExp;
  /** Whether resources of the job may stay with the service, because every request to remove them fails. */
  mayLeave?: boolean;
  /** What must not be said. */
  refrains?: RegExp;
  /** Routes that the job must not request, because their resources belong to another job by then. */
  untouched?: readonly Route[];
  /** Where the one server record leads again. */
  restores?: string;
  /** Whether the job may leave a note for another process, since it cannot tell whether a run will yet be started. */
  mayNote?: boolean;
  /** How long is waited after the `from`th attempt, and after so many in all. */
  waits?: { from: number; count: number; leastMs: number; mostMs: number };
  /** How long the job takes at least and at most, on its own clock. */
  tookMs?: readonly [least: number, most: number];
  /** Runs that the service starts; at most one unless something else is said. */
  runs?: number;
}

/** One run of a job under a fault. */
export interface Trial {
  what: string;
  arm(world: FaultWorld): unknown;
  expected: Expectation;
  inputs?: Record<string, string>;
}

/** What a seed chooses. */
export interface Draw {
  /** An integer from `least` to `most`, both included. */
  between(least: number, most: number): number;
  pick<T>(items: readonly T[]): T;
  /** Two of five seeds strike for good, the others only so often that it can be got over. */
  isForGood(): boolean;
  isEven(): boolean;
  /** The choices so far between alternatives: a number out of three or more is none. */
  readonly alternatives: readonly unknown[];
  /** All choices so far, drawn numbers included. */
  readonly choices: readonly unknown[];
}

/** Makes the choices of a seed. What is picked goes through every item in turn, so that few seeds see all of them. */
export function createDraw(seed: number): Draw {
  const random = createRandom(seed * 7919);
  const alternatives: unknown[] = [];
  const choices: unknown[] = [];
  const keep = <T>(choice: T): T => {
    choices.push(choice);
    return choice;
  };
  const keepAlternative = <T>(choice: T): T => {
    alternatives.push(choice);
    return keep(choice);
  };
  return {
    alternatives,
    choices,
    between: (least, most) => {
      const number = least + Math.floor(random() * (most - least + 1));
      return most - least > 1 ? keep(number) : keepAlternative(number);
    },
    pick: (items) => items[keepAlternative(seed % items.length)]!,
    isForGood: () => keepAlternative(seed % 5 >= 3),
    isEven: () => keepAlternative(seed % 2 === 0),
  };
}

/** What must become of a job in a phase under a fault: a trial per seed. */
export type Letter = (phase: Phase, blows: readonly Blow[], draw: Draw) => Trial;

export const forGood = Number.MAX_SAFE_INTEGER;

/** Has a blow fall on the requests of a phase. */
export function strike(
  world: FaultWorld,
  phase: Pick<Phase, 'route'>,
  blow: Blow,
  { from, count }: { from: number; count: number },
): void {
  const { route } = phase;
  if ('answer' in blow) world.front.strike({ route, from, count, fault: blow.answer(world) });
  else world.connections.strike({ route, from, count, fault: blow.connect(world) });
}

/** Retried: a fault that passes costs attempts and nothing else, one that stays makes the verdict inconclusive. */
export function R(
  options: Partial<Expectation> & {
    attempts?: number;
    most?: number;
    waitsMs?: number;
    /** Whether only the deadline ends the attempts, as where a service works and asks for patience. */
    isPatient?: boolean;
  } = {},
): Letter {
  const { attempts, most = 2, waitsMs = 0, isPatient = false, ...rest } = options;
  return (phase, blows, draw) => {
    const blow = draw.pick(blows);
    const from = draw.between(1, Math.min(phase.usual, 3));
    if (draw.isForGood()) {
      return {
        what: `from request ${from} for good`,
        arm: (world) => strike(world, phase, blow, { from, count: forGood }),
        expected: {
          exitCode: 3,
          requests: isPatient ? [20, 400] : from - 1 + (attempts ?? phase.attempts),
          ...(isPatient ? { says: /429 RATE_LIMITED .* would not have ended before the deadline/ } : {}),
          ...rest,
        },
      };
    }
    // A job that gets over all strikes has got over each.
    const count = makesAllDraws ? draw.between(1, most) : most;
    return {
      what: `requests ${from} to ${from + count - 1}`,
      arm: (world) => strike(world, phase, blow, { from, count }),
      // A gate that waits longer polls a run less often, and a refused pace is a small part of the usual one.
      expected: {
        exitCode: 0,
        requests: phase.route === 'poll' ? [from, phase.usual + count] : phase.usual + count,
        // The pace of the client may ask for more than the service: one and a half of half a minute, and the spread of it.
        ...(waitsMs === 0 ? {} : { waits: { from, count, leastMs: waitsMs, mostMs: waitsMs + 60_000 } }),
      },
    };
  };
}

/** Ends at once, and the user can mend it: exit 2, nothing tried again. */
export function F(says: RegExp): Letter {
  return once({ exitCode: 2, says, runs: 0 });
}

/** Inconclusive at once, or after so many attempts at the one request. */
export function I(expected: Partial<Expectation> = {}, attempts = 1): Letter {
  return once({ exitCode: 3, ...expected }, attempts);
}

function once(expected: Expectation, attempts = 1): Letter {
  return (phase, blows, draw) => {
    const blow = draw.pick(blows);
    const from = draw.between(1, Math.min(phase.usual, 3));
    return {
      what: `from request ${from} on`,
      arm: (world) => strike(world, phase, blow, { from, count: forGood }),
      expected: { requests: from - 1 + attempts, ...expected },
    };
  };
}

/**
 * An ambiguous create: whether the service had carried it out or not, there is one run and its verdict; where the service
 * never takes it, none.
 */
export const D: Letter = (phase, blows, draw) => {
  const picked = draw.pick(blows);
  const blow = isCarriedOut(picked) || draw.between(0, 1) === 0 ? picked : delay(picked);
  if (draw.isForGood()) {
    return {
      what: 'for good',
      arm: (world) => strike(world, phase, blow, { from: 1, count: forGood }),
      // What the service has carried out is found by its marker.
      expected: isCarriedOut(blow)
        ? { exitCode: 0, requests: [1, 10], runs: 1 }
        : { exitCode: 3, requests: [1, 10], runs: 0, mayNote: true },
    };
  }
  const count = draw.between(1, 7);
  return {
    what: `requests 1 to ${count}`,
    arm: (world) => strike(world, phase, blow, { from: 1, count }),
    expected: { exitCode: 0, requests: [1, count + 1], runs: 1 },
  };
};

const carriedOut = new WeakSet<Blow>();

/** Marks a blow before which the service has done what it was asked for. */
export function done(blow: Blow): Blow {
  carriedOut.add(blow);
  return blow;
}

function delay(blow: Blow): Blow {
  return 'answer' in blow ? done({ answer: (world) => afterwards(blow.answer(world)) }) : blow;
}

function isCarriedOut(blow: Blow): boolean {
  return carriedOut.has(blow);
}

/** Nothing happens. */
export function K(expected: Partial<Expectation> = {}): Letter {
  return (phase, blows, draw) => {
    const blow = draw.pick(blows);
    return {
      what: 'every request',
      arm: (world) => strike(world, phase, blow, { from: 1, count: forGood }),
      expected: { exitCode: 0, requests: phase.route === 'poll' ? [1, phase.usual] : phase.usual, ...expected },
    };
  };
}

/** The verdict stands: what passes is got over, what stays is warned about and left behind. */
export function W(options: { once?: boolean; says?: RegExp } = {}): Letter {
  return (phase, blows, draw) => {
    const blow = draw.pick(blows);
    if (options.once !== false && !draw.isForGood()) {
      return {
        what: 'the first request',
        arm: (world) => strike(world, phase, blow, { from: 1, count: 1 }),
        expected: { exitCode: 0 },
      };
    }
    return {
      what: 'for good',
      arm: (world) => strike(world, phase, blow, { from: 1, count: forGood }),
      expected: {
        exitCode: 0,
        mayLeave: true,
        says: options.says ?? /Could not close the tunnel of .*The verdict stands\./,
      },
    };
  };
}

/** A cancelled run: the gate survives a fault that passes; under a lasting fault the run continues, which the gate cannot prevent. */
export const C: Letter = (phase, blows, draw) => {
  const blow = draw.pick(blows);
  const count = draw.isForGood() ? forGood : 1;
  return {
    what: count === 1 ? 'the first request' : 'for good',
    arm: (world) => strike(world, phase, blow, { from: 1, count }),
    expected: {
      exitCode: 3,
      runs: 1,
      says: /The gate was not over after 1 min/,
      tookMs: [60_000, 75_000],
      ...(count === 1 ? {} : { mayLeave: true }),
    },
  };
};

/** Stopped by a signal at that moment. */
export const X: Letter = (phase, _blows, draw) => {
  const nth = draw.between(1, Math.min(phase.usual, 3));
  const signal = draw.pick(['SIGINT', 'SIGTERM'] as const);
  return {
    what: `${signal} at request ${nth}`,
    arm: ({ front, stop }) =>
      front.onRequest(phase.route, nth, () => stop.abort(new CancelledError(`Stopped by ${signal}.`, { signal }))),
    expected: { exitCode: signal === 'SIGINT' ? 130 : 143 },
  };
};

/** The letter under other blows than the row's. */
export function under(blows: readonly Blow[], letter: Letter): Letter {
  return (phase, _blows, draw) => letter(phase, blows, draw);
}

/** Any trial of its own. */
export function trial(make: (draw: Draw, phase: Phase) => Trial): Letter {
  return (phase, _blows, draw) => make(draw, phase);
}
