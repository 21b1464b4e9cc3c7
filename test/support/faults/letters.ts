import { CancelledError } from '../../../src/base/errors.ts';
import { makesAllDraws } from '../property-runs.ts';
import { afterwards } from './answers.ts';
import { createRandom } from './borrowed-globals.ts';
import type { ConnectFault } from './connections.ts';
import type { FaultWorld } from './fault-world.ts';
import type { Route } from './routes.ts';
import type { Fault } from './service-front.ts';

/** One way in which a request gets no answer, or a wrong one. */
export type Blow = { answer: (world: FaultWorld) => Fault } | { connect: (world: FaultWorld) => ConnectFault };

/** The decisive request of a phase, with its usual number of requests, and the maximum attempts at one call. */
export interface Phase {
  route: Route;
  usual: number;
  /** The maximum attempts at one call, including the first. */
  attempts: number;
  inputs?: Record<string, string>;
}

export interface Expectation {
  exitCode: number;
  /** The number of attempts at the phase's request. */
  requests?: number | readonly [least: number, most: number];
  says?: RegExp;
  /** True if resources of the job may stay in the service, because every request to remove them fails. */
  mayLeave?: boolean;
  /** Text that the job must not write. */
  refrains?: RegExp;
  /** Routes that the job must not request, because their resources belong to another job by then. */
  untouched?: readonly Route[];
  /** The restored URL of the only server record. */
  restores?: string;
  /** True if the job may leave a cleanup journal, because it cannot know if a run will still be started. */
  mayNote?: boolean;
  /** The limits of the `count` waits that follow attempt `from`. */
  waits?: { from: number; count: number; leastMs: number; mostMs: number };
  /** The minimum and maximum duration of the job, on its own clock. */
  tookMs?: readonly [least: number, most: number];
  /** The number of runs that the service starts; at most one by default. */
  runs?: number;
}

/** One run of a job under a fault. */
export interface Trial {
  what: string;
  arm(world: FaultWorld): unknown;
  expected: Expectation;
  inputs?: Record<string, string>;
}

/** The choices of a seed. */
export interface Draw {
  /** An integer from `least` to `most`, both included. */
  between(least: number, most: number): number;
  pick<T>(items: readonly T[]): T;
  /** True for two of five seeds, whose fault stays. The fault of other seeds passes often enough to recover. */
  isForGood(): boolean;
  isEven(): boolean;
  /** The choices so far between two alternatives or between listed items. A number out of three or more is not among them. */
  readonly alternatives: readonly unknown[];
  /** All choices so far, including drawn numbers. */
  readonly choices: readonly unknown[];
}

/** Makes the choices of a seed. `pick` goes through all items in turn, so that few seeds cover all of them. */
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

/** The expected result of a job in a phase under a fault: one trial per seed. */
export type Letter = (phase: Phase, blows: readonly Blow[], draw: Draw) => Trial;

export const forGood = Number.MAX_SAFE_INTEGER;

/** Applies a blow to the requests of a phase. */
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

/** Retried: a passing fault only costs attempts, and a lasting one makes the verdict inconclusive. */
export function R(
  options: Partial<Expectation> & {
    attempts?: number;
    most?: number;
    waitsMs?: number;
    /** True if only the deadline ends the attempts, because the service works and asks for patience. */
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
    // A job that recovers from all strikes also recovers from fewer.
    const count = makesAllDraws ? draw.between(1, most) : most;
    return {
      what: `requests ${from} to ${from + count - 1}`,
      arm: (world) => strike(world, phase, blow, { from, count }),
      // A gate that waits longer polls a run less often, and a refused pace is a small part of the usual one.
      expected: {
        exitCode: 0,
        requests: phase.route === 'poll' ? [from, phase.usual + count] : phase.usual + count,
        // The client may wait longer than the service asks: one and a half of half a minute, plus jitter.
        ...(waitsMs === 0 ? {} : { waits: { from, count, leastMs: waitsMs, mostMs: waitsMs + 60_000 } }),
      },
    };
  };
}

/** Fails at once with an error that the user can fix: exit 2, no retry. */
export function F(says: RegExp): Letter {
  return once({ exitCode: 2, says, runs: 0 });
}

/** Inconclusive at once, or after the given number of attempts at the request. */
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
 * An ambiguous create: whether or not the service executed it, there is one run with its verdict. If the service never accepts it, there is
 * none.
 */
export const D: Letter = (phase, blows, draw) => {
  const picked = draw.pick(blows);
  const blow = isCarriedOut(picked) || draw.between(0, 1) === 0 ? picked : delay(picked);
  if (draw.isForGood()) {
    return {
      what: 'for good',
      arm: (world) => strike(world, phase, blow, { from: 1, count: forGood }),
      // The gate finds an executed create by its marker.
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

/** Marks a blow that happens after the service has executed the request. */
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

/** The fault has no effect. */
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

/** The verdict stands: the gate recovers from a passing fault; for a lasting one, it warns and leaves resources. */
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

/** A signal stops the job at that moment. */
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

/** The same letter with other blows than those of the row. */
export function under(blows: readonly Blow[], letter: Letter): Letter {
  return (phase, _blows, draw) => letter(phase, blows, draw);
}

/** A trial that is defined individually. */
export function trial(make: (draw: Draw, phase: Phase) => Trial): Letter {
  return (phase, _blows, draw) => make(draw, phase);
}
