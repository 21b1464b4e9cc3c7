import { readdirSync, readFileSync } from 'node:fs';

/** The paths that an attacker would like to change in the gate of an attack. */
export interface Targets {
  workspace: string;
  /** The paths, by description. */
  files: Record<string, string>;
  /** Directories with copies of the gate's code, which a test may overwrite. */
  code: string[];
  /** The file that gets a line for every attack that reached its target. */
  evidence: string;
  /** The file that gets a line for every refused attack. */
  errors?: string;
}

export interface Order {
  file: string;
  name: string;
  variant: string;
  moment: string;
  answer: 'true' | 'false';
}

export interface PayloadContext extends Order {
  targets: Targets;
  /** The id of the call, if there is one. */
  id: number | string | undefined;
  send: (message: object) => void;
  write: (text: string) => void;
  /** Records that something was read, signalled or written that a sandbox protects from the server. */
  note: (text: string) => void;
}

/** Returns `answered` if nothing else should be sent for the call. */
export type Payload = (context: PayloadContext) => void | 'answered' | Promise<void | 'answered'>;

/** The answers of a server. A case asserts the first one. */
export const answers = { true: 'genuine-answer', false: 'other-answer' } as const;

/** Creates the answer to the call, as a result. */
export const answerOf = ({ answer }: Pick<Order, 'answer'>) => ({ content: [{ type: 'text', text: answers[answer] }] });

/**
 * Finds the gate and its supervisor, innermost first. Finds them by the workspace in their command line, so that no other process of this
 * machine is attacked.
 */
export function findGate({ workspace }: Targets): number[] {
  const found: number[] = [];
  for (const pid of readdirSync('/proc').map(Number).filter(Boolean)) {
    try {
      const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
      const isEntry = words.some((word) => /(?:cli\/main\.[jt]s|dist\/index\.js)$/.test(word));
      if (isEntry && words.some((word) => word.startsWith(workspace))) found.push(pid);
    } catch {
      // The process has ended meanwhile.
    }
  }
  return found.sort((one, other) => other - one);
}
