import type { ServerStep } from './step.ts';

/**
 * What a step calls the server under test where it names no other: the first of a run, and mostly the only one. Evals files, the wire and
 * the engine share this name.
 */
export const serverUnderTest = 'server-under-test';

/** How the steps of a run may call one of its servers. */
export interface StepServer {
  /** Undefined where steps know no ids. */
  id?: string | undefined;
  /** What the run calls it; comes before the name of its record. */
  alias?: string | undefined;
  name: string;
}

/** The server that a step names; null where it means the first one of its run. */
export function readServerName({ serverName = serverUnderTest }: Pick<ServerStep, 'serverName'>): string | null {
  return serverName === serverUnderTest || serverName === '' ? null : serverName;
}

/** The id by which a step names its server; undefined where it has none. */
export function readServerId(step: ServerStep): string | undefined {
  return step.kind === 'toolCall' ? step.serverId : undefined;
}

/**
 * Finds the server that a step speaks to: by id before alias before name. A step that names none speaks to the first one. Undefined where
 * it names a server that the run does not have.
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
