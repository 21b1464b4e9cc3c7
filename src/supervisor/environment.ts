import { closeSync, openSync, readFileSync, readSync, writeSync } from 'node:fs';
import { isInheritedVariable } from '../server/environment.ts';

/** Variables that Node and its libraries read before the first statement of a program. */
const startVariable = /^(?:NODE_|UV_|LD_|DYLD_|OPENSSL_)/;

/**
 * Splits an environment into variables that a process may visibly start with, and the rest. Other processes of the same user can read the
 * variables that a process started with, but not those that it sets later. Variables that the server under test gets anyway need not be
 * hidden from it.
 */
export function splitEnvironment(environment: NodeJS.ProcessEnv): {
  visible: Record<string, string>;
  hidden: Record<string, string>;
} {
  const visible: Record<string, string> = {};
  const hidden: Record<string, string> = {};
  for (const [name, value = ''] of Object.entries(environment)) {
    (isVisible(name) ? visible : hidden)[name] = value;
  }
  return { visible, hidden };
}

/**
 * Removes hidden variables from `/proc/<pid>/environ` of this process and keeps them in `process.env`. Does nothing if the system does
 * not allow it, which is so on every system except Linux.
 */
export function hideEnvironment(): void {
  const { hidden } = splitEnvironment(process.env);
  if (!eraseStartEnvironment()) return;
  // A variable that is set again gets new memory, which the kernel shows nowhere.
  for (const [name, value] of Object.entries(hidden)) process.env[name] = value;
}

/** The fields `env_start` and `env_end` of proc_pid_stat(5), counted from the field after the program's name. */
const environmentStartField = 47;

function eraseStartEnvironment(): boolean {
  if (process.platform !== 'linux') return false;
  try {
    const stat = readFileSync('/proc/self/stat', 'latin1');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const [start = 0, end = 0] = fields.slice(environmentStartField, environmentStartField + 2).map(Number);
    if (!(start > 0 && end > start)) return false;
    const memory = openSync('/proc/self/mem', 'r+');
    try {
      const bytes = Buffer.alloc(end - start);
      if (readSync(memory, bytes, 0, bytes.length, start) !== bytes.length) return false;
      eraseHidden(bytes);
      return writeSync(memory, bytes, 0, bytes.length, start) === bytes.length;
    } finally {
      closeSync(memory);
    }
  } catch {
    // Some sandboxes forbid it; the gate then runs without this protection.
    return false;
  }
}

function eraseHidden(bytes: Buffer): void {
  for (let start = 0; start < bytes.length;) {
    const end = bytes.indexOf(0, start);
    const entry = bytes.subarray(start, end === -1 ? bytes.length : end);
    if (!isVisible(entry.toString('latin1').split('=', 1)[0] ?? '')) entry.fill(0);
    start += entry.length + 1;
  }
}

function isVisible(name: string): boolean {
  return isInheritedVariable(name) || startVariable.test(name);
}
