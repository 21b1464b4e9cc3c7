import { hideEnvironment } from './environment.ts';
import type { SupervisorLimits } from './supervise.ts';
import { supervisedVariable, type SupervisorMessage } from './messages.ts';

/** A program that may run below a supervisor. */
export interface Entry {
  /** Whether it starts a server that is not trusted and judges it. */
  isSupervised: boolean;
  /** Prints one line of the supervisor's own. */
  print: (line: string) => void;
  /** Those that suit a gate by default. */
  limits?: SupervisorLimits;
  /** Does the work of the program in this process. */
  run: () => Promise<unknown>;
}

/**
 * Starts a program: refuses debuggers, takes secrets out of what other processes can read of this one, and where
 * `isSupervised`, runs this entry once more in a process that this one watches. Returns the exit code of that process, and
 * null where the program ran, or still runs, in this one.
 */
export async function enter({ isSupervised, print, limits, run }: Entry): Promise<number | null> {
  const option = findInspectorOption();
  if (option !== null) {
    print(
      `Node's debugger is on (${option}), and any process of this machine could change the verdict through it; run without it.`,
    );
    return 2;
  }
  keepSchemasUncompiled();
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

/**
 * Has zod interpret schemas. It would compile each to code on its first use, which costs a gate a tenth of a second and is worth it only for
 * schemas that judge ten thousands of values. Zod reads this where it is loaded, in whatever file of a bundle that is.
 */
function keepSchemasUncompiled(): void {
  Object.assign(globalThis, { __zod_globalConfig: { jitless: true } });
}

/** Returns the option with which Node's debugger was asked for; null where it was not. */
function findInspectorOption({ execArgv, env }: Pick<NodeJS.Process, 'execArgv' | 'env'> = process): string | null {
  const words = [...execArgv, ...(env['NODE_OPTIONS'] ?? '').split(/[\s"']+/)];
  // Node takes underscores for hyphens in its options.
  const found = words.find((word) => /^--inspect(?:$|[-_=])/.test(word));
  return found?.split('=', 1)[0] ?? null;
}

/** False where the supervisor is gone before it has sent anything. */
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
