import { readdirSync, readFileSync } from 'node:fs';

/** Where the gate of an attack keeps what an attacker would like to change. */
export interface Targets {
  workspace: string;
  /** Paths by what they are. */
  files: Record<string, string>;
  /** Directories of code of the gate that a test may overwrite: copies. */
  code: string[];
  /** Takes a line for every attack that reached its target. */
  evidence: string;
  /** Takes a line for every attack that was refused. */
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
  /** Of the call, where there is one. */
  id: number | string | undefined;
  send: (message: object) => void;
  write: (text: string) => void;
  /** Says that something was read, signalled or written that a sandbox keeps from the server. */
  note: (text: string) => void;
}

/** `answered` where nothing else should be sent for the call. */
export type Payload = (context: PayloadContext) => void | 'answered' | Promise<void | 'answered'>;

/** What a server says. A case asserts the first. */
export const answers = { true: 'genuine-answer', false: 'other-answer' } as const;

/** The answer to the call, as a result. */
export const answerOf = ({ answer }: Pick<Order, 'answer'>) => ({ content: [{ type: 'text', text: answers[answer] }] });

/**
 * The gate and its supervisor, innermost first. Found by the workspace in their command line, so that no other process of this
 * machine is ever attacked.
 */
export function findGate({ workspace }: Targets): number[] {
  const found: number[] = [];
  for (const pid of readdirSync('/proc').map(Number).filter(Boolean)) {
    try {
      const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
      const isEntry = words.some((word) => /(?:cli\/main\.[jt]s|dist\/index\.js)$/.test(word));
      if (isEntry && words.some((word) => word.startsWith(workspace))) found.push(pid);
    } catch {
      // Gone meanwhile.
    }
  }
  return found.sort((one, other) => other - one);
}
