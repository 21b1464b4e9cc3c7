import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, isAbsolute, join, resolve } from 'node:path';
import { buildChildEnvironment } from '../server/environment.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** The variable that names the browser; without it, the first one in PATH is used. */
const executableVariable = 'MCP_EVAL_CI_CHROMIUM';

/** `off` starts the browser without its own sandbox. */
export const sandboxVariable = 'MCP_EVAL_CI_CHROMIUM_SANDBOX';

const names = [
  'chromium',
  'chromium-browser',
  'google-chrome',
  'google-chrome-stable',
  'chrome',
  'chrome-headless-shell',
  'microsoft-edge',
].flatMap((name) => [name, `${name}.exe`]);

/** A browser of this machine, with the settings to start it. */
export interface FoundChromium {
  executable: string;
  /** True if pages run in the browser's own sandbox. */
  isSandboxed: boolean;
  /** The same part of the job's environment as for a server under test. */
  environment: Record<string, string>;
}

/**
 * Finds a Chromium: the one that `MCP_EVAL_CI_CHROMIUM` names, or the first one in PATH with a known name. `reason` says why there is
 * none and how to get one.
 */
export function findChromium(environment: Environment): FoundChromium | { reason: string } {
  const named = environment[executableVariable] ?? '';
  const directories = (environment['PATH'] ?? '').split(delimiter).filter((directory) => isAbsolute(directory));
  const candidates =
    named === '' ? directories.flatMap((directory) => names.map((name) => join(directory, name))) : [resolve(named)];
  const executable = candidates.find(isExecutable);
  if (executable === undefined) {
    const problem =
      named === ''
        ? `No Chromium is in PATH, and a widget needs one to render. Install Chromium or Chrome, or set ${executableVariable} to its path.`
        : `${executableVariable} is ${JSON.stringify(named)}, which is no program. Set it to the path of a Chromium.`;
    return { reason: problem };
  }
  return {
    executable,
    isSandboxed: environment[sandboxVariable] !== 'off',
    environment: buildChildEnvironment(environment, {}),
  };
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}
