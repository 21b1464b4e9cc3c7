import type { Secret } from '../../base/redaction.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import type { RequestLimits } from './connection.ts';
import type { ServerStart } from './open-worlds.ts';

/** Longer than answers take, and shorter than the ten seconds that demonstrations of slow tools wait. */
export const callLimits: RequestLimits = { callMs: 8000, pingMs: 5000 };

/** A server as it is planned, with the variables that are added to its environment. */
export interface StartableServer {
  command: string | null;
  environment: ReadonlyMap<string, Secret>;
  cwd: string;
  readyTimeoutMs: number;
  /** Its sandbox outside of worlds; null for none. */
  sandbox: { protect: readonly string[] } | null;
}

/** The settings of a sandbox in which worlds start. */
export interface WorldSandbox {
  /** `off` starts the server without one. */
  sandbox: 'auto' | 'required' | 'off';
  /** True to change the settings of a hosted runner that forbid a sandbox. */
  isSandboxEnabled: boolean;
}

/** Plans how each world starts a planned server, which needs a command. */
export function planStart(
  { command, environment, cwd, readyTimeoutMs, sandbox: ofServer }: StartableServer,
  { workspace, sandbox, isSandboxEnabled }: WorldSandbox & { workspace: Workspace },
): ServerStart {
  if (command === null) throw new Error('A world needs a command.');
  return {
    command,
    env: Object.fromEntries([...environment].map(([name, value]) => [name, value.reveal()])),
    cwd,
    readyTimeoutMs,
    workspace,
    sandbox: sandbox === 'off' ? 'off' : 'auto',
    isSandboxEnabled,
    protect: ofServer?.protect ?? [],
    limits: callLimits,
  };
}
