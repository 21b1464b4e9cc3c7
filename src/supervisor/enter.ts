import { hideEnvironment } from './environment.ts';
import { simplifySchemas } from './schema-settings.ts';
import type { SupervisorLimits } from './supervise.ts';
import { supervisedVariable, type SupervisorMessage } from './supervisor-messages.ts';

/** A program that may run below a supervisor. */
export interface Entry {
  /** True if it starts an untrusted server and judges it. */
  isSupervised: boolean;
  /** Prints one line of the supervisor itself. */
  print: (line: string) => void;
  /** The limits of the process; by default those for a gate. */
  limits?: SupervisorLimits;
  /** Does the work of the program in this process. */
  run: () => Promise<unknown>;
}

/**
 * Starts a program: refuses debuggers, and removes secrets from what other processes can read of this one. If `isSupervised`, it runs
 * this entry again in a process that this one watches. Returns the exit code of that process; null if the program ran, or still runs, in
 * this process.
 */
export async function enter({ isSupervised, print, limits, run }: Entry): Promise<number | null> {
  const option = findInspectorOption();
  if (option !== null) {
    print(
      `Node's debugger is on (${option}), and any process of this machine could change the verdict through it; run without it.`,
    );
    return 2;
  }
  simplifySchemas();
  if (process.send !== undefined && process.env[supervisedVariable] !== undefined) {
    if (await receiveEnvironment()) await run();
    return null;
  }
  if (isSupervised) {
    const { supervise } = await import('./supervise.ts');
    return await supervise({ print, ...(limits === undefined ? {} : { limits }) });
  }
  hideEnvironment();
  await run();
  return null;
}

/** Returns the option that turns on Node's debugger; null if there is none. */
function findInspectorOption({ execArgv, env }: Pick<NodeJS.Process, 'execArgv' | 'env'> = process): string | null {
  const words = [...execArgv, ...(env['NODE_OPTIONS'] ?? '').split(/[\s"']+/)];
  // Node accepts underscores instead of hyphens in its options.
  const found = words.find((word) => /^--inspect(?:$|[-_=])/.test(word));
  return found?.split('=', 1)[0] ?? null;
}

/** False if the supervisor ended before it sent anything. */
async function receiveEnvironment(): Promise<boolean> {
  delete process.env[supervisedVariable];
  return await new Promise((resolve) => {
    process.once('disconnect', () => resolve(false));
    process.on('message', (message: SupervisorMessage) => {
      if (message.kind !== 'start') return;
      Object.assign(process.env, message.environment, { [supervisedVariable]: message.marker });
      resolve(true);
    });
  });
}
