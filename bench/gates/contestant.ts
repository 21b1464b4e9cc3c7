// What takes part in the table: something that prepares on the base of a server and then checks its head.
import type { Server } from './servers.ts';
import type { Ran } from './process.ts';

/** `none` is what a hosted runner has; `confined` needs a kernel that lets the gate confine the server. */
export type Level = 'none' | 'confined';

/** One gate: the copy of a server, and a way to run programs until the gate's time is over. */
export interface Gate {
  server: Server;
  /** Where the contestant works, as in a checkout. */
  project: string;
  /** Starts the server over stdio. */
  start: string;
  level: Level;
  run(command: readonly string[], env?: Record<string, string>): Promise<Ran>;
}

export interface Signal {
  /** The exit code of a gate that is red. */
  fails: boolean;
  /** What a person is shown, without times: each that the base did not show counts. */
  findings: readonly string[];
  /** True where a time limit ended the search for calls, so that an idle machine may find more. */
  isCut?: boolean;
}

/** How many changes of answers evals notice, and under how many harmless ones they stay green. */
export interface Strength {
  harmful: { noticed: number; of: number };
  harmless: { tolerated: number; of: number };
}

export interface Contestant {
  /** One line for the table. */
  title: string;
  kind: 'own' | 'person' | 'peer' | 'protocol';
  /** What it leaves in the project on the base and needs on the head. */
  kept: readonly string[];
  /** Its version, or the reason why it cannot take part. */
  install(): Promise<{ version: string } | { missing: string }>;
  prepare(gate: Gate): Promise<void>;
  check(gate: Gate): Promise<Signal>;
  /** Measures the evals that it prepared on the base; absent for a contestant without evals of this project. */
  measureStrength?(gate: Gate): Promise<Strength>;
  /** How many lines a person writes for this server. */
  countLines(server: Server): Promise<number>;
}
