import type { ServerStep } from './step.ts';

/**
 * The server name of a step that names no other server. It selects the first server of a run, usually the only one. Evals files, the wire
 * and the engine share this name.
 */
export const serverUnderTest = 'server-under-test';

/** The names by which steps can select a server of the run. */
export interface StepServer {
  /** Undefined if steps do not use ids. */
  id?: string | undefined;
  /** The name that the run gives the server; it takes precedence over `name`. */
  alias?: string | undefined;
  name: string;
}

/** Returns the name of the server that a step selects; null for the first server of its run. */
export function readServerName({ serverName = serverUnderTest }: Pick<ServerStep, 'serverName'>): string | null {
  return serverName === serverUnderTest || serverName === '' ? null : serverName;
}

/** Returns the id by which a step selects its server; undefined if it has none. */
export function readServerId(step: ServerStep): string | undefined {
  return step.kind === 'toolCall' ? step.serverId : undefined;
}

/**
 * Finds the server of a step: by id, then by alias, then by name. A step that names no server gets the first one. Returns undefined if the
 * step names a server that the run does not have.
 */
export function findStepServer<Server>(
  step: ServerStep,
  servers: readonly Server[],
  describe: (server: Server) => StepServer,
): Server | undefined {
  const serverId = readServerId(step);
  if (serverId !== undefined) return servers.find((server) => describe(server).id === serverId);
  const called = step.serverName ?? serverUnderTest;
  const found =
    servers.find((server) => describe(server).alias === called) ??
    servers.find((server) => describe(server).name === called);
  return found ?? (readServerName(step) === null ? servers[0] : undefined);
}
